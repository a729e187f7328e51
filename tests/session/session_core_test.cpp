#include "actors/session/session_core.hpp"
#include "tests/support/turn_fakes.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::session;
using test::make_ticket;

namespace {

struct effect_name {
  std::string operator()(const effect::name_run&) { return "name"; }
  std::string operator()(const effect::record_start& x) {
    return "start " + x.fact.message_id + " " + x.fact.run;
  }
  std::string operator()(const effect::record_covered& x) {
    return "cover " + x.fact.message_id + " " + x.fact.run;
  }
  std::string operator()(const effect::retry_start&) { return "retry"; }
  std::string operator()(const effect::open_runner&) { return "open"; }
  std::string operator()(const effect::start_run& x) {
    auto result = "run " + x.request.run;
    for (const auto& event : x.request.ticket.collected)
      result += "+" + event.message_id;
    return result;
  }
  std::string operator()(const effect::abort_run&) { return "abort"; }
  std::string operator()(const effect::kill_runner&) { return "kill"; }
  std::string operator()(const effect::dispose_runner&) { return "dispose"; }
  std::string operator()(const effect::close_store&) { return "close"; }
  std::string operator()(const effect::reset_store&) { return "reset"; }
  std::string operator()(const effect::record_dead& x) {
    return "dead " + x.fact.message_id + " " + x.fact.why
           + (x.fact.told ? " told" : "");
  }
  std::string operator()(const effect::drop_output& x) {
    return "drop " + x.run;
  }
  std::string operator()(const effect::notice& x) {
    return "say " + to_string(x.operation.op) + x.operation.ref + " "
           + x.operation.text;
  }
  std::string operator()(const effect::arm_settle&) { return "arm settle"; }
  std::string operator()(const effect::cancel_settle&) {
    return "cancel settle";
  }
  std::string operator()(const effect::arm_idle&) { return "arm idle"; }
  std::string operator()(const effect::cancel_idle&) { return "cancel idle"; }
  std::string operator()(const effect::read_rules&) { return "rules"; }
  std::string operator()(const effect::offer_input& x) {
    return "offer " + x.ticket.event.message_id + " " + x.run;
  }
  std::string operator()(const effect::count_loss&) { return "loss"; }
};

/// Effects as text, joined by "; ".
std::string told(const session_effects& effects) {
  std::string result;
  for (const auto& item : effects)
    result += (result.empty() ? "" : "; ") + std::visit(effect_name{}, item);
  return result;
}

run_result answered() {
  run_result result;
  result.produced = true;
  return result;
}

/// A core in the state that a row starts from.
class lane {
public:
  lane() : core({platform_id::console, "local"}, "local") {}

  /// Message `id` begins to run as run `r-<id>`.
  lane& running(const std::string& id) {
    core.ticket(make_ticket(id), now);
    core.run_named("r-" + id);
    core.start_recorded("r-" + id);
    return *this;
  }
  lane& materialising(const std::string& id) {
    core.ticket(make_ticket(id), now);
    core.run_named("r-" + id);
    return *this;
  }
  lane& waiting(const std::string& id) {
    core.ticket(make_ticket(id), now);
    return *this;
  }
  lane& idle() {
    running("m0");
    core.settled("r-m0", answered(), now);
    return *this;
  }
  lane& stopping(const std::string& id) {
    running(id);
    core.stop({"local", "", json_text{}});
    return *this;
  }

  session_core core;
  int64_t now = 1000;
};

std::string state(const lane& at) {
  return at.core.snapshot().state;
}

turn_ticket scheduled(const std::string& id) {
  auto result = make_ticket(id);
  result.event.origin = turn_origin::event;
  return result;
}

} // namespace

TEST_CASE("a turn is named, recorded, then run, and the runner stays") {
  lane at;
  CHECK(told(at.core.ticket(make_ticket("m1"), 5)) == "name");
  CHECK(told(at.core.run_named("r1")) == "start m1 r1");
  CHECK(state(at) == "materialising");
  CHECK(told(at.core.start_recorded("r1")) == "open; run r1");
  CHECK(state(at) == "running");
  CHECK(told(at.core.settled("r1", answered(), 9)) == "arm idle");
  CHECK(state(at) == "idle");
  CHECK(at.core.snapshot().last_access_ms == 9);
  CHECK(told(at.core.ticket(make_ticket("m2"), 10)) == "cancel idle; name");
  at.core.run_named("r2");
  CHECK(told(at.core.start_recorded("r2")) == "run r2");
}

