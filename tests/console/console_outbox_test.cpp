#include "tests/console/console_world.hpp"

#include "messages/limits.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

namespace {

/// A pipe whose output is looked at on a terminal.
struct half_terminal_world : console_world {
  half_terminal_world()
    : console_world(false, [](console::console_options& options) {
        options.output_is_terminal = true;
      }) {}
};

} // namespace

TEST_CASE_FIXTURE(console_world, "the gate decides about an answer") {
  struct row {
    const char* name;
    errc why;
    delivery_fault want;
  };
  const row rows[] = {
    {"stopped", errc::aborted, delivery_fault::dropped},
    {"disk", errc::disk, delivery_fault::retryable},
    {"ending", errc::shutting_down, delivery_fault::retryable},
  };
  start();
  say("a");
  for (const auto& row : rows) {
    CAPTURE(row.name);
    offices->refusals.push_back(make_failure(row.why, "no"));
    auto outcome = deliver(answer_to(id_of(0), "4"));
    CHECK(outcome.fault == row.want);
    CHECK(outcome.certainty == failure_certainty::definite);
  }
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world,
                  "after a stop nothing of the run is shown, its "
                  "notice is") {
  start();
  say("a");
  self->send<caf::message_priority::high>(offices->attached, atom::drop_v,
                                          std::string{"run-1"});
  settle();
  offices->refusals.push_back(make_failure(errc::aborted, "stopped"));
  CHECK(deliver(answer_to(id_of(0), "late")).fault == delivery_fault::dropped);
  auto interim = answer_to(id_of(0), "later");
  interim.rank = outbound_class::interim;
  CHECK(deliver(interim).fault == delivery_fault::dropped);
  auto notice = answer_to(id_of(0), "_Stopped._");
  notice.rank = outbound_class::control;
  notice.content = outbound_content::notice;
  CHECK(deliver(notice).fault == delivery_fault::none);
  CHECK(port->out.empty());
  CHECK(port->err == "_Stopped._\n");
  CHECK(deliver(answer_to(id_of(0), "other", "run-2")).fault
        == delivery_fault::none);
}

TEST_CASE_FIXTURE(console_world,
                  "an answer that its office sends after a drop is shown") {
  // So an office begins that finds an undelivered answer in its ledger.
  start();
  say("a");
  self->send(offices->attached, atom::drop_v, std::string{"run-1"});
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::none);
  CHECK(port->out == "4\n");
}

TEST_CASE_FIXTURE(console_world,
                  "a drop reaches an answer that waits at its gate") {
  start();
  say("a");
  auto pending = self->request(offices->attached, caf::infinite,
                               atom::deliver_v, answer_to(id_of(0), "4"));
  self->send(offices->attached, atom::drop_v, std::string{"run-1"});
  settle();
  auto outcome = delivery_fault::none;
  pending.receive([&](const delivered& result) { outcome = result.fault; },
                  [](caf::error&) { FAIL("no outcome"); });
  CHECK(outcome == delivery_fault::dropped);
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world, "given a closed output, then the answer keeps "
                                 "and the node shuts down") {
  start();
  say("a");
  port->closed = true;
  auto outcome = deliver(answer_to(id_of(0), "4"));
  CHECK(outcome.fault == delivery_fault::retryable);
  // Longer than a shutdown waits: nobody reads it before the next start.
  CHECK(outcome.retry_after_ms
        > std::chrono::milliseconds{limits::shutdown_timeout}.count());
  CHECK(*shutdowns == lines{"console: standard output is closed"});
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::retryable);
  CHECK(shutdowns->size() == 1);
}

TEST_CASE_FIXTURE(console_world, "a cut line is answered with a notice") {
  start();
  port->events.line(std::string(limits::message_text_bytes + 1, 'x'), true);
  settle();
  CHECK(offices->intakes[0].event.text.size() == limits::message_text_bytes);
  deliver(answer_to(id_of(0), "ok"));
  CHECK(port->out
        == "(Your message was longer than 262144 bytes; I read only its "
           "beginning.)\nok\n");
}

TEST_CASE_FIXTURE(console_world, "operations that a console cannot do") {
  start();
  outbound operation;
  operation.op = outbound_op::typing;
  CHECK(deliver(operation).fault == delivery_fault::none);
  operation.op = outbound_op::remove;
  CHECK(deliver(operation).fault == delivery_fault::none);
  operation.op = outbound_op::upload;
  CHECK(deliver(operation).fault == delivery_fault::permanent);
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world, "a pipe wants finals only") {
  start();
  ask(
    offices->attached,
    [](const transport_info& info) {
      CHECK(info.platform == platform_id::console);
      CHECK_FALSE(info.streaming);
      CHECK(info.activity == activity_style::ledger);
      CHECK_FALSE(info.removes);
    },
    [](const caf::error&) { FAIL("no answer"); }, atom::config_v);
}

TEST_CASE_FIXTURE(console_world, "stopping answers what is open") {
  start();
  say("a");
  port->hold = true;
  auto pending = self->request(offices->attached, caf::infinite,
                               atom::deliver_v, answer_to(id_of(0), "4"));
  settle();
  auto stopped = false;
  ask(
    handle.service, [&](caf::ok_atom) { stopped = true; },
    [](const caf::error&) {}, atom::stop_v);
  CHECK(stopped);
  pending.receive(
    [](const delivered& outcome) {
      CHECK(outcome.fault == delivery_fault::retryable);
    },
    [](const caf::error&) { FAIL("no outcome"); });
}

TEST_CASE_FIXTURE(terminal_world, "a streamed answer continues above the "
                                  "prompt") {
  start();
  say("a");
  port->out.clear();
  auto interim = answer_to(id_of(0), "one\ntw");
  interim.rank = outbound_class::interim;
  auto ref = deliver(interim).ref;
  CHECK(port->out == "one\n");
  CHECK(offices->gates.empty());
  auto answer = answer_to(id_of(0), "one\ntwo");
  answer.op = outbound_op::edit;
  answer.ref = ref;
  CHECK(deliver(answer).ref == ref);
  CHECK(port->out == "one\ntwo\n");
  CHECK(offices->gates[0].ref == ref);
}

TEST_CASE_FIXTURE(half_terminal_world,
                  "an answer to a pipe is harmless on a terminal") {
  CHECK(start());
  say("hello");
  deliver(answer_to(id_of(0), "\x1b[2Jred"));
  CHECK(port->out == "\xEF\xBF\xBD[2Jred\n");
}
