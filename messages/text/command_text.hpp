#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How commands and the magic word look in a message. Matching only: what they
/// do is decided by the office and by the commands' owner.
namespace bureau::text {

/// Whether a message is a command line: `/` and a command name, its alias, or
/// `pi-` and any word, then an optional @mention, then white space or the end.
/// Such lines stay out of replayed history.
bool is_command_text(std::string_view message);

/// Whether the whole message is the magic word: stop, /stop, stop@bot.
bool is_stop_word(std::string_view message);

/// A command line taken apart.
struct command_line {
  /// The accepted spelling that matched, lower-case.
  std::string command;
  std::vector<std::string> args;
  friend bool operator==(const command_line&, const command_line&) = default;
};

/// Splits a message at white space and looks its first word up, ignoring case.
/// @param spellings lower-case accepted spellings, with their slash
/// @param strip_mention drop a trailing @word of the first word
std::optional<command_line> match_command(
  std::string_view message, const std::vector<std::string>& spellings,
  bool strip_mention = false);

} // namespace bureau::text
