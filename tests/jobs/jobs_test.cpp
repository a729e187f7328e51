#include "actors/jobs/jobs.hpp"

#include "actors/jobs/job_table_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/scripted_executor.hpp"
#include "tests/support/turn_fakes.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <deque>
#include <set>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;
using state = contracts::process_job_state;
using wake = contracts::process_job_wake_state;
using code = contracts::process_job_error_code;

namespace {

// -- neighbours ---------------------------------------------------------------

/// Offices that outlive the node: they remember what they took.
struct offices_script {
  std::vector<intake_request> taken;
  std::set<std::string> seen;
  size_t duplicates = 0;
  std::deque<caf::error> failures;
  runtime_snapshot snapshot;
  /// How the entries of wakes ended, or that nobody knows any more.
  std::map<std::string, entry_end> ends;
  bool forgetful = false;
  /// How entries end at once; empty: they stay open.
  std::string outcome = "sent";
  /// Offices that are in use.
  std::multiset<std::string> held;
  size_t holds = 0;
  std::optional<errc> no_hold;
};

/// The story tells it when an entry has ended.
using scripted_desk_actor =
  job_desk_actor::extend<caf::reacts_to<atom::tick, std::string>>;

struct scripted_offices_state {
  scripted_desk_actor::stateful_pointer<scripted_offices_state> self;
  std::shared_ptr<offices_script> script;
  /// Those who wait for the end of an entry.
  std::multimap<std::string, uint64_t> waiting;
  kit::promise_guard<entry_end> ends;
  static inline const char* name = "scripted_offices";

  explicit scripted_offices_state(
    scripted_desk_actor::stateful_pointer<scripted_offices_state> me)
    : self(me) {}

  void init(std::shared_ptr<offices_script> shared) {
    script = std::move(shared);
  }

  caf::result<intake_reply> take(const intake_request& request) {
    if (!script->failures.empty()) {
      auto failure = script->failures.front();
      script->failures.pop_front();
      return failure;
    }
    intake_reply reply;
    if (!script->seen.insert(request.event.message_id).second) {
      ++script->duplicates;
      reply.outcome = intake_outcome::duplicate;
    } else {
      script->taken.push_back(request);
    }
    return reply;
  }

  caf::result<entry_end> await(const entry_query& query) {
    if (auto known = script->ends.find(query.message_id);
        known != script->ends.end())
      return known->second;
    if (script->forgetful)
      return make_failure(errc::not_found, "no such entry");
    if (!script->outcome.empty()) {
      entry_end end;
      end.outcome = script->outcome;
      end.run = "run-of-wake";
      return end;
    }
    auto answer =
      self->make_response_promise<caf::typed_response_promise<entry_end>>();
    waiting.emplace(query.message_id, ends.keep(answer));
    return answer;
  }

  void close(const std::string& id) {
    auto [first, last] = waiting.equal_range(id);
    for (auto item = first; item != last; ++item)
      ends.deliver(item->second, script->ends.at(id));
    waiting.erase(first, last);
  }

  caf::result<caf::ok_atom> hold(const office_address& address) {
    ++script->holds;
    if (script->no_hold)
      return make_failure(*script->no_hold, "not now");
    script->held.insert(address.conversation_id);
    return caf::ok_atom_v;
  }

  scripted_desk_actor::behavior_type make_behavior() {
    return {
      [this](atom::tick, const std::string& id) { close(id); },
      [this](atom::intake, const intake_request& x) { return take(x); },
      [this](atom::settled, const entry_query& x) { return await(x); },
      [this](atom::hold, const office_address& x) { return hold(x); },
      [this](atom::release, const office_address& x) {
        auto held = script->held.find(x.conversation_id);
        if (held != script->held.end())
          script->held.erase(held);
      },
    };
  }
};

struct settings_script {
  run_settings answer;
  caf::error failure;
};

struct scripted_settings_state {
  settings_actor::stateful_pointer<scripted_settings_state> self;
  std::shared_ptr<settings_script> script;
  static inline const char* name = "scripted_settings";

