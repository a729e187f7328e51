#include "actors/runner/resilient_stream_core.hpp"

#include <utility>

namespace bureau::runner {

// -- outcomes -----------------------------------------------------------------

stream_effects resilient_stream_core::answered(uint64_t call,
                                               const call_outcome& outcome,
                                               int64_t now_ms) {
  stream_effects out;
  if (!pending_ || pending_->id != call)
    return out;
  auto settled = *std::exchange(pending_, std::nullopt);
  switch (settled.why) {
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
    produce(out);
    break;
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

stream_effects resilient_stream_core::settle_timeout() {
  stream_effects out;
  if (mode_ == mode::finishing)
    produce(out);
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
    produce(out);
  else if (options_.hand_over)
    out.push_back(stream::arm_settle{});
  return out;
}

stream_effects resilient_stream_core::finish_silently() {
  silent_ = is_open();
  return finish({});
}

void resilient_stream_core::produce(stream_effects& out) {
  mode_ = mode::producing;
  stream::produce fact;
  fact.silent = silent_;
  if (!silent_) {
    // A preview that cannot be taken back is not replaced either.
    if (!options_.hand_over || options_.can_remove || !is_status(main_))
      handed_over_ = main_.ref.value_or("");
    fact.text = end_.text ? *end_.text : text_;
    fact.options = end_.options;
    fact.provisional = handed_over_;
    fact.head = main_;
    if (has_hint())
      fact.placeholder = status_;
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
