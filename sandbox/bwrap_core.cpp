#include "sandbox/bwrap_core.hpp"

#include "sandbox/capability_core.hpp"
#include "sandbox/variables_core.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace bureau::sandbox {

namespace {

constexpr int32_t args_fd = 3;
constexpr int32_t status_fd = 4;
constexpr int32_t seccomp_fd = 5;
constexpr int32_t first_mount_fd = 6;

constexpr int directory_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
constexpr int leaf_flags = O_PATH | O_NOFOLLOW;

constexpr std::array<std::string_view, 17> etc_names = {
  "alternatives",  "ld.so.cache",     "ld.so.conf",      "ld.so.conf.d",
  "ssl/certs",     "ssl/openssl.cnf", "ca-certificates", "localtime",
  "timezone",      "protocols",       "services",        "mime.types",
  "nsswitch.conf", "terminfo",        "gitconfig",       "python3",
  "fonts"};

constexpr std::string_view passwd = "agent:x:1000:1000::/root:/bin/sh\n";
constexpr std::string_view group = "agent:x:1000:\n";
constexpr std::string_view hosts = "127.0.0.1 localhost office\n"
                                   "::1 localhost\n";

constexpr std::string_view search_path =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

constexpr std::array<std::string_view, 3> too_wide = {"/", "/home", "/var"};

/// Collects arguments and the descriptors that they name.
class plan_builder {
public:
  explicit plan_builder(std::vector<proc_fd>& mounts) : mounts_(mounts) {}

  void add(std::initializer_list<std::string_view> words) {
    for (auto word : words)
      args.emplace_back(word);
  }

  /// Names a host file or directory by descriptor, so that nothing can be
  /// swapped between the check and the mount.
  void bind(const std::string& root, std::string path, std::string_view target,
            bool directory, bool read_only) {
    proc_fd fd;
    fd.kind = fd_kind::open_beneath;
    fd.root = root;
    fd.path = std::move(path);
    fd.flags = directory ? directory_flags : leaf_flags;
    add(
      {read_only ? "--ro-bind-fd" : "--bind-fd", take(std::move(fd)), target});
  }

  void data(std::string_view content, std::string_view target) {
    proc_fd fd;
    fd.kind = fd_kind::bytes;
    fd.bytes = content;
    add({"--perms", "0644", "--ro-bind-data", take(std::move(fd)), target});
  }

  std::vector<std::string> args;

private:
  std::string take(proc_fd fd) {
    fd.child_fd = first_mount_fd + static_cast<int32_t>(mounts_.size());
    auto number = std::to_string(fd.child_fd);
    mounts_.push_back(std::move(fd));
    return number;
  }