  explicit scripted_settings_state(
    settings_actor::stateful_pointer<scripted_settings_state> me)
    : self(me) {}

  void init(std::shared_ptr<settings_script> shared) {
    script = std::move(shared);
  }

  caf::result<run_settings> resolve() {
    if (script->failure)
      return script->failure;
    return script->answer;
  }

  settings_actor::behavior_type make_behavior() {
    return {
      [this](atom::resolve, const office_address&) { return resolve(); },
      [](atom::patch, const settings_patch&) { return caf::ok_atom_v; },
      [](atom::status) {
        return status_line{"settings", "ok", ""};
      },
    };
  }
};

// -- the world ----------------------------------------------------------------

/// What a restart does not change.
struct surroundings {
  scratch_directory dir;
  std::shared_ptr<offices_script> offices = std::make_shared<offices_script>();
  std::shared_ptr<seeded_entropy> ids = std::make_shared<seeded_entropy>(7);

  std::string file(const std::string& id, const std::string& name) const {
    return get_file(dir.path() + "/jobs/" + id + "/" + name);
  }
};

struct jobs_world : node_fixture {
  explicit jobs_world(surroundings& around, bool attach = true)
    : place(around), probe(std::make_shared<files_probe>()),
      shown(std::make_shared<transport_probe>()),
      settings_log(std::make_shared<settings_script>()) {
    jobs::jobs_deps deps;
    deps.ws = make_workspace(place.dir.path() + "/ws", place.dir.path());
    files = spawn_inline_files(
      *system, std::make_shared<os::posix_file_system>(), chance, probe);
    offices = kit::spawn_stateful<scripted_desk_actor, scripted_offices_state>(
      *system, place.offices);
    settings = kit::spawn_stateful<settings_actor, scripted_settings_state>(
      *system, settings_log);
    transport = spawn_recording_transport(*system, shown);
    deps.files = files;
    deps.settings = settings;
    deps.executors = machine.factory();
    deps.wall = wall;
    deps.chance = place.ids;
    deps.operator_token = secret_text{"owner"};
    deps.channels = {platform_id::console};
    auto handles = jobs::spawn_jobs(*system, std::move(deps));
    room = handles.jobs;
    operators = handles.operators;
    self->send(room, atom::start_v, job_desk_actor{offices});
    if (attach)
      attach_console();
    settle();
  }

  ~jobs_world() {
    for (auto handle : {caf::actor_cast<caf::actor>(room),
                        caf::actor_cast<caf::actor>(offices),
                        caf::actor_cast<caf::actor>(settings),
                        caf::actor_cast<caf::actor>(transport),
                        caf::actor_cast<caf::actor>(files)})
      self->send_exit(handle, caf::exit_reason::kill);
    settle();
  }

  void attach_console() {
    self->send(room, atom::attach_v, platform_id::console, transport);
    settle();
  }

  static job_request request(std::string command,
                             const std::string& conversation = "local") {
    job_request result;
    result.conversation = {platform_id::console, conversation};
    result.session_key = conversation;
    result.run = "r7";
    result.message_id = "m7";
    result.target = json_text{R"({"thread":"7"})"};
    result.command = std::move(command);
    return result;
  }

  job_answer submit(const job_request& what) {
    job_answer result;
    ask(
      room, [&](const job_answer& answer) { result = answer; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); },
      atom::submit_v, what);
    return result;
  }

  std::string start(const std::string& command) {
    auto answer = submit(request(command));
    REQUIRE_FALSE(answer.refusal);
    return answer.job.job_id;
  }

  job_answer read(const std::string& id,
                  const std::string& conversation = "console:local") {
    job_answer result;
    ask(
      room, [&](const job_answer& answer) { result = answer; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::read_v,
      job_query{conversation, id});
    return result;
  }

  /// The ledger entry of a wake has ended.
  void close(const std::string& id, std::string how, std::string run = {}) {
    entry_end end;
    end.outcome = std::move(how);
    end.run = std::move(run);
    place.offices->ends["job:" + id] = end;
    self->send(offices, atom::tick_v, "job:" + id);
    settle();
  }

  job_answer cancel(const std::string& id) {
    job_answer result;
    ask(
      room, [&](const job_answer& answer) { result = answer; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); },
      atom::cancel_v, job_query{"console:local", id});
    return result;
  }

