#include "actors/session/session_core.hpp"
#include "tests/support/turn_fakes.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::session;
using test::make_ticket;

namespace {

struct effect_word {
  std::string operator()(const effect::record_dead& x) {
    return "dead " + x.fact.message_id + " " + x.fact.why
           + (x.fact.told ? " told" : "");
  }
  std::string operator()(const effect::notice& x) {
    return "say " + x.operation.text;
  }
  std::string operator()(const effect::offer_input& x) {
    return "offer " + x.ticket.event.message_id + " " + x.run;
  }
  std::string operator()(const effect::start_run& x) {
    auto result = "run " + x.request.run;
    for (const auto& event : x.request.ticket.collected)
      result += "+" + event.message_id;
    return result;
  }
  std::string operator()(const effect::record_covered& x) {
    return "cover " + x.fact.message_id + " " + x.fact.run;
  }
  std::string operator()(const effect::drop_output& x) {
    return "drop " + x.run;
  }
  std::string operator()(const effect::abort_run&) { return "abort"; }
  std::string operator()(const effect::name_run&) { return "name"; }
  std::string operator()(const effect::read_rules&) { return "rules"; }
  /// Timers, runner and store are the other suite's.
  template <class Other>
  std::string operator()(const Other&) {
    return {};
  }
};

std::string told(const session_effects& effects) {
  std::string result;
  for (const auto& item : effects) {
    auto word = std::visit(effect_word{}, item);
    if (!word.empty())
      result += (result.empty() ? "" : "; ") + word;
  }
  return result;
}

run_result answered() {
  run_result result;
  result.produced = true;
  return result;
}

/// What a run says about a message: to the offer, and then.
struct offer_story {
  contracts::live_input_offer offer;
  contracts::live_input_settlement settlement;
};

offer_story settled_as(contracts::live_input_outcome outcome) {
  offer_story result;
  result.settlement.outcome = outcome;
  return result;
}

const auto applied = settled_as(contracts::live_input_outcome::applied);
const auto closed = settled_as(contracts::live_input_outcome::requeue);
const auto cancelled = settled_as(contracts::live_input_outcome::discarded);
const offer_story inactive{{contracts::live_input_refusal::inactive}, {}};

/// One lane with rules; run ids are r-<message>.
class lane {
public:
  explicit lane(queue_mode mode,
                queue_overflow overflow = queue_overflow::refuse,
                uint32_t cap = 20)
    : core({platform_id::console, "local"}, "local"), rules{cap, mode,
                                                            overflow} {}

  lane& materialising(const std::string& id) {
    core.ticket(make_ticket(id), now);
    core.run_named("r-" + id);
    return *this;
  }

  lane& running(const std::string& id) {
    materialising(id);
    core.start_recorded("r-" + id);
    return *this;
  }

  /// A message, and the rules that the settings then answer.
  std::string says(turn_ticket ticket) {
    core.ticket(std::move(ticket), now);
    return told(core.rules_known(rules, now));
  }
  std::string says(const std::string& id, const std::string& text = "hello") {
    return says(make_ticket(id, text));
  }

  /// The turn that was named runs.
  std::string goes_on(const std::string& id) {
    core.run_named("r-" + id);
    return told(core.start_recorded("r-" + id));
  }

  std::string settles(const std::string& id, const offer_story& story,
                      const std::string& run = "r-m1") {
    auto words = told(core.input_answered(run, id, story.offer));
    return story.offer.unavailable
             ? words
             : words + told(core.input_settled({run, id, story.settlement}));
  }

  std::string ends(const std::string& run = "r-m1",
                   const run_result& result = answered()) {
    return told(core.settled(run, result, now));
  }

  std::string stops() { return told(core.stop({"local", "", json_text{}})); }

  std::string state() const { return core.snapshot().state; }
  uint32_t waiting() const { return core.snapshot().waiting; }

  session_core core;
  queue_rules rules;
  int64_t now = 1000;
};

turn_ticket with_file(const std::string& id) {
  auto result = make_ticket(id);
  result.event.attachments.push_back({"a.txt", "k/attachments/a.txt", {}, {}});
  return result;
}

turn_ticket scheduled(const std::string& id) {
  auto result = make_ticket(id);
  result.event.origin = turn_origin::event;
  return result;
}

std::string busy_words(const std::string& id) {
  return "dead " + id + " refused told; say " + wording::busy;
}

} // namespace

// -- steer --------------------------------------------------------------------

