#include "messages/limits.hpp"
#include "tests/office/story.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

constexpr const char* interrupted =
  "I was interrupted by a restart before I finished this. Send it again to "
  "retry.";
const std::string label =
  "(sent again after a restart; you may see this twice)\n\n";

} // namespace

TEST_CASE("what was accepted is answered after a restart, in order") {
  office_world world;
  {
    office_node node{world};
    CHECK(node.say("m1") == "taken");
    CHECK(node.say("m2") == "taken");
    node.cut();
  }
  office_node node{world, {}, false};
  node.sessions->automatic = true;
  CHECK(node.describe().offices_active == 0);
  node.attach();
  CHECK(world.shown == texts{"answer to m1", "answer to m2"});
  CHECK(node.sessions->tickets[0].event.user_name == "ann");
  CHECK(node.sessions->tickets[0].event.target.text == R"({"to":"m1"})");
}

TEST_CASE("a run that did nothing is repeated once") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.run("m1", "r1");
    world.recorded.insert("m1");
    node.cut();
  }
  {
    office_node node{world};
    REQUIRE(node.sessions->tickets.size() == 1);
    CHECK(node.sessions->tickets[0].attempt == 2);
    CHECK(node.run("m1", "r2", 2) == "ok");
    CHECK(world.shown.empty());
    node.cut();
  }
  office_node node{world};
  CHECK(node.sessions->tickets.empty());
  CHECK(world.shown == texts{interrupted});
  CHECK(world.ledger().back() == "m1 dead(interrupted, told)");
}

TEST_CASE("a run that may have acted is not repeated, and its user is told") {
  for (auto recorded : {true, false}) {
    CAPTURE(recorded);
    office_world world;
    {
      office_node node{world};
      node.say("m1");
      node.run("m1", "r1");
      if (recorded)
        world.recorded.insert("m1");
      world.worked.insert("m1");
      node.say("m2");
      node.cut();
    }
    {
      office_node node{world};
      CHECK(world.shown == texts{interrupted});
      REQUIRE(node.sessions->tickets.size() == 1);
      CHECK(node.sessions->tickets[0].event.message_id == "m2");
      CHECK(node.gate->closed.size() == 1);
      CHECK(node.gate->closed[0].outcome == "interrupted");
      node.cut();
    }
    office_node node{world};
    CHECK(world.shown == texts{interrupted});
  }
}

TEST_CASE("an answer that was not sent is sent after a restart") {
  office_world world;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.stall_before_gate = true;
                     }};
    node.sessions->automatic = true;
    node.say("m1");
    node.cut();
  }
  office_node node{world};
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(node.gate->dropped == texts{"run-m1-1"});
  CHECK(node.sessions->tickets.empty());
}

TEST_CASE("a post that may have happened is repeated once, labelled") {
  for (auto shown : {true, false}) {
    CAPTURE(shown);
    office_world world;
    {
      office_node node{world, [&](gate_script& gate) {
                         gate.stall_after_gate = true;
                         gate.shows_when_stalled = shown;
                       }};
      node.sessions->automatic = true;
      node.say("m1");
      CHECK(world.ledger().back() == "m1 sending");
      node.cut();
    }
    office_node node{world};
    CHECK(world.count("answer to m1") == (shown ? 1 : 0));
    CHECK(world.shown.back() == label + "answer to m1");
    auto ledger = world.ledger();
    REQUIRE(ledger.size() == 7);
    CHECK(ledger[4] == "m1 ambiguous");
    CHECK(ledger[5] == "m1 sending(labelled)");
    CHECK(ledger[6] == "m1 sent");
  }
}

TEST_CASE("even the labelled repetition is not repeated") {
  office_world world;
  auto stall = [](gate_script& gate) {
    gate.stall_after_gate = true;
    gate.shows_when_stalled = true;
  };
  for (auto round : {1, 2}) {
    CAPTURE(round);
    office_node node{world, stall};
    node.sessions->automatic = true;
    node.say("m1");
    node.cut();
  }
  office_node node{world};
  CHECK(world.shown == texts{"answer to m1", label + "answer to m1"});
  CHECK(world.ledger().back() == "m1 dead(undeliverable)");
}

