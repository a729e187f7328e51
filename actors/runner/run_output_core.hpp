#pragma once

#include "messages/contracts/preview.hpp"
#include "messages/contracts/stream_event.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/interfaces/transport.hpp"

#include <map>
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

/// What a run came to, for readers that are programs.
contracts::stream_event run_ended(const prompt_outcome& outcome);

/// What a run was reminded of.
/// @param source conversation or shared
contracts::stream_event memory_recalled(std::string source, size_t bytes);

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
  void reply_ended(output_calls& out, const transcript_message& reply);
  /// Tells the end of a call, once the history has it or never will.
  void call_ended(output_calls& out, const std::string& id, bool persisted);
  void lose_open_calls(output_calls& out);

  run_output_style style_;
  /// Start of a message, held back while it may turn out to be [SILENT].
  std::string held_;
  bool holding_ = true;
  /// A new message begins: its text takes the place of what is shown.
  bool fresh_ = true;
  bool shown_ = false;
  /// Arguments of calls under way, and ends of calls that the session does not
  /// hold yet, in their order.
  std::map<std::string, json_text> arguments_;
  std::vector<contracts::stream_event> ended_;
  /// Of the run so far.
  usage spent_;
};

} // namespace bureau::runner