  std::vector<proc_fd>& mounts_;
};

void add_namespaces(plan_builder& plan, std::string_view network) {
  plan.add({"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try"});
  if (network != "host")
    plan.add({"--unshare-net"});
  plan.add({"--disable-userns", "--uid", "1000", "--gid", "1000", "--cap-drop",
            "ALL", "--hostname", "office", "--die-with-parent",
            "--json-status-fd"});
  plan.add(
    {std::to_string(status_fd), "--seccomp", std::to_string(seccomp_fd)});
}

void add_system(plan_builder& plan, const bwrap_config& config) {
  plan.add({"--ro-bind", "/usr", "/usr"});
  for (const auto& entry : config.roots) {
    auto path = "/" + entry.name;
    if (entry.link.empty())
      plan.add({"--ro-bind", path, path});
    else
      plan.add({"--symlink", entry.link, path});
  }
  for (const auto& path : config.read_only)
    plan.add({"--ro-bind", path, path});
}

void add_etc(plan_builder& plan, std::string_view network) {
  plan.add({"--perms", "0755", "--dir", "/etc"});
  auto show = [&](std::string_view name) {
    auto path = "/etc/" + std::string{name};
    plan.add({"--ro-bind-try", path, path});
  };
  for (auto name : etc_names)
    show(name);
  plan.data(passwd, "/etc/passwd");
  plan.data(group, "/etc/group");
  plan.data(hosts, "/etc/hosts");
  if (network == "host")
    show("resolv.conf");
}

void add_devices(plan_builder& plan) {
  plan.add({"--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size",
            std::to_string(limits::exec_shared_memory_bytes), "--tmpfs",
            "/dev/shm"});
}

void add_scratch(plan_builder& plan, const executor_args& args) {
  auto places = places_of(args.place.key);
  plan.bind(args.ws.state_dir, places.tmp, "/tmp", true, false);
  plan.bind(args.ws.state_dir, places.home, "/root", true, false);
  plan.add({"--symlink", "../tmp", "/var/tmp", "--perms", "0755", "--dir",
            "/run", "--perms", "0755", "--dir", runtime_root});
}

void add_environment(plan_builder& plan, const bwrap_config& config,
                     const std::string& time_zone) {
  auto set = [&](std::string_view name, std::string_view value) {
    plan.add({"--setenv", name, value});
  };
  plan.add({"--clearenv"});
  set("PATH", search_path);
  set("HOME", "/root");
  set("USER", "agent");
  set("LOGNAME", "agent");
  set("SHELL", "/bin/sh");
  set("LANG", "C.UTF-8");
  set("TERM", "dumb");
  set("TMPDIR", "/tmp");
  set("TZ", time_zone.empty() ? "UTC" : time_zone);
  for (const auto& variable : config.extra_env)
    set(variable.name, variable.value);
}

std::string first_fault(const bwrap_config& config, const executor_args& args) {
  if (args.network != "none" && args.network != "host")
    return "sandbox.network '" + args.network
           + "' is not available; use none or host";
  if (config.seccomp.empty())
    return "the system call filter of the sandbox could not be built; commands "
           "are refused without it";
  if (args.time_zone.find('\0') != std::string::npos)
    return "the time zone holds a NUL byte";
  for (const auto& path : config.read_only)
    if (auto why = check_read_only(path, args.ws))
      return *why;
  for (const auto& variable : config.extra_env)
    if (auto why = check_variable(variable))
      return *why;
  return {};
}

file_job directory_job(const std::string& root, std::string path) {
  file_job job;
  job.reason = "sandbox";
  job.op = file_op::ensure_directory;
  job.root = root;
  job.path = std::move(path);
  job.mode = 0700;
  return job;
}

file_job empty_job(const std::string& root, std::string path) {
  auto job = directory_job(root, std::move(path));
  job.op = file_op::empty_directory;
  return job;
}

std::string joined(const std::vector<std::string>& words) {
  std::string bytes;
  for (const auto& word : words) {
    bytes += word;
    bytes += '\0';
  }
  return bytes;
}

bool is_name_start(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

class bwrap_profile final : public profile {
public:
  bwrap_profile(bwrap_config config, executor_args args)
    : config_(std::move(config)), args_(std::move(args)),
      shown_(project(args_.ws, args_.place,
                     effective_door(args_.door_policy, args_.layout))),
      plan_(make_bwrap_plan(config_, args_, shown_)),
      label_("executor/" + args_.place.key) {
    paths_.host_root = args_.ws.root;
    paths_.runtime_root = runtime_root;
    paths_.cwd = paths_.runtime_root + "/" + args_.place.key;
    paths_.reverse_map = true;
    info_.backend = "bwrap";
    info_.network = args_.network;
    info_.summary = "sandbox bwrap, network " + args_.network
                    + ", home and /tmp survive between commands, background "
                      "processes do not";
    info_.refusal = plan_.fault;
    info_.global_memory_path = shown_.global_memory_path;
    info_.global_skills_dir = shown_.global_skills_dir;
    view_.cwd = paths_.cwd;
    view_.mounts = shown_.mounts;
    view_.overlays = shown_.overlays;
  }

  const executor_info& info() const override { return info_; }

  const path_context& paths() const override { return paths_; }

  const std::string& label() const override { return label_; }

  std::vector<file_job> preparation() const override {
    auto jobs = shown_.preparation;
    auto places = places_of(args_.place.key);
    jobs.push_back(directory_job(args_.ws.state_dir, places.home));
    jobs.push_back(directory_job(args_.ws.state_dir, places.tmp));
    return jobs;
  }

  checked_spec command(const command_text& text) const override {
    auto checked = check_command(text);
    if (checked.fault != errc::none)
      return checked;
    if (!plan_.fault.empty()) {
      checked.fault = errc::denied;
      checked.sentence = plan_.fault;
      return checked;
    }
    auto cwd =
      text.cwd.empty() ? paths_.cwd : absolute_path(paths_.cwd, text.cwd);
    auto& spec = checked.spec;
    spec.label = "bwrap " + args_.place.key;
    spec.reason = "exec";
    spec.argv = arguments(text.command);
    spec.cwd = "/";
    spec.input = text.has_stdin ? stdin_kind::bytes : stdin_kind::null;
    spec.input_bytes = text.stdin_bytes;
    // Instead of bubblewrap's --new-session, see README: a kill during the
    // start of the sandbox must reach all of it, so all of it stays in the
    // process group that is killed.
    spec.new_session = true;
    spec.cap_out = text.cap_out;
    spec.cap_err = text.cap_err;
    spec.fds.reserve(plan_.mounts.size() + 3);
    auto words = bwrap_arguments(plan_, cwd);
    for (const auto& entry : run_environment(text.environment, search_path))
      words.insert(words.end(), {"--setenv", entry.name, entry.value});
    spec.fds.push_back(bytes_fd(args_fd, joined(words)));
    proc_fd status;
    status.child_fd = status_fd;
    status.kind = fd_kind::pipe_out;
    spec.fds.push_back(std::move(status));
    spec.fds.push_back(bytes_fd(seccomp_fd, config_.seccomp));
    spec.fds.insert(spec.fds.end(), plan_.mounts.begin(), plan_.mounts.end());
    return checked;
  }

  command_end interpret(kill_cause cause, int64_t timeout_ms,
                        std::string_view cwd,
                        const proc_result& result) const override {
    return end_of_sandboxed(cause, timeout_ms,
                            cwd.empty() ? std::string_view{paths_.cwd} : cwd,
                            result);
  }

  file_route route(std::string_view path, file_access access) const override {
    return route_mounted(view_, path, access);
  }

private:
  static proc_fd bytes_fd(int32_t number, std::string bytes) {
    proc_fd fd;
    fd.child_fd = number;
    fd.kind = fd_kind::bytes;
    fd.bytes = std::move(bytes);
    return fd;
  }

  std::vector<std::string> arguments(const std::string& command) const {
    std::vector<std::string> argv{
      config_.prlimit_path,
      "--nofile=" + std::to_string(config_.open_files),
      "--fsize=" + std::to_string(config_.written_file_bytes),
      "--core=0",
    };
    if (config_.limit_processes)
      argv.push_back("--nproc=" + std::to_string(config_.processes));
    for (auto word : {"--", config_.bwrap_path.c_str(), "--args"})
      argv.emplace_back(word);
    argv.push_back(std::to_string(args_fd));
    // setsid gives the command a group of its own, so that its "kill 0" does
    // not reach the part of bubblewrap that waits outside.
    for (auto word : {"--", "/usr/bin/setsid", "/bin/sh", "-c"})
      argv.emplace_back(word);
    argv.push_back(command);
    return argv;
  }

  bwrap_config config_;
  executor_args args_;
  projection shown_;
  bwrap_plan plan_;
  std::string label_;
  path_context paths_;
  executor_info info_;
  path_view view_;
};

} // namespace

office_places places_of(std::string_view office_key) {
  std::string key{office_key};
  return {"conversations/" + key + "/home", "run/tmp/" + key};
}

std::optional<std::string> check_read_only(std::string_view path,
                                           const workspace& ws) {
  auto refuse = [&](std::string_view why) {
    return "sandbox.bwrap.readOnly holds '" + std::string{path} + "', which "
           + std::string{why} + "; remove it from settings.json";
  };
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos
      || join_path(path, "") != path)
    return refuse("is not an absolute, normalised path");
  if (std::ranges::find(too_wide, path) != too_wide.end())
    return refuse("would uncover what the sandbox hides");
  for (std::string_view hidden : {"/dev", "/etc", "/proc", "/root", "/run",
                                  "/sys", "/tmp", "/usr", "/workspace"})
    if (is_path_inside(path, hidden))
      return refuse("belongs to the sandbox itself");
  for (const auto& own : {ws.state_dir, ws.root})
    if (is_path_inside(path, own) || is_path_inside(own, path))
      return refuse("would show the node's own directories");
  return std::nullopt;
}

