#include "actors/jobs/job_table_core.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace bureau;
using namespace bureau::jobs;
using state = contracts::process_job_state;
using code = contracts::process_job_error_code;

namespace {

constexpr int64_t t0 = 1'767'225'600'000;
constexpr int64_t minute = 60'000;

std::string id_of(int number) {
  auto digits = std::to_string(number);
  return "pj-" + std::string(16 - digits.size(), '0') + digits;
}

job_request request(const std::string& conversation = "local") {
  job_request result;
  result.conversation = {platform_id::console, conversation};
  result.session_key = conversation;
  result.run = "r1";
  result.message_id = "m1";
  result.command = "make";
  return result;
}

/// The names of steps, one word each.
std::string steps(const job_effects& effects) {
  static constexpr const char* names[] = {
    "keep", "save", "accept", "launch", "abort",      "release", "kill",
    "tell", "wake", "follow", "count",  "count_wake", "settle",  "forget"};
  std::string result;
  for (const auto& x : effects)
    if (x.what != job_step::count && x.what != job_step::count_wake)
      result += (result.empty() ? "" : " ")
                + std::string{names[static_cast<size_t>(x.what)]};
  return result;
}

struct world {
  job_table_core core;
  int64_t now = t0;
  int last = 0;

  /// Admits and stores a job.
  std::string add(const job_request& what = request()) {
    auto admission = core.admit(what, id_of(++last), now);
    REQUIRE_FALSE(admission.refusal);
    CHECK(steps(admission.effects) == "save accept");
    core.accepted(admission.id, now);
    return admission.id;
  }

  std::string running_job() {
    auto id = add();
    core.launched(id, now);
    return id;
  }

  job_effects end(const std::string& id, job_ending how, int64_t exit = 0) {
    job_end what;
    what.how = how;
    what.exit_code = exit;
    what.out = "text";
    what.preview = "text";
    return core.ended(id, what, now);
  }

  const contracts::process_job_projection& job(const std::string& id) {
    return core.find(id)->shown;
  }

  std::optional<code> refused(const job_request& what) {
    return core.admit(what, id_of(++last), now).refusal;
  }

  /// Fills all places, each conversation up to its share.
  void fill(size_t count) {
    for (size_t i = 0; i < count; ++i)
      add(request("c" + std::to_string(last / 8)));
  }
};

} // namespace

TEST_CASE("a job that succeeds: queued, starting, running, succeeded, told") {
  world w;
  auto admission = w.core.admit(request(), id_of(1), t0);
  REQUIRE_FALSE(admission.refusal);
  const auto& id = admission.id;
  CHECK(w.job(id).state == state::queued);
  CHECK(w.job(id).origin.conversation_id == "console:local");
  CHECK(w.job(id).origin.run_id == "r1");
  CHECK(w.job(id).origin.history_boundary == "m1");
  CHECK(w.job(id).wake.delivery_key == "job:" + id);
  CHECK(contracts::parse_process_job_projection(contracts::to_json(w.job(id))));
  CHECK(steps(w.core.accepted(id, t0)) == "save launch");
  CHECK(w.job(id).state == state::starting);
  CHECK(steps(w.core.launched(id, t0 + 10)) == "save tell");
  CHECK(w.job(id).state == state::running);
  CHECK(w.core.find(id)->command.empty());
  w.now = t0 + 1010;
  CHECK(steps(w.end(id, job_ending::exited)) == "keep release save tell wake");
  w.core.output_kept(id, true);
  CHECK(w.job(id).state == state::succeeded);
  CHECK(*w.job(id).exit_code == 0);
  CHECK(*w.job(id).duration_ms == 1000);
  CHECK(*w.job(id).output.stdout_ref == "jobs/" + id + "/stdout");
  CHECK_FALSE(w.job(id).output.stderr_ref);
  CHECK(contracts::parse_process_job_projection(contracts::to_json(w.job(id))));
  CHECK(w.core.outlook(platform_id::console).open == 1);
  CHECK(steps(w.core.wake_answered(id, wake_outcome::taken, w.now))
        == "follow");
  CHECK(w.job(id).wake.state == contracts::process_job_wake_state::pending);
  CHECK_FALSE(w.core.next_due());
  CHECK(
    steps(w.core.wake_ended(id, {true, contracts::wake_disposition::follow_up}))
    == "save settle");
  w.core.settled(id);
  CHECK(w.job(id).wake.state == contracts::process_job_wake_state::delivered);
  CHECK(w.core.find(id)->disposition == contracts::wake_disposition::follow_up);
  CHECK(steps(w.core.wake_ended(id, {})).empty());
  CHECK(w.core.outlook(platform_id::console).open == 0);
  CHECK_FALSE(w.core.next_due());
}

