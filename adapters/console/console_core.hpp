#pragma once

#include "messages/interfaces/transport.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the console decides; pure (decision A10).
namespace bureau::console {

// -- message ids
// ----------------------------------------------------------------

/// Ids `<unix seconds>.<6 digits>`, strictly increasing whatever the clock
/// does.
class id_sequence {
public:
  /// Goes on above an id that is already in a log; other text is ignored.
  void resume_above(std::string_view id);
  std::string next(int64_t unix_ms);

private:
  /// Microseconds since the epoch.
  int64_t last_ = 0;
};

// -- input
// ----------------------------------------------------------------------

/// What a typed line is.
enum class line_kind : uint8_t {
  empty,
  message,
  help,
  quit,
  select,
  unknown_name
};

struct typed_line {
  line_kind kind = line_kind::empty;
  /// message: the text; select: the conversation.
  std::string text;
};

/// Takes a line apart. Ill-formed UTF-8 becomes U+FFFD. Only `/help`, `/quit`
/// and `/to NAME` belong to the console; every other text is a message.
typed_line read_line(std::string_view raw);

/// Whether a name may be a conversation: [a-z0-9-]{1,32}.
bool is_conversation_name(std::string_view name);

/// Text of /help.
std::string help_text();

/// Said in front of the answer to a line that was cut.
std::string cut_notice(size_t limit);

// -- output
// ---------------------------------------------------------------------

/// Where printed text goes.
enum class stream : uint8_t { out, err };

struct printed {
  stream where = stream::out;
  /// Whole lines, each with its newline; may be empty.
  std::string text;
};

/// Turns posts and edits into lines of a terminal or a pipe. A terminal cannot
/// change what it shows, so an edit prints what is new: the rest of a text that
/// grew, or the whole text when it became another one.
class printer {
public:
  /// @param interactive a terminal: activity goes to the same screen, dimmed
  /// @param width columns after which a long line is shown without waiting for
  ///        its end; 0 = never
  printer(bool interactive, size_t width);

  /// Conversations seen so far; with more than one, lines are prefixed.
  void add_conversation(const std::string& name);

  /// Text of a post or an edit under a message id.
  printed show(const outbound& operation, const std::string& ref);

private:
  struct message {
    /// Source text already printed.
    std::string shown;
  };

  std::string decorate(std::string_view lines, const outbound& operation) const;

  bool interactive_;
  size_t width_;
  std::vector<std::string> conversations_;
  /// Messages that may still be edited, oldest dropped beyond 64.
  std::map<std::string, message> open_;
  std::vector<std::string> order_;
};

} // namespace bureau::console
