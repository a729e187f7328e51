#include "actors/office/queue_command_core.hpp"
#include "tests/office/story.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::offices;
using namespace bureau::test;

namespace {

using texts = std::vector<std::string>;

conversation_event said(const std::string& text) {
  conversation_event result;
  result.text = text;
  return result;
}

bool shows(const office_world& world, const std::string& part) {
  return std::any_of(
    world.shown.begin(), world.shown.end(),
    [&](const auto& text) { return text.find(part) != std::string::npos; });
}

} // namespace

TEST_CASE("how the queue command is written") {
  struct row {
    const char* text;
    std::optional<queue_command> want;
  };
  auto chooses = [](queue_mode mode) {
    return queue_command{mode, true};
  };
  const queue_command asks;
  const queue_command muddled{std::nullopt, false};
  const row rows[] = {
    {"/queue", asks},
    {" /pi-queue ", asks},
    {"/QUEUE@bureau_bot", asks},
    {"/queue steer", chooses(queue_mode::steer)},
    {"/queue@bureau_bot Follow-Up", chooses(queue_mode::follow_up)},
    {"/pi-queue collect", chooses(queue_mode::collect)},
    {"/queue interrupt", chooses(queue_mode::interrupt)},
    {"/queue reject", muddled},
    {"/queue loud", muddled},
    {"queue steer", std::nullopt},
    {"/queues", std::nullopt},
    {"say /queue", std::nullopt},
    {"", std::nullopt},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(queue_command_of(said(row.text)) == row.want);
  }
  auto both = queue_command_of(said("/queue steer collect"));
  REQUIRE(both);
  CHECK_FALSE(both->understood);
  auto scheduled = said("/queue steer");
  scheduled.origin = turn_origin::event;
  CHECK_FALSE(queue_command_of(scheduled));
}

TEST_CASE("a mode is chosen at once, while a turn runs") {
  office_world world;
  world.settings = std::make_shared<queue_script>();
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  auto request = node.message("m2", "/queue steer");
  request.event.kind = conversation_kind::shared;
  CHECK(node.offer(request) == "taken");
  REQUIRE(world.settings->patches.size() == 1);
  CHECK(world.settings->patches[0].conversation == world.address());
  CHECK(world.settings->patches[0].patch.text
        == R"({"queue":{"mode":"steer"}})");
  CHECK(world.shown
        == texts{"The queue mode is steer now: plain text reaches the turn "
                 "that is running."});
  CHECK(world.ledger().back() == "m2 sent(command)");
  CHECK(world.log().back().reply_to == "m2");
  // No session was asked.
  CHECK(node.sessions->tickets.size() == 1);
}

TEST_CASE("without a word the mode is told") {
  office_world world;
  world.settings = std::make_shared<queue_script>();
  world.settings->mode = queue_mode::collect;
  office_node node{world};
  node.say("m1", "/queue");
  CHECK(shows(world, "The queue mode is collect: what waits is answered "
                     "together."));
  CHECK(world.settings->patches.empty());
  CHECK(node.sessions->spawned == 0);
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("what cannot be changed is said and closed") {
  struct row {
    const char* text;
    bool settings;
    const char* want;
  };
  const row rows[] = {
    {"/queue loud", true, wording::queue_not_understood},
    {"/queue steer", false, wording::queue_unavailable},
    {"/queue", false, wording::queue_unavailable},
    {"/queue steer", true, "The queue mode was not changed: It is bad."},
    {"/queue", true, "It is bad."},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    office_world world;
    if (row.settings) {
      world.settings = std::make_shared<queue_script>();
      world.settings->failure = make_failure(errc::bad_config, "It is bad.");
    }
    office_node node{world};
    CHECK(node.say("m1", row.text) == "taken");
    CHECK(world.shown == texts{row.want});
    CHECK(world.ledger().back() == "m1 sent(command)");
  }
}

TEST_CASE("a choice that a restart interrupted is made by the next") {
  office_world world;
  {
    office_node node{world, {}, false};
    CHECK(node.say("m1", "/queue steer") == "taken");
  }
  world.settings = std::make_shared<queue_script>();
  office_node node{world};
  CHECK(world.settings->patches.size() == 1);
  CHECK(world.ledger().back() == "m1 sent(command)");
}

// -- what an answer covers ----------------------------------------------------

TEST_CASE("the answer to what was collected replies to the last of it") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m2");
  node.say("m3");
  node.run("m1", "r1");
  // It came while the run was under way: steered.
  node.say("m4");
  node.gate->stall_before_gate = true;
  CHECK(node.produce("m1", "r1", "all", {}, {"m2", "m3", "m4"}) == "ok");
  REQUIRE(!node.gate->operations.empty());
  CHECK(node.gate->operations.back().target.text == R"({"to":"m3"})");
}

TEST_CASE("what an answer covers is told by its note, also after a restart") {
  office_world world;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.stall_before_gate = true;
                     }};
    node.say("m1");
    node.say("m2");
    node.run("m1", "r1");
    node.say("m3");
    CHECK(node.produce("m1", "r1", "all", {}, {"m2", "m3"}) == "ok");
  }
  office_node node{world};
  // Nothing of it runs again.
  CHECK(node.sessions->tickets.empty());
  CHECK(world.shown == texts{"all"});
  REQUIRE(!node.gate->operations.empty());
  CHECK(node.gate->operations.back().target.text == R"({"to":"m2"})");
  auto lines = world.ledger();
  auto has = [&](const std::string& line) {
    return std::count(lines.begin(), lines.end(), line);
  };
  CHECK(has("m2 sent(collected)") == 1);
  CHECK(has("m3 sent(steered)") == 1);
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("a steered message whose run has no answer runs after a restart") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.run("m1", "r1");
    node.say("m2");
    world.recorded = {"m1", "m2"};
    world.worked = {"m1"};
  }
  office_node node{world};
  REQUIRE(node.sessions->tickets.size() == 1);
  CHECK(node.sessions->tickets[0].event.message_id == "m2");
  CHECK(shows(world, "interrupted by a restart"));
}