TEST_CASE("a steered message keeps its place until the answer covers it") {
  lane at{queue_mode::steer};
  at.running("m1");
  CHECK(at.says("m2") == "offer m2 r-m1");
  CHECK(at.says("m3") == "offer m3 r-m1");
  CHECK(at.waiting() == 2);
  // From here on the ledger knows that it is part of the turn.
  CHECK(at.settles("m2", applied) == "cover m2 r-m1");
  CHECK(at.waiting() == 1);
  CHECK(at.settles("m3", closed).empty());
  // m3 runs in its place, m2 is done.
  CHECK(at.ends() == "name");
  CHECK(at.core.snapshot().message_id == "m3");
  CHECK(at.waiting() == 0);
  CHECK(at.core.ticket(make_ticket("m3"), at.now).empty());
}

TEST_CASE("only plain text steers, and not that of a schedule") {
  struct row {
    const char* name;
    turn_ticket ticket;
    bool offered;
  };
  auto other = [](const std::string& text) {
    return make_ticket("m2", text);
  };
  auto job_end = other("it is done");
  job_end.event.origin = turn_origin::action;
  const row rows[] = {
    {"text", other("and blue"), true},
    {"a file", with_file("m2"), false},
    {"a schedule", scheduled("m2"), false},
    {"a job that ended", job_end, true},
    {"a command", other("/model tiny"), false},
    {"nothing", other(" "), false},
    {"long enough", other(std::string(8000, 'x')), true},
    {"too long", other(std::string(8001, 'x')), false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at{queue_mode::steer};
    at.running("m1");
    CHECK(at.says(row.ticket) == (row.offered ? "offer m2 r-m1" : ""));
    CHECK(at.waiting() == 1);
  }
}

TEST_CASE("what became of an offer decides about the message") {
  struct row {
    const char* name;
    offer_story result;
    bool produced;
    /// Effects of the end of the turn.
    std::string want;
    uint32_t waiting;
  };
  auto interrupted = std::string{"dead m1 interrupted told; drop r-m1; say "}
                     + wording::interrupted;
  const row rows[] = {
    {"read, answered", applied, true, "", 0},
    {"read, no answer: it ends as the turn does", applied, false, interrupted,
     0},
    {"too late", closed, true, "name", 0},
    {"no turn took it", inactive, true, "name", 0},
    {"ended from elsewhere", cancelled, true, "name", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at{queue_mode::steer};
    at.running("m1");
    at.says("m2");
    at.settles("m2", row.result);
    run_result end;
    end.produced = row.produced;
    CHECK(at.ends("r-m1", end) == row.want);
    CHECK(at.core.snapshot().message_id == (row.want == "name" ? "m2" : ""));
    CHECK(at.waiting() == row.waiting);
  }
}

TEST_CASE("an offer that was not answered runs in its place, once") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  CHECK(at.ends() == "name");
  CHECK(at.settles("m2", applied).empty());
  CHECK(at.goes_on("m2") == "run r-m2");
  CHECK(at.settles("m2", cancelled, "r-m2").empty());
}

TEST_CASE("a runner that dies gives back what it has not read") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.settles("m2", applied);
  at.core.runner_down("crash", at.now);
  CHECK(at.waiting() == 1);
  CHECK(told(at.core.released()) == "name");
  CHECK(at.core.snapshot().message_id == "m3");
}

TEST_CASE("a stop ends the messages that its turn holds, and no other") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.says("m4");
  at.says(with_file("m5"));
  at.settles("m2", applied);
  CHECK(at.stops() == "abort; say _Stopping…_");
  CHECK(at.settles("m3", cancelled) == "dead m3 stopped told");
  CHECK(at.ends("r-m1", {})
        == "dead m1 stopped told; drop r-m1; dead m4 stopped told; name");
  CHECK(at.core.snapshot().message_id == "m5");
}

TEST_CASE("a stop of a message that the turn has read stops the turn") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  at.settles("m2", applied);
  CHECK(told(at.core.stop({"local", "m2", json_text{}}))
        == "abort; say _Stopping…_");
}

TEST_CASE("a held message that is stopped by name is closed in its place") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  CHECK(told(at.core.stop({"local", "m2", json_text{}}))
        == "dead m2 stopped told; say _Stopped._");
  CHECK(at.settles("m2", applied).empty());
  CHECK(at.ends().empty());
}

TEST_CASE("/new gives what nobody has read to the fresh session") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.settles("m2", applied);
  at.core.reset();
  CHECK(at.settles("m3", cancelled).empty());
  CHECK(at.ends("r-m1", {}) == "dead m1 stopped told; drop r-m1");
  CHECK(at.waiting() == 1);
  at.core.released();
  CHECK(told(at.core.store_reset()) == "name");
  CHECK(at.core.snapshot().message_id == "m3");
}

