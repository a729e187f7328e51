#include "messages/limits.hpp"
#include "tests/office/story.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace bureau;
using namespace bureau::test;

TEST_CASE("an answer that waits for the next start holds none of its session "
          "up") {
  office_world world;
  office_node node{world};
  node.sessions->automatic = true;
  // Nobody reads what the transport prints.
  delivered lost;
  lost.fault = delivery_fault::retryable;
  lost.retry_after_ms =
    std::chrono::milliseconds{limits::delivery_give_up}.count();
  node.gate->outcomes.push_back(lost);
  node.say("m1");
  node.say("m2");
  node.say("m3");
  auto report = node.drain(drain_phase::hold);
  CHECK(report.undelivered == 3);
  CHECK(report.delivering == 0);
  CHECK(report.sending == 0);
}