TEST_CASE("how a command ends is how its job ends") {
  struct row {
    job_ending how;
    int64_t exit;
    bool cancelled;
    state end;
    std::optional<code> error;
  };
  for (const auto& x :
       {row{job_ending::exited, 0, false, state::succeeded, {}},
        row{job_ending::exited, 3, false, state::failed,
            code::process_job_failed},
        row{job_ending::timed_out, 0, false, state::timed_out,
            code::process_job_timeout},
        row{job_ending::failed, 0, false, state::failed,
            code::process_job_failed},
        row{job_ending::aborted, 0, true, state::cancelled,
            code::process_job_cancelled},
        row{job_ending::aborted, 0, false, state::interrupted,
            code::process_job_agent_restarted},
        // It was done before the cancel had an effect.
        row{job_ending::exited, 0, true, state::succeeded, {}}}) {
    world w;
    auto id = w.running_job();
    if (x.cancelled)
      CHECK(steps(w.core.cancel(id, w.now).effects) == "abort save");
    w.end(id, x.how, x.exit);
    CHECK(w.job(id).state == x.end);
    CHECK(static_cast<bool>(w.job(id).last_error) == x.error.has_value());
    if (x.error && w.job(id).last_error)
      CHECK(*w.job(id).last_error == *x.error);
    CHECK(w.job(id).cancel_requested == x.cancelled);
    // It ends once.
    CHECK(steps(w.end(id, job_ending::exited)).empty());
  }
}

TEST_CASE("a cancel in every state") {
  world w;
  w.fill(limits::jobs_running);
  auto waiting = w.add(request("later"));
  CHECK(w.job(waiting).state == state::queued);
  CHECK(steps(w.core.cancel(waiting, w.now).effects) == "save tell wake");
  CHECK(w.job(waiting).state == state::cancelled);
  auto starting = id_of(1);
  CHECK(w.job(starting).state == state::starting);
  CHECK(steps(w.core.cancel(starting, w.now).effects)
        == "release save tell wake");
  CHECK(w.job(starting).state == state::cancelled);
  CHECK(steps(w.core.launched(starting, w.now)).empty());
  auto running = id_of(2);
  w.core.launched(running, w.now);
  CHECK(steps(w.core.cancel(running, w.now).effects) == "abort save");
  CHECK(w.job(running).state == state::running);
  CHECK(w.job(running).cancel_requested);
  CHECK(steps(w.core.cancel(running, w.now).effects).empty());
  w.end(running, job_ending::aborted);
  CHECK(w.job(running).state == state::cancelled);
  CHECK(*w.core.cancel(running, w.now).refusal == code::process_job_conflict);
  CHECK(*w.core.cancel(id_of(99), w.now).refusal
        == code::process_job_not_found);
}

TEST_CASE("a job cancelled on its way to the disk is told once it is there") {
  world w;
  auto admission = w.core.admit(request(), id_of(1), t0);
  CHECK(steps(w.core.cancel(admission.id, t0).effects) == "save tell");
  CHECK(steps(w.core.accepted(admission.id, t0)) == "wake");
}

TEST_CASE("a job that could not be stored never was") {
  world w;
  auto admission = w.core.admit(request(), id_of(1), t0);
  w.core.withdraw(admission.id);
  CHECK(w.core.find(admission.id) == nullptr);
  CHECK(w.core.outlook(platform_id::console).open == 0);
  CHECK(w.core.list("console:local").empty());
}

