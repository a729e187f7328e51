#include "actors/session/session.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/turn_fakes.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <optional>
#include <utility>

using namespace bureau;
using namespace std::chrono_literals;
using test::make_ticket;

namespace {

/// What the story makes the next runs do.
enum class run_mood : uint8_t {
  answers,
  /// Runs until it is aborted.
  waits,
  /// Runs and ignores aborts.
  deaf,
  /// The runner ends in the middle.
  dies,
  fails_disk,
};

struct runner_script {
  std::deque<run_mood> moods;
  std::vector<std::string> runs;
  size_t made = 0;
  /// Runs that were told to end, however often.
  size_t aborts = 0;
  size_t disposed = 0;
  size_t alive = 0;
  /// Messages that were offered to a run; answered by `settle_offer`.
  std::vector<std::string> offered;
  std::function<void(contracts::live_input_outcome)> settle_offer;
  /// Why the last one was.
  contracts::cancel_reason abort_reason;
};

using script_ptr = std::shared_ptr<runner_script>;

using scripted_runner = runner_actor;

struct scripted_runner_state {
  using run_promise = caf::typed_response_promise<run_result>;
  scripted_runner::stateful_pointer<scripted_runner_state> self;
  script_ptr script;
  kit::promise_guard<run_result> open;
  bool deaf = false;
  bool working = false;
  static inline const char* name = "scripted_runner";

  explicit scripted_runner_state(
    scripted_runner::stateful_pointer<scripted_runner_state> me)
    : self(me) {}

  ~scripted_runner_state() { --script->alive; }

  void init(script_ptr shared) {
    script = std::move(shared);
    ++script->alive;
  }

  scripted_runner::behavior_type make_behavior() {
    return {
      [this](atom::run, const run_request& request) { return run(request); },
      [this](atom::offer, const std::string& run, const turn_ticket& ticket,
             const live_input_sink_actor& sink) {
        return offer(run, ticket, sink);
      },
      [this](atom::abort, const contracts::cancel_reason& reason) {
        script->abort_reason = reason;
        abort();
      },
      [this](atom::dispose) {
        ++script->disposed;
        return caf::ok_atom_v;
      },
    };
  }

  contracts::live_input_offer offer(const std::string& run,
                                    const turn_ticket& ticket,
                                    const live_input_sink_actor& sink) {
    auto id = ticket.event.message_id;
    script->offered.push_back(id);
    script->settle_offer = [run, id,
                            sink](contracts::live_input_outcome outcome) {
      contracts::live_input_settlement settlement;
      settlement.outcome = outcome;
      caf::anon_send(sink, atom::settled_v,
                     live_input_settled{run, id, settlement});
    };
    return {};
  }

  run_promise run(const run_request& request) {
    script->runs.push_back(request.ticket.event.message_id);
    auto answer = self->make_response_promise<run_promise>();
    auto mood = run_mood::answers;
    if (!script->moods.empty()) {
      mood = script->moods.front();
      script->moods.pop_front();
    }
    run_result done;
    done.produced = true;
    switch (mood) {
    case run_mood::answers:
      answer.deliver(done);
      return answer;
    case run_mood::fails_disk:
      answer.deliver(make_failure(errc::disk, "The disk is full."));
      return answer;
    case run_mood::dies:
      self->quit(make_failure(errc::internal, "broken"));
      return answer;
    case run_mood::deaf:
      deaf = true;
      [[fallthrough]];
    case run_mood::waits:
      working = true;
      open.keep(answer);
      return answer;
    }
    return answer;
  }

  void abort() {
    if (!std::exchange(working, false))
      return;
    ++script->aborts;
    if (deaf)
      return;
    run_result result;
    result.stop = stop_reason::aborted;
    open.deliver_all(result);
  }
};

struct gauges_state {
  metrics_actor::stateful_pointer<gauges_state> self;
  std::shared_ptr<std::map<metric, int64_t>> sums;
  static inline const char* name = "gauges";

  explicit gauges_state(metrics_actor::stateful_pointer<gauges_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::map<metric, int64_t>> shared) {
    sums = std::move(shared);
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& x) { (*sums)[x.id] += x.value; },
      [](atom::observe, const metric_sample&) {},
      [](atom::gauge, const metric_sample&) {},
      [](atom::scrape) { return std::string{}; },
    };
  }
};

