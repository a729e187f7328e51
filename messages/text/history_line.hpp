#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The attributed line in which people's messages stand in a session:
/// `[2026-05-01 08:00:02+08:00] [alice] [in-thread:17.1]: text`. Prompts and
/// replayed history use the same form; writer and parser belong together.
namespace bureau::text {

/// What a line says.
struct history_line {
  /// Message time; absent when it is not known. A line without a time is shown
  /// but never taken apart again.
  std::optional<int64_t> time_ms;
  /// Offset of the zone the time is shown in, in minutes.
  int offset_minutes = 0;
  std::string name;
  /// Thread root; empty outside of threads.
  std::string thread;
  std::string text;
};

/// Writes the line. An empty name becomes `unknown`; in names and thread ids
/// `]` becomes `)` and a line break becomes a space, so that the line can be
/// read back.
std::string print_history_line(const history_line& line);

/// Parts of a line; views into it.
struct parsed_history_line {
  std::string_view time;
  std::string_view name;
  std::string_view thread;
  /// Trimmed.
  std::string_view text;
};

/// Takes a line apart; nothing when it does not begin with time and name.
std::optional<parsed_history_line> parse_history_line(std::string_view line);

/// The text behind the attribution, or the whole line without one.
std::string_view strip_history_line(std::string_view line);

} // namespace bureau::text
