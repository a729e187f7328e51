#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace bureau::e2e;

namespace {

/// A node on a pseudo-terminal that steers (a pipe never does, decision B5),
/// with a command that runs until the story lets it go.
struct steered_node {
  home place;
  program node{place.command(), place.environment, true};

  steered_node() {
    REQUIRE(node.read_until("offline"));
    node.write("/queue steer\n");
    REQUIRE(node.read_until("The queue mode is steer now"));
    node.write("run: echo > begun; until test -e go; do sleep 0.05; done; "
               "echo red-$((40+2))\n");
    REQUIRE(waits_for([this] { return begun(); }));
  }

  bool begun() const { return !read_file(place.office() + "/begun").empty(); }

  /// Looks again and again, while the program's output is read.
  bool waits_for(const std::function<bool()>& holds) {
    constexpr milliseconds pause{50};
    for (auto waited = milliseconds{0}; waited < patience; waited += pause) {
      if (holds())
        return true;
      node.read_until("never printed", pause);
    }
    return holds();
  }

  std::string ledger() const {
    return read_file(place.state
                     + "/conversations/v1-console-local-aeb48c12d1f82266"
                       "/ledger.jsonl");
  }

  /// Types a line and waits until it is on the disk and the run has it.
  void adds(const std::string& line) {
    auto before = count(ledger(), R"("st":"accepted")");
    node.write(line + "\n");
    CHECK(waits_for(
      [&] { return count(ledger(), R"("st":"accepted")") > before; }));
    node.read_until("never printed", milliseconds{300});
  }

  void ends() {
    node.write("\x04");
    CHECK(node.wait() == 0);
  }
};

} // namespace

TEST_CASE("a line that is typed during a tool call is read by the run") {
  steered_node story;
  auto& node = story.node;
  story.adds("run: echo blue-$((50+7))");
  write_file(story.place.office() + "/go", "go\n");
  CHECK(node.read_until("↪️ Steered: “run: echo blue-$((50+7))”"));
  CHECK(node.read_until("blue-57"));
  CHECK(story.waits_for(
    [&] { return contains(story.ledger(), R"("note":"steered")"); }));
  // One answer for both, in one run; the command is the other one.
  auto ledger = story.ledger();
  CHECK(count(ledger, R"("st":"running")") == 3);
  CHECK(count(ledger, R"("st":"produced")") == 2);
  auto roles = story.place.roles();
  std::string spoken;
  for (const auto& role : roles)
    spoken += (spoken.empty() ? "" : " ") + role;
  CHECK(spoken.ends_with(
    "user assistant toolResult user assistant toolResult assistant"));
  CHECK(contains(read_file(story.place.state
                           + "/conversations/v1-console-local-aeb48c12d1f82266"
                             "/settings.json"),
                 "\"mode\": \"steer\""));
  story.ends();
}

TEST_CASE("a stop discards what its run has not read") {
  steered_node story;
  auto& node = story.node;
  story.adds("run: echo blue-$((50+7))");
  node.write("stop\n");
  CHECK(node.read_until("Stopped."));
  CHECK_FALSE(contains(story.place.session(), "blue-"));
  node.write("run: echo green-$((60+2))\n");
  CHECK(node.read_until("green-62"));
  CHECK(story.waits_for(
    [&] { return count(story.ledger(), R"("why":"stopped")") == 2; }));
  story.ends();
  CHECK_FALSE(contains(node.out(), "blue-57"));
}
