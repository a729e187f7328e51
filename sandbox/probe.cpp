#include "sandbox/probe.hpp"

#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/text/utf8.hpp"
#include "sandbox/children.hpp"
#include "sandbox/probe_core.hpp"

#include <caf/all.hpp>

#include <array>
#include <chrono>

namespace bureau::sandbox {

namespace {

constexpr auto step_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           limits::sandbox_probe_timeout)
                           .count();

constexpr uint64_t output_bytes = 64u << 10;

constexpr std::array<const char*, 3> fact_paths = {
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/user/max_user_namespaces",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
};

executor_args throw_away_office(const workspace& ws) {
  executor_args args;
  args.ws = make_workspace(ws.state_dir + "/run/probe/workspace",
                           ws.state_dir + "/run/probe/state");
  args.place = make_office(args.ws, {platform_id::console, "probe"});
  return args;
}

// (status) → status_line                             ⇒ line
class probe_state {
public:
  using pointer = status_actor::stateful_pointer<probe_state>;
  static inline const char* name = "sandbox_probe";

  explicit probe_state(pointer me) : self_(me) {}

  void init(executor_deps deps, bwrap_config config, workspace ws,
            probe_action action) {
    deps_ = std::move(deps);
    action_ = std::move(action);
    report_.limits = limits_line(config);
    bwrap_path_ = config.bwrap_path;
    auto args = throw_away_office(ws);
    jobs_.push_back(make_directory(ws.state_dir, "run/probe/workspace"));
    jobs_.push_back(make_directory(ws.state_dir, "run/probe/state"));
    profile_ = make_bwrap_profile(std::move(config), std::move(args));
    for (auto& job : profile_->preparation())
      jobs_.push_back(std::move(job));
    children_.init(self_, deps_.processes);
  }

  status_actor::behavior_type make_behavior() {
    ask_version();
    return {[](atom::status) {
      return status_line{"sandbox_probe", "busy", ""};
    }};
  }

private:
  static file_job make_directory(const std::string& root, std::string path) {
    file_job job;
    job.reason = "sandbox";
    job.op = file_op::ensure_directory;
    job.root = root;
    job.path = std::move(path);
    job.mode = 0700;
    return job;
  }

  void ask_version() {
    run_bwrap("--version", [this](const proc_result& result) {
      auto version = parse_version(result.out);
      if (!version) {
        fail(probe_step::version, result.out + result.err);
        return;
      }
      report_.version = version->text;
      new_enough_ = is_new_enough(*version);
      ask_options();
    });
  }

  void ask_options() {
    run_bwrap("--help", [this](const proc_result& result) {
      auto missing = missing_options(result.out + result.err);
      if (!new_enough_ || !missing.empty())
        end(probe_outdated(report_.version, missing));
      else
        prepare(0);
    });
  }

  void run_bwrap(const char* option,
                 std::function<void(const proc_result&)> next) {
    proc_spec spec;
    spec.label = "bwrap probe";
    spec.reason = "probe";
    spec.argv = {bwrap_path_, option};
    spec.cap_out = output_bytes;
    spec.cap_err = output_bytes;
    children_.run(std::move(spec), step_ms,
                  [this, next = std::move(next)](child_end end) {
                    if (end.fault)
                      fail(probe_step::version, sentence_of(end.fault));
                    else if (end.cause != kill_cause::none)
                      fail(probe_step::version, timeout_line(step_ms));
                    else
                      next(end.result);
                  });
  }

  void prepare(size_t index) {
    if (index == jobs_.size()) {
      try_profile();
      return;
    }
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         jobs_[index])
      .then([this, index](const file_outcome&) { prepare(index + 1); },
            [this](caf::error& fault) {
              fail(probe_step::preparation, sentence_of(fault));
            });
  }

  void try_profile() {
    command_text text;
    text.command = "true";
    text.cap_out = output_bytes;
    text.cap_err = output_bytes;
    auto checked = profile_->command(text);
    if (checked.fault != errc::none) {
      fail(probe_step::profile, checked.sentence);
      return;
    }
    children_.run(std::move(checked.spec), step_ms, [this](child_end end) {
      if (end.fault) {
        fail(probe_step::profile, sentence_of(end.fault));
        return;
      }
      auto told = profile_->interpret(end.cause, step_ms, {}, end.result);
      if (told.fault != errc::none)
        fail(probe_step::profile, told.sentence);
      else if (told.result.code != 0)
        fail(probe_step::profile, "true ended with code "
                                    + std::to_string(told.result.code) + " "
                                    + told.result.err);
      else
        this->end({});
    });
  }

  /// Looks for a reason in the kernel's settings, then reports.
  void fail(probe_step step, std::string detail) {
    if (step == probe_step::profile)
      read_fact(0, std::move(detail));
    else
      end(probe_failure(step, detail, {}));
  }

  void read_fact(size_t index, std::string detail) {
    if (index == fact_paths.size()) {
      end(probe_failure(probe_step::profile, detail,
                        {facts_[0], facts_[1], facts_[2]}));
      return;
    }
    file_job job;
    job.reason = "sandbox";
    job.op = file_op::read;
    job.path = fact_paths[index];
    job.length = 64;
    auto next = [this, index, detail = std::move(detail)](std::string fact) {
      facts_[index] = std::string{text::trim(fact)};
      read_fact(index + 1, detail);
    };
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([next](const file_outcome& found) { next(found.bytes); },
            [next](caf::error&) { next({}); });
  }

  void end(std::string failure) {
    if (!action_)
      return;
    report_.ok = failure.empty();
    report_.failure = std::move(failure);
    std::exchange(action_, {})(report_);
    self_->quit();
  }

  pointer self_;
  executor_deps deps_;
  probe_action action_;
  probe_report report_;
  std::string bwrap_path_;
  bool new_enough_ = false;
  std::vector<file_job> jobs_;
  std::array<std::string, 3> facts_;
  std::shared_ptr<const profile> profile_;
  child_table<status_actor::pointer> children_;
};

} // namespace

void probe_bwrap(caf::actor_system& system, executor_deps deps,
                 bwrap_config config, const workspace& ws,
                 probe_action action) {
  kit::spawn_stateful<status_actor, probe_state>(
    system, std::move(deps), std::move(config), ws, std::move(action));
}

} // namespace bureau::sandbox