/// Settings that only know the rules of the queue.
struct queue_settings_state {
  settings_actor::stateful_pointer<queue_settings_state> self;
  std::shared_ptr<std::optional<run_settings>> rules;
  static inline const char* name = "queue_settings";

  explicit queue_settings_state(
    settings_actor::stateful_pointer<queue_settings_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::optional<run_settings>> shared) {
    rules = std::move(shared);
  }

  settings_actor::behavior_type make_behavior() {
    return {
      [this](atom::resolve,
             const office_address&) -> caf::result<run_settings> {
        if (!*rules)
          return make_failure(errc::bad_config, "bad settings");
        return **rules;
      },
      [](atom::patch, const settings_patch&) { return caf::ok_atom_v; },
      [](atom::status) { return status_line{}; },
    };
  }
};

/// A session whose neighbours are all scripted.
class session_world : public test::node_fixture {
public:
  session_world() {
    office place;
    place.address = {platform_id::console, "local"};
    place.key = "v1-console-local-aeb48c12d1f82266";
    transport = test::spawn_recording_transport(*system, screen);
    owner = test::spawn_recording_owner(*system, ledger);
    session::session_deps deps;
    deps.runners = [script = runner](caf::actor_system& sys,
                                     const runner_args&) {
      ++script->made;
      return kit::spawn_stateful<scripted_runner, scripted_runner_state>(
        sys, script);
    };
    deps.stores = stores.factory();
    metrics = kit::spawn_stateful<metrics_actor, gauges_state>(*system, sums);
    deps.metrics = metrics;
    settings =
      kit::spawn_stateful<settings_actor, queue_settings_state>(*system, rules);
    deps.settings = settings;
    deps.wall = wall;
    deps.chance = chance;
    subject =
      session::spawn_session(*system, deps, {place, "local", owner, transport});
  }

  ~session_world() {
    // A promise that was never answered holds both its ends.
    self->send_exit(subject, caf::exit_reason::kill);
    self->send_exit(owner, caf::exit_reason::kill);
    self->send_exit(transport, caf::exit_reason::kill);
    self->send_exit(settings, caf::exit_reason::kill);
    settle();
  }

  void say(const std::string& id) {
    self->send(subject, atom::turn_v, make_ticket(id));
    settle();
  }

  /// Asks for the end of the running turn, several times in a row if need be.
  void stop(int times = 1) {
    for (int i = 0; i < times; ++i)
      ask_stop({});
    settle();
  }

  void stop(const std::string& message_id) {
    ask_stop(message_id);
    settle();
  }

  void ask_stop(const std::string& message_id) {
    self->send<caf::message_priority::high>(
      subject, atom::stop_v, stop_turn{"local", message_id, json_text{"{}"}});
  }

  /// Starts a drain; the flag is set when it is answered.
  std::shared_ptr<bool> drain(drain_phase phase) {
    auto done = std::make_shared<bool>(false);
    auto waiter = system->spawn(
      [this, phase, done](caf::event_based_actor* me, int) -> caf::behavior {
        me->request(subject, caf::infinite, atom::drain_v, phase)
          .then([done](caf::ok_atom) { *done = true; });
        return {[](int) {
        }};
      },
      0);
    settle();
    return done;
  }

  std::string deaths() const {
    std::string result;
    for (const auto& fact : ledger->dead)
      result += fact.message_id + " " + fact.why + (fact.told ? " told;" : ";");
    return result;
  }

  std::string state() {
    std::string result;
    ask(
      subject,
      [&](const session_snapshot& snapshot) { result = snapshot.state; },
      [](const caf::error&) { FAIL("no snapshot"); }, atom::describe_v);
    return result;
  }

  using lines = std::vector<std::string>;
  std::shared_ptr<test::transport_probe> screen =
    std::make_shared<test::transport_probe>();
  std::shared_ptr<test::owner_probe> ledger =
    std::make_shared<test::owner_probe>();
  script_ptr runner = std::make_shared<runner_script>();
  test::memory_stores stores;
  std::shared_ptr<std::map<metric, int64_t>> sums =
    std::make_shared<std::map<metric, int64_t>>();
  std::shared_ptr<std::optional<run_settings>> rules =
    std::make_shared<std::optional<run_settings>>(run_settings{});
  metrics_actor metrics;
  settings_actor settings;
  transport_actor transport;
  turn_owner_actor owner;
  session_actor subject;
};

} // namespace

