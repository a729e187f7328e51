#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

using namespace bureau::e2e;

TEST_CASE(
  "a terminal gets help, what a turn does, its answer, and ends at ^D") {
  home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("offline"));
  node.write("/help\n");
  CHECK(node.read_until("stop"));
  node.write("run: echo $((40+2))\n");
  CHECK(node.read_until("🖥️ Running echo $((40+2))"));
  CHECK(node.read_until("42"));
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("lines can be edited before they are sent") {
  home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("offline"));
  // Backspace removes the wrong letter, ^A jumps to the beginning.
  node.write("echo edited-x\x7fz\x01run: \n");
  CHECK(node.read_until("edited-z"));
  CHECK(node.read_until("edited-z"));
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("a ^C right behind a line stops it, and a later one the next turn") {
  home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("offline"));
  node.write("run: sleep 4716\n\x03");
  CHECK(node.read_until("Stopped."));
  node.write("run: echo begun > begun; sleep 4716\n");
  for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  node.write("\x03");
  CHECK(node.read_until("Stopped."));
  node.write("run: echo still-$((1+1))\n");
  CHECK(node.read_until("still-2"));
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("^C stops the running turn, a second one ends the node") {
  home place;
  program node{place.command(), place.environment, true};
  REQUIRE(node.read_until("offline"));
  node.write("run: echo begun > begun; sleep 4714\n");
  for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  node.write("\x03");
  CHECK(node.read_until("Stopped."));
  node.write("\x03");
  CHECK(node.wait() == 0);
}
