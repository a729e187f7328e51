#pragma once

#include "messages/contracts/preview.hpp"
#include "messages/contracts/stream_event.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/interfaces/transport.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// From harness events to what the user sees (note on the harness, 3.14;
/// decisions A4, A16).
namespace bureau::runner {

/// One call of the responder.
struct output_call {
  enum class verb : uint8_t { status, append, replace, event };
  verb what = verb::append;
  std::string text;
  /// Of verb event.
  contracts::stream_event event;
  friend bool operator==(const output_call&, const output_call&) = default;
};

using output_calls = std::vector<output_call>;

/// Whether a text asks to stay silent: it begins with [SILENT].
bool asks_for_silence(std::string_view text);

/// What a run's outcome means for the user: the text of the last assistant
/// message without tool calls, cut at limits::final_answer_bytes; one sentence
/// for a failed or blocked run; the empty-answer sentence; or silence.
final_answer final_answer_of(const prompt_outcome& outcome, turn_origin origin);

/// What one run has to do with its output.
struct run_output_style {
  /// Scheduled turns stream nothing: their text is judged first.
  turn_origin origin = turn_origin::user;
  /// Model as its users name it.
  std::string model;
  /// The directories of the run's own world.
  contracts::path_roots roots;
};

/// Directories that activity lines shorten in a world.
contracts::path_roots output_roots(const executor_info& executor,
                                   const path_context& paths);

/// Follows the events of one run. Knows no clock and no actor.
class run_output_core {
public:
  explicit run_output_core(run_output_style style) : style_(std::move(style)) {}

  output_calls event(const harness_event& event);

private:
  void text_delta(output_calls& out, const std::string& delta);
  void flush(output_calls& out);

  run_output_style style_;
  /// Start of a message, held back while it may turn out to be [SILENT].
  std::string held_;
  bool holding_ = true;
  /// A new message begins: its text takes the place of what is shown.
  bool fresh_ = true;
  bool shown_ = false;
};

} // namespace bureau::runner
