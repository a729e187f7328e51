#include "tests/sandbox/sandbox_story.hpp"

#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"

#include <sys/stat.h>

using namespace bureau;
using namespace std::chrono_literals;
using bureau::test::contains;
using bureau::test::process_script;
using bureau::test::sandbox_story;

namespace {

constexpr auto forever = caf::infinite;

/// Keeps what an executor measures.
struct meter_state {
  using pointer = metrics_actor::stateful_pointer<meter_state>;
  static inline const char* name = "meter";
  pointer self;
  std::shared_ptr<std::vector<std::string>> seen;

  explicit meter_state(pointer me) : self(me) {}

  void init(std::shared_ptr<std::vector<std::string>> out) {
    seen = std::move(out);
  }

  void note(const char* verb, const metric_sample& sample) {
    std::string line = verb;
    for (const auto& label : sample.labels)
      line += " " + label;
    seen->push_back(line + " " + std::to_string(sample.value));
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& x) { note("add", x); },
      [this](atom::observe, const metric_sample& x) { note("observe", x); },
      [this](atom::gauge, const metric_sample& x) { note("gauge", x); },
      [](atom::scrape) { return std::string{}; },
    };
  }
};

uint32_t mode_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777u;
}

} // namespace

// -- commands -----------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "a command answers its output and its code") {
  processes->script(ended(3, "a", "b"));
  auto got = call<exec_result>(make(), atom::exec_v, request(1, "the command"));
  REQUIRE(got.value);
  CHECK(*got.value == exec_result{"a", "b", 3, false, false});
  REQUIRE(processes->specs.size() == 1);
  CHECK(processes->specs[0].argv.back() == "the command");
}

TEST_CASE_FIXTURE(
  sandbox_story, "everything that is mounted exists before the first command") {
  processes->always(ended(0));
  auto executor = make();
  REQUIRE(call<exec_result>(executor, atom::exec_v, request(1, "x")).value);
  auto home = args.place.state_dir + "/home";
  CHECK(mode_of(home) == 0700);
  CHECK(mode_of(args.ws.state_dir + "/run/tmp/" + args.place.key) == 0700);
  CHECK(mode_of(args.place.sessions_dir) == 0700);
  CHECK(mode_of(args.place.attachments_dir) == 0700);
  CHECK(mode_of(args.place.log_path) == 0600);
  CHECK(!std::filesystem::exists(args.ws.memory_path));
  auto jobs = files->jobs.size();
  REQUIRE(call<exec_result>(executor, atom::exec_v, request(2, "y")).value);
  CHECK(files->jobs.size() == jobs);
}

TEST_CASE_FIXTURE(sandbox_story, "a log that exists is left as it is") {
  test::put_file(args.place.log_path, "history\n");
  processes->always(ended(0));
  REQUIRE(call<exec_result>(make(), atom::exec_v, request(1, "x")).value);
  CHECK(test::content_of(args.place.log_path) == "history\n");
}

TEST_CASE_FIXTURE(sandbox_story, "a shared door makes what it shares") {
  args.door_policy = "trusted";
  processes->always(ended(0));
  REQUIRE(call<exec_result>(make(), atom::exec_v, request(1, "x")).value);
  CHECK(mode_of(args.ws.memory_path) == 0600);
  CHECK(mode_of(args.ws.skills_dir) == 0700);
  CHECK(mode_of(args.ws.events_dir) == 0700);
}

TEST_CASE_FIXTURE(sandbox_story,
                  "a failed preparation fails the command, the next tries "
                  "again") {
  files->failures.push_back(make_failure(errc::disk, "the disk is full"));
  processes->always(ended(0));
  auto executor = make();
  auto got = call<exec_result>(executor, atom::exec_v, request(1, "x"));
  CHECK(got.code == errc::not_ready);
  CHECK(contains(got.sentence, "the disk is full"));
  CHECK(processes->specs.empty());
  CHECK(call<exec_result>(executor, atom::exec_v, request(2, "x")).value);
}

TEST_CASE_FIXTURE(sandbox_story, "a child that cannot start fails its command "
                                 "and the next prepares again") {
  process_script refused;
  refused.refuse = make_failure(errc::spawn_failed, "no such program");
  processes->script(refused);
  processes->always(ended(0));
  auto executor = make();
  auto got = call<exec_result>(executor, atom::exec_v, request(1, "x"));
  CHECK(got.code == errc::spawn_failed);
  CHECK(contains(got.sentence, "no such program"));
  auto tmp = args.ws.state_dir + "/run/tmp/" + args.place.key;
  std::filesystem::remove_all(tmp);
  REQUIRE(call<exec_result>(executor, atom::exec_v, request(2, "x")).value);
  CHECK(std::filesystem::is_directory(tmp));
}

