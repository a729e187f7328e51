#pragma once

#include <functional>
#include <string>
#include <string_view>

/// The log of the process. Lines go to stderr, to a file, or to a sink that the
/// console installs to print above its prompt. Never pass a secret.
namespace bureau::kit::log {

enum class level : int { debug, info, warning, error, off };

/// Receives finished lines, newline not included. Called from any thread.
using line_sink = std::function<void(level, std::string_view)>;

/// Lines below this level are dropped.
void set_level(level threshold);

/// Sends lines to stderr (the default).
void to_stderr();

/// Appends lines to a file; returns false when it cannot be opened.
bool to_file(const std::string& path);

/// Sends lines to a function of ours.
void to_sink(line_sink function);

/// Writes `[HH:MM:SS] level label: text`; line breaks in text become spaces.
void write(level severity, std::string_view label, std::string_view text);

inline void debug(std::string_view label, std::string_view text) {
  write(level::debug, label, text);
}
inline void info(std::string_view label, std::string_view text) {
  write(level::info, label, text);
}
inline void warning(std::string_view label, std::string_view text) {
  write(level::warning, label, text);
}
inline void error(std::string_view label, std::string_view text) {
  write(level::error, label, text);
}

} // namespace bureau::kit::log