TEST_CASE("a command that ignores its end is given up after a grace") {
  world w;
  auto slow = request();
  slow.max_runtime_ms = minute;
  auto late = w.add(slow);
  w.core.launched(late, w.now);
  auto stuck = w.running_job();
  w.core.cancel(stuck, w.now);
  CHECK(*w.core.next_due() == t0 + 5000);
  CHECK(steps(w.core.tick(t0 + 4999)).empty());
  CHECK(steps(w.core.tick(t0 + 5000)) == "kill save tell wake");
  CHECK(w.job(stuck).state == state::cancelled);
  CHECK(*w.job(stuck).last_error == code::process_job_cleanup_incomplete);
  CHECK(*w.core.next_due() == t0 + minute + 5000);
  CHECK(steps(w.core.tick(t0 + minute + 5000)) == "kill save tell wake");
  CHECK(w.job(late).state == state::timed_out);
}

TEST_CASE("32 run, 64 wait, 8 of one conversation") {
  world w;
  w.fill(limits::jobs_running);
  CHECK(w.core.running() == 32);
  CHECK(w.core.queued() == 0);
  w.fill(limits::jobs_queued);
  CHECK(w.core.running() == 32);
  CHECK(w.core.queued() == 64);
  CHECK(*w.refused(request("new")) == code::process_job_queue_full);
  CHECK(*w.refused(request("c0")) == code::process_job_conversation_capacity);
  // The end of one makes room for the oldest that waits.
  auto first = id_of(1);
  auto next = id_of(33);
  CHECK(w.job(next).state == state::queued);
  w.core.launched(first, w.now);
  CHECK(steps(w.end(first, job_ending::exited))
        == "keep release save tell wake save launch");
  CHECK(w.job(next).state == state::starting);
  CHECK_FALSE(w.refused(request("new")));
}

TEST_CASE("a job that waits too long is not started") {
  world w;
  w.fill(limits::jobs_running);
  for (int i = 1; i <= 32; ++i)
    w.core.launched(id_of(i), w.now);
  auto id = w.add(request("later"));
  CHECK(*w.core.next_due() == t0 + 5 * minute);
  CHECK(steps(w.core.tick(t0 + 5 * minute - 1)).empty());
  CHECK(steps(w.core.tick(t0 + 5 * minute)) == "save tell wake");
  CHECK(w.job(id).state == state::queue_expired);
  CHECK(*w.job(id).last_error == code::process_job_queue_expired);
}

TEST_CASE("a job that cannot be launched") {
  world w;
  auto id = w.add();
  CHECK(steps(w.core.launch_failed(id, w.now)) == "release save tell wake");
  CHECK(w.job(id).state == state::spawn_failed);
  CHECK(*w.job(id).last_error == code::process_job_spawn_failed);
}

TEST_CASE("what is refused at once") {
  world w;
  auto blank = request();
  blank.command = " \n";
  auto long_command = request();
  long_command.command = std::string(limits::exec_command_bytes + 1, 'x');
  auto bytes = request();
  bytes.command = "\xff";
  auto long_run = request();
  long_run.max_runtime_ms = 24 * 60 * minute + 1;
  auto much = request();
  much.max_output_bytes = (8 << 20) + 1;
  for (const auto& x : {blank, long_command, bytes, long_run, much})
    CHECK(*w.refused(x) == code::process_job_invalid);
  w.core.drain(w.now);
  CHECK(*w.refused(request()) == code::process_job_controller_unavailable);
}

TEST_CASE("a chain of jobs that wake each other ends") {
  world w;
  std::string message;
  for (int64_t depth = 0; depth <= 8; ++depth) {
    auto woken = request("c" + std::to_string(depth));
    woken.wake = message;
    auto id = w.add(woken);
    CHECK(w.job(id).limits.chain_depth == depth);
    message = wake_id(id);
  }
  auto last = request("end");
  last.wake = message;
  CHECK(*w.refused(last) == code::process_job_chain_depth_exceeded);
}

