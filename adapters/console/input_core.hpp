#pragma once

#include <string>
#include <string_view>
#include <vector>

/// From bytes to lines, and from lines to what they mean to the console.
namespace bureau::console {

/// A line of input without its line break.
struct raw_line {
  std::string bytes;
  /// More followed and was thrown away.
  bool cut = false;
  friend bool operator==(const raw_line&, const raw_line&) = default;
};

/// Splits a byte stream into lines of at most limits::message_text_bytes; what
/// is longer is cut, however long it is.
class line_splitter {
public:
  /// Feeds a chunk; answers the lines that are complete.
  std::vector<raw_line> feed(std::string_view chunk);
  /// Ends the stream: a last line without a line break counts.
  std::vector<raw_line> finish();

private:
  void take(std::string_view part);
  void complete(std::vector<raw_line>& out);

  raw_line open_;
  bool any_ = false;
};

/// What a line asks for.
struct console_line {
  enum class verb : uint8_t {
    nothing,
    message,
    attach,
    /// A file of an answer is to be kept.
    save,
    help,
    quit,
    switch_to,
    wrong
  };
  verb what = verb::nothing;
  /// message and attach: the text; switch_to: the name; wrong: one sentence
  /// why.
  std::string text;
  /// message: the line was longer than a message may be.
  bool cut = false;
  /// attach, save: the path as it was written.
  std::string path = {};
  /// save: number of the file.
  uint64_t number = 0;
  friend bool operator==(const console_line&, const console_line&) = default;
};

/// Reads one line: ill-formed UTF-8 becomes U+FFFD, a carriage return at its
/// end goes, `/attach PATH`, `/save N [PATH]`, `/help`, `/to NAME` and `/quit`
/// are the console's own, blank lines mean nothing.
console_line read_line(const raw_line& line);

/// Text of /help.
std::string help_text();

} // namespace bureau::console
