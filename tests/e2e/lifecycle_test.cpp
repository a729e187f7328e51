#include "messages/codec/json_support.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// Base URL of a node's own HTTP server, from node.json.
std::string server_of(const home& place, program& node) {
  for (int i = 0; i < 600; ++i) {
    auto info = json::parse(read_file(place.state + "/node.json"));
    if (info)
      if (auto http = json::member(info.value, "http");
          http != nullptr && http->is_object())
        return "http://127.0.0.1:"
               + std::to_string(
                 json::int_member(http->as_object(), "port").value_or(0));
    node.read_until("never printed", milliseconds{50});
  }
  return {};
}

std::string last_ledger_state(const home& place) {
  auto ledger = lines_of(read_file(
    place.state
    + "/conversations/v1-console-local-aeb48c12d1f82266/ledger.jsonl"));
  if (ledger.empty())
    return {};
  return json::text_or_empty(json::parse(ledger.back()).value.as_object(),
                             "st");
}

} // namespace

TEST_CASE("a headless node serves health, readiness and metrics") {
  home place;
  place.environment["LINK_PORT"] = "0";
  program node{place.command({"--headless"}), place.environment};
  auto server = server_of(place, node);
  REQUIRE_FALSE(server.empty());
  auto health = http_get(server + "/health");
  CHECK(contains(health, "200 OK"));
  CHECK(health.ends_with(R"({"ok":true})"));
  auto ready = http_get(server + "/ready");
  CHECK(contains(ready, "\"ready\":true"));
  auto metrics = http_get(server + "/metrics");
  CHECK(contains(metrics, "bureau_build_info{version="));
  CHECK(contains(metrics, "process_resident_memory_bytes"));
  CHECK(contains(http_get(server + "/nothing"), "404"));
  // It has called nobody (docs/adr/0016-curl-when-needed.md).
  auto maps = read_file("/proc/" + std::to_string(node.pid()) + "/maps");
  CHECK(contains(maps, "libcaf_core"));
  CHECK_FALSE(contains(maps, "libcurl"));
  CHECK_FALSE(contains(maps, "libgnutls"));
  node.signal(SIGTERM);
  CHECK(node.wait() == 0);
  CHECK_FALSE(std::filesystem::exists(place.state + "/node.json"));
}

TEST_CASE("metrics count what happened") {
  home place;
  place.environment["LINK_PORT"] = "0";
  program node{place.command(), place.environment};
  node.write("run: echo counted\n");
  REQUIRE(node.read_until("counted"));
  auto server = server_of(place, node);
  REQUIRE_FALSE(server.empty());
  std::string metrics;
  for (int i = 0; i < 100; ++i) {
    metrics = http_get(server + "/metrics");
    if (contains(metrics, "bureau_runs_completed_total{"))
      break;
    node.read_until("never printed", milliseconds{50});
  }
  CHECK(contains(
    metrics, "bureau_intake_total{outcome=\"taken\",platform=\"console\"} 1"));
  CHECK(contains(metrics, "bureau_runs_started_total{platform=\"console\"} 1"));
  CHECK(contains(metrics,
                 "bureau_tool_calls_total{error=\"false\",tool=\"bash\"} 1"));
  CHECK(
    contains(metrics, "bureau_exec_total{backend=\"bwrap\",outcome=\"ok\"} 1"));
  CHECK(contains(metrics, "bureau_llm_calls_total{"));
  node.close_input();
  CHECK(node.wait() == 0);
}