TEST_CASE_FIXTURE(session_world,
                  "two messages run one after the other on one runner") {
  say("m1");
  say("m2");
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->made == 1);
  REQUIRE(ledger->started.size() == 2);
  CHECK(ledger->started[0].message_id == "m1");
  CHECK(ledger->started[0].run.size() == 36);
  CHECK(ledger->started[0].run != ledger->started[1].run);
  CHECK(screen->operations.empty());
  CHECK(state() == "idle");
}

TEST_CASE_FIXTURE(session_world,
                  "given a busy session, when stop arrives, then "
                  "Stopping… is said once, Stopped. follows, "
                  "and the next message runs") {
  runner->moods = {run_mood::waits};
  say("m1");
  say("m2");
  CHECK(runner->runs == lines{"m1"});
  screen->hold = true;
  stop(2);
  CHECK(screen->lines() == lines{"post _Stopping…_"});
  CHECK(runner->aborts == 1);
  screen->hold = false;
  screen->release();
  settle();
  CHECK(screen->lines() == lines{"post _Stopping…_", "edit[r1] _Stopped._"});
  CHECK(deaths() == "m1 stopped told;");
  CHECK(screen->dropped_runs == lines{ledger->started[0].run});
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->made == 1);
}

TEST_CASE_FIXTURE(session_world,
                  "given a run that is still on its way to the "
                  "runner, when a stop overtakes it, then it "
                  "ends all the same, and the next one does not") {
  runner->moods = {run_mood::waits, run_mood::waits};
  self->send(subject, atom::turn_v, make_ticket("m1"));
  self->send(subject, atom::turn_v, make_ticket("m2"));
  while (runner->made == 0)
    REQUIRE(scheduler.try_run_once());
  REQUIRE(runner->runs.empty());
  ask_stop({});
  scheduler.prioritize(subject);
  settle();
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->aborts == 1);
  CHECK(deaths() == "m1 stopped told;");
  CHECK(state() == "running");
  CHECK(runner->made == 1);
}

TEST_CASE_FIXTURE(session_world, "given a runner that ignores the abort, when "
                                 "five seconds pass, then it is killed and the "
                                 "lane goes on") {
  runner->moods = {run_mood::deaf};
  say("m1");
  say("m2");
  stop();
  advance(4999ms);
  CHECK(deaths().empty());
  CHECK(runner->alive == 1);
  advance(1ms);
  CHECK(deaths() == "m1 stopped told;");
  CHECK(screen->lines() == lines{"post _Stopping…_", "edit[r1] _Stopped._"});
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->made == 2);
  CHECK(runner->alive == 1);
}

TEST_CASE_FIXTURE(session_world, "given a waiting message, when a stop names "
                                 "it, then it alone is closed") {
  runner->moods = {run_mood::waits};
  say("m1");
  say("m2");
  say("m3");
  stop("m2");
  CHECK(deaths() == "m2 stopped told;");
  CHECK(screen->lines() == lines{"post _Stopped._"});
  CHECK(runner->aborts == 0);
  stop();
  CHECK(runner->runs == lines{"m1", "m3"});
}

TEST_CASE_FIXTURE(session_world, "given a runner that dies, then the user is "
                                 "told and the next message gets a new one") {
  runner->moods = {run_mood::dies};
  say("m1");
  say("m2");
  CHECK(deaths() == "m1 interrupted told;");
  REQUIRE(screen->operations.size() == 1);
  CHECK(screen->operations[0].text
        == "I was interrupted by an internal error before I finished this. "
           "Send it again to retry.");
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->made == 2);
}

TEST_CASE_FIXTURE(session_world, "given an answer that the disk refused, then "
                                 "the user is told and the runner stays") {
  runner->moods = {run_mood::fails_disk};
  say("m1");
  say("m2");
  CHECK(deaths() == "m1 interrupted told;");
  CHECK(screen->lines()
        == lines{"post I could not keep my answer because the disk takes "
                 "nothing at the moment; your message is not lost: free disk "
                 "space, then send it again."});
  CHECK(runner->made == 1);
}

