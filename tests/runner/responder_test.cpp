#include "actors/runner/responder.hpp"

#include "tests/runner/stream_events.hpp"
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
    respond({});
  }

  /// Begins anew, on a platform that can do this.
  void respond(const transport_info& info) {
    self->send_exit(subject, caf::exit_reason::kill);
    responder_args args;
    args.event = test::make_ticket("m1").event;
    args.run = "run-1";
    args.owner = owner;
    args.transport = transport;
    args.info = info;
    subject = runner::spawn_responder(*system, args);
    self->send(subject, atom::paths_v, std::string{"/ws"}, std::string{});
    settle();
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

  void read(const std::string& path) {
    event(test::tool_started("c1", "read", R"({"path":")" + path + R"("})"));
  }

  void event(const contracts::stream_event& event) {
    self->send(subject, atom::event_v, event);
    settle();
  }

  /// How the next operations end.
  void fails(delivery_fault fault,
             failure_certainty certainty = failure_certainty::definite) {
    delivered outcome;
    outcome.fault = fault;
    outcome.certainty = certainty;
    screen->outcomes.push_back(outcome);
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

TEST_CASE_FIXTURE(responder_world, "the files of an answer are recorded with "
                                   "its text") {
  contracts::attachment_part file;
  file.name = "report.pdf";
  final_answer answer{"here", false, {file}};
  ask(
    subject, [](caf::ok_atom) {},
    [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::finish_v,
    answer);
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].text == "here");
  CHECK(ledger->produced[0].parts == answer.parts);
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
  read("/ws/x");
  dismiss();
  append("more");
  CHECK(
    screen->lines()
    == lines{"post half", "post 📖 Reading x", "delete[r1] ", "delete[r2] "});
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

// -- what a platform shows ----------------------------------------------------

TEST_CASE_FIXTURE(responder_world, "given hints, then one message is status, "
                                   "draft and place of the answer") {
  transport_info info;
  info.activity = activity_style::hint;
  respond(info);
  self->send(subject, atom::status_v, std::string{"Thinking…"});
  settle();
  read("/ws/x");
  append("4");
  CHECK(screen->lines()
        == lines{"post Thinking…", "edit[r1] Reading files…", "edit[r1] 4"});
  CHECK(screen->operations[0].content == outbound_content::activity);
  CHECK(screen->operations[2].content == outbound_content::answer);
  CHECK(*finish("42") == "ok");
  CHECK(ledger->produced[0].provisional == "r1");
}

TEST_CASE_FIXTURE(responder_world, "given a ledger beside the answer, then it "
                                   "goes when the answer is recorded") {
  append("a");
  read("/ws/x");
  read("/ws/x");
  CHECK(*finish("ab") == "ok");
  CHECK(screen->lines()
        == lines{"post a", "post 📖 Reading x", "edit[r2] 📖 Reading x (×2)",
                 "delete[r2] "});
  CHECK(screen->operations[1].content == outbound_content::activity);
  CHECK(screen->operations[3].rank == outbound_class::control);
  CHECK(ledger->produced[0].provisional == "r1");
}

TEST_CASE_FIXTURE(responder_world, "given finals only, then the answer takes "
                                   "the place of the ledger") {
  transport_info info;
  info.streaming = false;
  respond(info);
  append("never shown");
  read("/ws/x");
  CHECK(*finish("done") == "ok");
  CHECK(screen->lines() == lines{"post 📖 Reading x"});
  CHECK(ledger->produced[0].provisional == "r1");
}

TEST_CASE_FIXTURE(responder_world, "given a platform that takes nothing back, "
                                   "then its ledger stays, and the answer is "
                                   "a message of its own") {
  transport_info info;
  info.streaming = false;
  info.removes = false;
  respond(info);
  read("/ws/x");
  CHECK(*finish("done") == "ok");
  CHECK(screen->lines() == lines{"post 📖 Reading x"});
  CHECK(ledger->produced[0].provisional.empty());
}

TEST_CASE_FIXTURE(responder_world, "given a platform that types, then it does "
                                   "so at most every four seconds") {
  transport_info info;
  info.streaming = false;
  info.activity = activity_style::none;
  info.typing = true;
  respond(info);
  append("a");
  append("b");
  CHECK(screen->lines() == lines{"typing "});
  CHECK(screen->operations[0].rank == outbound_class::cosmetic);
  advance(4s);
  read("/ws/x");
  CHECK(screen->lines() == lines{"typing ", "typing "});
}

TEST_CASE_FIXTURE(responder_world, "a long draft shows its end where messages "
                                   "are short") {
  transport_info info;
  info.max_length = 64;
  respond(info);
  append(std::string(80, 'x'));
  CHECK(screen->lines() == lines{"post …\n" + std::string(62, 'x')});
}

TEST_CASE_FIXTURE(responder_world, "where answers alone are shown, nothing "
                                   "comes before them") {
  transport_info info;
  info.streaming = false;
  info.activity = activity_style::none;
  respond(info);
  append("half");
  read("/ws/x");
  SUBCASE("the answer") {
    CHECK(*finish(" all of it\n") == "ok");
    REQUIRE(ledger->produced.size() == 1);
    CHECK(ledger->produced[0].text == "all of it");
    CHECK(ledger->produced[0].run == "run-1");
    CHECK(ended());
  }
  SUBCASE("silence") {
    CHECK(*finish("", true) == "ok");
    CHECK(ledger->produced[0].silent);
  }
  SUBCASE("a stop") {
    dismiss();
    CHECK(ledger->produced.empty());
    CHECK(ended());
  }
  CHECK(screen->lines().empty());
}

// -- a message to the run -----------------------------------------------------

TEST_CASE_FIXTURE(responder_world, "given finals only, when a message reaches "
                                   "the run, then the ledger moves below it") {
  transport_info info;
  info.streaming = false;
  respond(info);
  read("/ws/x");
  SUBCASE("") {
    event(test::steered("↪️ Steered: “no”"));
    CHECK(screen->lines()
          == lines{"post 📖 Reading x", "delete[r1] ",
                   "post 📖 Reading x\n↪️ Steered: “no”"});
  }
  SUBCASE("unless it cannot be removed") {
    fails(delivery_fault::permanent);
    event(test::steered("↪️ Steered: “no”"));
    CHECK(screen->lines()
          == lines{"post 📖 Reading x", "delete[r1] ",
                   "edit[r1] 📖 Reading x\n↪️ Steered: “no”"});
  }
}

// -- a transport that fails ---------------------------------------------------

TEST_CASE_FIXTURE(responder_world, "given a transport that fails, then the "
                                   "answer is recorded all the same") {
  SUBCASE("once: the next text is shown") {
    fails(delivery_fault::retryable);
    append("a");
    append("b");
    CHECK(screen->lines() == lines{"post a", "post ab"});
    CHECK(*finish("ab") == "ok");
    CHECK(ledger->produced[0].provisional == "r1");
  }
  SUBCASE("for good: nothing more is tried") {
    fails(delivery_fault::permanent);
    append("a");
    append("b");
    CHECK(screen->lines() == lines{"post a"});
    CHECK(*finish("ab") == "ok");
    CHECK(ledger->produced[0].provisional.empty());
  }
  SUBCASE("because somebody deleted its message: it is shown anew") {
    append("a");
    fails(delivery_fault::recreate);
    append("b");
    append("c");
    CHECK(screen->lines() == lines{"post a", "edit[r1] ab", "post abc"});
    CHECK(*finish("abc") == "ok");
    CHECK(ledger->produced[0].provisional == "r2");
  }
  SUBCASE("perhaps: nothing is shown twice") {
    fails(delivery_fault::retryable, failure_certainty::unknown);
    append("a");
    append("b");
    CHECK(screen->lines() == lines{"post a"});
  }
  SUBCASE("because it is gone") {
    self->send_exit(transport, caf::exit_reason::kill);
    settle();
    append("a");
    CHECK(*finish("ab") == "ok");
    CHECK(ledger->produced[0].text == "ab");
  }
}

TEST_CASE_FIXTURE(responder_world, "a silent answer takes back what was "
                                   "shown") {
  append("half");
  read("/ws/x");
  CHECK(*finish("", true) == "ok");
  CHECK(ledger->produced[0].silent);
  CHECK(ledger->produced[0].provisional.empty());
  CHECK(
    screen->lines()
    == lines{"post half", "post 📖 Reading x", "delete[r1] ", "delete[r2] "});
}

TEST_CASE_FIXTURE(responder_world, "a stop takes back what comes late") {
  screen->hold = true;
  append("half");
  dismiss();
  screen->release();
  settle();
  CHECK(screen->lines() == lines{"post half", "delete[r1] "});
  CHECK(ended());
}