  state state_of(const std::string& id) { return read(id).job.state; }

  uint64_t open() {
    uint64_t result = 0;
    ask(
      room, [&](const job_outlook& x) { result = x.open; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); },
      atom::describe_v, platform_id::console);
    return result;
  }

  const std::vector<intake_request>& wakes() const {
    return place.offices->taken;
  }

  surroundings& place;
  std::shared_ptr<files_probe> probe;
  std::shared_ptr<transport_probe> shown;
  std::shared_ptr<settings_script> settings_log;
  scripted_executor machine;
  files_actor files;
  scripted_desk_actor offices;
  settings_actor settings;
  transport_actor transport;
  jobs_actor room;
  job_operator_actor operators;
};

exec_reply takes(std::chrono::milliseconds time, std::string out,
                 int32_t exit = 0) {
  auto reply = prints(std::move(out), exit);
  reply.delay = time;
  return reply;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a command outlives its turn; its conversation is woken at the end") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("make", takes(90s, "built\npassword=hunter2\n"));
  auto id = w.start("make all");
  CHECK(w.state_of(id) == state::starting);
  w.advance(500ms);
  auto job = w.read(id).job;
  CHECK(job.state == state::running);
  CHECK(job.origin.run_id == "r7");
  CHECK(job.origin.history_boundary == "m7");
  CHECK(job.summary == "make all");
  REQUIRE(w.machine.commands().size() == 1);
  CHECK(w.machine.commands()[0].command == "make all");
  CHECK(w.machine.commands()[0].cwd == scripted_executor::paths().cwd);
  CHECK(w.machine.commands()[0].timeout_ms == 3'600'000);
  CHECK(w.open() == 1);
  CHECK(w.wakes().empty());
  CHECK(around.offices->held.count("local") == 1);
  w.advance(90s);
  CHECK(w.state_of(id) == state::succeeded);
  CHECK(around.offices->held.empty());
  CHECK(around.file(id, "stdout") == "built\npassword=hunter2\n");
  REQUIRE(w.wakes().size() == 1);
  const auto& event = w.wakes()[0].event;
  CHECK(event.message_id == "job:" + id);
  CHECK(event.origin == turn_origin::action);
  CHECK(event.session_key == "local");
  CHECK(w.wakes()[0].offer);
  // The place that the run was to answer to.
  CHECK(event.target.text == R"({"thread":"7"})");
  CHECK(event.text.starts_with("Background job " + id
                               + " succeeded (exit code 0, 90.0 s)."));
  CHECK(contains(event.text, "> built\n"));
  CHECK_FALSE(contains(event.text, "hunter2"));
  CHECK(w.open() == 0);
  // The preview is read from the disk now.
  CHECK(contains(w.read(id).job.output.preview, "built"));
  CHECK(w.machine.stopped() == 1);
  CHECK(w.machine.running() == 0);
}

TEST_CASE("people see the life of a job; the model does not answer for it") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("fail", takes(1500ms, "", 3));
  auto id = w.start("fail");
  w.advance(2s);
  REQUIRE(w.shown->operations.size() == 2);
  for (const auto& x : w.shown->operations) {
    CHECK(x.rank == outbound_class::control);
    CHECK(x.content == outbound_content::notice);
    CHECK(x.run.empty());
    CHECK(x.conversation == office_address{platform_id::console, "local"});
  }
  CHECK(w.shown->operations[0].text
        == "_Background job " + id + " started: fail_");
  CHECK(w.shown->operations[1].text
        == "_Background job " + id + " failed (exit code 3, 1.5 s): fail_");
}

