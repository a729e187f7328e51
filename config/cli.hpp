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
  status,
  shutdown,
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

/// Flags of `status`.
struct status_options {
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
