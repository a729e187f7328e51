#pragma once

#include "config/sandbox_value.hpp"
#include "messages/identity/platform.hpp"

#include <optional>
#include <string>
#include <vector>

/// The command line (decision B17, note 05 E): arguments in, plan out. Pure: no
/// environment, no disk, no exit.
namespace bureau::config {

enum class command : uint8_t {
  run,
  office,
  env,
  config,
  status,
  shutdown,
  notify,
  cancel,
  frames,
  jobs,
  events,
  version,
  help,
};

/// Flags of `run`; absent ones were not given.
struct run_options {
  std::optional<std::string> sandbox_text;
  std::optional<sandbox_value> sandbox;
  bool headless = false;
  /// The console speaks NDJSON frames.
  bool json = false;
  /// First conversation of the console.
  std::optional<std::string> console;
  std::optional<std::string> log_file;
};

enum class office_action : uint8_t { list, show, claim };

/// `office list`, `office show PLATFORM ID` and `office claim RAWID PLATFORM`.
struct office_options {
  office_action action = office_action::list;
  std::string raw_id;
  platform_id platform = platform_id::slack;
};

/// Flags of `status`, and of `config`.
struct status_options {
  bool json = false;
};

/// `notify CONVERSATION TEXT` and `notify --list`.
struct notify_options {
  /// Contract id, `<platform>:<session key>`.
  std::string conversation;
  std::string text;
  /// Posted as it is, without a turn.
  bool verbatim = false;
  /// The same key again is the same notification.
  std::optional<std::string> key;
  /// Say where notifications can go.
  bool list = false;
};

/// `cancel CONVERSATION`.
struct cancel_options {
  std::string conversation;
  /// What waits ends as well.
  bool all = false;
};

enum class jobs_action : uint8_t { list, show, cancel };

/// `jobs list`, `jobs show ID` and `jobs cancel ID`.
struct jobs_options {
  jobs_action action = jobs_action::list;
  std::string id;
  /// Of `list`: only jobs in this state.
  std::optional<std::string> state;
  bool json = false;
};

enum class events_action : uint8_t { list, show, remove };

/// `events list`, `events show JOB` and `events delete NAME`.
struct events_options {
  events_action action = events_action::list;
  /// Name of a schedule, or of its file.
  std::string name;
  /// Of `show`: one run.
  std::optional<std::string> run;
  /// Of `show`: the cursor of an earlier page.
  std::optional<std::string> before;
  bool json = false;
};

/// Flags of `shutdown`.
struct shutdown_options {
  /// Seconds that running turns and answers get; absent: what is configured.
  std::optional<int64_t> timeout_s;
};

/// What to do.
struct cli_plan {
  command what = command::run;
  /// Last `--state-dir`, as typed.
  std::optional<std::string> state_dir;
  /// Last positional of `run`, or `--workspace` of `office`, as typed.
  std::optional<std::string> workspace;
  run_options run;
  office_options office;
  status_options status;
  notify_options notify;
  cancel_options cancel;
  jobs_options jobs;
  events_options events;
  shutdown_options shutdown;
};

/// A plan, or the sentence of a usage error; such an error ends the program
/// with exit_usage.
struct cli_result {
  cli_plan plan;
  std::string usage_error;
  explicit operator bool() const { return usage_error.empty(); }
};

/// Exit codes (decision B17).
inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

/// Parses the arguments after the program name. Values are given as `--name
/// value` or `--name=value`; the last one wins; a value that begins with '-'
/// needs the second form, and an empty value is an error.
cli_result parse_command_line(const std::vector<std::string>& args);

/// Text of `bureau help`.
std::string help_text();

/// Text of `bureau version`.
std::string version_text();

/// Whether a name may be a console conversation: `[a-z0-9-]{1,32}`.
bool is_console_name(std::string_view name);

} // namespace bureau::config