TEST_CASE("files of a job are private and hold no command once it runs") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("secret", takes(1s, "out"));
  auto id = w.start("run-it --password=hunter2 secret");
  w.advance(500ms);
  auto text = around.file(id, "job.json");
  auto file = json::parse(text);
  REQUIRE(file);
  CHECK_FALSE(contains(text, "hunter2"));
  w.advance(1s);
  for (auto name : {"job.json", "stdout"}) {
    struct stat facts {};
    auto path = around.dir.path() + "/jobs/" + id + "/" + name;
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
  }
  struct stat facts {};
  REQUIRE(::stat((around.dir.path() + "/jobs/" + id).c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
}

TEST_CASE("a job is held to its time") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("sleep", hangs("so far"));
  auto what = w.request("sleep");
  what.max_runtime_ms = 10'000;
  auto id = w.submit(what).job.job_id;
  w.advance(9999ms);
  CHECK(w.state_of(id) == state::running);
  w.advance(1ms);
  CHECK(w.state_of(id) == state::timed_out);
  CHECK(contains(around.file(id, "stdout"), "so far"));
  REQUIRE(w.wakes().size() == 1);
  CHECK(contains(w.wakes()[0].event.text, "ran out of time"));
}

TEST_CASE("an environment that is deaf is given up after a grace") {
  surroundings around;
  jobs_world w{around};
  auto deaf = hangs();
  deaf.deaf = true;
  w.machine.on("stuck", deaf);
  auto id = w.start("stuck");
  CHECK_FALSE(w.cancel(id).refusal);
  w.advance(4999ms);
  CHECK(w.state_of(id) == state::running);
  CHECK(w.read(id).job.cancel_requested);
  w.advance(1ms);
  CHECK(w.state_of(id) == state::cancelled);
  CHECK(*w.read(id).job.last_error == code::process_job_cleanup_incomplete);
  CHECK(w.machine.running() == 0);
  CHECK(w.wakes().size() == 1);
}

TEST_CASE("a running job is cancelled") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("sleep", hangs("begun"));
  auto id = w.start("sleep");
  CHECK_FALSE(w.cancel(id).refusal);
  w.settle();
  CHECK(w.state_of(id) == state::cancelled);
  CHECK(w.machine.running() == 0);
  CHECK(*w.cancel(id).refusal == code::process_job_conflict);
  REQUIRE(w.wakes().size() == 1);
  CHECK(contains(w.wakes()[0].event.text, "was cancelled"));
}

TEST_CASE("an environment that refuses or ends") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("spawn", refuses(errc::spawn_failed, "no process for you"));
  exec_reply dies;
  dies.dies = true;
  w.machine.on("dies", dies);
  auto refused = w.start("spawn");
  CHECK(w.state_of(refused) == state::spawn_failed);
  auto dead = w.start("dies");
  CHECK(w.state_of(dead) == state::spawn_failed);
  // No exception's text reaches the conversation.
  CHECK_FALSE(contains(w.wakes()[0].event.text, "no process for you"));
  w.settings_log->failure = make_failure(errc::bad_config, "broken file");
  auto unresolved = w.start("echo");
  CHECK(w.state_of(unresolved) == state::spawn_failed);
  CHECK(w.wakes().size() == 3);
  w.settings_log->failure = {};
  around.offices->no_hold = errc::not_ready;
  CHECK(w.state_of(w.start("echo")) == state::spawn_failed);
}

TEST_CASE("what ends its environment later was running") {
  surroundings around;
  jobs_world w{around};
  auto dies = takes(1s, "");
  dies.dies = true;
  w.machine.on("sleep", dies);
  auto id = w.start("sleep");
  w.advance(600ms);
  CHECK(w.state_of(id) == state::running);
  w.advance(400ms);
  CHECK(w.state_of(id) == state::failed);
  CHECK(around.offices->held.empty());
}

TEST_CASE("a platform that takes no news of jobs has none") {
  surroundings around;
  jobs_world w{around};
  auto what = w.request("make");
  what.conversation.platform = platform_id::slack;
  auto answer = w.submit(what);
  REQUIRE(answer.refusal);
  CHECK(*answer.refusal == code::background_unsupported_channel);
}

