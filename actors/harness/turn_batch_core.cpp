#include "actors/harness/budget_core.hpp"
#include "actors/harness/turn_loop_core.hpp"
#include "messages/codec/session_record.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

/// The turn loop's tool batches.
namespace bureau::harness {

void turn_loop::begin_batch(moment now) {
  sequential_ = is_sequential(slots_, setup_.tools);
  phase_ = phase::running_tools;
  if (sequential_) {
    prepare_slot(0, now);
  } else {
    for (size_t i = 0; i < slots_.size(); ++i) {
      prepare_slot(i, now);
      // Calls behind the one that met the stop get no result; the request
      // builder repairs that.
      if (stopping_) {
        slots_.resize(i + 1);
        break;
      }
    }
  }
  after_preparation(now);
}

void turn_loop::refuse_batch(moment now) {
  phase_ = phase::running_tools;
  sequential_ = false;
  for (size_t i = 0; i < slots_.size(); ++i) {
    auto told = event(harness_event_kind::tool_start);
    told.call_id = slots_[i].call.id;
    told.tool_name = slots_[i].call.name;
    told.arguments = slots_[i].call.arguments;
    push(effect::emit{std::move(told)});
    ++stats_.tool_calls;
    slots_[i].started_ms = now.clock_ms;
    end_slot(i, cut_reply_outcome(), now);
  }
  after_preparation(now);
}

void turn_loop::prepare_slot(size_t index, moment now) {
  auto& slot = slots_[index];
  auto told = event(harness_event_kind::tool_start);
  told.call_id = slot.call.id;
  told.tool_name = slot.call.name;
  told.arguments = slot.call.arguments;
  push(effect::emit{std::move(told)});
  ++stats_.tool_calls;
  slot.started_ms = now.clock_ms;
  auto prepared = prepare_call(slot.call, setup_.tools);
  if (prepared.refusal) {
    end_slot(index, std::move(*prepared.refusal), now);
    return;
  }
  if (stopping_) {
    end_slot(index, aborted_outcome(), now);
    return;
  }
  slot.state = tool_slot::progress::running;
  slot.tool = prepared.tool;
  push(effect::run_tool{index, prepared.tool, std::move(prepared.invocation)});
}

void turn_loop::end_slot(size_t index, tool_outcome outcome, moment now) {
  auto& slot = slots_[index];
  normalise(outcome);
  slot.state = tool_slot::progress::done;
  slot.outcome = std::move(outcome);
  auto told = event(harness_event_kind::tool_end);
  told.call_id = slot.call.id;
  told.tool_name = slot.call.name;
  told.outcome = slot.outcome;
  parts_.add(slot.outcome.parts);
  told.duration_ms = now.clock_ms - slot.started_ms;
  push(effect::emit{std::move(told)});
}

bool turn_loop::any_running() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot.state == tool_slot::progress::running;
  });
}

/// Stores what is complete: one result when calls run in turn, else all.
void turn_loop::after_preparation(moment now) {
  if (any_running())
    return;
  store_results(unstored_, sequential_ ? unstored_ + 1 : slots_.size(), now);
}

loop_effects turn_loop::tool_done(size_t slot, tool_outcome outcome,
                                  moment now) {
  if (phase_ != phase::running_tools || slot >= slots_.size()
      || slots_[slot].state != tool_slot::progress::running)
    return {};
  end_slot(slot, std::move(outcome), now);
  after_preparation(now);
  return take();
}

void turn_loop::store_results(size_t begin, size_t end, moment now) {
  std::vector<session_entry> entries;
  for (auto i = begin; i < end; ++i) {
    auto message = result_message(slots_[i], now.wall_ms);
    entries.push_back(entry_of(message));
    pending_.push_back(std::move(message));
  }
  unstored_ = end;
  append(std::move(entries), phase::storing_results);
}

void turn_loop::results_stored(moment now) {
  if (unstored_ < slots_.size() && !stopping_) {
    phase_ = phase::running_tools;
    prepare_slot(unstored_, now);
    after_preparation(now);
    return;
  }
  end_batch(now);
}

void turn_loop::watch_circles(std::vector<tool_slot> round, moment now) {
  same_rounds_ = is_same_round(round, last_round_) ? same_rounds_ + 1 : 1;
  last_round_ = std::move(round);
  if (same_rounds_ >= limits::repeated_rounds)
    trip(repetition_reason(same_rounds_), now);
}

void turn_loop::end_batch(moment now) {
  end_turn(caller_);
  auto terminated =
    unstored_ == slots_.size()
    && std::all_of(slots_.begin(), slots_.end(),
                   [](const auto& slot) { return slot.outcome.terminate; });
  auto round = std::exchange(slots_, {});
  if (terminated && !stopping_) {
    emit(harness_event_kind::agent_end);
    settle_answered(now);
    return;
  }
  if (!stopping_)
    watch_circles(std::move(round), now);
  begin_turn();
  if (!stopping_ && !offered_.empty())
    store_inputs();
  else
    next_call(now);
}

void turn_loop::offer(live_input input) {
  if (phase_ != phase::over)
    offered_.push_back(std::move(input));
}

void turn_loop::store_inputs() {
  storing_ = std::exchange(offered_, {});
  std::vector<session_entry> entries;
  for (const auto& input : storing_) {
    auto message = user_message(input.text, input.received_ms);
    entries.push_back(run_cause_entry(input.id));
    entries.push_back(entry_of(message));
    pending_.push_back(std::move(message));
  }
  append(std::move(entries), phase::storing_inputs);
}

void turn_loop::inputs_stored(std::vector<transcript_message> stored,
                              moment now) {
  for (auto& message : stored) {
    emit_message(harness_event_kind::message_start, message);
    emit_message(harness_event_kind::message_end, message);
    transcript_.push_back(std::move(message));
  }
  auto read = std::exchange(storing_, {});
  // A run that was stopped meanwhile has no request that could show them.
  if (!stopping_) {
    effect::apply_inputs applied;
    for (const auto& input : read)
      applied.ids.push_back(input.id);
    push(std::move(applied));
    for (auto& input : read) {
      auto told = event(harness_event_kind::input_applied);
      told.call_id = std::move(input.id);
      told.text = std::move(input.typed);
      push(effect::emit{std::move(told)});
    }
  }
  next_call(now);
}

} // namespace bureau::harness
