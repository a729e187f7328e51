#include "messages/codec/json_support.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// The one job of a state directory.
std::string only_job(const home& place) {
  std::string found;
  for (const auto& entry :
       std::filesystem::directory_iterator{place.state + "/jobs"})
    if (auto name = entry.path().filename().string(); name.starts_with("pj-")) {
      REQUIRE(found.empty());
      found = entry.path();
    }
  return found;
}

std::string state_of_job(const home& place) {
  auto file = json::parse(read_file(only_job(place) + "/job.json"));
  if (!file || !file.value.is_object())
    return {};
  const auto* job = json::member(file.value, "projection");
  return job != nullptr && job->is_object()
           ? json::text_or_empty(job->get_object(), "state")
           : std::string{};
}

} // namespace

TEST_CASE(
  "a command in the background: an answer at once, another at its end") {
  home place;
  auto run = place.converse("background: sleep 1; echo done\nrun: echo next\n");
  INFO(run.out);
  INFO(run.err);
  CHECK(run.code == 0);
  auto admitted = run.out.find("runs in the background as job pj-");
  auto next = run.out.find("next\n");
  auto ended = run.out.find("succeeded (exit code 0");
  REQUIRE(admitted != std::string::npos);
  REQUIRE(next != std::string::npos);
  REQUIRE(ended != std::string::npos);
  CHECK(admitted < next);
  CHECK(next < ended);
  CHECK(contains(run.out.substr(ended), "> done"));
  CHECK(contains(run.err, "started: sleep 1; echo done"));
  CHECK(state_of_job(place) == "succeeded");
  CHECK(read_file(only_job(place) + "/stdout") == "done\n");
  // The wake is a turn of the session.
  CHECK(place.roles()
        == std::vector<std::string>{
          "user", "assistant", "toolResult", "assistant", "user", "assistant",
          "toolResult", "assistant", "user", "assistant"});
  auto again = place.converse("hello\n");
  CHECK_FALSE(contains(again.out, "done"));
}

TEST_CASE("an orderly end interrupts a job; the next start says so, once") {
  home place;
  auto marker = "sleep 4711";
  {
    program node{place.command(), place.environment};
    node.write(std::string{"background: echo begun; touch mark; "} + marker
               + "\n");
    REQUIRE(node.read_until("runs in the background"));
    for (int i = 0;
         i < 600 && !std::filesystem::exists(place.office() + "/mark"); ++i)
      node.read_until("never printed", milliseconds{50});
    node.signal(SIGTERM);
    CHECK(node.wait() == 0);
    CHECK(contains(node.err(), "1 background jobs were interrupted"));
  }
  CHECK(none_left(marker));
  CHECK(state_of_job(place) == "interrupted");
  auto next = place.converse("hello\n");
  INFO(next.out);
  CHECK(next.code == 0);
  CHECK(count(next.out, "was interrupted by a restart") == 1);
  CHECK(contains(next.out, "> begun"));
  CHECK_FALSE(contains(place.converse("hello\n").out, "interrupted"));
}

TEST_CASE("a killed node leaves no process of a job; its start tells of it") {
  home place;
  auto marker = "sleep 4712";
  {
    program node{place.command(), place.environment};
    node.write(std::string{"background: "} + marker + "\n");
    REQUIRE(node.read_error_until("started: "));
    node.signal(SIGKILL);
    node.wait();
  }
  CHECK(none_left(marker));
  auto next = place.converse("hello\n");
  CHECK(next.code == 0);
  CHECK(count(next.out, "was interrupted by a restart") == 1);
  CHECK(state_of_job(place) == "interrupted");
}
