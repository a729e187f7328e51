#include "sandbox/host_core.hpp"

#include "sandbox/capability_core.hpp"
#include "sandbox/projection_core.hpp"
#include "sandbox/variables_core.hpp"

namespace bureau::sandbox {

namespace {

constexpr const char* search_path =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

class host_profile final : public profile {
public:
  host_profile(std::string backend, host_config config, executor_args args,
               std::string refusal)
    : config_(std::move(config)), args_(std::move(args)),
      label_("executor/" + args_.place.key) {
    auto shown = project(args_.ws, args_.place,
                         effective_door(args_.door_policy, args_.layout));
    preparation_ = std::move(shown.preparation);
    paths_.host_root = args_.ws.root;
    paths_.runtime_root = args_.ws.root;
    paths_.cwd = args_.place.dir;
    paths_.reverse_map = true;
    info_.backend = std::move(backend);
    info_.network = "host";
    info_.summary = "commands run directly on the host, without a sandbox";
    info_.refusal = std::move(refusal);
    info_.global_memory_path = shown.global_memory_path;
    info_.global_skills_dir = shown.global_skills_dir;
  }

  const executor_info& info() const override { return info_; }

  const path_context& paths() const override { return paths_; }

  const std::string& label() const override { return label_; }

  std::vector<file_job> preparation() const override { return preparation_; }

  checked_spec command(const command_text& text) const override {
    auto checked = check_command(text);
    if (checked.fault != errc::none)
      return checked;
    auto& spec = checked.spec;
    spec.label = "host " + args_.place.key;
    spec.reason = "exec";
    spec.argv = {"/bin/sh", "-c", text.command};
    spec.env = environment(text.tag);
    for (auto& entry : run_environment(text.environment, search_path)) {
      if (entry.name == "PATH")
        std::erase_if(spec.env, [](const auto& x) { return x.name == "PATH"; });
      spec.env.push_back(std::move(entry));
    }
    spec.cwd =
      text.cwd.empty() ? paths_.cwd : absolute_path(paths_.cwd, text.cwd);
    spec.input = text.has_stdin ? stdin_kind::bytes : stdin_kind::null;
    spec.input_bytes = text.stdin_bytes;
    // A session of its own has no terminal: a command cannot read from or
    // write to the operator's console.
    spec.new_session = true;
    spec.cap_out = text.cap_out;
    spec.cap_err = text.cap_err;
    spec.exec_tag = text.tag;
    return checked;
  }

  command_end interpret(kill_cause cause, int64_t timeout_ms, std::string_view,
                        const proc_result& result) const override {
    return end_of_plain(cause, timeout_ms, result);
  }

  file_route route(std::string_view path, file_access) const override {
    return route_host(paths_.cwd, path);
  }

private:
  std::vector<env_entry> environment(const std::string& tag) const {
    std::vector<env_entry> env;
    auto set = [&](std::string name, std::string value) {
      env.push_back({std::move(name), std::move(value), false});
    };
    set("PATH", search_path);
    set("HOME", config_.home);
    set("USER", config_.user);
    set("LOGNAME", config_.user);
    set("SHELL", config_.shell);
    set("LANG", "C.UTF-8");
    set("TERM", "dumb");
    set("TMPDIR", config_.tmp);
    if (!args_.time_zone.empty())
      set("TZ", args_.time_zone);
    set("BUREAU_EXEC_ID", tag);
    return env;
  }

  host_config config_;
  executor_args args_;
  std::string label_;
  std::vector<file_job> preparation_;
  path_context paths_;
  executor_info info_;
};

} // namespace

std::shared_ptr<const profile> make_host_profile(host_config config,
                                                 executor_args args) {
  auto refusal = refuse_reason("host", args.door_policy).value_or("");
  return std::make_shared<host_profile>("host", std::move(config),
                                        std::move(args), std::move(refusal));
}

std::shared_ptr<const profile> make_refusing_profile(std::string backend,
                                                     executor_args args,
                                                     std::string why) {
  return std::make_shared<host_profile>(std::move(backend), host_config{},
                                        std::move(args), std::move(why));
}

} // namespace bureau::sandbox
