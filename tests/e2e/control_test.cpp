#include "messages/codec/json_support.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// A command beside the node, on the same state directory.
home::result run(const home& place, std::vector<std::string> words) {
  std::vector<std::string> argv{BUREAU_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.insert(argv.end(), {"--state-dir", place.state});
  program command{argv, place.environment};
  command.close_input();
  auto code = command.wait();
  return {code, command.out(), command.err()};
}

/// Waits until a node listens on its control socket.
void await_socket(const home& place, program& node) {
  for (int i = 0;
       i < 1200 && !std::filesystem::exists(place.state + "/control.sock"); ++i)
    node.read_until("never printed", milliseconds{50});
}

json::bj::object status_of(const home& place) {
  auto told = run(place, {"status", "--json"});
  INFO(told.err);
  REQUIRE(told.code == 0);
  auto parsed = json::parse(told.out);
  REQUIRE(parsed);
  return parsed.value.as_object();
}

} // namespace

TEST_CASE("a headless node tells its status and ends by command") {
  home place;
  program node{place.command({"--headless"}), place.environment};
  await_socket(place, node);
  CHECK(std::filesystem::status(place.state + "/control.sock").permissions()
        == (std::filesystem::perms::owner_read
            | std::filesystem::perms::owner_write));
  auto status = status_of(place);
  CHECK(json::int_member(status, "pid") == node.pid());
  CHECK(json::text_or_empty(status, "state") == "ok");
  CHECK(json::text_or_empty(status, "logLevel") == "info");
  CHECK(status.at("components").as_array().size() >= 5);
  CHECK(status.at("silent").as_array().empty());
  auto text = run(place, {"status"});
  CHECK(text.code == 0);
  CHECK(contains(text.out, "pid " + std::to_string(node.pid())));
  CHECK(contains(text.out, "journal"));
  auto ended = run(place, {"shutdown"});
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK(node.wait() == 0);
  CHECK(contains(node.err(), "control socket"));
  CHECK_FALSE(std::filesystem::exists(place.state + "/control.sock"));
  CHECK_FALSE(std::filesystem::exists(place.state + "/node.json"));
}

TEST_CASE("a console node has the socket too, and shows what it works at") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo begun > begun; sleep 300\n");
  for (int i = 0; i < 1200 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  auto status = status_of(place);
  REQUIRE(status.at("sessions").as_array().size() == 1);
  auto session = status.at("sessions").as_array()[0].as_object();
  CHECK(json::text_or_empty(session, "state") == "running");
  REQUIRE(status.at("adapters").as_array().size() == 1);
  CHECK(json::text_or_empty(status.at("adapters").as_array()[0].as_object(),
                            "label")
        == "adapter/console");
  // What runs is aborted at once, and the turn is told so.
  auto ended = run(place, {"shutdown", "--timeout", "0"});
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK(node.wait() != -1);
  CHECK(none_left("sleep 300"));
}

TEST_CASE("a shutdown gives running turns the time that it says") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo begun > begun; sleep 1; echo finished-$((1+1))\n");
  for (int i = 0; i < 1200 && read_file(place.office() + "/begun").empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  auto ended = run(place, {"shutdown", "--timeout", "7"});
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK(node.wait() == 0);
  CHECK(contains(node.out(), "finished-2"));
}

TEST_CASE("without a node the commands say so") {
  home place;
  for (auto word : {"status", "shutdown"}) {
    CAPTURE(std::string{word});
    auto told = run(place, {word});
    CHECK(told.code == 1);
    CHECK(told.out.empty());
    CHECK(contains(told.err, "No node runs on " + place.state));
  }
}

TEST_CASE("a node that does not answer is named by its pid") {
  home place;
  program node{place.command({"--headless"}), place.environment};
  await_socket(place, node);
  node.signal(SIGSTOP);
  auto told = run(place, {"shutdown"});
  CHECK(told.code == 1);
  CHECK(contains(told.err, "pid " + std::to_string(node.pid())));
  CHECK(contains(told.err, "does not answer"));
  node.signal(SIGCONT);
  // It may have read the call by now; a signal at an end in order is no fault.
  node.wait();
}