TEST_CASE_FIXTURE(sandbox_story, "a sandbox that breaks is a transport error "
                                 "with its own words") {
  process_script broken;
  broken.code = 1;
  broken.err = "bwrap: Can't find source path /x\n";
  broken.extra = {"{ \"child-pid\": 7 }\n"};
  processes->script(broken);
  auto got = call<exec_result>(make(), atom::exec_v, request(1, "x"));
  CHECK(got.code == errc::transport);
  CHECK(contains(got.sentence, "Can't find source path /x"));
}

TEST_CASE_FIXTURE(sandbox_story, "any number of commands run at once") {
  processes->always(held());
  auto executor = make();
  std::vector<decltype(self->request(executor, forever, atom::exec_v,
                                     exec_request{}))>
    pending;
  for (uint64_t id = 1; id <= 64; ++id)
    pending.push_back(
      self->request(executor, forever, atom::exec_v, request(id, "x")));
  settle();
  CHECK(processes->running.size() == 64);
  auto line = call<status_line>(executor, atom::status_v).value.value();
  CHECK(line.state == "busy");
  CHECK(contains(line.detail, "64 commands"));
  for (uint64_t id = 1; id <= 64; ++id)
    kit::urgent_send(&*self, executor, atom::abort_v, id);
  for (auto& each : pending)
    CHECK(collect<exec_result>(each).code == errc::aborted);
  CHECK(processes->running.empty());
}

TEST_CASE_FIXTURE(sandbox_story, "an id names one running command") {
  processes->always(held());
  auto executor = make();
  auto first = self->request(executor, forever, atom::exec_v, request(1, "x"));
  settle();
  auto second = call<exec_result>(executor, atom::exec_v, request(1, "y"));
  CHECK(second.code == errc::bad_request);
  processes->exit_as({processes->running.at(0), 0, 9, 0, 0, 0, 0, 0, false});
  CHECK(collect<exec_result>(first).code == errc::transport);
}

// -- time and stop ------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "a timeout kills and tells what there was") {
  processes->script(held("part\n"));
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x", 200));
  advance(199ms);
  CHECK(processes->kills.empty());
  advance(1ms);
  REQUIRE(processes->kills.size() == 1);
  CHECK(processes->kills[0].grace_ms == 0);
  auto got = collect<exec_result>(pending);
  CHECK(got.code == errc::timeout);
  CHECK(got.sentence == "part\n\n\nCommand timed out after 0.2 seconds");
}

TEST_CASE_FIXTURE(sandbox_story, "no timeout means no limit") {
  processes->always(held());
  auto executor = make();
  auto zero = self->request(executor, forever, atom::exec_v, request(1, "x"));
  auto negative =
    self->request(executor, forever, atom::exec_v, request(2, "x", -1));
  advance(std::chrono::hours{5});
  CHECK(processes->kills.empty());
  CHECK(processes->running.size() == 2);
  self->send(executor, atom::abort_v, uint64_t{1});
  self->send(executor, atom::abort_v, uint64_t{2});
  CHECK(collect<exec_result>(zero).code == errc::aborted);
  CHECK(collect<exec_result>(negative).code == errc::aborted);
}