TEST_CASE("a wake is delivered when its entry is closed") {
  surroundings around;
  around.offices->outcome.clear();
  jobs_world w{around};
  auto id = w.start("make");
  REQUIRE(w.wakes().size() == 1);
  CHECK(w.read(id).job.wake.state == wake::pending);
  CHECK(w.open() == 1);
  SUBCASE("by the turn that read it") {
    w.close(id, "steered", "r1");
    w.settle();
    CHECK(w.read(id).job.wake.state == wake::delivered);
    CHECK(w.read(id).disposition == contracts::wake_disposition::steered);
  }
  SUBCASE("by its own turn") {
    w.close(id, "sent", "r2");
    w.settle();
    CHECK(w.read(id).disposition == contracts::wake_disposition::follow_up);
  }
  SUBCASE("it was ended before anybody read it") {
    w.close(id, "stopped");
    w.settle();
    CHECK(w.read(id).job.wake.state == wake::failed);
    CHECK(*w.read(id).job.last_error == code::process_job_wake_failed);
  }
  CHECK(w.open() == 0);
}

TEST_CASE("what a run knew reaches the turn of the wake, over a restart too") {
  surroundings around;
  around.offices->outcome.clear();
  std::string id;
  auto continuation_of = [](jobs_world& w, const std::string& wake_of) {
    job_continuation result;
    w.ask(
      w.room, [&](const job_continuation& x) { result = x; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::load_v,
      "job:" + wake_of);
    return result;
  };
  {
    jobs_world w{around};
    w.machine.on("make", takes(90s, "built"));
    id = w.start("make");
    CHECK_FALSE(continuation_of(w, id).turn->pinned);
    contracts::continuation_context context;
    context.conversation_id = "console:local";
    context.origin_run_id = "r7";
    context.history_boundary = "r7";
    context.captured_at = "2026-01-01T00:00:00.000Z";
    for (auto role : {contracts::continuation_role::user,
                      contracts::continuation_role::assistant}) {
      contracts::continuation_message said;
      said.role = role;
      said.content = to_string(role);
      said.run_id = "r7";
      said.timestamp = context.captured_at;
      context.messages.push_back(said);
    }
    w.self->send(w.room, atom::settled_v, context);
    w.settle();
    w.advance(90s);
  }
  jobs_world w{around};
  auto found = continuation_of(w, id);
  REQUIRE(found.turn);
  CHECK(found.turn->continuation_id == "job:" + id);
  CHECK(found.turn->origin_run_id == "r7");
  REQUIRE(found.turn->pinned);
  CHECK(found.turn->pinned->messages.size() == 2);
  CHECK_FALSE(continuation_of(w, "pj-00000000000000ff").turn);
  w.close(id, "sent", "r8");
  w.settle();
  CHECK_FALSE(contains(around.file(id, "job.json"), "originContext"));
  CHECK(contains(around.file(id, "job.json"), "follow_up"));
}

TEST_CASE("a full disk refuses a job and forgets it") {
  surroundings around;
  jobs_world w{around};
  w.probe->failures.push_back({});
  w.probe->failures.push_back(make_failure(errc::disk, "no space"));
  auto answer = w.submit(w.request("make"));
  REQUIRE(answer.refusal);
  CHECK(*answer.refusal == code::process_job_store_error);
  CHECK(w.machine.commands().empty());
  CHECK(w.open() == 0);
  CHECK_FALSE(w.submit(w.request("make")).refusal);
}

TEST_CASE("output that cannot be kept is no failure of the command") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("make", takes(1s, "built"));
  auto id = w.start("make");
  w.advance(500ms);
  w.probe->failures.push_back(make_failure(errc::disk, "no space"));
  w.advance(500ms);
  auto job = w.read(id).job;
  CHECK(job.state == state::succeeded);
  CHECK(*job.last_error == code::process_job_store_error);
  CHECK_FALSE(job.output.stdout_ref);
  REQUIRE(w.wakes().size() == 1);
  CHECK(contains(w.wakes()[0].event.text, "> built"));
}