TEST_CASE("a wake is tried until it is taken, ever less often") {
  world w;
  auto id = w.running_job();
  w.end(id, job_ending::exited);
  int64_t waits[] = {1000, 2000, 4000, 8000};
  for (auto wait : waits) {
    w.core.wake_answered(id, wake_outcome::again, w.now);
    CHECK(*w.core.next_due() == w.now + wait);
    w.now += wait;
    CHECK(steps(w.core.tick(w.now)) == "wake");
    // One at a time.
    CHECK(steps(w.core.tick(w.now)).empty());
  }
  w.core.wake_answered(id, wake_outcome::again, w.now);
  CHECK(steps(w.core.hurry(platform_id::slack, w.now)).empty());
  CHECK(steps(w.core.hurry(platform_id::console, w.now)) == "wake");
  w.core.wake_answered(id, wake_outcome::refused, w.now);
  CHECK(w.job(id).wake.state == contracts::process_job_wake_state::failed);
  CHECK(w.job(id).wake.attempts == 6);
}

TEST_CASE("a wake that nobody takes for a day has failed") {
  world w;
  auto id = w.running_job();
  w.end(id, job_ending::exited);
  w.now += 24 * 60 * minute - 1;
  CHECK(steps(w.core.wake_answered(id, wake_outcome::again, w.now)).empty());
  w.now = *w.core.next_due();
  CHECK(steps(w.core.tick(w.now)) == "wake");
  CHECK(steps(w.core.wake_answered(id, wake_outcome::again, w.now))
        == "save settle");
  CHECK(w.job(id).wake.state == contracts::process_job_wake_state::failed);
  CHECK(*w.job(id).last_error == code::process_job_wake_failed);
}

TEST_CASE("the end of its ledger entry tells how a wake arrived") {
  using contracts::wake_disposition;
  struct row {
    const char* outcome;
    const char* run;
    wake_end want;
  };
  const row rows[] = {
    {"steered", "r1", {true, wake_disposition::steered}},
    {"sent", "r1", {true, wake_disposition::follow_up}},
    {"silent", "", {true, wake_disposition::follow_up}},
    {"stopped", "r1", {true, wake_disposition::follow_up}},
    {"interrupted", "", {true, wake_disposition::follow_up}},
    {"stopped", "", {false, std::nullopt}},
    {"superseded", "", {false, std::nullopt}},
    {"refused", "", {false, std::nullopt}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.outcome);
    entry_end end;
    end.outcome = row.outcome;
    end.run = row.run;
    CHECK(wake_end_of(end) == row.want);
  }
}

TEST_CASE("a wake that has not arrived holds a place of its conversation") {
  world w;
  for (int i = 1; i <= 8; ++i) {
    w.add();
    w.core.launched(id_of(i), w.now);
    w.end(id_of(i), job_ending::exited);
  }
  CHECK(*w.refused(request()) == code::process_job_conversation_capacity);
  w.core.wake_answered(id_of(1), wake_outcome::taken, w.now);
  CHECK(*w.refused(request()) == code::process_job_conversation_capacity);
  w.core.wake_ended(id_of(1), {true, {}});
  CHECK_FALSE(w.refused(request()));
}

TEST_CASE("what a run knew is kept for its jobs until they have woken") {
  world w;
  auto id = w.running_job();
  contracts::continuation_context context;
  context.conversation_id = "console:local";
  context.origin_run_id = "r2";
  CHECK(steps(w.core.keep_context(context)).empty());
  context.origin_run_id = "r1";
  CHECK(steps(w.core.keep_context(context)) == "save");
  REQUIRE(w.core.find(id)->context);
  w.end(id, job_ending::exited);
  w.core.wake_answered(id, wake_outcome::taken, w.now);
  CHECK(w.core.find(id)->context);
  w.core.wake_ended(id, {true, {}});
  CHECK_FALSE(w.core.find(id)->context);
  CHECK(steps(w.core.keep_context(context)).empty());
}

TEST_CASE("a command that a signal ended has no exit code") {
  world w;
  auto id = w.running_job();
  w.end(id, job_ending::exited, 137);
  CHECK(w.job(id).state == state::failed);
  CHECK_FALSE(w.job(id).exit_code);
  CHECK(*w.job(id).signal == "SIGKILL");
  CHECK(contracts::parse_process_job_projection(contracts::to_json(w.job(id))));
}

