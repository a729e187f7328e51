#include "actors/harness/budget_core.hpp"
#include "actors/harness/sentence_core.hpp"
#include "actors/harness/turn_loop_core.hpp"
#include "messages/limits.hpp"

#include <utility>

/// The turn loop's ends: abort, budget, retry, settlement.
namespace bureau::harness {

void turn_loop::end_turn(const transcript_message& message) {
  emit_message(harness_event_kind::turn_end, message);
}

loop_effects turn_loop::abort(moment now) {
  if (phase_ == phase::created || phase_ == phase::over || by_user_)
    return {};
  by_user_ = true;
  if (!stopping_)
    stop_running(now);
  return take();
}

loop_effects turn_loop::duration_over(moment now) {
  if (phase_ == phase::created || phase_ == phase::over || stopping_)
    return {};
  auto reason = budget_fault(setup_.budget, stats_, now.clock_ms - started_ms_,
                             call_need::settled);
  if (!reason.empty())
    trip(std::move(reason), now);
  else
    push(effect::limit_duration{setup_.budget.max_duration_ms
                                - (now.clock_ms - started_ms_)});
  return take();
}

void turn_loop::trip(std::string reason, moment now) {
  stats_.budget_reason = std::move(reason);
  auto told = event(harness_event_kind::budget_exceeded);
  told.text = stats_.budget_reason;
  push(effect::emit{std::move(told)});
  stop_running(now);
}

/// Asks whatever the run waits for to end.
void turn_loop::stop_running(moment now) {
  stopping_ = true;
  auto grace = std::chrono::milliseconds{limits::abort_peer_grace}.count();
  switch (phase_) {
  case phase::opening:
    // Nothing was stored yet, and nothing will be.
    settle_stopped(now);
    return;
  case phase::streaming:
    push(effect::cancel_model{});
    break;
  case phase::running_tools:
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].state == tool_slot::progress::running)
        push(effect::abort_tool{i});
    break;
  case phase::sleeping: {
    push(effect::wake{});
    auto told = event(harness_event_kind::retry_end);
    told.attempt = attempt_;
    told.text = "cancelled";
    push(effect::emit{std::move(told)});
    attempt_ = 0;
    settle_stopped(now);
    return;
  }
  default:
    break;
  }
  push(effect::grant_grace{grace});
}

/// What did not end in time is answered for.
loop_effects turn_loop::grace_over(moment now) {
  if (!stopping_ || phase_ == phase::over)
    return {};
  auto again = std::chrono::milliseconds{limits::abort_store_grace}.count();
  switch (phase_) {
  case phase::streaming:
    push(effect::drop_model{});
    give_partial(stop_reason::aborted,
                 "The request was aborted; it did not end in time.", now);
    break;
  case phase::running_tools:
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].state == tool_slot::progress::running)
        end_slot(i, unanswered_outcome(), now);
    after_preparation(now);
    break;
  default:
    if (!overdue_)
      break;
    // The store does not answer either. What it was given may still be
    // written; the next run reads the file afresh.
    if (phase_ != phase::admitting) {
      end_turn(phase_ == phase::storing_results ? caller_ : blank_reply(now));
      emit(harness_event_kind::agent_end);
    }
    settle_stopped(now);
    return take();
  }
  overdue_ = true;
  push(effect::grant_grace{again});
  return take();
}

/// A transcript must not end in tool results: an empty, aborted reply closes
/// it. It was no model call and is not counted as one.
void turn_loop::store_stub(moment now) {
  auto stub = blank_reply(now);
  stub.stop = stop_reason::aborted;
  std::vector<session_entry> entries = {entry_of(stub)};
  pending_ = {std::move(stub)};
  append(std::move(entries), phase::storing_stub);
}

/// The order of these questions is part of the contract.
void turn_loop::after_loop(moment now) {
  if (stopping_)
    settle_stopped(now);
  else if (answered_)
    settle_answered(now);
  else if (is_retryable(failure_.error))
    retry(now);
  else
    settle_failed(now);
}

/// About the reply that failed, which is the last of the transcript.
std::string turn_loop::failure_sentence() const {
  return model_failure_sentence(setup_.model, failure_,
                                transcript_.back().error_message, attempt_);
}

void turn_loop::retry(moment now) {
  auto told_text = failure_sentence();
  if (attempt_ >= setup_.retry.max_retries) {
    auto told = event(harness_event_kind::retry_end);
    told.attempt = attempt_;
    told.text = std::move(told_text);
    if (attempt_ > 0)
      push(effect::emit{std::move(told)});
    settle_failed(now);
    return;
  }
  ++attempt_;
  auto delay =
    retry_delay_ms(setup_.retry, attempt_, failure_.retry_after_ms, chance_);
  auto told = event(harness_event_kind::retry_start);
  told.attempt = attempt_;
  told.delay_ms = delay;
  told.text = std::move(told_text);
  push(effect::emit{std::move(told)});
  // It stays in the file; the model is not to see it.
  transcript_.pop_back();
  phase_ = phase::sleeping;
  push(effect::sleep{delay});
}

loop_effects turn_loop::retry_due(moment now) {
  if (phase_ != phase::sleeping)
    return {};
  enter_loop(now, nullptr);
  return take();
}

void turn_loop::settle_stopped(moment now) {
  prompt_outcome outcome;
  // An answer that was complete when a budget cap was met is still the answer.
  if (answered_ && !by_user_) {
    settle_answered(now);
    return;
  }
  outcome.stop = stop_reason::aborted;
  if (!by_user_) {
    outcome.error_sentence = same_rounds_ >= limits::repeated_rounds
                               ? repetition_sentence(same_rounds_)
                               : budget_sentence(stats_.budget_reason);
    outcome.error_class = "budget";
  }
  settle(std::move(outcome), now);
}

void turn_loop::settle_failed(moment now) {
  prompt_outcome outcome;
  outcome.stop = stop_reason::error;
  outcome.error_sentence = failure_sentence();
  outcome.error_class = to_string(failure_.error);
  settle(std::move(outcome), now);
}

void turn_loop::settle_answered(moment now) {
  prompt_outcome outcome;
  outcome.stop = stop_reason::stop;
  if (answered_) {
    const auto& reply = transcript_.back();
    outcome.final_text = text_of(reply);
    if (reply.stop == stop_reason::length) {
      outcome.stop = stop_reason::length;
      if (outcome.final_text.empty()) {
        outcome.error_sentence = length_sentence(setup_.model);
        outcome.error_class = "length";
      }
    }
  }
  settle(std::move(outcome), now);
}

void turn_loop::settle(prompt_outcome outcome, moment now) {
  phase_ = phase::over;
  stats_.duration_ms = now.clock_ms - started_ms_;
  outcome.stats = stats_;
  outcome.parts = parts_.take();
  auto answered =
    outcome.stop != stop_reason::error && outcome.stop != stop_reason::aborted;
  auto end = by_user_   ? live_input_end::cancelled
             : answered ? live_input_end::closed
                        : live_input_end::failed;
  push(effect::settle{std::move(outcome), end});
}

} // namespace bureau::harness
