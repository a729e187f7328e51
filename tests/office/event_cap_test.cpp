#include "messages/limits.hpp"
#include "tests/office/story.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

namespace {

struct cap_story {
  office_world world;
  office_node node{world};

  std::string schedule(const std::string& name) {
    auto request =
      node.message("event:" + name + "@1-1", "look", "local:event:" + name);
    request.event.origin = turn_origin::event;
    request.scope = stop_scope::never;
    return node.offer(request);
  }

  std::string end(const std::string& name) {
    auto id = "event:" + name + "@1-1";
    auto key = "local:event:" + name;
    auto began = node.run(id, "run-" + name, 1, key);
    return began == "ok" ? node.produce(id, "run-" + name, "done") : began;
  }
};

} // namespace

TEST_CASE("six scheduled turns of a conversation are open, not one more") {
  cap_story s;
  for (auto name : {"a", "b", "c", "d", "e", "f"})
    CHECK(s.schedule(name) == "taken");
  auto lines = s.world.ledger().size();
  CHECK(s.schedule("g") == "queue_full");
  // Nothing of it is kept: it is tried again.
  CHECK(s.world.ledger().size() == lines);
  CHECK(s.schedule("a") == "duplicate");
  CHECK(s.node.say("m1") == "taken");
  CHECK(s.end("a") == "ok");
  CHECK(s.schedule("g") == "taken");
}

TEST_CASE("scheduled turns of a conversation come one after the other") {
  cap_story s;
  s.schedule("a");
  s.schedule("b");
  REQUIRE(s.node.sessions->tickets.size() == 1);
  CHECK(s.node.sessions->tickets[0].event.session_key == "local:event:a");
  // People do not wait for schedules.
  s.node.say("m1");
  CHECK(s.node.sessions->tickets.size() == 2);
  CHECK(s.end("a") == "ok");
  REQUIRE(s.node.run("m1", "r1") == "ok");
  REQUIRE(s.node.produce("m1", "r1", "hello") == "ok");
  s.node.settle();
  REQUIRE(s.node.sessions->tickets.size() == 3);
  CHECK(s.node.sessions->tickets[2].event.session_key == "local:event:b");
}