TEST_CASE("the end of the node interrupts what runs and keeps what waits") {
  world w;
  auto starting = w.add();
  auto running = w.running_job();
  CHECK(steps(w.core.drain(w.now)) == "release save abort");
  CHECK(w.job(starting).state == state::interrupted);
  CHECK(steps(w.end(running, job_ending::aborted)) == "keep release save");
  CHECK(w.job(running).state == state::interrupted);
  CHECK(w.job(running).output.preview == "text");
  CHECK(w.core.running() == 0);
}

TEST_CASE("what does not end at the end of the node is given up") {
  world w;
  auto id = w.running_job();
  w.core.drain(w.now);
  CHECK(steps(w.core.give_up(w.now)) == "kill save");
  CHECK(w.job(id).state == state::interrupted);
  CHECK(*w.job(id).last_error == code::process_job_cleanup_incomplete);
}

TEST_CASE("a start after a crash: interrupted, waiting, woken, settled") {
  world before;
  before.fill(limits::jobs_running);
  auto running = id_of(1);
  before.core.launched(running, t0);
  auto starting = id_of(2);
  auto ended = id_of(3);
  before.core.launched(ended, t0);
  before.end(ended, job_ending::exited);
  auto told = id_of(4);
  before.core.launched(told, t0);
  before.end(told, job_ending::exited);
  before.core.wake_answered(told, wake_outcome::taken, t0);
  before.core.wake_ended(told, {true, {}});
  world other;
  auto waiting = before.add(request("later"));
  std::vector<job_record> left;
  for (const auto& id : {running, starting, ended, told, waiting})
    left.push_back(*before.core.find(id));
  // As it was before the places became free.
  left.back().shown.state = state::queued;
  left.back().command = "make";
  world after;
  auto effects = after.core.restore(left, t0 + minute);
  CHECK(after.job(running).state == state::interrupted);
  CHECK(after.job(starting).state == state::interrupted);
  CHECK(*after.job(running).last_error == code::process_job_agent_restarted);
  CHECK(after.job(waiting).state == state::starting);
  std::set<std::string> woken;
  std::set<std::string> launched;
  for (const auto& x : effects) {
    if (x.what == job_step::wake)
      CHECK(woken.insert(x.id).second);
    if (x.what == job_step::launch)
      CHECK(launched.insert(x.id).second);
  }
  CHECK(woken == std::set<std::string>{running, starting, ended});
  CHECK(launched == std::set<std::string>{waiting});
  CHECK(after.core.outlook(platform_id::console).open == 4);
}

TEST_CASE("a job that waited too long while the node was down") {
  world before;
  auto id = before.add();
  auto record = *before.core.find(id);
  record.shown.state = state::queued;
  world after;
  auto effects = after.core.restore({record}, t0 + 5 * minute);
  CHECK(after.job(id).state == state::queue_expired);
  CHECK(steps(effects) == "save tell wake");
}

TEST_CASE("a conversation sees its own jobs only") {
  world w;
  auto mine = w.add();
  auto other = w.add(request("other"));
  CHECK(w.core.list("console:local").size() == 1);
  CHECK(w.core.list("console:local")[0].job_id == mine);
  CHECK(w.core.list({}).size() == 2);
  CHECK(w.core.list({})[0].job_id == other);
  CHECK(w.core.find(job_query{"console:local", other}) == nullptr);
  CHECK(w.core.find(job_query{"console:other", other}) != nullptr);
}

TEST_CASE("no more than ten thousand ended jobs are remembered") {
  job_record record;
  record.conversation = {platform_id::console, "local"};
  record.session_key = "local";
  auto& shown = record.shown;
  shown.state = state::succeeded;
  shown.origin = {"console:local", "console", "r1", "m1", {}};
  shown.wake.state = contracts::process_job_wake_state::delivered;
  std::vector<job_record> left;
  for (size_t i = 0; i < limits::jobs_remembered + 2; ++i) {
    shown.job_id = id_of(static_cast<int>(i));
    shown.timestamps.admitted_at = "2026-01-01T00:00:00.000Z";
    left.push_back(record);
  }
  world w;
  auto effects = w.core.restore(left, t0);
  REQUIRE(effects.size() == 2);
  CHECK(effects[0] == job_effect{job_step::forget, id_of(0), {}});
  CHECK(effects[1] == job_effect{job_step::forget, id_of(1), {}});
  CHECK(w.core.size() == limits::jobs_remembered);
}
