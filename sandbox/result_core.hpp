#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/process.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// From what a process host reports to what a caller of exec is told.
namespace bureau::sandbox {

/// Why a command was killed by its executor; a later value wins.
enum class kill_cause : uint8_t { none, timeout, aborted };

/// The end of one command: a result, or a fault with its sentence.
struct command_end {
  errc fault = errc::none;
  std::string sentence;
  exec_result result;
};

/// Captured bytes as valid UTF-8 of at most `cap` bytes; no code point is cut.
struct captured_text {
  std::string text;
  bool truncated = false;
};

/// @param dropped bytes that the capture threw away behind `bytes`
captured_text decode_capture(std::string_view bytes, uint64_t dropped,
                             size_t cap);

/// What is left of a command that was killed: its output and one last line,
/// joined by line breaks and trimmed.
std::string killed_text(std::string_view out, std::string_view err,
                        std::string_view last_line);

/// "Command timed out after 0.2 seconds"
std::string timeout_line(int64_t timeout_ms);

inline constexpr std::string_view aborted_line = "Command aborted";

/// The `exit-code` of bubblewrap's status documents; nothing when the command
/// never ran to its end.
std::optional<int32_t> status_exit_code(std::string_view documents);

/// What a command that was killed had printed, as a result of its own.
exec_result kept_result(kill_cause cause, const proc_result& result);

/// The end of a command that ran directly.
command_end end_of_plain(kill_cause cause, int64_t timeout_ms,
                         const proc_result& result);

/// The end of a command that ran in bubblewrap. Without an exit code in the
/// status the sandbox itself failed, and its standard error says why.
/// @param cwd the directory asked for, for the sentence when it is missing
command_end end_of_sandboxed(kill_cause cause, int64_t timeout_ms,
                             std::string_view cwd, const proc_result& result);

} // namespace bureau::sandbox
