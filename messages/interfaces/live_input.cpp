#include "messages/interfaces/harness.hpp"
#include "messages/text/time_text.hpp"

namespace bureau {

contracts::live_input_request request_of(const live_input& input) {
  contracts::live_input_request result;
  result.conversation_id = input.conversation_id;
  result.id = input.id;
  result.text = input.typed;
  if (input.received_ms > 0)
    result.received_at = text::iso_utc(input.received_ms);
  if (!input.delivery_key.empty())
    result.delivery_key = input.delivery_key;
  if (!input.target_run.empty())
    result.target_run_id = input.target_run;
  return result;
}

} // namespace bureau
