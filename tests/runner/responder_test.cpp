#include "actors/runner/responder.hpp"

#include "tests/support/node_fixture.hpp"
#include "tests/support/turn_fakes.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// One responder between a recording transport and a recording owner.
class responder_world : public test::node_fixture {
public:
  responder_world() {
    transport = test::spawn_recording_transport(*system, screen);
    owner = test::spawn_recording_owner(*system, ledger);
    responder_args args;
    args.event = test::make_ticket("m1").event;
    args.run = "run-1";
    args.owner = owner;
    args.transport = transport;
    subject = runner::spawn_responder(*system, args);
  }

  ~responder_world() {
    self->send_exit(subject, caf::exit_reason::kill);
    self->send_exit(owner, caf::exit_reason::kill);
    self->send_exit(transport, caf::exit_reason::kill);
    settle();
  }

  void append(const std::string& text) {
    self->send(subject, atom::append_v, text);
    settle();
  }

  /// Starts the end; the result is "" until it is answered.
  std::shared_ptr<std::string> finish(const std::string& text,
                                      bool suppressed = false) {
    auto result = std::make_shared<std::string>();
    system->spawn(
      [this, result, text, suppressed](caf::event_based_actor* me,
                                       int) -> caf::behavior {
        me->request(subject, caf::infinite, atom::finish_v,
                    final_answer{text, suppressed, {}})
          .then([result](caf::ok_atom) { *result = "ok"; },
                [result](const caf::error& reason) {
                  *result = to_string(code_of(reason));
                });
        return {[](int) {
        }};
      },
      0);
    settle();
    return result;
  }

  bool ended() {
    auto gone = false;
    ask(
      subject, [](caf::ok_atom) {}, [&](const caf::error&) { gone = true; },
      atom::dismiss_v);
    return gone;
  }

  void dismiss() {
    ask(
      subject, [](caf::ok_atom) {},
      [](const caf::error&) { FAIL("not dismissed"); }, atom::dismiss_v);
  }

  using lines = std::vector<std::string>;
  std::shared_ptr<test::transport_probe> screen =
    std::make_shared<test::transport_probe>();
  std::shared_ptr<test::owner_probe> ledger =
    std::make_shared<test::owner_probe>();
  transport_actor transport;
  turn_owner_actor owner;
  responder_actor subject;
};

} // namespace

TEST_CASE_FIXTURE(responder_world, "given a slow transport, when text streams, "
                                   "then edits are coalesced") {
  screen->hold = true;
  append("a");
  append("b");
  append("c");
  CHECK(screen->lines() == lines{"post a"});
  screen->release();
  settle();
  CHECK(screen->lines() == lines{"post a", "edit[r1] abc"});
  const auto& post = screen->operations[0];
  CHECK(post.rank == outbound_class::interim);
  CHECK(post.content == outbound_content::answer);
  CHECK(post.run == "run-1");
  CHECK(post.message_id == "m1");
  CHECK(post.conversation.conversation_id == "local");
}

TEST_CASE_FIXTURE(responder_world, "the end is answered when the ledger holds "
                                   "the answer, and the responder is gone") {
  append("par");
  auto result = finish("partial");
  CHECK(*result == "ok");
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].text == "partial");
  CHECK(ledger->produced[0].provisional == "r1");
  CHECK(ledger->produced[0].session_key == "local");
  CHECK(ledger->produced[0].message_id == "m1");
  CHECK_FALSE(ledger->produced[0].silent);
  CHECK(screen->lines() == lines{"post par"});
  subject = nullptr;
}

TEST_CASE_FIXTURE(responder_world, "given an owner that does not answer, then "
                                   "the end fails in time") {
  ledger->mute_produced = true;
  auto result = finish("x");
  CHECK(result->empty());
  advance(30s);
  CHECK(*result == "timeout");
}

TEST_CASE_FIXTURE(responder_world, "given a full disk, then the end says so") {
  ledger->produce_failures.push_back(make_failure(errc::disk, "full"));
  CHECK(*finish("x") == "disk");
}

TEST_CASE_FIXTURE(responder_world,
                  "given a post that hangs, when the end "
                  "comes, then it waits ten seconds, no more") {
  screen->hold = true;
  append("a");
  auto result = finish("all");
  advance(9999ms);
  CHECK(result->empty());
  advance(1ms);
  CHECK(*result == "ok");
  CHECK(ledger->produced[0].provisional.empty());
  screen->release();
  settle();
  CHECK(screen->lines() == lines{"post a", "delete[r1] "});
}

TEST_CASE_FIXTURE(responder_world, "a dismissed run takes back what it showed "
                                   "and says nothing more") {
  append("half");
  self->send(subject, atom::activity_v, std::string{"• x"});
  settle();
  dismiss();
  append("more");
  CHECK(screen->lines()
        == lines{"post half", "post • x", "delete[r1] ", "delete[r2] "});
  CHECK(ledger->produced.empty());
}

TEST_CASE_FIXTURE(responder_world, "a dismissal fails the end that waits") {
  ledger->mute_produced = true;
  auto result = finish("x");
  dismiss();
  CHECK(*result == "aborted");
}

TEST_CASE_FIXTURE(responder_world, "a responder does not wait for ever for an "
                                   "outcome") {
  screen->hold = true;
  append("a");
  finish("all");
  advance(10s);
  CHECK_FALSE(ended());
  advance(60s);
  CHECK(ended());
}