TEST_CASE("a shutdown leaves every held message to the next start") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.settles("m2", applied);
  CHECK(told(at.core.drain(drain_phase::abort)) == "abort");
  CHECK(at.settles("m3", cancelled).empty());
  CHECK(at.ends("r-m1", {}).empty());
  CHECK(at.waiting() == 1);
  CHECK(at.core.holds(drain_phase::abort));
}

TEST_CASE("nothing is offered during a shutdown or a stop") {
  SUBCASE("shutdown") {
    lane at{queue_mode::steer};
    at.running("m1");
    at.core.drain(drain_phase::hold);
    CHECK(at.says("m2").empty());
  }
  SUBCASE("stop") {
    lane at{queue_mode::steer};
    at.running("m1");
    at.stops();
    CHECK(at.says("m2").empty());
  }
}

TEST_CASE("a message that came before the turn was recorded has its own") {
  lane at{queue_mode::steer};
  at.materialising("m1");
  CHECK(at.says("m2").empty());
  at.core.start_recorded("r-m1");
  // Nothing overtakes it.
  CHECK(at.says("m3").empty());
  CHECK(at.ends() == "name");
  CHECK(at.core.snapshot().message_id == "m2");
}

TEST_CASE("a message that comes while the runner is made is offered to it") {
  lane at{queue_mode::steer};
  at.running("m1");
  at.core.runner_down("crash", at.now);
  at.core.ticket(make_ticket("m2"), at.now);
  at.core.released();
  at.core.run_named("r-m2");
  // The runner of the last turn is gone by now, its successor is not there.
  at.core.runner_down("again", at.now);
  at.core.start_recorded("r-m2");
  CHECK(at.says("m3") == "offer m3 r-m2");
}

// -- collect ------------------------------------------------------------------

TEST_CASE("what waits becomes one turn, in its order") {
  lane at{queue_mode::collect};
  at.running("m1");
  CHECK(at.says("m2").empty());
  CHECK(at.says(with_file("m3")).empty());
  CHECK(at.says("m4").empty());
  CHECK(at.says("m5").empty());
  CHECK(at.ends() == "name");
  // Nothing overtakes the file.
  CHECK(at.goes_on("m2") == "run r-m2");
  CHECK(at.waiting() == 3);
  CHECK(at.ends("r-m2") == "name");
  CHECK(at.goes_on("m3") == "run r-m3");
  CHECK(at.ends("r-m3") == "name");
  CHECK(at.goes_on("m4") == "cover m5 r-m4; run r-m4+m5");
  CHECK(at.core.ticket(make_ticket("m5"), at.now).empty());
}

TEST_CASE("what cannot be steered is not overtaken by what can") {
  lane at{queue_mode::steer};
  at.running("m1");
  CHECK(at.says("m2") == "offer m2 r-m1");
  CHECK(at.says(with_file("m3")).empty());
  CHECK(at.says("m4").empty());
  CHECK(at.says("m5", std::string(9000, 'x')).empty());
  CHECK(at.says("m6").empty());
  // The host's own news are no part of that order.
  auto wake = make_ticket("job:1", "it is done");
  wake.event.origin = turn_origin::action;
  CHECK(at.says(wake) == "offer job:1 r-m1");
}