TEST_CASE_FIXTURE(sandbox_story, "abort tells what there was") {
  processes->script(held("part\n"));
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(7, "x", 60'000));
  settle();
  self->send(executor, atom::abort_v, uint64_t{7});
  auto got = collect<exec_result>(pending);
  CHECK(got.code == errc::aborted);
  CHECK(got.sentence == "part\n\n\nCommand aborted");
}

TEST_CASE_FIXTURE(sandbox_story, "abort wins over a timeout") {
  auto script = held();
  script.ignores_kill = true;
  processes->script(script);
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x", 200));
  advance(300ms);
  self->send(executor, atom::abort_v, uint64_t{1});
  settle();
  CHECK(processes->kills.size() == 1);
  processes->finish(processes->running.at(0), 0, 9);
  CHECK(collect<exec_result>(pending).sentence == "Command aborted");
}

TEST_CASE_FIXTURE(sandbox_story, "a timeout after an abort changes nothing") {
  auto script = held();
  script.ignores_kill = true;
  processes->script(script);
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x", 200));
  settle();
  self->send(executor, atom::abort_v, uint64_t{1});
  advance(500ms);
  processes->finish(processes->running.at(0), 0, 9);
  CHECK(collect<exec_result>(pending).code == errc::aborted);
}

TEST_CASE_FIXTURE(sandbox_story,
                  "an abort that overtakes its command still stops it") {
  auto executor = make();
  settle();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(5, "x"));
  kit::urgent_send(&*self, executor, atom::abort_v, uint64_t{5});
  auto got = collect<exec_result>(pending);
  CHECK(got.code == errc::aborted);
  CHECK(got.sentence == "Command aborted");
  CHECK(processes->specs.empty());
  CHECK(files->jobs.empty());
  // Ids of other commands are not touched by it.
  processes->always(ended(0));
  CHECK(call<exec_result>(executor, atom::exec_v, request(6, "x")).value);
}

TEST_CASE_FIXTURE(sandbox_story, "early aborts are remembered up to a bound") {
  auto executor = make();
  for (uint64_t id = 1; id <= limits::exec_early_aborts + 1; ++id)
    self->send(executor, atom::abort_v, id);
  settle();
  processes->always(ended(0));
  CHECK(call<exec_result>(executor, atom::exec_v, request(1, "x")).value);
  CHECK(call<exec_result>(executor, atom::exec_v, request(2, "x")).code
        == errc::aborted);
}

TEST_CASE_FIXTURE(sandbox_story, "what cannot be killed is told in a second") {
  auto script = held();
  script.ignores_kill = true;
  processes->script(script);
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x"));
  settle();
  self->send(executor, atom::abort_v, uint64_t{1});
  advance(999ms);
  CHECK(self->mailbox().empty());
  advance(1ms);
  auto got = collect<exec_result>(pending);
  CHECK(got.code == errc::transport);
  CHECK(contains(got.sentence, "could not be killed"));
  // Its late end finds nobody waiting and hurts nobody.
  processes->finish(processes->running.at(0), 0, 9);
  settle();
  CHECK(call<status_line>(executor, atom::status_v).value->state == "idle");
}

TEST_CASE_FIXTURE(sandbox_story, "an unkillable exit is told as such") {
  auto script = held();
  script.ignores_kill = true;
  processes->script(script);
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x", 100));
  advance(100ms);
  proc_exit exit;
  exit.id = processes->running.at(0);
  exit.unkillable = true;
  processes->exit_as(exit);
  CHECK(collect<exec_result>(pending).code == errc::transport);
}

TEST_CASE_FIXTURE(sandbox_story, "stop aborts, answers and refuses the rest") {
  processes->always(held());
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x"));
  settle();
  auto stopped = self->request(executor, forever, atom::stop_v);
  auto late = self->request(executor, forever, atom::exec_v, request(2, "x"));
  CHECK(collect<exec_result>(pending).code == errc::aborted);
  CHECK(collect<caf::ok_atom>(stopped).value);
  CHECK(collect<exec_result>(late).code != errc::none);
  CHECK(processes->running.empty());
}

TEST_CASE_FIXTURE(sandbox_story, "stop waits for what does not end") {
  auto script = held();
  script.ignores_kill = true;
  processes->script(script);
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x"));
  settle();
  auto first = self->request(executor, forever, atom::stop_v);
  auto second = self->request(executor, forever, atom::stop_v);
  settle();
  CHECK(self->mailbox().empty());
  CHECK(call<exec_result>(executor, atom::exec_v, request(2, "x")).code
        == errc::shutting_down);
  processes->finish(processes->running.at(0), 0, 9);
  CHECK(collect<exec_result>(pending).code == errc::aborted);
  CHECK(collect<caf::ok_atom>(first).value);
  CHECK(collect<caf::ok_atom>(second).value);
}

TEST_CASE_FIXTURE(sandbox_story, "an executor that ends kills its commands") {
  processes->always(held());
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::exec_v, request(1, "x"));
  settle();
  REQUIRE(processes->running.size() == 1);
  self->send_exit(executor, caf::exit_reason::user_shutdown);
  CHECK(collect<exec_result>(pending).code == errc::shutting_down);
  CHECK(processes->running.empty());
  CHECK(processes->kills.size() == 1);
}

