#include "actors/delivery/transport_core.hpp"

#include <utility>

namespace bureau::delivery {

call_outcome outcome_of(const delivered& outcome) {
  call_outcome result;
  result.ref = outcome.ref;
  result.detail = outcome.detail;
  result.not_delivered = outcome.certainty == failure_certainty::definite;
  if (outcome.retry_after_ms > 0)
    result.retry_after_ms = outcome.retry_after_ms;
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

outbound operation_of(message_call call) {
  outbound result;
  switch (call.op) {
  case call_op::post:
    result.op = outbound_op::post;
    break;
  case call_op::edit:
    result.op = outbound_op::edit;
    break;
  case call_op::remove:
    result.op = outbound_op::remove;
    break;
  case call_op::upload:
    result.op = outbound_op::upload;
    break;
  }
  result.content =
    call.content.kind == content_kind::status && call.op != call_op::remove
      ? outbound_content::activity
      : outbound_content::answer;
  result.text = std::move(call.content.text);
  result.markdown = call.content.markdown;
  result.ref = std::move(call.ref);
  result.continues = std::move(call.continues);
  result.file = std::move(call.file);
  return result;
}

} // namespace bureau::delivery
