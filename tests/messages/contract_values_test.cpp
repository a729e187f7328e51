#include "messages/contracts/ask.hpp"
#include "messages/contracts/channel.hpp"
#include "messages/contracts/cron_operator.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/contracts/memory.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/contracts/stream_frame.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// The value after a trip through the serializer of the actor system.
template <class T>
T travelled(T value) {
  caf::binary_serializer::container_type bytes;
  caf::binary_serializer sink{nullptr, bytes};
  REQUIRE_FALSE(sink(value));
  T result;
  caf::binary_deserializer source{nullptr, bytes};
  REQUIRE_FALSE(source(result));
  return result;
}

} // namespace

TEST_CASE("values travel between actors") {
  stream_frame frame;
  frame.kind = frame_kind::finish;
  frame.text = std::string{"done"};
  attachment_part attachment;
  attachment.name = "n";
  attachment.expires_at = std::string{"e"};
  failed_part failed;
  failed.code = part_failure_code::artifact_expired;
  frame.parts = {attachment, mcp_app_part{}, failed,
                 unknown_part{json_text{"5"}}};
  frame.event.kind = stream_event_kind::tool_call_completed;
  frame.event.is_error = false;
  frame.event.tokens = token_counts{1, 2, 3, 4};
  frame.event.history = tool_history{};
  frame.event.history->artifacts = std::vector<tool_artifact>{{"a", true}};
  frame.event.history->terminal_state = tool_terminal_state::signal;
  CHECK(travelled(frame) == frame);

  process_job_projection job;
  job.job_id = "j";
  job.exit_code = -1;
  job.output.stdout_ref = std::string{};
  job.last_error = process_job_error_code::process_job_timeout;
  CHECK(travelled(job) == job);
  process_job_delivery delivery;
  delivery.job = job;
  CHECK(travelled(delivery) == delivery);

  cron_job cron;
  cron.health = cron_health::warning;
  cron.last_run = cron_run{};
  cron.last_run->outcomes = {{delivery_part_type::mcp_app}};
  cron.last_run->fields_truncated = std::vector{cron_cut_field::text};
  cron.last_run->events = {json_text{"{}"}};
  CHECK(travelled(cron) == cron);

  ask_snapshot ask;
  ask.questions = {{"q0", "h", "q", {{"o", "l", "d"}}, true}};
  ask.answers = {{"q0", {"o"}, std::string{"x"}}};
  ask_submission_result submitted{ask_refusal::stale, ask};
  CHECK(travelled(submitted) == submitted);

  live_input_settlement settlement;
  settlement.outcome = live_input_outcome::applied;
  CHECK(travelled(settlement) == settlement);
  live_input_offer offer{live_input_refusal::full};
  CHECK(travelled(offer) == offer);
  contract_conversation conversation{{platform_id::slack, "C"}, "C:1"};
  CHECK(travelled(conversation) == conversation);
  memory_completed_turn turn{"r", "c", "s", caf::none};
  CHECK(travelled(turn) == turn);
  notify_delivery_result notified;
  notified.retryable = true;
  notified.disposition = wake_disposition::follow_up;
  CHECK(travelled(notified) == notified);
}
