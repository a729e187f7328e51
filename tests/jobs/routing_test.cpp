#include "actors/jobs/routing_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::jobs;

TEST_CASE("news of a job: origin, owner, running, capability, in this order") {
  contracts::process_job_delivery good;
  good.conversation_id = "console:local";
  good.delivery_key = "job:pj-1";
  good.job.origin.conversation_id = "console:local";
  good.job.origin.channel = "console";
  good.job.wake.delivery_key = "job:pj-1";
  auto other = good;
  other.conversation_id = "console:other";
  auto key = good;
  key.delivery_key = "job:pj-2";
  auto scheme = good;
  scheme.job.origin.channel = "slack";
  auto bucket = good;
  bucket.job.origin.conversation_id = "console:local#b";
  bucket.job.origin.bucket = "b";
  const job_channel up{"console", true, true};
  const job_channel down{"console", false, true};
  const job_channel shy{"console", true, false};
  struct row {
    const char* name;
    contracts::process_job_delivery delivery;
    std::vector<job_channel> channels;
    std::string code;
    bool retryable;
  };
  for (const auto& x : std::vector<row>{
         {"to its conversation", good, {up}, "", false},
         {"without the bucket", bucket, {up}, "", false},
         {"another conversation",
          other,
          {up},
          "process_job_origin_mismatch",
          false},
         {"another key", key, {up}, "process_job_origin_mismatch", false},
         {"another scheme", scheme, {up}, "process_job_origin_mismatch", false},
         {"the origin comes first",
          other,
          {},
          "process_job_origin_mismatch",
          false},
         {"nobody owns it", good, {}, "background_unsupported_channel", false},
         {"two own it",
          good,
          {up, up},
          "background_unsupported_channel",
          false},
         {"not running", good, {down}, "destination_channel_unavailable", true},
         {"no capability",
          good,
          {shy},
          "background_unsupported_channel",
          false}}) {
    CAPTURE(x.name);
    auto refused = refuse_route(x.delivery, x.channels);
    CHECK((refused ? *refused->code : std::string{}) == x.code);
    if (refused)
      CHECK(*refused->retryable == x.retryable);
  }
}