TEST_CASE_FIXTURE(session_world, "given a ledger that cannot be written, then "
                                 "the start is tried each second") {
  ledger->start_failures.push_back(make_failure(errc::disk, "full"));
  ledger->start_failures.push_back(make_failure(errc::disk, "full"));
  say("m1");
  CHECK(runner->runs.empty());
  advance(1s);
  CHECK(runner->runs.empty());
  CHECK(ledger->started.size() == 2);
  CHECK(ledger->started[0].run == ledger->started[1].run);
  advance(1s);
  CHECK(runner->runs == lines{"m1"});
}

TEST_CASE_FIXTURE(session_world, "given an owner that does not answer, when "
                                 "the deadline passes, then the start is asked "
                                 "for again") {
  ledger->mute_start = true;
  say("m1");
  ledger->mute_start = false;
  advance(30s);
  CHECK(runner->runs.empty());
  advance(1s);
  CHECK(runner->runs == lines{"m1"});
}

TEST_CASE_FIXTURE(session_world, "given an end that was not recorded, then it "
                                 "is recorded later while the lane goes on") {
  runner->moods = {run_mood::waits};
  ledger->dead_failures.push_back(make_failure(errc::disk, "full"));
  say("m1");
  stop();
  say("m2");
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(deaths() == "m1 stopped told;");
  advance(1s);
  CHECK(deaths() == "m1 stopped told;m1 stopped told;");
  advance(10s);
  CHECK(ledger->dead.size() == 2);
}

TEST_CASE_FIXTURE(session_world,
                  "the runner is disposed after an hour of idleness") {
  say("m1");
  advance(60min - 1s);
  CHECK(runner->disposed == 0);
  say("m2");
  advance(60min - 1s);
  CHECK(runner->disposed == 0);
  advance(1s);
  CHECK(runner->disposed == 1);
  CHECK(runner->alive == 0);
  CHECK(state() == "absent");
  say("m3");
  CHECK(runner->made == 2);
}

TEST_CASE_FIXTURE(session_world, "the owner hears every change") {
  say("m1");
  lines states;
  for (const auto& snapshot : ledger->snapshots)
    states.push_back(snapshot.state);
  CHECK(states == lines{"materialising", "running", "idle"});
  CHECK(ledger->snapshots.back().run.empty());
  CHECK(ledger->snapshots[1].message_id == "m1");
}

TEST_CASE_FIXTURE(session_world, "given a running turn, when the node drains, "
                                 "then each phase is answered when it holds") {
  runner->moods = {run_mood::deaf};
  say("m1");
  say("m2");
  CHECK(*drain(drain_phase::hold));
  auto aborted = drain(drain_phase::abort);
  CHECK_FALSE(*aborted);
  CHECK(runner->aborts == 1);
  advance(5s);
  CHECK(*aborted);
  CHECK(*drain(drain_phase::close));
  CHECK(runner->alive == 0);
  CHECK(ledger->dead.empty());
  CHECK(screen->operations.empty());
  CHECK(runner->runs == lines{"m1"});
}

TEST_CASE_FIXTURE(session_world, "a session that ends takes its runner along") {
  runner->moods = {run_mood::waits};
  say("m1");
  self->send_exit(subject, caf::exit_reason::user_shutdown);
  settle();
  CHECK(runner->alive == 0);
}

TEST_CASE_FIXTURE(session_world, "given a full queue, then the first refusal "
                                 "is said and the rest is silent") {
  runner->moods = {run_mood::waits};
  say("m0");
  for (int i = 1; i <= 22; ++i)
    say("m" + std::to_string(i));
  CHECK(deaths() == "m21 refused told;m22 refused;");
  CHECK(screen->operations.size() == 1);
}

TEST_CASE_FIXTURE(session_world,
                  "the gauges follow the lane, its end included") {
  runner->moods = {run_mood::waits, run_mood::dies};
  say("m1");
  say("m2");
  say("m3");
  CHECK((*sums)[metric::sessions_active] == 1);
  CHECK((*sums)[metric::queue_waiting] == 2);
  stop();
  CHECK((*sums)[metric::sessions_active] == 0);
  CHECK((*sums)[metric::queue_waiting] == 0);
  CHECK((*sums)[metric::actor_restarts] == 1);
  runner->moods = {run_mood::waits};
  say("m4");
  say("m5");
  self->send_exit(subject, caf::exit_reason::user_shutdown);
  settle();
  CHECK((*sums)[metric::sessions_active] == 0);
  CHECK((*sums)[metric::queue_waiting] == 0);
}