TEST_CASE("a port in use leaves a running, degraded node") {
  home first_place;
  first_place.environment["LINK_PORT"] = "0";
  program first{first_place.command({"--headless"}), first_place.environment};
  auto server = server_of(first_place, first);
  REQUIRE_FALSE(server.empty());
  home second_place;
  second_place.environment["LINK_PORT"] = server.substr(server.rfind(':') + 1);
  auto run = second_place.converse("run: echo alive\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "alive"));
  CHECK(contains(run.err, "LINK_PORT"));
  first.signal(SIGTERM);
  CHECK(first.wait() == 0);
}

TEST_CASE("/tmp lasts for a run of the node, home for good") {
  home place;
  auto first = place.converse("run: echo here > /tmp/f; echo here > ~/f\n"
                              "run: cat /tmp/f ~/f\n");
  CHECK(count(first.out, "here") == 2);
  auto second = place.converse("run: cat /tmp/f; cat ~/f\n");
  CHECK(contains(second.out, "No such file"));
  CHECK(count(second.out, "here") == 1);
}

TEST_CASE("an answer that could not be written is written by the next run") {
  home place;
  auto line = "echo hello | " + place.command().front() + " run --state-dir "
              + place.state + " " + place.workspace + " >/dev/full";
  program first{{"/bin/sh", "-c", line}, place.environment};
  CHECK(first.wait(seconds{20}) == 1);
  CHECK(contains(first.err(), "not delivered"));
  auto second = place.converse("");
  INFO(second.err);
  CHECK(second.code == 0);
  CHECK(contains(second.out, "I am the offline responder"));
  CHECK(last_ledger_state(place) == "sent");
}

TEST_CASE("an output that is closed from the start delivers nothing") {
  home place;
  auto line = "echo hello | " + place.command().front() + " run --state-dir "
              + place.state + " " + place.workspace + " >&-";
  program first{{"/bin/sh", "-c", line}, place.environment};
  CHECK(first.wait(seconds{20}) == 1);
  CHECK(contains(first.err(), "not delivered"));
  auto second = place.converse("");
  INFO(second.err);
  CHECK(second.code == 0);
  CHECK(contains(second.out, "I am the offline responder"));
  CHECK(last_ledger_state(place) == "sent");
}

TEST_CASE("an output that nobody reads does not hold the end up") {
  home place;
  // More than the pipe between takes.
  auto line = "(for i in 1 2 3 4; do echo 'run: yes | head -c 40000'; done; "
              "sleep 20) | exec "
              + place.command().front() + " run --json --state-dir "
              + place.state + " " + place.workspace + " | sleep 20";
  program node{{"/bin/bash", "-c", line}, place.environment};
  auto frozen = [&] {
    return count(read_file(place.state
                           + "/conversations/"
                             "v1-console-local-aeb48c12d1f82266/ledger.jsonl"),
                 R"("st":"produced")")
           == 4;
  };
  for (int i = 0; i < 1200 && !frozen(); ++i)
    node.read_until("never printed", milliseconds{50});
  auto file = json::parse(read_file(place.state + "/node.json"));
  REQUIRE(file);
  auto pid = json::int_member(file.value.as_object(), "pid").value_or(0);
  ::kill(static_cast<pid_t>(pid), SIGTERM);
  CHECK(node.read_error_until("not delivered; the next start", seconds{15}));
}

TEST_CASE("the sandbox works below limits of the node that are low") {
  home place;
  auto line = "ulimit -n 1024; ulimit -f 1048576; echo 'run: ulimit -n' | exec "
              + place.command().front() + " run --state-dir " + place.state
              + " " + place.workspace;
  program node{{"/bin/bash", "-c", line}, place.environment};
  CHECK(node.wait() == 0);
  INFO(node.err());
  CHECK(contains(node.out(), "1024"));
}

TEST_CASE("signals without a meaning do not end the node") {
  home place;
  program node{place.command({"--headless"}), place.environment};
  for (int i = 0;
       i < 600 && !std::filesystem::exists(place.state + "/node.json"); ++i)
    node.read_until("never printed", milliseconds{50});
  node.signal(SIGUSR1);
  node.signal(SIGUSR2);
  node.signal(SIGTERM);
  CHECK(node.wait() == 0);
}

TEST_CASE("every signal that asks for an end ends an idle node in order") {
  for (auto number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    home place;
    program node{place.command({"--headless"}), place.environment};
    for (int i = 0;
         i < 600 && !std::filesystem::exists(place.state + "/node.json"); ++i)
      node.read_until("never printed", milliseconds{50});
    node.signal(number);
    CHECK(node.wait() == 0);
  }
}

TEST_CASE("a turn that runs at SIGTERM is finished before the node ends") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo begun > begun; sleep 2; echo finished\n");
  for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  node.signal(SIGTERM);
  CHECK(node.wait() == 0);
  INFO(node.err());
  CHECK(contains(node.out(), "finished"));
  CHECK(last_ledger_state(place) == "sent");
}

TEST_CASE("a second signal ends the node at once") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo begun > begun; sleep 300\n");
  for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  node.signal(SIGTERM);
  REQUIRE(node.read_error_until("shutting down"));
  node.signal(SIGTERM);
  CHECK(node.wait(seconds{10}) == 1);
}

TEST_CASE(
  "a node killed during a command tells the user after the restart, once") {
  home place;
  {
    program node{place.command(), place.environment};
    node.write("run: echo begun > begun; sleep 4712\n");
    for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty();
         ++i)
      node.read_until("never printed", milliseconds{50});
    node.signal(SIGKILL);
    CHECK(node.wait() == 128 + SIGKILL);
  }
  CHECK(none_left("sleep 4712"));
  auto run = place.converse("run: echo next\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(count(run.out + run.err, "I was interrupted by a restart") == 1);
  CHECK(contains(run.out, "next"));
  auto again = place.converse("run: echo later\n");
  CHECK(count(again.out + again.err, "I was interrupted by a restart") == 0);
  CHECK(contains(again.out, "later"));
}

TEST_CASE("queued messages survive a kill and are answered after it") {
  home place;
  {
    program node{place.command(), place.environment};
    node.write("run: echo begun > begun; sleep 4713\nrun: echo queued-one\n"
               "run: echo queued-two\n");
    for (int i = 0; i < 600 && count(place.log(), "queued-two") == 0; ++i)
      node.read_until("never printed", milliseconds{50});
    for (int i = 0; i < 600 && read_file(place.office() + "/begun").empty();
         ++i)
      node.read_until("never printed", milliseconds{50});
    node.signal(SIGKILL);
    node.wait();
  }
  auto run = place.converse("");
  INFO(run.err);
  INFO(run.out);
  CHECK(run.code == 0);
  CHECK(count(run.out, "queued-one") == 1);
  CHECK(count(run.out, "queued-two") == 1);
  auto again = place.converse("");
  CHECK(again.out.empty());
}

TEST_CASE("/new leaves a damaged session behind") {
  home place;
  place.converse("run: echo one\n");
  auto current = place.office() + "/sessions/"
                 + read_file(place.office() + "/sessions/current");
  write_file(current, "{\"type\":\"session\",\"version\":3}\nbroken\n"
                        + read_file(current));
  auto damaged = place.converse("run: echo two\n");
  CHECK_FALSE(contains(damaged.out, "two\n"));
  CHECK(contains(damaged.out + damaged.err, "/new"));
  auto fresh = place.converse("/new\nrun: echo three\n");
  INFO(fresh.err);
  CHECK(contains(fresh.out + fresh.err, "Conversation reset."));
  CHECK(contains(fresh.out, "three"));
  CHECK(contains(read_file(current), "broken"));
}
