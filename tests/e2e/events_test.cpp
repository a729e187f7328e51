#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// What the offline model says to anything that is no command of its own.
constexpr const char* answer = "I am the offline responder";

/// A command beside the node, on the same state directory.
home::result beside(const home& place, std::vector<std::string> words) {
  std::vector<std::string> argv{BUREAU_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.insert(argv.end(), {"--state-dir", place.state});
  program command{argv, place.environment};
  command.close_input();
  auto code = command.wait();
  return {code, command.out(), command.err()};
}

/// Whole, as an editor would put it there.
void put_event(const home& place, const std::string& name,
               const std::string& content) {
  auto folder = place.workspace + "/events";
  std::filesystem::create_directories(folder);
  std::ofstream{folder + "/." + name + ".tmp"} << content;
  std::filesystem::rename(folder + "/." + name + ".tmp", folder + '/' + name);
}

std::string immediate(const std::string& text) {
  return R"({"type":"immediate","conversationId":"local","text":")" + text
         + R"("})";
}

} // namespace

TEST_CASE("a file becomes a turn, and the operator sees what became of it") {
  home place;
  program node{place.command(), place.environment};
  REQUIRE(node.read_error_until("node: ready"));
  put_event(place, "now.json", immediate("look"));
  put_event(place, "bad.json", "{");
  put_event(place, "daily.json",
            R"({"type":"periodic","conversationId":"local","text":"look",)"
            R"("schedule":"0 9 * * *","timezone":"Europe/Berlin"})");
  REQUIRE(node.read_until(answer));
  auto list = beside(place, {"events", "list"});
  INFO(list.out);
  INFO(list.err);
  CHECK(list.code == 0);
  CHECK(contains(list.out, "0 9 * * * Europe/Berlin"));
  CHECK(contains(list.out, "(no file any more)"));
  CHECK_FALSE(std::filesystem::exists(place.workspace + "/events/now.json"));
  CHECK(contains(beside(place, {"events", "show", "now"}).out, "event:now@"));
  CHECK(beside(place, {"events", "show", "none"}).code == 1);
  CHECK(beside(place, {"events", "delete", "daily"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(place.workspace + "/events/daily.json"));
  CHECK(beside(place, {"events", "delete", "daily"}).code == 1);
  node.close_input();
  CHECK(node.wait() == 0);
}

TEST_CASE("what was there before the node fires once, over restarts too") {
  home place;
  put_event(place, "before.json", immediate("look"));
  for (auto again : {false, true}) {
    CAPTURE(again);
    program node{place.command(), place.environment};
    if (!again)
      CHECK(node.read_until(answer));
    node.write("run: echo next\n");
    CHECK(node.read_until("next"));
    node.close_input();
    CHECK(node.wait() == 0);
    if (again)
      CHECK_FALSE(contains(node.out(), answer));
  }
}