TEST_CASE("a platform with nonces gets the same post again") {
  office_world world;
  world.platform = platform_id::discord;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.stall_after_gate = true;
                     }};
    node.sessions->automatic = true;
    node.say("m1");
    node.cut();
  }
  office_node node{world};
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(node.gate->operations.back().run == "run-m1-1");
  CHECK(world.ledger().back() == "m1 sent");
}

TEST_CASE("an edit that may have happened is made again") {
  office_world world;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.stall_before_gate = true;
                     }};
    node.sessions->automatic = true;
    node.sessions->provisional = "p1";
    node.say("m1");
    CHECK(world.ledger().back() == "m1 sending(edit)");
    node.cut();
  }
  office_node node{world};
  CHECK(world.shown == texts{"edit[p1] answer to m1"});
  CHECK(world.ledger().back() == "m1 sent");
}

TEST_CASE("an answer whose log line was lost is logged at the next start") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    node.say("m1");
  }
  auto log = get_file(world.log_path());
  auto cut = log.find('\n') + 1;
  put_file(world.log_path(), log.substr(0, cut));
  {
    office_node node{world};
    CHECK(node.say("m2", "hi") == "taken");
    auto lines = world.log();
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].text == "answer to m1");
    CHECK(lines[1].ts == "ref-1");
  }
  office_node node{world};
  CHECK(node.say("m3", "hi") == "taken");
  CHECK(world.log().size() == 4);
}

TEST_CASE("only offices with unfinished work are opened") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    for (auto id : {"a", "b", "c"}) {
      auto request = node.message("m1");
      request.event.address.conversation_id = id;
      request.event.session_key = id;
      CHECK(node.offer(request) == "taken");
    }
    node.sessions->automatic = false;
    auto request = node.message("m2");
    request.event.address.conversation_id = "b";
    request.event.session_key = "b";
    CHECK(node.offer(request) == "taken");
    node.advance(2s);
    node.cut();
  }
  CHECK(get_file(world.state + "/ledger-open.json")
        == R"({"version":1,"offices":[")" + office_key(world.address("b"))
             + "\"]}\n");
  office_node node{world};
  node.sessions->automatic = true;
  CHECK(node.describe().offices_active == 1);
  REQUIRE(node.describe().sessions.size() == 1);
  CHECK(node.describe().sessions[0].session_key == "b");
}

TEST_CASE("other platforms wait for their own adapter") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.cut();
  }
  world.platform = platform_id::telegram;
  office_node node{world};
  CHECK(node.describe().offices_active == 0);
  node.advance(2s);
  world.platform = platform_id::console;
  CHECK(get_file(world.state + "/ledger-open.json")
        == R"({"version":1,"offices":[")" + office_key(world.address())
             + "\"]}\n");
}

// The invariant of the ledger: whatever file operation is the last that works,
// an acknowledged message gets an answer or an apology, and at most one answer
// without a label.
TEST_CASE("a disk that fails at any moment loses nothing and doubles nothing") {
  for (auto edits : {false, true}) {
    CAPTURE(edits);
    auto reached = false;
    for (size_t n = 1; n < 400 && !reached; ++n) {
      CAPTURE(n);
      office_world world;
      std::string first;
      {
        office_node node{world};
        node.sessions->automatic = true;
        if (edits)
          node.sessions->provisional = "p1";
        node.disk->fail_from(n, EIO);
        first = node.say("m1");
        node.advance(3s);
        reached = node.disk->operations().size() < n;
      }
      // The session must be able to answer before anything is resumed.
      office_node node{world, {}, false};
      node.sessions->automatic = true;
      node.attach();
      auto second = node.say("m1");
      node.advance(1min);
      CAPTURE(first);
      CAPTURE(second);
      auto acknowledged =
        first == "taken" || second == "taken" || second == "duplicate";
      CHECK(acknowledged);
      auto plain = world.count("answer to m1");
      auto edited = world.count("edit[p1] answer to m1");
      auto labelled = world.count(label + "answer to m1");
      CHECK(plain <= 1);
      CHECK(labelled <= 1);
      CHECK(plain + edited + labelled + world.count(interrupted) >= 1);
      CHECK(world.count(interrupted) <= 1);
      CHECK(node.describe().open_entries == 0);
    }
    CHECK(reached);
  }
}