std::optional<std::string> check_variable(const env_entry& variable) {
  const auto& name = variable.name;
  auto refuse = [&](std::string_view why) {
    return "the variable '" + name
           + "' cannot enter the sandbox: " + std::string{why};
  };
  auto is_name_char = [](char c) {
    return is_name_start(c) || (c >= '0' && c <= '9');
  };
  if (name.empty() || !is_name_start(name.front())
      || !std::ranges::all_of(name, is_name_char))
    return "a variable for the sandbox has a malformed name; use letters, "
           "digits and underscores";
  if (name == "HOME" || name == "PWD" || name == "TMPDIR"
      || name.starts_with("BUREAU_"))
    return refuse("the name is reserved; rename it");
  if (variable.value.find('\0') != std::string::npos)
    return refuse("its value holds a NUL byte");
  return std::nullopt;
}

bwrap_plan make_bwrap_plan(const bwrap_config& config,
                           const executor_args& args, const projection& shown) {
  bwrap_plan result;
  result.fault = first_fault(config, args);
  plan_builder head{result.mounts};
  add_namespaces(head, args.network);
  add_system(head, config);
  add_etc(head, args.network);
  add_devices(head);
  add_scratch(head, args);
  for (const auto* mounts : {&shown.mounts, &shown.overlays})
    for (const auto& mount : *mounts)
      head.bind(mount.root, mount.path, mount.target, mount.directory,
                mount.read_only);
  head.add({"--remount-ro", "/"});
  result.head = std::move(head.args);
  plan_builder tail{result.mounts};
  add_environment(tail, config, args.time_zone);
  result.tail = std::move(tail.args);
  return result;
}

