#pragma once

#include "actors/harness/answer_parts_core.hpp"
#include "actors/harness/live_input_core.hpp"
#include "actors/harness/partial_core.hpp"
#include "actors/harness/retry_core.hpp"
#include "actors/harness/tool_call_core.hpp"
#include "messages/errc.hpp"
#include "messages/interfaces/session.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The turn loop of one run: pure transitions from what happened to what is to
/// be done (note on the harness, sections 3.1 to 3.7 and 3.9; decisions A16,
/// B28).
namespace bureau::harness {

/// An instant, twice: for what is stored, and for what is measured.
struct moment {
  /// Unix time.
  int64_t wall_ms = 0;
  /// The actor's clock; only differences mean something.
  int64_t clock_ms = 0;
};

/// What a run is given.
struct loop_setup {
  std::string run;
  std::string message_id;
  std::string text;
  std::vector<content_block> images;
  bool resume = false;
  model_descriptor model;
  std::vector<tool_definition> tools;
  run_budget budget;
  retry_policy retry;
};

/// What the shell is to do, in order.
namespace effect {

/// Open the store; answer with opened or open_failed.
struct open_store {};

/// Append to the store as one unit; answer with appended or append_failed.
struct append {
  std::vector<session_entry> entries;
};

/// Tell the listener.
struct emit {
  harness_event event;
};

/// Start a model call over the transcript; answer with model_delta*, then
/// model_done or model_lost.
struct call_model {};

/// Ask the model call to end; it still answers.
struct cancel_model {};

/// The model call did not end: get rid of it, ignore what it still says.
struct drop_model {};

/// Start a tool; answer with tool_done. Outcomes of dropped slots are ignored.
struct run_tool {
  size_t slot = 0;
  /// Index into loop_setup::tools.
  size_t tool = 0;
  tool_invocation invocation;
};

/// Ask a running tool to end; it still answers.
struct abort_tool {
  size_t slot = 0;
};

/// Call retry_due after the delay.
struct sleep {
  int64_t delay_ms = 0;
};

/// The sleep is void.
struct wake {};

/// Call duration_over after the delay.
struct limit_duration {
  int64_t delay_ms = 0;
};

/// Call grace_over after the delay, in place of an earlier one.
struct grant_grace {
  int64_t delay_ms = 0;
};

/// The prompt fails; nothing of it was stored. The run is over.
struct refuse {
  errc code = errc::internal;
  std::string sentence;
};

/// Offered messages are in the transcript: the model reads them next.
struct apply_inputs {
  std::vector<std::string> ids;
};

/// The run is over.
struct settle {
  prompt_outcome outcome;
  /// What that means for messages that were offered and not read.
  live_input_end inputs = live_input_end::closed;
};

} // namespace effect

using loop_effect =
  std::variant<effect::open_store, effect::append, effect::emit,
               effect::call_model, effect::cancel_model, effect::drop_model,
               effect::run_tool, effect::abort_tool, effect::sleep,
               effect::wake, effect::limit_duration, effect::grant_grace,
               effect::refuse, effect::apply_inputs, effect::settle>;

using loop_effects = std::vector<loop_effect>;

/// The entry that stores a message.
session_entry entry_of(const transcript_message& message);

/// One run. Every member function is one event; an event that does not fit the
/// phase (a late answer, a second abort) has no effects.
class turn_loop {
public:
  explicit turn_loop(loop_setup setup);

  // -- events -----------------------------------------------------------------

  loop_effects begin(moment now);
  loop_effects opened(session_context context, moment now);
  loop_effects open_failed(errc code, std::string sentence);
  loop_effects appended(moment now);
  loop_effects append_failed(errc code, std::string sentence, moment now);
  loop_effects model_delta(const stream_event& event, moment now);
  /// @param chance 64 random bits for the delay of a retry
  loop_effects model_done(stream_end end, moment now, uint64_t chance);
  /// The model call ended without its terminal event.
  loop_effects model_lost(moment now);
  loop_effects tool_done(size_t slot, tool_outcome outcome, moment now);
  loop_effects retry_due(moment now);
  loop_effects duration_over(moment now);
  loop_effects abort(moment now);
  /// A message for the running turn; each id once.
  void offer(live_input input);
  loop_effects grace_over(moment now);

