#include "tests/console/console_world.hpp"

#include "messages/codec/log_record.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

/// A terminal that shows warnings, beside a file with the whole log.
struct logging_world {
  logging_world() { kit::log::set_level(kit::log::level::info); }
  ~logging_world() {
    at.reset();
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::info);
  }

  void open() {
    at.emplace(true, [this](console::console_options& options) {
      options.show_warnings = true;
      options.log_tee = [this](kit::log::level, std::string_view line) {
        file += std::string{line} + "\n";
      };
    });
    kit::log::set_level(kit::log::level::info);
    CHECK(at->start());
  }

  bool has(const std::string& text) const {
    return file.find(text) != std::string::npos;
  }

  std::string file;
  std::optional<console_world> at;
};

} // namespace

TEST_CASE_FIXTURE(console_world,
                  "a line becomes a message, its answer a line") {
  CHECK(start());
  CHECK(port->allowed == limits::console_waiting_bytes);
  say("2+2?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& request = offices->intakes[0];
  CHECK(request.trigger == trigger_class::addressed);
  CHECK(request.event.address == office_address{platform_id::console, "local"});
  CHECK(request.event.session_key == "local");
  CHECK(request.event.kind == conversation_kind::direct);
  CHECK(request.event.user == "ann");
  CHECK(request.event.text == "2+2?");
  CHECK(request.event.message_id == "1767225600.000000");
  auto outcome = deliver(answer_to(id_of(0), "4"));
  CHECK(outcome.fault == delivery_fault::none);
  CHECK(outcome.ref == "1767225600.000001");
  CHECK(port->out == "4\n");
  CHECK(port->err.empty());
  REQUIRE(offices->gates.size() == 1);
  CHECK(offices->gates[0].message_id == id_of(0));
  CHECK(offices->gates[0].run == "run-1");
  CHECK(port->allowed
        == limits::console_waiting_bytes + limits::console_line_cost + 4);
  close(id_of(0));
  CHECK(shutdowns->empty());
}

TEST_CASE_FIXTURE(console_world, "ids go on after those of the chat log") {
  log_record record;
  record.ts = "1767225999.000041";
  record.user = "ann";
  (*logs)[log_path("local")] = print_log_line(record);
  start();
  say("a");
  CHECK(id_of(0) == "1767225999.000042");
}

TEST_CASE_FIXTURE(console_world, "a log that cannot be read does not matter") {
  (*logs)[log_path("local")] = "broken";
  start();
  say("a");
  CHECK(offices->intakes.size() == 1);
}

TEST_CASE_FIXTURE(console_world, "given the end of a pipe, when all messages "
                                 "have closed, then the node shuts down") {
  start();
  say("a");
  say("b");
  port->events.end_of_input();
  settle();
  CHECK(shutdowns->empty());
  close(id_of(0));
  CHECK(shutdowns->empty());
  close(id_of(1));
  CHECK(*shutdowns == lines{"console: end of input"});
}

TEST_CASE_FIXTURE(console_world, "given a full disk, then the message is "
                                 "offered again with the same id") {
  start();
  offices->failures.push_back(make_failure(errc::disk, "The disk is full."));
  say("a");
  say("b");
  CHECK(offices->intakes.size() == 1);
  CHECK(port->err.find("your message is not lost") != std::string::npos);
  advance(1s);
  REQUIRE(offices->intakes.size() == 3);
  CHECK(id_of(1) == id_of(0));
  CHECK(offices->intakes[2].event.text == "b");
}

TEST_CASE_FIXTURE(console_world, "two conversations name their lines") {
  start();
  say("/to lab");
  say("a");
  CHECK(offices->intakes[0].event.address.conversation_id == "lab");
  auto answer = answer_to(id_of(0), "x\ny");
  answer.conversation.conversation_id = "lab";
  deliver(answer);
  CHECK(port->out == "[lab] x\n[lab] y\n");
}

TEST_CASE_FIXTURE(console_world, "starting") {
  SUBCASE("streams that cannot be used") {
    port->broken = true;
    CHECK_FALSE(start());
    CHECK(fault == "The console is broken.");
  }
  SUBCASE("offices that refuse") {
    offices->attach_failure = make_failure(errc::disk, "no ledger");
    CHECK_FALSE(start());
    CHECK(fault == "no ledger");
    CHECK(port->stops == 1);
  }
  SUBCASE("twice") {
    CHECK(start());
    CHECK_FALSE(start());
    CHECK(fault == "The console runs already.");
  }
}

TEST_CASE_FIXTURE(console_world, "draining takes nothing new, answers go on") {
  start();
  say("a");
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error&) { FAIL("no drain"); }, atom::drain_v);
  // A reader that takes nothing does not hold the end up.
  CHECK(port->hurried);
  say("b");
  CHECK(offices->intakes.size() == 1);
  CHECK(port->err.find("Your line was not taken.") != std::string::npos);
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::none);
  CHECK(port->out == "4\n");
}