TEST_CASE("a collected turn by its end") {
  struct row {
    const char* name;
    session_effects (*end)(lane&);
    std::string want;
    uint32_t waiting;
  };
  const row rows[] = {
    {"answered",
     [](lane& at) { return at.core.settled("r-m2", answered(), 1); }, "", 0},
    {"stopped",
     [](lane& at) {
       at.stops();
       return at.core.settled("r-m2", {}, 1);
     },
     "dead m2 stopped told; drop r-m2", 0},
    {"no answer", [](lane& at) { return at.core.settled("r-m2", {}, 1); },
     std::string{"dead m2 interrupted told; drop r-m2; say "}
       + wording::interrupted,
     0},
    {"shutdown",
     [](lane& at) {
       at.core.drain(drain_phase::abort);
       return at.core.settled("r-m2", {}, 1);
     },
     "", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    lane at{queue_mode::collect};
    at.running("m1");
    at.says("m2");
    at.says("m3");
    at.ends();
    CHECK(at.goes_on("m2") == "cover m3 r-m2; run r-m2+m3");
    CHECK(told(row.end(at)) == row.want);
    CHECK(at.waiting() == row.waiting);
  }
}

TEST_CASE("a collected turn that has not started is closed as a whole") {
  lane at{queue_mode::collect};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.ends();
  CHECK(at.stops()
        == "dead m3 stopped told; dead m2 stopped told; say _Stopped._");
}

TEST_CASE("a turn that is repeated after a restart is not put together") {
  lane at{queue_mode::collect};
  at.running("m1");
  auto second = make_ticket("m2");
  second.attempt = 2;
  at.says(second);
  at.says("m3");
  at.ends();
  CHECK(at.goes_on("m2") == "run r-m2");
}

TEST_CASE("one turn collects no more than it can take") {
  SUBCASE("messages") {
    lane at{queue_mode::collect, queue_overflow::refuse, 100};
    at.running("m0");
    for (size_t i = 1; i <= collected_messages + 1; ++i)
      at.says("m" + std::to_string(i));
    at.ends("r-m0");
    CHECK(at.waiting() == 1);
  }
  SUBCASE("text") {
    lane at{queue_mode::collect};
    at.running("m0");
    at.says("m1", std::string(collected_bytes, 'x'));
    at.says("m2");
    at.ends("r-m0");
    CHECK(at.goes_on("m1") == "run r-m1");
    CHECK(at.waiting() == 1);
  }
}

TEST_CASE("a queue that runs over collects when the settings say so") {
  lane at{queue_mode::follow_up, queue_overflow::collect, 2};
  at.core.rules_known(at.rules, at.now);
  at.running("m1");
  at.says("m2");
  at.says("m3");
  CHECK(at.waiting() == 2);
  CHECK(at.says("m4").empty());
  CHECK(told(at.core.ticket(with_file("m5"), at.now))
        == std::string{"dead m5 refused told; say "} + wording::refused);
  CHECK(at.ends() == "name");
  CHECK(at.goes_on("m2") == "cover m3 r-m2; cover m4 r-m2; run r-m2+m3+m4");
  // Afterwards it is one turn for each again.
  at.says("m6");
  at.says("m7");
  at.ends("r-m2");
  CHECK(at.goes_on("m6") == "run r-m6");
}

TEST_CASE("even a queue that collects has an end") {
  lane at{queue_mode::follow_up, queue_overflow::collect, 1};
  at.core.rules_known(at.rules, at.now);
  at.running("m0");
  for (size_t i = 1; i <= collected_messages + 1; ++i)
    at.says("m" + std::to_string(i));
  CHECK(at.waiting() == collected_messages + 1);
  CHECK(told(at.core.ticket(make_ticket("last"), at.now))
        == std::string{"dead last refused told; say "} + wording::refused);
}

// -- interrupt ----------------------------------------------------------------

TEST_CASE("a new message takes the place of the running turn, without a word") {
  lane at{queue_mode::interrupt};
  at.running("m1");
  CHECK(at.says("m2") == "abort");
  CHECK(at.state() == "stopping");
  CHECK(at.says("m3").empty());
  CHECK(at.ends("r-m1", {}) == "dead m1 superseded; drop r-m1; name");
  CHECK(at.core.snapshot().message_id == "m2");
  CHECK(at.waiting() == 1);
}

TEST_CASE("an answer that is complete is not taken back by a new message") {
  lane at{queue_mode::interrupt};
  at.running("m1");
  at.says("m2");
  CHECK(at.ends() == "name");
}

TEST_CASE("a turn that has not begun is superseded in its place") {
  lane at{queue_mode::interrupt};
  at.materialising("m1");
  CHECK(at.says("m2") == "dead m1 superseded; name");
  CHECK(at.core.snapshot().message_id == "m2");
}

TEST_CASE("a superseded run that does not settle is killed") {
  lane at{queue_mode::interrupt};
  at.running("m1");
  at.says("m2");
  CHECK(told(at.core.settle_timeout(at.now))
        == "dead m1 superseded; drop r-m1");
  CHECK(told(at.core.released()) == "name");
}

TEST_CASE("a schedule interrupts nobody") {
  lane at{queue_mode::interrupt};
  at.running("m1");
  CHECK(at.says(scheduled("event:e@1")).empty());
  CHECK(at.state() == "running");
}

TEST_CASE("what a superseded turn has collected or read ends with it") {
  lane at{queue_mode::collect};
  at.running("m1");
  at.says("m2");
  at.says("m3");
  at.ends();
  at.goes_on("m2");
  at.rules.mode = queue_mode::steer;
  CHECK(at.says("m4") == "offer m4 r-m2");
  at.settles("m4", applied, "r-m2");
  at.rules.mode = queue_mode::interrupt;
  CHECK(at.says("m5") == "abort");
  CHECK(at.ends("r-m2", {}) == "dead m2 superseded; drop r-m2; name");
  CHECK(at.core.snapshot().message_id == "m5");
}

// -- reject -------------------------------------------------------------------

TEST_CASE("a busy lane refuses when the settings say so") {
  lane at{queue_mode::reject};
  at.running("m1");
  CHECK(at.says("m2") == busy_words("m2"));
  CHECK(at.says("m3") == "dead m3 refused");
  CHECK(at.says(scheduled("event:e@1")).empty());
  CHECK(at.waiting() == 1);
  at.ends();
  at.goes_on("event:e@1");
  at.ends("r-event:e@1");
  CHECK(told(at.core.ticket(make_ticket("m4"), at.now)) == "name");
}

// -- the host's own messages --------------------------------------------------

turn_ticket wake_of(const std::string& id) {
  auto result = make_ticket(id, "it is done");
  result.event.origin = turn_origin::action;
  return result;
}

TEST_CASE("a wake is offered to the running turn whatever the mode") {
  for (auto mode :
       {queue_mode::follow_up, queue_mode::steer, queue_mode::collect,
        queue_mode::interrupt, queue_mode::reject}) {
    lane at{mode};
    at.running("m1");
    CHECK(at.says(wake_of("job:1")) == "offer job:1 r-m1");
    CHECK(at.state() == "running");
    CHECK(at.settles("job:1", closed).empty());
    // It holds its place.
    CHECK(at.ends() == "name");
    CHECK(at.core.snapshot().message_id == "job:1");
  }
}

TEST_CASE("a message may ask to be offered whatever the mode") {
  lane at{queue_mode::follow_up};
  at.running("m1");
  auto ticket = make_ticket("m2");
  ticket.offer = true;
  CHECK(at.says(ticket) == "offer m2 r-m1");
  CHECK(at.says("m3").empty());
}

TEST_CASE("a full queue refuses no wake") {
  lane at{queue_mode::follow_up, queue_overflow::refuse, 1};
  at.core.rules_known(at.rules, at.now);
  at.running("m1");
  at.says("m2");
  CHECK(at.says(wake_of("job:1")) == "offer job:1 r-m1");
  CHECK(at.waiting() == 2);
  CHECK(told(at.core.ticket(make_ticket("m3"), at.now))
        == std::string{"dead m3 refused told; say "} + wording::refused);
}

TEST_CASE("the first messages that wait are judged by the rules in force") {
  lane at{queue_mode::follow_up, queue_overflow::refuse, 1};
  at.running("m1");
  // The settings have not answered yet.
  CHECK(told(at.core.ticket(make_ticket("m2"), at.now)) == "rules");
  CHECK(told(at.core.ticket(make_ticket("m3"), at.now)) == "rules");
  CHECK(told(at.core.rules_known(at.rules, at.now))
        == std::string{"dead m3 refused told; say "} + wording::refused);
  CHECK(at.waiting() == 1);
}

TEST_CASE("a stop says who wanted it, all the way down") {
  lane at{queue_mode::follow_up};
  at.running("m1");
  contracts::cancel_reason reason{"The operator cancelled.", caf::none};
  for (const auto& item : at.core.stop({"local", "", json_text{}, reason}))
    if (const auto* abort = std::get_if<effect::abort_run>(&item))
      CHECK(abort->reason == reason);
  for (const auto& item : at.core.settled("r-m1", {}, 1))
    if (const auto* dead = std::get_if<effect::record_dead>(&item)) {
      REQUIRE(dead->fact.cancelled);
      CHECK(*dead->fact.cancelled == reason);
    }
  // Without a reason it was the user of this platform.
  lane other{queue_mode::follow_up};
  other.running("m1");
  other.stops();
  for (const auto& item : other.core.settled("r-m1", {}, 1))
    if (const auto* dead = std::get_if<effect::record_dead>(&item)) {
      REQUIRE(dead->fact.cancelled);
      CHECK(contracts::is_channel_user_cancel(*dead->fact.cancelled));
      CHECK(*dead->fact.cancelled->channel == "console");
    }
}

TEST_CASE("a wake that the disk did not take waits for it") {
  lane at{queue_mode::follow_up};
  at.core.ticket(wake_of("job:1"), at.now);
  at.core.run_named("r-job:1");
  at.core.start_recorded("r-job:1");
  CHECK(
    told(at.core.run_failed("r-job:1", errc::disk, "full", at.now)).empty());
  CHECK(at.state() == "materialising");
  CHECK(told(at.core.retry_due()) == "name");
  CHECK(at.goes_on("again") == "run r-again");
  CHECK(at.core.snapshot().message_id == "job:1");
}
