#include "actors/runner/responder_core.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace bureau::runner {

namespace {

/// Code points that fit on a platform whatever they are made of.
int64_t code_points_that_fit(const transport_info& info) {
  constexpr int64_t least = 32;
  constexpr int64_t widest_utf16 = 2;
  constexpr int64_t widest_utf8 = 4;
  if (info.max_length == 0)
    return std::numeric_limits<int64_t>::max();
  auto room = int64_t{info.max_length};
  if (info.length_unit == "utf16")
    room /= widest_utf16;
  else if (info.length_unit == "bytes")
    room /= widest_utf8;
  return std::max(room, least);
}

} // namespace

stream_options stream_options_of(const transport_info& info,
                                 std::string provisional) {
  stream_options result;
  result.hand_over = true;
  // The transport paces its edits, and one at a time is under way.
  result.edit_debounce_ms = 0;
  result.max_message_chars = code_points_that_fit(info);
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

call_outcome outcome_of(const delivered& outcome) {
  call_outcome result;
  result.ref = outcome.ref;
  result.detail = outcome.detail;
  if (outcome.retry_after_ms > 0)
    result.retry_after_ms = outcome.retry_after_ms;
  result.not_delivered = outcome.certainty == failure_certainty::definite;
  switch (outcome.fault) {
  case delivery_fault::none:
    break;
  case delivery_fault::not_modified:
    result.kind = send_outcome::not_modified;
    break;
  case delivery_fault::recreate:
    result.kind = send_outcome::recreate;
    break;
  case delivery_fault::reformat_plain:
    result.kind = send_outcome::reformat_plain;
    break;
  case delivery_fault::retryable:
  case delivery_fault::dropped:
    result.kind = send_outcome::retry;
    break;
  case delivery_fault::permanent:
    result.kind = send_outcome::fatal;
    break;
  }
  return result;
}

outbound operation_of(message_call call, bool activity) {
  outbound result;
  result.rank = outbound_class::interim;
  switch (call.op) {
  case call_op::post:
    result.op = outbound_op::post;
    break;
  case call_op::edit:
    result.op = outbound_op::edit;
    break;
  case call_op::remove:
    result.op = outbound_op::remove;
    // After a stop the transport drops all of the run but its control
    // operations.
    result.rank = outbound_class::control;
    break;
  }
  auto status =
    call.op != call_op::remove && call.content.kind == content_kind::status;
  result.content =
    activity || status ? outbound_content::activity : outbound_content::answer;
  result.text = std::move(call.content.text);
  result.ref = std::move(call.ref);
  return result;
}

} // namespace bureau::runner