  // -- state ------------------------------------------------------------------

  /// What the next request is built from. Lent out, it has to be returned
  /// before the next event.
  std::vector<transcript_message> lend_transcript() {
    return std::exchange(transcript_, {});
  }
  void return_transcript(std::vector<transcript_message> transcript) {
    transcript_ = std::move(transcript);
  }
  const std::vector<transcript_message>& transcript() const {
    return transcript_;
  }
  const std::string& session_id() const { return session_id_; }
  bool is_over() const { return phase_ == phase::over; }

private:
  enum class phase : uint8_t {
    created,
    opening,
    admitting,
    streaming,
    storing_reply,
    running_tools,
    storing_results,
    storing_inputs,
    storing_stub,
    sleeping,
    over,
  };

  // -- opening ----------------------------------------------------------------
  void admit(moment now);
  void enter_loop(moment now, const transcript_message* user);

  // -- model ------------------------------------------------------------------
  void begin_turn();
  void next_call(moment now);
  void take_reply(transcript_message message, model_error failure, moment now);
  void reply_stored(moment now);
  void tally(moment now);
  void give_partial(stop_reason stop, const char* why, moment now);
  transcript_message blank_reply(moment now) const;

  // -- tools ------------------------------------------------------------------
  void begin_batch(moment now);
  void refuse_batch(moment now);
  void prepare_slot(size_t slot, moment now);
  void end_slot(size_t slot, tool_outcome outcome, moment now);
  void after_preparation(moment now);
  void store_results(size_t begin, size_t end, moment now);
  void results_stored(moment now);
  void end_batch(moment now);
  bool any_running() const;
  /// Counts a round that says and brings what the one before did, and trips
  /// when there were too many in a row.
  void watch_circles(std::vector<tool_slot> round, moment now);
  /// Puts what was offered behind the results (decision A21).
  void store_inputs();
  void inputs_stored(std::vector<transcript_message> stored, moment now);

  // -- ends -------------------------------------------------------------------
  void stop_running(moment now);
  void trip(std::string reason, moment now);
  void store_stub(moment now);
  void end_turn(const transcript_message& message);
  void after_loop(moment now);
  void retry(moment now);
  void settle_stopped(moment now);
  std::string failure_sentence() const;
  void settle_failed(moment now);
  void settle_answered(moment now);
  void settle(prompt_outcome outcome, moment now);

  // -- effects ----------------------------------------------------------------
  template <class Effect>
  void push(Effect what) {
    effects_.emplace_back(std::move(what));
  }
  harness_event event(harness_event_kind kind) const;
  void emit(harness_event_kind kind);
  void emit_message(harness_event_kind kind, const transcript_message& message);
  void append(std::vector<session_entry> entries, phase next);
  loop_effects take();

  loop_setup setup_;
  phase phase_ = phase::created;
  loop_effects effects_;
  std::vector<transcript_message> transcript_;
  std::string session_id_;
  run_stats stats_;
  int64_t started_ms_ = 0;
  /// Messages that are being stored.
  std::vector<transcript_message> pending_;
  // -- current reply ----------------------------------------------------------
  partial_message partial_;
  bool reply_shown_ = false;
  model_error failure_;
  uint64_t chance_ = 0;
  // -- current batch ----------------------------------------------------------
  transcript_message caller_;
  std::vector<tool_slot> slots_;
  bool sequential_ = false;
  /// First slot whose result is not stored.
  size_t unstored_ = 0;
  /// What the answer gains by the calls.
  answer_parts parts_;
  // -- offered messages -------------------------------------------------------
  std::vector<live_input> offered_;
  /// Those that are being stored.
  std::vector<live_input> storing_;
  // -- circles ----------------------------------------------------------------
  /// Calls and results of the round before.
  std::vector<tool_slot> last_round_;
  /// Rounds in a row like it, itself included.
  size_t same_rounds_ = 0;
  // -- ends -------------------------------------------------------------------
  /// The last message of the transcript is the run's answer.
  bool answered_ = false;
  /// Retries since the last good reply.
  int attempt_ = 0;
  /// The run is to end: by its user, or by its budget.
  bool stopping_ = false;
  bool by_user_ = false;
  /// A grace period ended already.
  bool overdue_ = false;
};

} // namespace bureau::harness
