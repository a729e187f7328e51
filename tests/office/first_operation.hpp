#pragma once

#include "actors/office/delivery_core.hpp"

namespace bureau::test {

/// What an office does first to deliver the next part of an answer.
inline outbound first_operation(const offices::ledger_entry& entry,
                                const offices::delivery_memory& memory,
                                const transport_info& info) {
  auto plan = offices::plan_answer(entry, memory, info);
  delivery::final_delivery attempts{
    offices::rules_of(plan, entry.event.address.platform), plan.pieces};
  auto step = attempts.start(plan.head);
  auto call = std::get<delivery::call>(step);
  return offices::answer_operation(
    entry, plan, static_cast<uint32_t>(attempts.piece()), std::move(call.what));
}

inline outbound first_operation(const offices::ledger_entry& entry,
                                const offices::delivery_memory& memory,
                                bool streams, bool uploads = false) {
  transport_info info;
  info.streaming = streams;
  info.uploads = uploads;
  return first_operation(entry, memory, info);
}

} // namespace bureau::test