TEST_CASE_FIXTURE(sandbox_story, "every command is counted and timed") {
  auto seen = std::make_shared<std::vector<std::string>>();
  auto meter = kit::spawn_stateful<metrics_actor, meter_state>(*system, seen);
  deps.metrics = meter;
  processes->script(ended(1));
  processes->script(held());
  process_script refused;
  refused.refuse = make_failure(errc::queue_full, "later");
  processes->script(refused);
  auto executor = make();
  CHECK(call<exec_result>(executor, atom::exec_v, request(1, "x")).value);
  auto slow =
    self->request(executor, forever, atom::exec_v, request(2, "x", 250));
  advance(250ms);
  CHECK(collect<exec_result>(slow).code == errc::timeout);
  CHECK(call<exec_result>(executor, atom::exec_v, request(3, "x")).code
        == errc::queue_full);
  settle();
  CHECK(*seen
        == std::vector<std::string>{
          "add bwrap ok 1", "observe bwrap 0", "add bwrap timeout 1",
          "observe bwrap 250000", "add bwrap queue_full 1", "observe bwrap 0"});
}

// -- doors and backends -------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "host refuses an isolated door everywhere") {
  config.backend = "host";
  auto executor = make();
  auto info = call<executor_info>(executor, atom::config_v).value.value();
  CHECK(
    contains(info.refusal, "cannot provide an isolated conversation office"));
  auto ran = call<exec_result>(executor, atom::exec_v, request(1, "x"));
  CHECK(ran.code == errc::denied);
  CHECK(ran.sentence == info.refusal);
  CHECK(call<exec_slice>(executor, atom::read_v, exec_read{"/x", 0, 1}).code
        == errc::denied);
  CHECK(call<uint64_t>(executor, atom::write_v, exec_write{"/x", "", -1}).code
        == errc::denied);
  CHECK(processes->specs.empty());
  CHECK(files->jobs.empty());
}

TEST_CASE_FIXTURE(sandbox_story,
                  "a host command has a complete environment and a mark") {
  config.backend = "host";
  config.host = {"me", "/home/me", "/bin/bash", "/tmp"};
  args.door_policy = "trusted";
  process_script plain;
  plain.code = 0;
  plain.signal = 11;
  processes->script(plain);
  auto executor = make();
  auto got = call<exec_result>(executor, atom::exec_v, request(1, "true"));
  REQUIRE(got.value);
  CHECK(got.value->code == 139);
  auto& spec = processes->specs.at(0);
  CHECK(spec.argv == std::vector<std::string>{"/bin/sh", "-c", "true"});
  CHECK(spec.cwd == args.place.dir);
  CHECK(spec.new_session);
  CHECK(spec.fds.empty());
  CHECK(spec.exec_tag.size() == 16);
  std::vector<std::string> names;
  for (const auto& variable : spec.env) {
    names.push_back(variable.name);
    if (variable.name == "HOME")
      CHECK(variable.value == "/home/me");
    if (variable.name == "BUREAU_EXEC_ID")
      CHECK(variable.value == spec.exec_tag);
  }
  CHECK(names
        == std::vector<std::string>{"PATH", "HOME", "USER", "LOGNAME", "SHELL",
                                    "LANG", "TERM", "TMPDIR",
                                    "BUREAU_EXEC_ID"});
  CHECK(call<path_context>(executor, atom::paths_v).value.value()
        == path_context{args.ws.root, args.ws.root, args.place.dir, true});
}

TEST_CASE_FIXTURE(sandbox_story, "an unknown backend refuses with a way out") {
  config.backend = "container";
  auto isolated = call<executor_info>(make(), atom::config_v).value.value();
  CHECK(contains(isolated.refusal, "'container' cannot provide"));
  args.door_policy = "trusted";
  auto trusted = make();
  auto info = call<executor_info>(trusted, atom::config_v).value.value();
  CHECK(contains(info.refusal, "not available"));
  CHECK(call<exec_result>(trusted, atom::exec_v, request(1, "x")).code
        == errc::denied);
}

TEST_CASE_FIXTURE(sandbox_story, "an executor tells its paths") {
  CHECK(call<path_context>(make(), atom::paths_v).value.value()
        == path_context{args.ws.root, "/workspace",
                        "/workspace/" + args.place.key, true});
}
