#pragma once

#include "messages/contracts/continuation.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/turn.hpp"
#include "messages/identity/platform.hpp"
#include "messages/interfaces/history_window.hpp"
#include "messages/interfaces/model.hpp"

#include <caf/typed_actor.hpp>

namespace bureau {

/// For whom a run works that calls a tool.
struct tool_context {
  conversation_kind kind = conversation_kind::direct;
  /// Platform id of the person; empty: nobody in particular.
  std::string user;
  friend bool operator==(const tool_context&, const tool_context&) = default;
};

BUREAU_INSPECT(tool_context, x.kind, x.user);

/// One call of a tool, arguments already validated against its schema.
struct tool_invocation {
  std::string call_id;
  std::string name;
  json_text arguments;
  /// Run that calls, and the message that it answers; empty: unknown.
  std::string run;
  std::string message_id;
  /// Where the answer of the run goes; made by the adapter at intake.
  json_text target;
  /// Wake that the run was caused by or has read; empty: none.
  std::string wake;
  tool_context context{};
  /// For the processes of the call; no model sees it.
  contracts::tool_environment environment{};
  friend bool operator==(const tool_invocation&,
                         const tool_invocation&) = default;
};

BUREAU_INSPECT(tool_invocation, x.call_id, x.name, x.arguments, x.run,
               x.message_id, x.target, x.wake, x.context, x.environment);

/// What a tool gives back to the model.
struct tool_outcome {
  std::vector<content_block> content;
  json_text details;
  bool is_error = false;
  /// Every outcome of a batch saying so ends the turn loop.
  bool terminate = false;
  /// What the answer of the run gains by this call.
  std::vector<contracts::reply_part> parts;
  /// Something of it outlives the run: what the run knew at its end is kept for
  /// the turn that follows.
  bool continues = false;
  friend bool operator==(const tool_outcome&, const tool_outcome&) = default;
};

BUREAU_INSPECT(tool_outcome, x.content, x.details, x.is_error, x.terminate,
               x.parts, x.continues);

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
  /// Where the answer goes; for tools that answer later.
  json_text target;
  /// For whom its tools work.
  tool_context context{};
  /// For the processes that its tools start; no model sees it.
  contracts::tool_environment environment{};
  /// The run goes on where another has ended: it has no tools, and nothing of
  /// it is stored (prompt_outcome::deferred).
  caf::optional<contracts::continuation_turn> continuation{};
};

BUREAU_INSPECT(prompt_request, x.run, x.message_id, x.text, x.images,
               x.system_prompt, x.choice, x.tools, x.budget, x.history,
               x.platform, x.resume, x.target, x.context, x.environment,
               x.continuation);

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
  /// Why its user, or the node, ended it.
  caf::optional<contracts::cancel_reason> cancelled{};
  /// Of a continuation with an answer: what the session is to gain by it.
  std::vector<transcript_message> deferred{};
  friend bool operator==(const prompt_outcome&,
                         const prompt_outcome&) = default;
};

BUREAU_INSPECT(prompt_outcome, x.blocked, x.stop, x.final_text,
               x.error_sentence, x.error_class, x.stats, x.parts, x.cancelled,
               x.deferred);

/// A message that is offered to the running turn (decision A21; agent
/// contracts, 2.3).
struct live_input {
  /// Message id; offering it again is the same message.
  std::string id;
  /// What the model is to read, as it enters the transcript.
  std::string text;
  /// What was typed, for the line that tells of it.
  std::string typed;
  int64_t received_ms = 0;
  /// Contract id of the conversation.
  std::string conversation_id;
  /// Durable identity of a wake; empty: a message of a person.
  std::string delivery_key;
  /// The only run that may take it; empty: whichever runs.
  std::string target_run;
  friend bool operator==(const live_input&, const live_input&) = default;
};

BUREAU_INSPECT(live_input, x.id, x.text, x.typed, x.received_ms,
               x.conversation_id, x.delivery_key, x.target_run);

/// What a message is to the contracts: measured by what was typed.
contracts::live_input_request request_of(const live_input& input);

/// What became of a message that a run had taken; told once.
struct live_input_settled {
  /// Run that it was offered to.
  std::string run;
  std::string id;
  contracts::live_input_settlement settlement;
  friend bool operator==(const live_input_settled&,
                         const live_input_settled&) = default;
};

BUREAU_INSPECT(live_input_settled, x.run, x.id, x.settlement);

/// The LIVE INPUT SINK actor interface: whoever offers messages to a run.
using live_input_sink_actor = caf::typed_actor<
  // A message that was taken is settled. Nothing comes from a run whose owner
  // has ended.
  caf::reacts_to<atom::settled, live_input_settled>>;

/// The CONTINUATION KEEPER actor interface: keeps what a run knew at its end
/// for the turn that goes on from there.
using continuation_keeper_actor = caf::typed_actor<
  caf::reacts_to<atom::settled, contracts::continuation_context>>;

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
  // Offers a message to the active run; answered at once. What was taken is
  // settled later, before the run is.
  caf::replies_to<atom::offer, live_input,
                  live_input_sink_actor>::with<contracts::live_input_offer>,
  // Ends the run, whatever it waits for. Idempotent: the first reason counts.
  // Send it urgently.
  caf::reacts_to<atom::abort, contracts::cancel_reason>,
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
CAF_ADD_TYPE_ID(bureau_harness, (bureau::live_input_settled))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::live_input_sink_actor))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::continuation_keeper_actor))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::contracts::live_input_offer))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::contracts::cancel_reason))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::contracts::continuation_context))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_event))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_listener_actor))
CAF_ADD_TYPE_ID(bureau_harness, (bureau::harness_actor))
CAF_END_TYPE_ID_BLOCK(bureau_harness)