TEST_CASE("an end that the disk refused is written when it takes it again") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("make", takes(1s, "built"));
  auto id = w.start("make");
  w.advance(500ms);
  w.probe->failures.assign(3, make_failure(errc::disk, "no space"));
  w.advance(500ms);
  CHECK_FALSE(contains(around.file(id, "job.json"), "succeeded"));
  CHECK(w.open() == 1);
  w.advance(5s);
  CHECK(contains(around.file(id, "job.json"), "succeeded"));
  CHECK(contains(around.file(id, "job.json"), R"("preview":"built")"));
  CHECK(w.open() == 0);
  CHECK(w.wakes().size() == 1);
}

TEST_CASE("a wake that is not taken comes again, and only once") {
  surroundings around;
  jobs_world w{around};
  around.offices->failures.assign(3,
                                  make_failure(errc::disk, "the disk is full"));
  auto id = w.start("make");
  CHECK(w.wakes().empty());
  CHECK(w.open() == 1);
  w.advance(1s);
  w.advance(2s);
  CHECK(w.wakes().empty());
  w.advance(4s);
  CHECK(w.wakes().size() == 1);
  w.advance(10min);
  CHECK(w.wakes().size() == 1);
  CHECK(around.offices->duplicates == 0);
  CHECK(w.read(id).job.wake.attempts == 4);
}

TEST_CASE("a wake waits for its platform") {
  surroundings around;
  jobs_world w{around, false};
  w.start("make");
  w.advance(3min);
  CHECK(w.wakes().empty());
  CHECK(w.open() == 1);
  w.attach_console();
  CHECK(w.wakes().size() == 1);
  CHECK(w.open() == 0);
}

TEST_CASE("a crash interrupts what ran; the next start says so, once") {
  surroundings around;
  std::string running;
  std::string done;
  {
    jobs_world w{around};
    w.machine.on("sleep", hangs());
    running = w.start("sleep");
    around.offices->failures.push_back(make_failure(errc::disk, "no"));
    done = w.start("make");
    CHECK(w.wakes().empty());
  }
  for (int start = 0; start < 3; ++start) {
    jobs_world w{around};
    CHECK(w.state_of(running) == state::interrupted);
    CHECK(*w.read(running).job.last_error == code::process_job_agent_restarted);
    CHECK(w.state_of(done) == state::succeeded);
    REQUIRE(w.wakes().size() == 2);
    CHECK(w.machine.commands().empty());
    CHECK(w.open() == 0);
  }
  CHECK(around.offices->duplicates == 0);
}

TEST_CASE("a wake whose outcome a crash hid is no second one") {
  surroundings around;
  std::string id;
  {
    jobs_world w{around};
    w.machine.on("make", takes(1s, "x"));
    id = w.start("make");
    w.advance(500ms);
    // Output, end, then the record that says that the wake was delivered.
    w.probe->failures = {{}, {}, make_failure(errc::disk, "gone")};
    w.advance(500ms);
    CHECK(w.wakes().size() == 1);
  }
  jobs_world w{around};
  CHECK(w.wakes().size() == 1);
  CHECK(around.offices->duplicates == 1);
  CHECK(w.open() == 0);
}

TEST_CASE("a job that waits goes on waiting over a restart") {
  surroundings around;
  std::string waiting;
  {
    jobs_world w{around};
    w.machine.otherwise(hangs());
    for (size_t i = 0; i < limits::jobs_running; ++i)
      CHECK_FALSE(
        w.submit(w.request("sleep", "c" + std::to_string(i / 8))).refusal);
    waiting = w.start("make it so");
    CHECK(w.state_of(waiting) == state::queued);
    CHECK(w.shown->operations.back().text
          == "_Background job " + waiting
               + " waits for a free place: make it so_");
  }
  jobs_world w{around};
  REQUIRE(w.machine.commands().size() == 1);
  CHECK(w.machine.commands()[0].command == "make it so");
  CHECK(w.state_of(waiting) == state::succeeded);
}

