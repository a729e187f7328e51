#pragma once

#include "messages/contracts/reply_parts.hpp"
#include "messages/interfaces/history_window.hpp"
#include "messages/interfaces/model.hpp"

#include <caf/typed_actor.hpp>

namespace bureau {

/// One call of a tool, arguments already validated against its schema.
struct tool_invocation {
  std::string call_id;
  std::string name;
  json_text arguments;
  friend bool operator==(const tool_invocation&,
                         const tool_invocation&) = default;
};

BUREAU_INSPECT(tool_invocation, x.call_id, x.name, x.arguments);

/// What a tool gives back to the model.
struct tool_outcome {
  std::vector<content_block> content;
  json_text details;
  bool is_error = false;
  /// Every outcome of a batch saying so ends the turn loop.
  bool terminate = false;
  /// What the answer of the run gains by this call.
  std::vector<contracts::reply_part> parts;
  friend bool operator==(const tool_outcome&, const tool_outcome&) = default;
};

BUREAU_INSPECT(tool_outcome, x.content, x.details, x.is_error, x.terminate,
               x.parts);

/// The TOOL actor interface: a pack of tools with one owner.
using tool_actor = caf::typed_actor<
  // Runs one tool. An error becomes an error result with its sentence.
  caf::replies_to<atom::call, tool_invocation>::with<tool_outcome>,
  // Ends a running call by id; it then answers in its own way, aborted at the
  // latest. Send it urgently.
  caf::reacts_to<atom::abort, std::string>>;

/// A tool the model may call, and who runs it.
struct tool_binding {
  tool_definition definition;
  tool_actor owner;
};

BUREAU_INSPECT(tool_binding, x.definition, x.owner);

/// Caps of one run; 0 = no cap on that axis.
struct run_budget {
  int64_t max_tokens = 0;
  int64_t max_cost_micro = 0;
  int64_t max_duration_ms = 0;
  int64_t max_llm_calls = 0;
  friend bool operator==(const run_budget&, const run_budget&) = default;
};

BUREAU_INSPECT(run_budget, x.max_tokens, x.max_cost_micro, x.max_duration_ms,
               x.max_llm_calls);

/// Counters of a run; frozen at settlement.
struct run_stats {
  usage spent;
  int64_t llm_calls = 0;
  int64_t tool_calls = 0;
  int64_t duration_ms = 0;
  /// Empty unless a budget cap ended the run.
  std::string budget_reason;
  friend bool operator==(const run_stats&, const run_stats&) = default;
};

BUREAU_INSPECT(run_stats, x.spent, x.llm_calls, x.tool_calls, x.duration_ms,
               x.budget_reason);

/// One run of the harness.
struct prompt_request {
  std::string run;
  /// Message that caused it; recorded as mikan.run_cause.
  std::string message_id;
  std::string text;
  std::vector<content_block> images;
  std::string system_prompt;
  model_choice choice;
  std::vector<tool_binding> tools;
  run_budget budget;
  /// How much of the chat log may enter the session before the run.
  history_window history;
  std::string platform;
  /// The cause and the user message are already in the session (attempt 2).
  bool resume = false;
};

BUREAU_INSPECT(prompt_request, x.run, x.message_id, x.text, x.images,
               x.system_prompt, x.choice, x.tools, x.budget, x.history,
               x.platform, x.resume);

/// How a run settled.
struct prompt_outcome {
  bool blocked = false;
  stop_reason stop = stop_reason::stop;
  /// Text of the last assistant message without tool calls.
  std::string final_text;
  /// One user-safe sentence (what failed, what to do); empty when all is well.
  std::string error_sentence;
  std::string error_class;
  run_stats stats;
  /// What the tools of the run added to its answer, at most
  /// contracts::max_reply_parts.
  std::vector<contracts::reply_part> parts;
  friend bool operator==(const prompt_outcome&,
                         const prompt_outcome&) = default;
};

BUREAU_INSPECT(prompt_outcome, x.blocked, x.stop, x.final_text,
               x.error_sentence, x.error_class, x.stats, x.parts);

/// A message that is offered to the running turn (decision A21).
struct live_input {
  /// Message id; offering it again gives the same result.
  std::string id;
  /// What the model is to read, as it enters the transcript.
  std::string text;
  /// What was typed, for the line that tells of it.
  std::string typed;
  int64_t received_ms = 0;
  friend bool operator==(const live_input&, const live_input&) = default;
};

BUREAU_INSPECT(live_input, x.id, x.text, x.typed, x.received_ms);

/// What became of an offered message.
enum class live_input_state : uint8_t {
  /// No turn that could take it: inactive, unsupported, too_large, full or
  /// invalid.
  unavailable,
  /// The model reads it in this run.
  applied,
  /// It needs a turn of its own: unsupported, closed or failed.
  requeue,
  /// It ends with the turn that was stopped: cancelled.
  discarded,
};

std::string to_string(live_input_state state);

struct live_input_result {
  live_input_state state = live_input_state::unavailable;
  /// One of the words above; empty when it was applied.
  std::string reason;
  /// Run that took it.
  std::string run;
  friend bool operator==(const live_input_result&,
                         const live_input_result&) = default;
};

BUREAU_INSPECT(live_input_result, x.state, x.reason, x.run);

/// Kinds of harness events (note on the harness, section 2.6).
enum class harness_event_kind : uint8_t {
  agent_start,
  agent_end,
  turn_start,
  turn_end,
  message_start,
  message_update,
  message_end,
  tool_start,
  tool_end,
  retry_start,
  retry_end,
  budget_exceeded,
  /// An offered message is in the transcript: its id in call_id, what was typed
  /// in text.
  input_applied,
};

std::string to_string(harness_event_kind kind);

/// One event of a run, in order.
struct harness_event {
  harness_event_kind kind = harness_event_kind::agent_start;
  std::string run;
  /// message_start, message_end, turn_end.
  transcript_message message;
  /// message_update.
  stream_event update;
  /// tool_start, tool_end.
  std::string call_id;
  std::string tool_name;
  /// tool_start: as sent by the model.
  json_text arguments;
  /// tool_end.
  tool_outcome outcome;
  int64_t duration_ms = 0;
  /// retry_*: attempt and delay; budget_exceeded: reason in `text`.
  int32_t attempt = 0;
  int64_t delay_ms = 0;
  std::string text;
};

BUREAU_INSPECT(harness_event, x.kind, x.run, x.message, x.update, x.call_id,
               x.tool_name, x.arguments, x.outcome, x.duration_ms, x.attempt,
               x.delay_ms, x.text);

/// The HARNESS LISTENER actor interface.
using harness_listener_actor = caf::typed_actor<
  // Events of the running prompt, in order.
  caf::reacts_to<atom::event, harness_event>>;

/// The HARNESS actor interface: owner of one transcript and its turn loop.
using harness_actor = caf::typed_actor<
  // One run. Answered at settlement, an aborted or failed model call included.
  // Errors: busy (a run is active), no_credential, corrupt (session file),
  // disk, shutting_down; nothing was persisted then.
  caf::replies_to<atom::prompt, prompt_request>::with<prompt_outcome>,
  // Offers a message to the active run; answered when it is settled, or at once
  // when there is nothing to offer it to.
  caf::replies_to<atom::offer, live_input>::with<live_input_result>,
  // Ends the run, whatever it waits for. Idempotent. Send it urgently.
  caf::reacts_to<atom::abort>,
  // Ends an active run first, then answers.
  caf::replies_to<atom::dispose>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_harness, bureau::type_ids::harness)
CAF_ADD_TYPE_ID(bureau_harness, (bureau::tool_invocation))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::tool_outcome))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::tool_actor))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::tool_binding))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::prompt_request))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::prompt_outcome))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::live_input))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::live_input_result))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_event))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_listener_actor))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_actor))
CAF_END_TYPE_ID_BLOCK(bureau_harness)
