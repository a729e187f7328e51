#include "actors/runner/responder_core.hpp"

#include "actors/delivery/transport_core.hpp"
#include "messages/errc.hpp"

#include <caf/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace bureau::runner {

namespace {

/// The shortest bound that a draft has room in.
constexpr int64_t least_room = 32;

} // namespace

stream_options stream_options_of(const transport_info& info,
                                 std::string provisional) {
  stream_options result;
  result.hand_over = true;
  // The transport paces its edits, and one at a time is under way.
  result.edit_debounce_ms = 0;
  result.max_message_chars = info.max_length == 0
                               ? std::numeric_limits<int64_t>::max()
                               : std::max(int64_t{info.max_length}, least_room);
  result.length = text::length_function_of(info.length_unit);
  result.show_hints = info.activity != activity_style::none;
  result.final_only = !info.streaming;
  result.activity = info.activity == activity_style::hint
                      ? activity_view::hint
                      : activity_view::ledger;
  result.can_remove = info.removes;
  result.can_indicate = info.typing;
  result.provisional = std::move(provisional);
  return result;
}

bool shows_only_answers(const transport_info& info) {
  return !info.streaming && info.activity == activity_style::none
         && !info.typing;
}

delivered outcome_of_error(const caf::error& reason, bool lost) {
  delivered outcome;
  outcome.fault = delivery_fault::retryable;
  outcome.detail = sentence_of(reason);
  outcome.certainty = failure_certainty::unknown;
  if (lost)
    return outcome;
  // A transport that refuses has not begun.
  switch (code_of(reason)) {
  case errc::queue_full:
  case errc::shutting_down:
  case errc::not_ready:
    outcome.certainty = failure_certainty::definite;
    break;
  default:
    break;
  }
  return outcome;
}

outbound operation_of(message_call call, bool activity) {
  auto result = delivery::operation_of(std::move(call));
  // After a stop the transport drops all of the run but its control operations.
  result.rank = result.op == outbound_op::remove ? outbound_class::control
                                                 : outbound_class::interim;
  if (activity)
    result.content = outbound_content::activity;
  return result;
}

} // namespace bureau::runner
