#pragma once

#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/interfaces/transport.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// From harness events to what the user sees (note on the harness, 3.14;
/// decisions A4, A16).
namespace bureau::runner {

/// One call of the responder.
struct output_call {
  enum class verb : uint8_t { append, replace, activity };
  verb what = verb::append;
  std::string text;
  friend bool operator==(const output_call&, const output_call&) = default;
};

using output_calls = std::vector<output_call>;

/// Whether the final text of an unattended turn says that there is nothing to
/// say: it is blank, or it or its last line is NOTHING_TO_REPORT in any case.
bool suppresses_notification(std::string_view text);

/// Whether a text asks to stay silent: it begins with [SILENT].
bool asks_for_silence(std::string_view text);

/// What a run's outcome means for the user: the text of the last assistant
/// message without tool calls, one sentence for a failed or blocked run, the
/// empty-answer sentence, or silence.
final_answer final_answer_of(const prompt_outcome& outcome, turn_origin origin);

/// Follows the events of one run. Knows no clock and no actor.
class run_output_core {
public:
  /// @param origin scheduled turns stream nothing: their text is judged first
  explicit run_output_core(turn_origin origin) : origin_(origin) {}

  output_calls event(const harness_event& event);

private:
  void text_delta(output_calls& out, const std::string& delta);
  void flush(output_calls& out);
  void tool_started(output_calls& out, const harness_event& event);
  void tool_ended(output_calls& out, const harness_event& event);

  turn_origin origin_;
  /// Start of a message, held back while it may turn out to be [SILENT].
  std::string held_;
  bool holding_ = true;
  /// A new message begins: its text takes the place of what is shown.
  bool fresh_ = true;
  bool shown_ = false;
  /// Labels of running calls, by call id.
  std::map<std::string, std::string> labels_;
};

} // namespace bureau::runner
