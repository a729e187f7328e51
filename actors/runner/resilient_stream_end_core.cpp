#include "actors/runner/resilient_stream_core.hpp"

#include "messages/contracts/text_split.hpp"

#include <utility>

namespace bureau::runner {

namespace {

constexpr std::string_view empty_answer = "No response text was returned.";

} // namespace

// -- outcomes -----------------------------------------------------------------

stream_effects resilient_stream_core::answered(uint64_t call,
                                               const call_outcome& outcome,
                                               int64_t now_ms) {
  stream_effects out;
  if (!pending_ || pending_->id != call)
    return out;
  auto settled = *std::exchange(pending_, std::nullopt);
  switch (settled.why) {
  case purpose::answer:
    follow(out, delivery_->answered(main_, outcome));
    return out;
  case purpose::interim:
    settle_interim(out, settled, outcome, now_ms);
    break;
  case purpose::relocation:
    if (outcome.fine())
      main_.forget();
    else if (is_open())
      schedule(out, main_);
    break;
  }
  switch (mode_) {
  case mode::open:
    pump(out);
    break;
  case mode::finishing:
    begin_end(out);
    break;
  case mode::delivering:
  case mode::producing:
    break;
  case mode::ended:
  case mode::dismissed:
    // Nobody counts on it any more; what was edited has an owner by now.
    if (settled.what.op == call_op::post || !options_.hand_over)
      take_back(out, message(settled.activity), settled.activity);
    out.push_back(stream::end{});
    break;
  }
  return out;
}

stream_effects resilient_stream_core::wait_over() {
  stream_effects out;
  if (std::exchange(waiting_, false))
    follow(out, delivery_->waited(main_));
  return out;
}

stream_effects resilient_stream_core::settle_timeout() {
  stream_effects out;
  if (mode_ == mode::finishing)
    begin_end(out);
  return out;
}

// -- the end with an answer ---------------------------------------------------

stream_effects resilient_stream_core::finish(stream_end end) {
  stream_effects out;
  if (!is_open())
    return out;
  end_ = std::move(end);
  mode_ = mode::finishing;
  if (std::exchange(debounce_armed_, false))
    out.push_back(stream::cancel_debounce{});
  if (!pending_)
    begin_end(out);
  else if (options_.hand_over)
    out.push_back(stream::arm_settle{});
  return out;
}

stream_effects resilient_stream_core::finish_silently() {
  silent_ = is_open();
  return finish({});
}

void resilient_stream_core::begin_end(stream_effects& out) {
  if (options_.hand_over)
    produce(out);
  else
    deliver(out);
}

void resilient_stream_core::deliver(stream_effects& out) {
  mode_ = mode::delivering;
  auto text = contracts::normalize_trailing(
    delivery::final_text_of(end_, text_), empty_answer);
  auto fits = options_.splits_oversized && options_.format_markdown;
  delivery::delivery_rules rules;
  rules.attempts = options_.max_send_retries + 1;
  rules.base_delay_ms = options_.retry_base_delay_ms;
  rules.delay_cap_ms = options_.retry_cap_ms;
  rules.markdown = options_.format_markdown;
  rules.render = options_.render;
  if (has_hint())
    rules.placeholder = status_;
  delivery_.emplace(
    std::move(rules),
    delivery::answer_chunks(text, budget(), fits ? options_.render : nullptr));
  if (aborted_)
    delivery_->abort();
  follow(out, delivery_->start(main_));
}

void resilient_stream_core::follow(stream_effects& out, delivery_step step) {
  if (auto next = std::get_if<delivery::call>(&step)) {
    send(out, purpose::answer, std::move(next->what), false);
    return;
  }
  if (auto pause = std::get_if<delivery::wait>(&step)) {
    waiting_ = true;
    out.push_back(stream::wait{pause->ms});
    return;
  }
  mode_ = mode::ended;
  if (auto fault = std::get_if<delivery::delivery_error>(&step))
    out.push_back(stream::failed{fault->attempts, fault->disposition,
                                 std::move(fault->detail)});
  else
    out.push_back(stream::finished{});
  take_back(out, activity_, true);
  out.push_back(stream::end{});
}

stream_effects resilient_stream_core::abort() {
  aborted_ = true;
  if (delivery_)
    delivery_->abort();
  return wait_over();
}

// -- the end that is handed over ----------------------------------------------

void resilient_stream_core::produce(stream_effects& out) {
  mode_ = mode::producing;
  stream::produce fact;
  fact.silent = silent_;
  if (!silent_) {
    // A status that cannot be taken back is not replaced either.
    if (options_.can_remove || !is_status(main_))
      handed_over_ = main_.ref.value_or("");
    fact.text = end_.text ? *end_.text : text_;
    fact.parts = end_.parts;
    fact.provisional = handed_over_;
  }
  out.push_back(std::move(fact));
}

stream_effects resilient_stream_core::recorded() {
  stream_effects out;
  if (mode_ != mode::producing)
    return out;
  mode_ = mode::ended;
  out.push_back(stream::finished{});
  // The ledger now owns the message it was told of; any other one goes.
  if (main_.ref == handed_over_)
    main_.ref.reset();
  take_back(out, main_, false);
  take_back(out, activity_, true);
  settle_down(out);
  return out;
}

stream_effects resilient_stream_core::not_recorded() {
  stream_effects out;
  if (mode_ != mode::producing)
    return out;
  mode_ = mode::ended;
  // The next attempt goes on in what stands there.
  main_.ref.reset();
  activity_.ref.reset();
  settle_down(out);
  return out;
}

// -- the end without one ------------------------------------------------------

stream_effects resilient_stream_core::dismiss() {
  stream_effects out;
  // Once an answer is on its way, its removal could cost it.
  auto settling = mode_ == mode::finishing || mode_ == mode::producing;
  if (!is_open() && !(settling && options_.hand_over))
    return out;
  auto awaits = pending_ && !options_.hand_over;
  mode_ = mode::dismissed;
  if (std::exchange(debounce_armed_, false))
    out.push_back(stream::cancel_debounce{});
  if (awaits)
    return out;
  take_back(out, main_, false);
  take_back(out, activity_, true);
  settle_down(out);
  return out;
}

void resilient_stream_core::take_back(stream_effects& out, live_message& gone,
                                      bool activity) {
  if (!gone.ref || !options_.can_remove)
    return;
  // A preview of an answer that is delivered by others may always go.
  if (!options_.hand_over && !is_transient(gone))
    return;
  message_call what;
  what.op = call_op::remove;
  what.ref = *gone.ref;
  gone.forget();
  out.push_back(stream::send{0, std::move(what), activity});
}

void resilient_stream_core::settle_down(stream_effects& out) {
  if (pending_)
    out.push_back(stream::linger{});
  else
    out.push_back(stream::end{});
}

} // namespace bureau::runner