TEST_CASE_FIXTURE(session_world,
                  "given a running turn, when the session is reset, then the "
                  "turn ends first, and the next message opens a fresh file") {
  runner->moods = {run_mood::waits};
  say("m1");
  auto done = std::make_shared<std::string>();
  ask(
    subject, [done](caf::ok_atom) { *done = "ok"; },
    [done](const caf::error& reason) { *done = sentence_of(reason); },
    atom::reset_v);
  CHECK(*done == "ok");
  CHECK(deaths() == "m1 stopped told;");
  CHECK(runner->disposed == 1);
  auto file =
    stores.session(office_key({platform_id::console, "local"}), "local");
  CHECK(file->replaced.size() == 1);
  CHECK_FALSE(file->is_open);
  say("m2");
  CHECK(runner->runs == lines{"m1", "m2"});
  CHECK(runner->made == 2);
}

// -- messages for the running turn --------------------------------------------

TEST_CASE_FIXTURE(session_world, "given steering, when a message comes, then "
                                 "the runner is offered it and the settings of "
                                 "that moment count") {
  runner->moods = {run_mood::waits};
  say("m1");
  (*rules)->mode = queue_mode::steer;
  say("m3");
  CHECK(runner->offered == lines{"m3"});
  runner->settle_offer(contracts::live_input_outcome::applied);
  settle();
  // Nobody can say what the rules are: the last ones hold.
  rules->reset();
  say("m4");
  CHECK(runner->offered == lines{"m3", "m4"});
  runner->settle_offer(contracts::live_input_outcome::requeue);
  settle();
  stop();
  // m3 belonged to the turn that was stopped: the ledger ends it with that.
  CHECK(deaths() == "m1 stopped told;");
  REQUIRE(ledger->started.size() > 1);
  CHECK(ledger->started[1].message_id == "m3");
  CHECK(ledger->started[1].run == ledger->started[0].run);
  CHECK(runner->runs == lines{"m1", "m4"});
  CHECK(contracts::is_channel_user_cancel(runner->abort_reason));
}

TEST_CASE_FIXTURE(session_world, "given a held message, when the session "
                                 "ends, then nothing of it is closed") {
  (*rules)->mode = queue_mode::steer;
  runner->moods = {run_mood::waits};
  say("m1");
  say("m2");
  CHECK(runner->offered == lines{"m2"});
  self->send_exit(subject, caf::exit_reason::user_shutdown);
  settle();
  // The office gives it to the next session.
  CHECK(ledger->dead.empty());
  CHECK(runner->alive == 0);
}

TEST_CASE_FIXTURE(session_world, "given a held message, when its runner is "
                                 "killed, then it runs on the next one") {
  (*rules)->mode = queue_mode::steer;
  runner->moods = {run_mood::deaf};
  say("m1");
  say("m2");
  (*rules)->mode = queue_mode::interrupt;
  say("m3");
  advance(5s);
  CHECK(deaths() == "m1 superseded;");
  CHECK(runner->runs == lines{"m1", "m2", "m3"});
  CHECK(runner->made == 2);
}

TEST_CASE_FIXTURE(session_world, "given interrupting, when a message comes, "
                                 "then the turn ends without a word") {
  (*rules)->mode = queue_mode::interrupt;
  runner->moods = {run_mood::waits};
  say("m1");
  say("m2");
  CHECK(runner->aborts == 1);
  CHECK(deaths() == "m1 superseded;");
  CHECK(screen->operations.empty());
  CHECK(screen->dropped_runs == lines{ledger->started[0].run});
  CHECK(runner->runs == lines{"m1", "m2"});
}

TEST_CASE_FIXTURE(session_world, "given collecting, when the turn ends, then "
                                 "what waited is one turn") {
  (*rules)->mode = queue_mode::collect;
  runner->moods = {run_mood::waits};
  say("m1");
  say("m2");
  say("m3");
  stop();
  CHECK(runner->runs == lines{"m1", "m2"});
  // The turn, and the one that it takes along.
  CHECK(ledger->started.size() == 3);
  CHECK(state() == "idle");
}
