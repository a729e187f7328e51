#include "messages/contracts/channel.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

TEST_CASE("how a channel is") {
  channel_status status;
  status.state = channel_state::degraded;
  status.reason = "slow";
  CHECK(json::print(to_json(status))
        == R"({"status":"degraded","reason":"slow"})");
  status.state = channel_state::running;
  CHECK(json::print(to_json(status)) == R"({"status":"running","summary":{}})");
  status.summary = json_text{R"({"port":1})"};
  CHECK(json::print(to_json(status))
        == R"({"status":"running","summary":{"port":1}})");
}

TEST_CASE("news of a job go where the job came from") {
  process_job_delivery good;
  good.conversation_id = "discord:channel-1";
  good.delivery_key = "k";
  good.job.wake.delivery_key = "k";
  good.job.origin.channel = "discord";
  good.job.origin.conversation_id = "discord:channel-1#b";
  good.job.origin.bucket = std::string{"b"};
  CHECK_FALSE(check_job_route(good));
  auto refused = [](const process_job_delivery& delivery) {
    auto result = check_job_route(delivery);
    return result && !result->delivered
           && result->code == std::string{"process_job_origin_mismatch"}
           && result->retryable == false;
  };
  auto bad = good;
  bad.conversation_id = "discord:other";
  CHECK(refused(bad));
  bad = good;
  bad.delivery_key = "other";
  CHECK(refused(bad));
  bad = good;
  bad.job.origin.channel = "slack";
  CHECK(refused(bad));
  bad = good;
  bad.job.origin.bucket = caf::none;
  CHECK(refused(bad));
  CHECK(json::print(to_json(job_channel_not_running()))
        == R"({"delivered":false,"code":"destination_channel_unavailable",)"
           R"("retryable":true})");
}

TEST_CASE("schemes of conversations") {
  for (auto good : {"slack", "a", "a-1"})
    CHECK_MESSAGE(is_conversation_scheme(good), good);
  for (auto bad : {"", "1a", "-a", "Slack", "sl ack", "sl:ack", "é"})
    CHECK_FALSE_MESSAGE(is_conversation_scheme(bad), bad);
  CHECK(is_conversation_scheme(std::string(64, 'a')));
  CHECK_FALSE(is_conversation_scheme(std::string(65, 'a')));
}