TEST_CASE("an orderly end interrupts and is told at the next start") {
  surroundings around;
  std::string id;
  {
    jobs_world w{around};
    w.machine.on("sleep", hangs("so far"));
    id = w.start("sleep");
    auto stopped = false;
    w.ask(
      w.room, [&](caf::ok_atom) { stopped = true; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); },
      atom::stop_v);
    CHECK(stopped);
    CHECK(w.machine.running() == 0);
    CHECK(w.wakes().empty());
    CHECK(*w.submit(w.request("make")).refusal
          == code::process_job_controller_unavailable);
    CHECK(contains(around.file(id, "stdout"), "so far"));
  }
  jobs_world w{around};
  REQUIRE(w.wakes().size() == 1);
  CHECK(contains(w.wakes()[0].event.text, "was interrupted by a restart"));
  CHECK(contains(w.wakes()[0].event.text, "> so far"));
}

TEST_CASE("an end of the node does not wait for what cannot end") {
  surroundings around;
  jobs_world w{around};
  auto deaf = hangs();
  deaf.deaf = true;
  w.machine.on("stuck", deaf);
  auto id = w.start("stuck");
  auto pending = w.self->request(w.room, caf::infinite, atom::stop_v);
  w.advance(4s);
  auto stopped = false;
  pending.receive([&](caf::ok_atom) { stopped = true; },
                  [](const caf::error&) {});
  CHECK(stopped);
  CHECK(w.state_of(id) == state::interrupted);
}

TEST_CASE("a foreign conversation knows nothing of a job") {
  surroundings around;
  jobs_world w{around};
  auto id = w.start("make");
  CHECK(*w.read(id, "console:other").refusal == code::process_job_not_found);
  CHECK(*w.read(id, "").refusal == code::process_job_not_found);
  size_t seen = 99;
  for (auto conversation : {"console:other", ""}) {
    w.ask(
      w.room, [&](const job_list& x) { seen = x.jobs.size(); },
      [](const caf::error&) {}, atom::list_v, std::string{conversation});
    CHECK(seen == 0);
  }
}

TEST_CASE("the operator shows a token and sees everything") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("sleep", hangs());
  auto id = w.start("sleep");
  auto denied = 0;
  for (auto token : {"", "other"})
    w.ask(
      w.operators, [](const job_list&) {},
      [&](const caf::error& reason) {
        denied += code_of(reason) == errc::denied;
      },
      atom::list_v, job_order{secret_text{token}, {}});
  CHECK(denied == 2);
  job_list all;
  w.ask(
    w.operators, [&](const job_list& x) { all = x; }, [](const caf::error&) {},
    atom::list_v, job_order{secret_text{"owner"}, {}});
  REQUIRE(all.jobs.size() == 1);
  job_answer one;
  w.ask(
    w.operators, [&](const job_answer& x) { one = x; },
    [](const caf::error&) {}, atom::cancel_v,
    job_order{secret_text{"owner"}, id});
  CHECK(one.job.job_id == id);
  CHECK(w.state_of(id) == state::cancelled);
}

TEST_CASE("a directory that is no job is left alone") {
  surroundings around;
  auto home = around.dir.path() + "/jobs";
  ::mkdir(home.c_str(), 0700);
  for (auto name : {"pj-00000000000000aa", "pj-00000000000000bb", "notes"})
    ::mkdir((home + "/" + name).c_str(), 0700);
  put_file(home + "/pj-00000000000000aa/job.json", "{}");
  jobs_world w{around};
  CHECK_FALSE(w.submit(w.request("make")).refusal);
  struct stat facts {};
  CHECK(::stat((home + "/pj-00000000000000aa/job.json").c_str(), &facts) == 0);
  CHECK(::stat((home + "/notes").c_str(), &facts) == 0);
  // It was never admitted.
  CHECK(::stat((home + "/pj-00000000000000bb").c_str(), &facts) != 0);
}

TEST_CASE("how the jobs are, in a line") {
  surroundings around;
  jobs_world w{around};
  w.machine.on("sleep", hangs());
  w.start("sleep");
  status_line line;
  w.ask(
    w.room, [&](const status_line& x) { line = x; }, [](const caf::error&) {},
    atom::status_v);
  CHECK(line == status_line{"jobs", "ok", "1 running, 0 waiting"});
}