TEST_CASE_FIXTURE(console_world, "stopping does not wait for stuck streams") {
  start();
  port->stuck = true;
  auto pending = self->request(handle.service, caf::infinite, atom::stop_v);
  settle();
  advance(5s);
  auto stopped = false;
  pending.receive([&](caf::ok_atom) { stopped = true; },
                  [](const caf::error&) {});
  CHECK(stopped);
}

TEST_CASE_FIXTURE(terminal_world, "a terminal is greeted and prompted") {
  CHECK(start());
  CHECK(port->out.starts_with(
    "bureau, model lab/tiny: first entry of models.json\n"));
  CHECK(port->shown_prompt == "local> ");
  say("/to lab");
  CHECK(port->shown_prompt == "lab> ");
}

TEST_CASE_FIXTURE(terminal_world,
                  "^C stops the running turn, a second one ends "
                  "the program") {
  start();
  say("a");
  port->events.interrupt();
  settle();
  REQUIRE(offices->intakes.size() == 2);
  CHECK(offices->intakes[1].event.text == "stop");
  CHECK(offices->intakes[1].event.session_key == "local");
  CHECK(shutdowns->empty());
  handle.interrupt();
  settle();
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "^C stops a turn that a restart resumed") {
  start();
  offices->runs = true;
  CHECK(handle.interrupt());
  settle();
  REQUIRE(offices->stops.size() == 1);
  CHECK(offices->stops[0].conversation.conversation_id == "local");
  CHECK(shutdowns->empty());
  handle.interrupt();
  settle();
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "^C without a turn ends the program") {
  start();
  CHECK(handle.interrupt());
  settle();
  CHECK(offices->stops.size() == 1);
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "a console that has ended takes no ^C") {
  start();
  caf::anon_send_exit(handle.service, caf::exit_reason::kill);
  settle();
  CHECK_FALSE(handle.interrupt());
}

TEST_CASE_FIXTURE(logging_world, "the log goes to its file while the console "
                                 "runs, and after its end") {
  open();
  kit::log::info("a", "while it runs");
  kit::log::warning("b", "danger \x1b[2J");
  CHECK(has("while it runs"));
  CHECK(at->port->out.find("while it runs") == std::string::npos);
  CHECK(at->port->out.find("danger \xEF\xBF\xBD[2J") != std::string::npos);
  auto stopped = false;
  at->ask(
    at->handle.service, [&](caf::ok_atom) { stopped = true; },
    [](const caf::error&) {}, atom::stop_v);
  CHECK(stopped);
  kit::log::info("c", "after its end");
  CHECK(has("after its end"));
}

TEST_CASE_FIXTURE(logging_world, "a console that is lost gives the log back") {
  open();
  at.reset();
  kit::log::info("c", "after its end");
  CHECK(has("after its end"));
}