std::vector<std::string> bwrap_arguments(const bwrap_plan& plan,
                                         std::string_view cwd) {
  auto words = plan.head;
  words.emplace_back("--chdir");
  words.emplace_back(cwd);
  words.insert(words.end(), plan.tail.begin(), plan.tail.end());
  return words;
}

std::shared_ptr<const profile> make_bwrap_profile(bwrap_config config,
                                                  executor_args args) {
  return std::make_shared<bwrap_profile>(std::move(config), std::move(args));
}

std::string limits_line(const bwrap_config& config) {
  std::string processes = config.limit_processes ? "shared" : "none";
  auto line = "process limit: " + processes + "; memory, cpu: none";
  auto lower = [&line](const char* what, uint64_t value, uint64_t usual) {
    if (value < usual)
      line += "; " + std::string{what} + ": only " + std::to_string(value)
              + ", the node's own limit";
  };
  lower("open files", config.open_files, limits::exec_open_files);
  lower("bytes of a file", config.written_file_bytes,
        limits::exec_written_file_bytes);
  if (config.limit_processes)
    lower("processes", config.processes, limits::exec_processes);
  return line;
}

file_job empty_tmp_job(const workspace& ws, std::string_view office_key) {
  return empty_job(ws.state_dir, places_of(office_key).tmp);
}

std::vector<file_job> boot_tmp_jobs(const workspace& ws) {
  return {directory_job(ws.state_dir, "run/tmp"),
          empty_job(ws.state_dir, "run/tmp")};
}

} // namespace bureau::sandbox