TEST_CASE("a socket of a killed node is replaced by the next one") {
  home place;
  {
    program node{place.command({"--headless"}), place.environment};
    await_socket(place, node);
    node.signal(SIGKILL);
    node.wait();
  }
  CHECK(std::filesystem::exists(place.state + "/control.sock"));
  CHECK(contains(run(place, {"status"}).err, "No node runs"));
  program node{place.command({"--headless"}), place.environment};
  for (int i = 0; i < 1200 && run(place, {"status"}).code != 0; ++i)
    node.read_until("never printed", milliseconds{50});
  CHECK(json::int_member(status_of(place), "pid") == node.pid());
  CHECK(run(place, {"shutdown"}).code == 0);
  CHECK(node.wait() == 0);
}

TEST_CASE("a node without a free socket name runs, degraded") {
  home place;
  std::filesystem::create_directories(place.state);
  std::filesystem::permissions(place.state, std::filesystem::perms::owner_all);
  write_file(place.state + "/control.sock", "precious");
  auto talk = place.converse("run: echo alive\n");
  INFO(talk.err);
  CHECK(talk.code == 0);
  CHECK(contains(talk.out, "alive"));
  CHECK(contains(talk.err, "no socket has its name"));
  CHECK(read_file(place.state + "/control.sock") == "precious");
}

TEST_CASE("an office is shown after a conversation, with and without a node") {
  home place;
  REQUIRE(place.converse("hello\n").code == 0);
  auto shown = run(place, {"office", "show", "console", "local", "--workspace",
                           place.workspace});
  INFO(shown.err);
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "office     console local\n"));
  CHECK(contains(shown.out, "directory  " + place.office() + "\n"));
  CHECK(contains(shown.out, "log        2 lines, the last of 2"));
  CHECK(contains(shown.out, ".jsonl, "));
  CHECK(contains(shown.out, "ledger     0 open entries\n"));
  // Beside a running node nobody has to say where its workspace is.
  program node{place.command({"--headless"}), place.environment};
  await_socket(place, node);
  auto told = run(place, {"office", "show", "console", "local"});
  CHECK(told.out == shown.out);
  auto unknown = run(place, {"office", "show", "slack", "C1"});
  CHECK(unknown.code == 1);
  CHECK(contains(unknown.err, "no office is recorded for slack C1"));
  CHECK(run(place, {"shutdown"}).code == 0);
  CHECK(node.wait() == 0);
  // Without it the default workspace is looked at.
  CHECK(contains(run(place, {"office", "show", "console", "local"}).out,
                 "(not there)"));
}

TEST_CASE("an operator says something to a conversation and ends its turns") {
  home place;
  program node{place.command({"--console", "local"}), place.environment};
  await_socket(place, node);
  auto said = run(place, {"notify", "console:local", "as it stands",
                          "--verbatim", "--key", "k"});
  INFO(said.err);
  CHECK(said.code == 0);
  CHECK(contains(said.out, "Delivered"));
  CHECK(node.read_until("as it stands"));
  // The same key is the same notification.
  CHECK(run(place, {"notify", "console:local", "as it stands", "--verbatim",
                    "--key", "k"})
          .code
        == 0);
  auto list = run(place, {"notify", "--list"});
  CHECK(list.out == "console:local\n");
  auto nowhere = run(place, {"notify", "slack:C1", "hello"});
  CHECK(nowhere.code == 1);
  CHECK(contains(nowhere.err, "destination_channel_unavailable"));
  auto cancelled = run(place, {"cancel", "console:local", "--all"});
  CHECK(cancelled.out == "Nothing runs there.\n");
  CHECK(contains(run(place, {"status"}).out, "channels:\n  console  running"));
  CHECK(run(place, {"shutdown"}).code == 0);
  CHECK(node.wait() == 0);
}