TEST_CASE("messages wait in order, one run at a time") {
  lane at;
  at.running("m1");
  CHECK(told(at.core.ticket(make_ticket("m2"), 1)) == "rules");
  CHECK(told(at.core.ticket(make_ticket("m3"), 1)) == "rules");
  CHECK(told(at.core.rules_unknown(1)).empty());
  CHECK(at.core.snapshot().waiting == 2);
  CHECK(told(at.core.settled("r-m1", answered(), 1)) == "cancel idle; name");
  CHECK(told(at.core.run_named("r2")) == "start m2 r2");
}

TEST_CASE("the same message twice is one turn") {
  lane at;
  at.running("m1").waiting("m2");
  CHECK(at.core.ticket(make_ticket("m1"), 1).empty());
  CHECK(at.core.ticket(make_ticket("m2"), 1).empty());
  CHECK(at.core.snapshot().waiting == 1);
}

TEST_CASE("a full queue refuses, and says so once a minute") {
  lane at;
  at.core.rules_known({2}, 0);
  at.running("m1").waiting("m2").waiting("m3");
  CHECK(told(at.core.ticket(make_ticket("m4"), 0))
        == std::string{"dead m4 refused told; say post "} + wording::refused);
  CHECK(told(at.core.ticket(make_ticket("m5"), 59'999)) == "dead m5 refused");
  CHECK(told(at.core.ticket(make_ticket("m6"), 60'000))
        == std::string{"dead m6 refused told; say post "} + wording::refused);
  CHECK(at.core.snapshot().waiting == 2);
}

TEST_CASE("scheduled events have five places and are refused in silence") {
  lane at;
  at.running("m1");
  for (int i = 0; i < 5; ++i)
    at.core.ticket(scheduled("event:e@" + std::to_string(i)), 0);
  CHECK(at.core.snapshot().waiting == 5);
  CHECK(told(at.core.ticket(scheduled("event:e@5"), 0))
        == "dead event:e@5 refused");
  CHECK(told(at.core.ticket(make_ticket("m2"), 0)) == "rules");
  CHECK(at.core.snapshot().waiting == 6);
}

TEST_CASE("a message to an idle session is never refused") {
  lane at;
  at.core.rules_known({0}, 0);
  CHECK(told(at.core.ticket(make_ticket("m1"), 0)) == "name");
}

TEST_CASE("an unrecorded start is retried or passed over") {
  struct row {
    const char* name;
    errc why;
    const char* want;
  };
  const row rows[] = {
    {"disk full", errc::disk, "retry"},
    {"no answer", errc::timeout, "retry"},
    {"owner busy", errc::queue_full, "retry"},
    {"entry closed", errc::conflict, ""},
    {"entry unknown", errc::not_found, ""},
    {"entry stopped", errc::aborted, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at;
    at.materialising("m1");
    CHECK(told(at.core.start_refused("r-m1", row.why)) == row.want);
    CHECK(told(at.core.retry_due())
          == (row.want[0] != 0 ? "start m1 r-m1" : ""));
  }
}

TEST_CASE("a refused start lets the next message go on") {
  lane at;
  at.materialising("m1").waiting("m2");
  CHECK(told(at.core.start_refused("r-m1", errc::conflict)) == "name");
  CHECK(at.core.snapshot().message_id == "m2");
}

TEST_CASE("stop by state") {
  struct row {
    const char* name;
    void (*prepare)(lane&);
    const char* message_id;
    const char* want;
    const char* state;
  };
  const row rows[] = {
    {"running", [](lane& at) { at.running("m1"); }, "",
     "abort; arm settle; say post _Stopping…_", "stopping"},
    {"running, named", [](lane& at) { at.running("m1"); }, "m1",
     "abort; arm settle; say post _Stopping…_", "stopping"},
    {"stopping: repeats are ignored", [](lane& at) { at.stopping("m1"); }, "",
     "", "stopping"},
    {"materialising", [](lane& at) { at.materialising("m1"); }, "",
     "dead m1 stopped told; say post _Stopped._", "absent"},
    {"waiting, named", [](lane& at) { at.running("m1").waiting("m2"); }, "m2",
     "dead m2 stopped told; say post _Stopped._", "running"},
    {"idle", [](lane& at) { at.idle(); }, "", "say post _Nothing running._",
     "idle"},
    {"already ended", [](lane& at) { at.idle(); }, "m0",
     "say post _Nothing running._", "idle"},
    {"absent", [](lane&) {}, "", "say post _Nothing running._", "absent"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at;
    row.prepare(at);
    CHECK(told(at.core.stop({"local", row.message_id, json_text{}}))
          == row.want);
    CHECK(state(at) == row.state);
  }
}

TEST_CASE("a stop that overtook its message closes it on arrival") {
  lane at;
  CHECK(at.core.stop({"local", "m1", json_text{}}).empty());
  CHECK(told(at.core.ticket(make_ticket("m1"), 0))
        == "dead m1 stopped told; say post _Stopped._");
  CHECK(state(at) == "absent");
  CHECK(told(at.core.ticket(make_ticket("m2"), 0)) == "name");
}

TEST_CASE("the end of a stopped run by kind") {
  struct row {
    const char* name;
    session_effects (*end)(session_core&);
    const char* want;
  };
  const row rows[] = {
    {"aborted", [](session_core& core) { return core.settled("r-m1", {}, 1); },
     "dead m1 stopped told; drop r-m1; say editn1 _Stopped._; cancel settle; "
     "arm idle"},
    {"an answer came all the same",
     [](session_core& core) { return core.settled("r-m1", answered(), 1); },
     "dead m1 stopped told; drop r-m1; say editn1 _Stopped._; cancel settle; "
     "arm idle"},
    {"the disk failed",
     [](session_core& core) {
       return core.run_failed("r-m1", errc::disk, "full.", 1);
     },
     "dead m1 stopped told; drop r-m1; say editn1 _Stopped._; cancel settle; "
     "arm idle"},
    {"the runner died",
     [](session_core& core) { return core.runner_down("crash", 1); },
     "loss; dead m1 stopped told; drop r-m1; say editn1 _Stopped._; close; "
     "cancel settle"},
    {"no settlement", [](session_core& core) { return core.settle_timeout(1); },
     "kill; loss; dead m1 stopped told; drop r-m1; say editn1 _Stopped._; "
     "cancel settle"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at;
    at.stopping("m1");
    CHECK(at.core.notice_delivered(1, "n1").empty());
    CHECK(told(row.end(at.core)) == row.want);
  }
}

TEST_CASE("Stopped. waits for the outcome of Stopping…") {
  SUBCASE("visible: it is edited") {
    lane at;
    at.stopping("m1");
    CHECK(told(at.core.settled("r-m1", {}, 1))
          == "dead m1 stopped told; drop r-m1; cancel settle; arm idle");
    CHECK(told(at.core.notice_delivered(1, "n1")) == "say editn1 _Stopped._");
    CHECK(at.core.notice_delivered(1, "n1").empty());
  }
  SUBCASE("failed: it is posted") {
    lane at;
    at.stopping("m1");
    at.core.settled("r-m1", {}, 1);
    CHECK(told(at.core.notice_delivered(1, "")) == "say post _Stopped._");
  }
  SUBCASE("failed before the end: it is posted at the end") {
    lane at;
    at.stopping("m1");
    CHECK(at.core.notice_delivered(1, "").empty());
    CHECK(told(at.core.settled("r-m1", {}, 1))
          == "dead m1 stopped told; drop r-m1; say post _Stopped._; "
             "cancel settle; arm idle");
  }
}

TEST_CASE("stop answers where it was asked") {
  lane at;
  at.running("m1");
  auto effects = at.core.stop({"local", "", json_text{R"({"t":1})"}});
  auto& notice = std::get<effect::notice>(effects.back());
  CHECK(notice.operation.target.text == R"({"t":1})");
  CHECK(notice.operation.rank == outbound_class::control);
  CHECK(notice.operation.content == outbound_content::notice);
  CHECK(notice.operation.run == "r-m1");
  CHECK(notice.token == 1);
}

TEST_CASE("a run without an answer is closed and said") {
  lane at;
  at.running("m1").waiting("m2");
  CHECK(told(at.core.settled("r-m1", {}, 1))
        == std::string{"dead m1 interrupted told; drop r-m1; say post "}
             + wording::interrupted + "; cancel idle; name");
}

TEST_CASE("errors of a run by kind") {
  SUBCASE("disk: the runner is kept, the words of the system are not") {
    lane at;
    at.running("m1");
    CHECK(told(at.core.run_failed("r-m1", errc::disk, "The disk is full.", 1))
          == std::string{"dead m1 interrupted told; drop r-m1; say post "}
               + wording::unrecorded + "; arm idle");
  }
  SUBCASE("no answer: the runner is killed") {
    lane at;
    at.running("m1");
    CHECK(told(at.core.run_failed("r-m1", errc::timeout, "late", 1))
          == std::string{"kill; loss; dead m1 interrupted told; drop r-m1; "
                         "say post "}
               + wording::interrupted);
    CHECK(state(at) == "disposing");
    CHECK(at.core.released().empty());
    CHECK(state(at) == "absent");
  }
}

TEST_CASE("a dead runner is replaced when its store has closed") {
  lane at;
  at.running("m1").waiting("m2");
  at.core.runner_down("crash", 1);
  CHECK(state(at) == "disposing");
  CHECK(at.core.snapshot().waiting == 1);
  CHECK(told(at.core.released()) == "name");
  at.core.run_named("r2");
  CHECK(told(at.core.start_recorded("r2")) == "open; run r2");
}

TEST_CASE("a cached runner that dies while the start is recorded") {
  lane at;
  at.idle().materialising("m1");
  CHECK(told(at.core.runner_down("crash", 1)) == "loss; cancel idle; close");
  CHECK(at.core.start_recorded("r-m1").empty());
  CHECK(state(at) == "materialising");
  CHECK(told(at.core.released()) == "open; run r-m1");
}

TEST_CASE("a store that ends renews the runner") {
  SUBCASE("idle: at once") {
    lane at;
    at.idle();
    CHECK(told(at.core.store_down()) == "cancel idle; dispose");
  }
  SUBCASE("running: after the turn") {
    lane at;
    at.running("m1").waiting("m2");
    CHECK(at.core.store_down().empty());
    CHECK(told(at.core.settled("r-m1", answered(), 1))
          == "cancel idle; dispose");
    CHECK(told(at.core.released()) == "name");
  }
}

TEST_CASE("an idle runner is disposed, and messages wait for it") {
  lane at;
  at.idle();
  CHECK(told(at.core.idle_timeout()) == "cancel idle; dispose");
  CHECK(state(at) == "disposing");
  CHECK(at.core.ticket(make_ticket("m1"), 1).empty());
  CHECK(told(at.core.released()) == "name");
}

TEST_CASE("stale answers of an earlier run change nothing") {
  lane at;
  at.running("m1");
  CHECK(at.core.settled("r-m0", answered(), 1).empty());
  CHECK(at.core.run_failed("r-m0", errc::disk, "x", 1).empty());
  CHECK(at.core.start_recorded("r-m0").empty());
  CHECK(at.core.settle_timeout(1).empty());
  CHECK(at.core.released().empty());
  CHECK(state(at) == "running");
}

TEST_CASE("drain by phase and state") {
  SUBCASE("hold starts nothing new and keeps what runs") {
    lane at;
    at.running("m1").waiting("m2");
    CHECK(at.core.drain(drain_phase::hold).empty());
    CHECK(at.core.holds(drain_phase::hold));
    CHECK_FALSE(at.core.holds(drain_phase::abort));
    CHECK(told(at.core.settled("r-m1", answered(), 1)) == "arm idle");
    CHECK(at.core.snapshot().waiting == 1);
    CHECK(at.core.holds(drain_phase::abort));
  }
  SUBCASE("abort ends a run without a word; its entry stays running") {
    lane at;
    at.running("m1");
    CHECK(told(at.core.drain(drain_phase::abort)) == "abort; arm settle");
    CHECK_FALSE(at.core.holds(drain_phase::abort));
    CHECK(told(at.core.settled("r-m1", {}, 1)) == "cancel settle; arm idle");
    CHECK(at.core.holds(drain_phase::abort));
  }
  SUBCASE("abort kills what does not settle") {
    lane at;
    at.running("m1");
    at.core.drain(drain_phase::abort);
    CHECK(told(at.core.settle_timeout(1)) == "kill; loss; cancel settle");
    CHECK(at.core.holds(drain_phase::abort));
  }
  SUBCASE("a turn that has not started is let go") {
    lane at;
    at.materialising("m1");
    CHECK(at.core.drain(drain_phase::abort).empty());
    CHECK(at.core.start_recorded("r-m1").empty());
    CHECK(at.core.holds(drain_phase::abort));
  }
  SUBCASE("close disposes") {
    lane at;
    at.idle();
    CHECK(told(at.core.drain(drain_phase::close)) == "cancel idle; dispose");
    CHECK_FALSE(at.core.holds(drain_phase::close));
    at.core.released();
    CHECK(at.core.holds(drain_phase::close));
  }
  SUBCASE("close of a running session aborts first") {
    lane at;
    at.running("m1");
    CHECK(told(at.core.drain(drain_phase::close)) == "abort; arm settle");
    CHECK(told(at.core.settled("r-m1", {}, 1))
          == "cancel settle; cancel idle; dispose");
  }
  SUBCASE("a user's stop under way is finished as such") {
    lane at;
    at.stopping("m1");
    CHECK(at.core.drain(drain_phase::abort).empty());
    CHECK(told(at.core.settled("r-m1", {}, 1))
          == "dead m1 stopped told; drop r-m1; cancel settle; arm idle");
  }
  SUBCASE("messages that arrive later stay accepted") {
    lane at;
    at.core.drain(drain_phase::hold);
    CHECK(at.core.ticket(make_ticket("m1"), 1).empty());
    CHECK(at.core.snapshot().waiting == 1);
  }
}

TEST_CASE("a reset by state") {
  SUBCASE("nothing materialised: a fresh file, no runner") {
    lane at;
    CHECK(told(at.core.reset()) == "reset");
    CHECK(state(at) == "disposing");
    CHECK(told(at.core.store_reset()) == "");
    CHECK(state(at) == "absent");
  }
  SUBCASE("idle: the runner goes first, once") {
    lane at;
    at.idle();
    CHECK(told(at.core.reset()) == "cancel idle; dispose");
    CHECK(told(at.core.released()) == "reset");
    CHECK(told(at.core.store_reset()) == "");
    CHECK(state(at) == "absent");
  }
  SUBCASE("running: aborted, and nothing is renewed before it settled") {
    lane at;
    at.running("m1").waiting("m2");
    CHECK(told(at.core.reset())
          == "abort; arm settle; say post _Stopping\u2026_");
    CHECK(told(at.core.settled("r-m1", answered(), at.now))
          == "dead m1 stopped told; drop r-m1; cancel settle; cancel idle; "
             "dispose");
    CHECK(told(at.core.released()) == "reset");
    // What waited runs in the fresh session.
    CHECK(told(at.core.store_reset()) == "name");
    at.core.run_named("r-m2");
    CHECK(told(at.core.start_recorded("r-m2")) == "open; run r-m2");
  }
  SUBCASE("materialising: closed in place") {
    lane at;
    at.materialising("m1");
    CHECK(told(at.core.reset())
          == "dead m1 stopped told; say post _Stopped._; "
             "reset");
  }
  SUBCASE("a second reset joins the first") {
    lane at;
    CHECK(told(at.core.reset()) == "reset");
    CHECK(told(at.core.reset()) == "");
    at.core.store_reset();
    CHECK(told(at.core.reset()) == "reset");
  }
  SUBCASE("a message that comes during a reset waits for it") {
    lane at;
    at.core.reset();
    CHECK(told(at.core.ticket(make_ticket("m1"), at.now)) == "");
    CHECK(told(at.core.store_reset()) == "name");
  }
  SUBCASE("a drain waits for it") {
    lane at;
    at.core.reset();
    at.core.drain(drain_phase::close);
    CHECK_FALSE(at.core.holds(drain_phase::close));
    at.core.store_reset();
    CHECK(at.core.holds(drain_phase::close));
  }
}
