#include "actors/harness/turn_loop_core.hpp"

#include "actors/harness/budget_core.hpp"
#include "actors/harness/sentence_core.hpp"
#include "messages/codec/session_record.hpp"

#include <algorithm>
#include <utility>

namespace bureau::harness {

namespace {

/// Whether a stored reply ends the run as its answer.
bool is_answer(const transcript_message& message) {
  return !has_tool_calls(message) && message.stop != stop_reason::error
         && message.stop != stop_reason::aborted;
}

} // namespace

session_entry entry_of(const transcript_message& message) {
  session_entry result;
  result.kind = entry_kind::message;
  result.message = message;
  return result;
}

turn_loop::turn_loop(loop_setup setup) : setup_(std::move(setup)) {
}

// -- effects ------------------------------------------------------------------

loop_effects turn_loop::take() {
  return std::exchange(effects_, {});
}

harness_event turn_loop::event(harness_event_kind kind) const {
  harness_event result;
  result.kind = kind;
  result.run = setup_.run;
  return result;
}

void turn_loop::emit(harness_event_kind kind) {
  push(effect::emit{event(kind)});
}

void turn_loop::emit_message(harness_event_kind kind,
                             const transcript_message& message) {
  auto told = event(kind);
  told.message = message;
  push(effect::emit{std::move(told)});
}

void turn_loop::append(std::vector<session_entry> entries, phase next) {
  phase_ = next;
  push(effect::append{std::move(entries)});
}

// -- opening ------------------------------------------------------------------

loop_effects turn_loop::begin(moment now) {
  if (phase_ != phase::created)
    return {};
  phase_ = phase::opening;
  started_ms_ = now.clock_ms;
  push(effect::open_store{});
  if (setup_.budget.max_duration_ms > 0)
    push(effect::limit_duration{setup_.budget.max_duration_ms});
  return take();
}

loop_effects turn_loop::opened(session_context context, moment now) {
  if (phase_ != phase::opening)
    return {};
  transcript_ = std::move(context.messages);
  session_id_ = std::move(context.session_id);
  const auto& handled = context.handled_messages;
  auto admitted =
    setup_.resume
    && std::find(handled.begin(), handled.end(), setup_.message_id)
         != handled.end();
  if (admitted)
    enter_loop(now, nullptr);
  else
    admit(now);
  return take();
}

loop_effects turn_loop::open_failed(errc code, std::string sentence) {
  if (phase_ != phase::opening)
    return {};
  phase_ = phase::over;
  push(effect::refuse{code, std::move(sentence)});
  return take();
}

void turn_loop::admit(moment now) {
  auto user = user_message(setup_.text, now.wall_ms);
  for (const auto& image : setup_.images)
    user.content.push_back(image);
  std::vector<session_entry> entries;
  if (!setup_.message_id.empty())
    entries.push_back(run_cause_entry(setup_.message_id));
  entries.push_back(entry_of(user));
  pending_ = {std::move(user)};
  append(std::move(entries), phase::admitting);
}

void turn_loop::enter_loop(moment now, const transcript_message* user) {
  emit(harness_event_kind::agent_start);
  begin_turn();
  if (user != nullptr) {
    emit_message(harness_event_kind::message_start, *user);
    emit_message(harness_event_kind::message_end, *user);
    transcript_.push_back(*user);
  }
  next_call(now);
}

// -- answers of the store -----------------------------------------------------

loop_effects turn_loop::appended(moment now) {
  auto stored = std::exchange(pending_, {});
  switch (phase_) {
  case phase::admitting:
    enter_loop(now, &stored.front());
    break;
  case phase::storing_reply:
    transcript_.push_back(std::move(stored.front()));
    reply_stored(now);
    break;
  case phase::storing_results:
    for (auto& result : stored) {
      emit_message(harness_event_kind::message_start, result);
      emit_message(harness_event_kind::message_end, result);
      transcript_.push_back(std::move(result));
    }
    results_stored(now);
    break;
  case phase::storing_inputs:
    inputs_stored(std::move(stored), now);
    break;
  case phase::storing_stub:
    transcript_.push_back(std::move(stored.front()));
    emit_message(harness_event_kind::message_start, transcript_.back());
    emit_message(harness_event_kind::message_end, transcript_.back());
    end_turn(transcript_.back());
    emit(harness_event_kind::agent_end);
    settle_stopped(now);
    break;
  default:
    pending_ = std::move(stored);
    return {};
  }
  return take();
}

loop_effects turn_loop::append_failed(errc code, std::string sentence,
                                      moment now) {
  switch (phase_) {
  case phase::admitting:
    phase_ = phase::over;
    push(effect::refuse{code, std::move(sentence)});
    break;
  case phase::storing_reply:
  case phase::storing_results:
  case phase::storing_inputs:
  case phase::storing_stub: {
    pending_.clear();
    end_turn(phase_ == phase::storing_results ? caller_ : blank_reply(now));
    emit(harness_event_kind::agent_end);
    prompt_outcome outcome;
    outcome.stop = stopping_ ? stop_reason::aborted : stop_reason::error;
    outcome.error_sentence = storage_sentence();
    outcome.error_class = to_string(errc::disk);
    settle(std::move(outcome), now);
    break;
  }
  default:
    return {};
  }
  return take();
}

// -- model --------------------------------------------------------------------

void turn_loop::begin_turn() {
  emit(harness_event_kind::turn_start);
}

void turn_loop::next_call(moment now) {
  if (stopping_) {
    store_stub(now);
    return;
  }
  partial_ = {};
  reply_shown_ = false;
  failure_ = {};
  phase_ = phase::streaming;
  push(effect::call_model{});
}

transcript_message turn_loop::blank_reply(moment now) const {
  transcript_message result;
  result.role = message_role::assistant;
  result.api = setup_.model.api;
  result.provider = setup_.model.provider;
  result.model = setup_.model.id;
  result.timestamp_ms = now.wall_ms;
  return result;
}

loop_effects turn_loop::model_delta(const stream_event& update, moment now) {
  if (phase_ != phase::streaming)
    return {};
  partial_.apply(update);
  // Nobody wants to see more of a reply that was stopped.
  if (stopping_)
    return {};
  if (!reply_shown_) {
    reply_shown_ = true;
    emit_message(harness_event_kind::message_start, blank_reply(now));
  }
  if (update.kind != stream_kind::start) {
    auto told = event(harness_event_kind::message_update);
    told.update = update;
    push(effect::emit{std::move(told)});
  }
  return take();
}

loop_effects turn_loop::model_done(stream_end end, moment now,
                                   uint64_t chance) {
  if (phase_ != phase::streaming)
    return {};
  chance_ = chance;
  take_reply(std::move(end.message), std::move(end.failure), now);
  return take();
}

loop_effects turn_loop::model_lost(moment now) {
  if (phase_ != phase::streaming)
    return {};
  if (stopping_)
    give_partial(stop_reason::aborted, "The request was aborted.", now);
  else
    give_partial(stop_reason::error, "The model call ended without a result.",
                 now);
  return take();
}

void turn_loop::give_partial(stop_reason stop, const char* why, moment now) {
  auto message = blank_reply(now);
  message.content = partial_.content();
  message.stop = stop;
  message.error_message = why;
  model_error failure;
  failure.error = stop == stop_reason::aborted ? model_error_class::cancelled
                                               : model_error_class::unknown;
  take_reply(std::move(message), failure, now);
}

void turn_loop::take_reply(transcript_message message, model_error failure,
                           moment now) {
  auto failed = failure.error != model_error_class::none;
  auto ended_badly =
    message.stop == stop_reason::error || message.stop == stop_reason::aborted;
  if (failed && !ended_badly)
    message.stop = stop_reason::error;
  if (ended_badly && !failed)
    failure.error = message.stop == stop_reason::aborted
                      ? model_error_class::cancelled
                      : model_error_class::unknown;
  message.role = message_role::assistant;
  if (message.api.empty())
    message.api = setup_.model.api;
  if (message.provider.empty())
    message.provider = setup_.model.provider;
  if (message.model.empty())
    message.model = setup_.model.id;
  if (message.timestamp_ms == 0)
    message.timestamp_ms = now.wall_ms;
  if (message.error_class.empty() && failure.error != model_error_class::none)
    message.error_class = to_string(failure.error);
  failure_ = std::move(failure);
  std::vector<session_entry> entries = {entry_of(message)};
  pending_ = {std::move(message)};
  append(std::move(entries), phase::storing_reply);
}

void turn_loop::reply_stored(moment now) {
  // The transcript may grow below: what is needed later is copied first.
  const auto reply = transcript_.back();
  if (!reply_shown_)
    emit_message(harness_event_kind::message_start, reply);
  emit_message(harness_event_kind::message_end, reply);
  tally(now);
  if (reply.stop == stop_reason::error || reply.stop == stop_reason::aborted) {
    end_turn(reply);
    emit(harness_event_kind::agent_end);
    after_loop(now);
    return;
  }
  if (attempt_ > 0) {
    auto told = event(harness_event_kind::retry_end);
    told.attempt = attempt_;
    push(effect::emit{std::move(told)});
    attempt_ = 0;
  }
  if (!has_tool_calls(reply)) {
    answered_ = true;
    end_turn(reply);
    emit(harness_event_kind::agent_end);
    after_loop(now);
    return;
  }
  caller_ = reply;
  slots_ = slots_of(reply);
  unstored_ = 0;
  if (reply.stop == stop_reason::length)
    refuse_batch(now);
  else
    begin_batch(now);
}

void turn_loop::tally(moment now) {
  const auto& reply = transcript_.back();
  ++stats_.llm_calls;
  stats_.spent += reply.spent;
  if (stopping_)
    return;
  auto need = is_answer(reply) ? call_need::settled : call_need::another_call;
  auto reason =
    budget_fault(setup_.budget, stats_, now.clock_ms - started_ms_, need);
  if (!reason.empty())
    trip(std::move(reason), now);
}

} // namespace bureau::harness
