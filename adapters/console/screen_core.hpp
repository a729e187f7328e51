#pragma once

#include "messages/interfaces/transport.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>

/// What an outbound operation puts on the screen.
namespace bureau::console {

/// Whole lines for the two streams, line breaks included.
struct printed {
  std::string out;
  std::string err;
  bool empty() const { return out.empty() && err.empty(); }
  friend bool operator==(const printed&, const printed&) = default;
};

/// Which of the two streams are terminals.
struct terminals {
  bool out = false;
  bool err = false;
};

/// Turns posts and edits into lines that are only ever added: a terminal cannot
/// take back what it showed. On a terminal a streamed answer appears line by
/// line and an edit that continues it adds the rest, activity adds its new
/// lines; in a pipe, stdout carries
/// answers and all else goes to stderr. What goes to a terminal is harmless,
/// also when the input is none.
class screen_core {
public:
  explicit screen_core(bool interactive)
    : screen_core(interactive, {interactive, interactive}) {}
  screen_core(bool interactive, terminals where)
    : interactive_(interactive), where_(where) {}

  /// A conversation is in use; with more than one, lines name theirs.
  void meet(const std::string& conversation);

  /// Lines of a post or edit.
  /// @param ref platform id of the message, also for a post
  /// @param preface line before a final answer; empty = none
  printed show(const outbound& operation, const std::string& ref,
               std::string_view preface = {});

  /// What a line of the console itself looks like.
  printed own(std::string_view text) const;

  /// A message will not be edited any more.
  void forget(const std::string& ref);
  void forget_run(const std::string& run);

  size_t remembered() const { return visible_.size(); }

private:
  /// Answers go to stdout; all else stands aside, where that is.
  enum class tone : uint8_t { answer, aside };

  /// A message that may still be edited.
  struct visible {
    std::string run;
    tone how = tone::answer;
    /// What was printed of it; whole lines.
    std::string printed;
  };

  std::string lines_of(std::string_view text, const std::string& conversation,
                       tone how) const;
  std::string line_of(std::string_view line, tone how) const;
  visible& remember(const std::string& ref, const std::string& run, tone how);

  bool interactive_;
  terminals where_;
  std::set<std::string> conversations_;
  std::map<std::string, visible> visible_;
  /// Order of `visible_`, oldest first.
  std::deque<std::string> order_;
};

} // namespace bureau::console
