#include "messages/codec/json_support.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// Looks again and again, while the program's output is read.
template <class Holds>
bool waits_for(program& node, Holds holds) {
  constexpr milliseconds pause{50};
  for (auto waited = milliseconds{0}; waited < patience; waited += pause) {
    if (holds())
      return true;
    node.read_until("never printed", pause);
  }
  return holds();
}

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

} // namespace

TEST_CASE("the operator lists, shows and cancels the jobs of all") {
  home place;
  program node{place.command(), place.environment};
  node.write("background: echo begun; sleep 4713\n");
  REQUIRE(node.read_error_until("started: "));
  auto list = beside(place, {"jobs", "list", "--state", "running"});
  INFO(list.err);
  CHECK(list.code == 0);
  CHECK(contains(list.out, "running"));
  CHECK(contains(list.out, "console:local"));
  auto id = list.out.substr(0, list.out.find(' '));
  CHECK(contains(beside(place, {"jobs", "show", id, "--json"}).out,
                 "\"state\":\"running\""));
  auto wrong = beside(place, {"jobs", "show", "pj-0000000000000000"});
  CHECK(wrong.code == 1);
  CHECK_FALSE(wrong.err.empty());
  CHECK(beside(place, {"jobs", "cancel", id}).code == 0);
  CHECK(node.read_until("was cancelled"));
  CHECK(contains(beside(place, {"jobs", "show", id}).out, "> begun"));
  node.close_input();
  CHECK(node.wait() == 0);
  CHECK(none_left("sleep 4713"));
}

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
    REQUIRE(waits_for(
      node, [&] { return std::filesystem::exists(place.office() + "/mark"); }));
    node.signal(SIGTERM);
    CHECK(node.wait() == 0);
    CHECK(contains(node.err(), "1 background job was interrupted"));
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

TEST_CASE("a turn that runs reads the end of a job, whatever the queue mode") {
  home place;
  program node{place.command(), place.environment, true};
  auto exists = [&place](const char* name) {
    return std::filesystem::exists(place.office() + "/" + name);
  };
  auto ledger = [&place] {
    return read_file(
      place.state
      + "/conversations/v1-console-local-aeb48c12d1f82266/ledger.jsonl");
  };
  REQUIRE(node.read_until("offline"));
  node.write("background: until test -e job; do sleep 0.05; done; "
             "echo blue-$((50+7))\n");
  REQUIRE(node.read_until("runs in the background"));
  node.write("run: touch begun; until test -e go; do sleep 0.05; done; "
             "echo red-$((40+2))\n");
  REQUIRE(waits_for(node, [&] { return exists("begun"); }));
  write_file(place.office() + "/job", "");
  REQUIRE(waits_for(node, [&] { return contains(ledger(), "\"job:pj-"); }));
  node.read_until("never printed", milliseconds{300});
  write_file(place.office() + "/go", "");
  CHECK(node.read_until("> blue-57"));
  CHECK(
    waits_for(node, [&] { return contains(ledger(), R"("note":"steered")"); }));
  // The start of the job and the turn that was steered; the wake is part of it.
  CHECK(count(ledger(), R"("st":"running")") == 3);
  CHECK(waits_for(node, [&] {
    return contains(read_file(only_job(place) + "/job.json"),
                    R"("disposition":"steered")");
  }));
  node.write("\x04");
  CHECK(node.wait() == 0);
}
