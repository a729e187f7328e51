#include "actors/settings/settings.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/limits.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

using health = std::map<std::string, std::string>;

/// A node that only remembers what is degraded.
struct listener_state {
  using pointer = node_actor::stateful_pointer<listener_state>;
  static inline const char* name = "listener";

  explicit listener_state(pointer me) : self(me) {}

  void init(std::shared_ptr<health> into) { degraded = std::move(into); }

  node_actor::behavior_type make_behavior() {
    return {
      [](atom::health) { return health_report{}; },
      [this](atom::degrade, const degraded_part& part) {
        if (part.reason.empty())
          degraded->erase(part.component);
        else
          (*degraded)[part.component] = part.reason;
      },
      [](atom::shutdown, const std::string&) {},
      [](atom::status) { return status_line{}; },
    };
  }

  pointer self;
  std::shared_ptr<health> degraded;
};

/// A file pool that never answers.
struct silent_files_state {
  using pointer = files_actor::stateful_pointer<silent_files_state>;
  static inline const char* name = "silent_files";

  explicit silent_files_state(pointer me) : self(me) {}

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job&) -> caf::result<file_outcome> {
        auto promise = self->make_response_promise<file_outcome>();
        kept.keep(promise);
        return promise;
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }

  pointer self;
  kit::promise_guard<file_outcome> kept;
};

/// A settings actor over a real directory, with everything it says recorded.
struct settings_story : node_fixture {
  scratch_directory dir;
  std::shared_ptr<os::posix_file_system> fs =
    std::make_shared<os::posix_file_system>();
  std::shared_ptr<files_probe> probe = std::make_shared<files_probe>();
  std::shared_ptr<health> degraded = std::make_shared<health>();
  std::vector<std::string> log_lines;
  std::map<std::string, std::string> env;
  settings_actor settings;
  node_actor node;
  files_actor files;
  /// The file pool does not answer.
  bool silent_pool = false;
  office_address ann{platform_id::console, "ann"};
  office_address bob{platform_id::console, "bob"};

  settings_story() {
    kit::log::set_level(kit::log::level::debug);
    kit::log::to_sink([this](kit::log::level, std::string_view line) {
      log_lines.emplace_back(line);
    });
  }

  ~settings_story() {
    self->send_exit(settings, caf::exit_reason::user_shutdown);
    self->send_exit(node, caf::exit_reason::user_shutdown);
    self->send_exit(files, caf::exit_reason::user_shutdown);
    settle();
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::off);
  }

  /// Writes a file as it was an hour before the story, so that it is settled.
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(
      std::filesystem::path{dir / name}.parent_path());
    put_file(dir / name, text);
    timespec times[2] = {};
    times[0].tv_sec = times[1].tv_sec = start_ms / 1000 - 3600 + ++writes_;
    REQUIRE(::utimensat(AT_FDCWD, (dir / name).c_str(), times, 0) == 0);
  }

  std::string file_of(const office_address& address) {
    return "conversations/" + office_key(address) + "/settings.json";
  }

  void start() {
    auto read = config::load_snapshot(*fs, dir.path());
    INFO(read.fault);
    REQUIRE(read);
    os::machine_facts machine;
    machine.euid = 1000;
    machine.working_dir = "/";
    auto boot = config::make_boot_config(
      {}, dir.path(), config::environment{env}, *read.value.settings, machine);
    INFO(boot.fault);
    REQUIRE(boot);
    node = kit::spawn_stateful<node_actor, listener_state>(*system, degraded);
    settings::settings_args args;
    args.files =
      silent_pool
        ? kit::spawn_stateful<files_actor, silent_files_state>(*system)
        : spawn_inline_files(*system, fs, chance, probe);
    files = args.files;
    args.boot = boot.value;
    args.initial = read.value;
    args.wall = wall;
    args.node = node;
    settings = settings::spawn_settings(*system, args);
    settle();
  }

  /// "provider/model" of a run, or the code and sentence of its error.
  std::string model_of(const office_address& address) {
    std::string result;
    ask(
      settings,
      [&](const run_settings& run) {
        last = run;
        result = run.choice.model.provider + '/' + run.choice.model.id;
      },
      [&](const caf::error& err) {
        result = to_string(code_of(err)) + ": " + sentence_of(err);
      },
      atom::resolve_v, address);
    return result;
  }

  size_t jobs(file_op op) {
    size_t result = 0;
    for (const auto& job : probe->jobs)
      result += job.op == op ? 1 : 0;
    return result;
  }

  size_t times_logged(std::string_view part) {
    size_t result = 0;
    for (const auto& line : log_lines)
      result += line.find(part) != std::string::npos ? 1 : 0;
    return result;
  }

  run_settings last;

private:
  time_t writes_ = 0;
};

constexpr auto lab = R"({"providers":{"lab":{"api":"openai-completions",
  "baseUrl":"http://127.0.0.1:1/v1","models":[{"id":"tiny"},{"id":"big"}]}}})";

} // namespace

TEST_CASE_FIXTURE(settings_story, "an empty state directory answers offline "
                                  "with the defaults") {
  start();
  CHECK(model_of(ann) == "offline/offline");
  CHECK(last.sandbox_network == "none");
  CHECK(last.door_policy == "isolated");
  CHECK(last.layout == "conversation");
  CHECK(last.output_mode == "stream");
  CHECK(last.queue_cap == 20);
  CHECK(last.choice.thinking_level == "off");
  CHECK(degraded->empty());
  CHECK(times_logged("model offline/offline: no model is named") == 1);
}

TEST_CASE_FIXTURE(settings_story, "a conversation's file lies over the global "
                                  "one, for that conversation") {
  put("models.json", lab);
  put("settings.json", R"({"llm":{"provider":"lab","model":"tiny"},
    "queue":{"cap":3},"sandbox":{"network":"host"}})");
  put(file_of(ann), R"({"llm":{"provider":"lab","model":"big"},
    "output":{"mode":"final"},
    "sandbox":{"workspace":{"doorPolicy":"trusted","layout":"full"}}})");
  start();
  CHECK(model_of(ann) == "lab/big");
  CHECK(last.queue_cap == 3);
  CHECK(last.output_mode == "final");
  CHECK(last.sandbox_network == "host");
  CHECK(last.door_policy == "trusted");
  CHECK(last.layout == "full");
  CHECK(model_of(bob) == "lab/tiny");
  CHECK(last.output_mode == "stream");
  CHECK(last.door_policy == "isolated");
}

TEST_CASE_FIXTURE(settings_story, "caps and the reach of the history come "
                                  "from the settings, the conversation's "
                                  "first") {
  put("models.json", lab);
  put("settings.json", R"({"budget":{"run":{"maxTokens":1000,"maxCostUsd":2.5,
    "maxDurationMs":60000}},"history":{"recentDays":3,"maxTopLevelMessages":7,
    "threadSeedTopLevel":0}})");
  put(file_of(ann), R"({"budget":{"run":{"maxTokens":5,"maxLlmCalls":2}},
    "history":{"recentDays":1}})");
  start();
  CHECK(model_of(bob) == "lab/tiny");
  CHECK(last.budget == run_budget{1000, 2'500'000, 60'000, 0});
  CHECK(last.history == history_window{3, 7, 0});
  CHECK(model_of(ann) == "lab/tiny");
  CHECK(last.budget == run_budget{5, 2'500'000, 60'000, 2});
  CHECK(last.history == history_window{1, 7, 0});
}

TEST_CASE_FIXTURE(settings_story, "scheduled runs have caps of their own") {
  put("models.json", lab);
  put("settings.json", R"({"budget":{"run":{"maxTokens":1000},
    "event":{"maxTokens":9,"maxCostUsd":0.5}}})");
  put(file_of(ann), R"({"budget":{"event":{"maxDurationMs":7,
    "maxLlmCalls":3}}})");
  start();
  CHECK(model_of(bob) == "lab/tiny");
  CHECK(last.event_budget == run_budget{9, 500'000, 0, 0});
  CHECK(model_of(ann) == "lab/tiny");
  CHECK(last.event_budget == run_budget{9, 500'000, 7, 3});
  CHECK(last.budget == run_budget{1000, 0, 0, 0});
}

TEST_CASE_FIXTURE(settings_story, "without settings a run has no cap") {
  start();
  model_of(ann);
  CHECK(last.budget == run_budget{});
  CHECK(last.event_budget == run_budget{});
  CHECK(last.history == history_window{});
}

TEST_CASE_FIXTURE(settings_story, "a cap on a price that nobody knows is "
                                  "refused") {
  env = {{"OPENAI_API_KEY", "k"}};
  put("settings.json", R"({"llm":{"provider":"openai","model":"gpt-next"},
    "budget":{"run":{"maxCostUsd":0.000001}}})");
  start();
  CHECK(model_of(ann)
        == "bad_config: budget.run.maxCostUsd is set, but the price of the "
           "model openai/gpt-next is not known. Name a model with a price, or "
           "limit budget.run.maxTokens instead.");
  put("settings.json", R"({"budget":{"run":{"maxCostUsd":0.000001}}})");
  advance(1s);
  CHECK(model_of(ann) == "openai/gpt-5.4");
  CHECK(last.budget.max_cost_micro == 1);
}

TEST_CASE_FIXTURE(settings_story, "a model that cannot be called degrades the "
                                  "node and is not chosen") {
  put("models.json", R"({"providers":{"lab":{"api":"openai-completions",
    "baseUrl":"http://127.0.0.1:1/v1","models":[
      {"id":"grey","api":"openai-responses"},{"id":"tiny"}]}}})");
  start();
  CHECK(model_of(ann) == "lab/tiny");
  CHECK((*degraded)["models.json"].starts_with(
    "The model lab/grey is not used: /providers/lab/models/0/api"));
}

TEST_CASE_FIXTURE(settings_story, "an unchanged file is looked at once a "
                                  "second and not read") {
  put("models.json", lab);
  put(file_of(ann), "{}");
  start();
  for (auto i = 0; i < 5; ++i)
    CHECK(model_of(ann) == "lab/tiny");
  CHECK(jobs(file_op::stat) == 4);
  // The boot read the global files; only the conversation's was new.
  CHECK(jobs(file_op::read) == 1);
  advance(999ms);
  model_of(ann);
  CHECK(jobs(file_op::stat) == 4);
  advance(1ms);
  model_of(ann);
  CHECK(jobs(file_op::stat) == 8);
  CHECK(jobs(file_op::read) == 1);
}

TEST_CASE_FIXTURE(settings_story, "a changed file is in force for the next "
                                  "run") {
  put("models.json", lab);
  start();
  CHECK(model_of(ann) == "lab/tiny");
  put("settings.json", R"({"llm":{"provider":"lab","model":"big"}})");
  put(file_of(bob), R"({"queue":{"cap":9}})");
  advance(1s);
  CHECK(model_of(ann) == "lab/big");
  CHECK(model_of(bob) == "lab/big");
  CHECK(last.queue_cap == 9);
  std::filesystem::remove(dir / "settings.json");
  std::filesystem::remove(dir / file_of(bob));
  advance(1s);
  CHECK(model_of(bob) == "lab/tiny");
  CHECK(last.queue_cap == 20);
}

TEST_CASE_FIXTURE(settings_story, "runs that ask together share one look") {
  put("models.json", lab);
  start();
  auto answered = 0;
  auto first = self->request(settings, caf::infinite, atom::resolve_v, ann);
  auto second = self->request(settings, caf::infinite, atom::resolve_v, bob);
  settle();
  first.receive([&](const run_settings&) { ++answered; },
                [](const caf::error& err) { FAIL(sentence_of(err)); });
  second.receive([&](const run_settings&) { ++answered; },
                 [](const caf::error& err) { FAIL(sentence_of(err)); });
  CHECK(answered == 2);
  CHECK(jobs(file_op::stat) == 5);
}

TEST_CASE_FIXTURE(settings_story, "a global file that turns bad keeps its last "
                                  "good content and is told once") {
  put("models.json", lab);
  start();
  struct row {
    const char* name;
    const char* good;
  };
  for (auto [name, good] : {row{"settings.json", R"({"queue":{"cap":4}})"},
                            row{"models.json", lab}, row{"auth.json", "{}"}}) {
    CAPTURE(std::string{name});
    put(name, good);
    advance(1s);
    CHECK(model_of(ann) == "lab/tiny");
    put(name, "{\n broken");
    advance(1s);
    CHECK(model_of(ann) == "lab/tiny");
    advance(1s);
    CHECK(model_of(ann) == "lab/tiny");
    auto place = (dir / name) + ":2:2: Malformed";
    CHECK(times_logged(place) == 1);
    REQUIRE(degraded->count(name) == 1);
    CHECK((*degraded)[name].starts_with(place));
    CHECK(get_file(dir / name) == "{\n broken");
    put(name, good);
    advance(1s);
    CHECK(model_of(ann) == "lab/tiny");
    CHECK(degraded->empty());
  }
  CHECK(last.queue_cap == 4);
}

TEST_CASE_FIXTURE(settings_story, "a bad file of a conversation fails its own "
                                  "runs only") {
  put("models.json", lab);
  put(file_of(ann), R"({"queue":{"cap":"many"}})");
  start();
  auto want = "bad_config: " + (dir / file_of(ann))
              + ":1:17: Malformed settings file: /queue/cap: Expected integer. "
                "Write a whole number.";
  CHECK(model_of(ann) == want);
  CHECK(model_of(ann) == want);
  CHECK(model_of(bob) == "lab/tiny");
  CHECK(degraded->empty());
  put(file_of(ann), R"({"queue":{"cap":2}})");
  advance(1s);
  CHECK(model_of(ann) == "lab/tiny");
  CHECK(last.queue_cap == 2);
  put(file_of(ann), "[]");
  advance(1s);
  CHECK(model_of(ann).starts_with("bad_config: "));
}

TEST_CASE_FIXTURE(settings_story, "a named model that cannot be used fails the "
                                  "runs that use it and degrades the node") {
  put("models.json", lab);
  put("settings.json", R"({"llm":{"provider":"lab","model":"huge"}})");
  put(file_of(bob), R"({"llm":{"provider":"openai","model":"gpt-5.4"}})");
  start();
  REQUIRE(degraded->count("model") == 1);
  CHECK((*degraded)["model"].find(dir / "settings.json") != std::string::npos);
  CHECK(degraded->size() == 1);
  CHECK(model_of(ann).starts_with("bad_config: The model lab/huge"));
  CHECK(model_of(bob).starts_with("no_credential: The model openai/gpt-5.4"));
  CHECK(model_of(bob).find("OPENAI_API_KEY") != std::string::npos);
  put("settings.json", R"({"llm":{"provider":"lab","model":"big"}})");
  advance(1s);
  CHECK(model_of(ann) == "lab/big");
  model_of(bob);
  // One component for all; who is meant is for the log alone.
  CHECK((*degraded)["model"]
        == "1 conversation names a model that cannot be used; the log says "
           "which.");
  CHECK(degraded->size() == 1);
  CHECK(times_logged(office_key(bob) + ": The model openai/gpt-5.4") == 1);
  put("auth.json", R"({"openai":{"type":"api_key","key":"k"}})");
  advance(1s);
  CHECK(model_of(ann) == "lab/big");
  CHECK(model_of(bob) == "openai/gpt-5.4");
  CHECK(last.choice.api_key.reveal() == "k");
  CHECK(degraded->empty());
}

TEST_CASE_FIXTURE(settings_story, "a bad entry degrades the node and leaves "
                                  "the others in force") {
  put("models.json", R"({"providers":{"bad":{"models":5}}})");
  put("auth.json", R"({"xai":{"type":"api_key","key":5}})");
  env = {{"OPENAI_API_KEY", "k"}};
  start();
  CHECK(degraded->count("models.json") == 1);
  CHECK(degraded->count("auth.json") == 1);
  CHECK(model_of(ann) == "openai/gpt-5.4");
  put("models.json", lab);
  advance(1s);
  CHECK(model_of(ann) == "lab/tiny");
  CHECK(degraded->count("models.json") == 0);
  CHECK(times_logged("model lab/tiny: first entry of models.json") == 1);
}

TEST_CASE_FIXTURE(settings_story, "a file pool that refuses leaves the last "
                                  "good content in force") {
  put("models.json", lab);
  put(file_of(ann), R"({"queue":{"cap":2}})");
  start();
  CHECK(model_of(ann) == "lab/tiny");
  advance(1s);
  auto refused = make_failure(errc::queue_full, "the file pool is full");
  probe->failures.assign(4, refused);
  CHECK(model_of(ann) == "lab/tiny");
  CHECK(last.queue_cap == 2);
  // Nothing is known of a conversation that was never read.
  probe->failures.assign(1, refused);
  CHECK(model_of(bob)
        == "queue_full: The settings of this conversation cannot be read: the "
           "file pool is full");
  CHECK(model_of(bob) == "lab/tiny");
}

TEST_CASE_FIXTURE(settings_story, "a link in the place of a file is refused") {
  put("models.json", lab);
  put("elsewhere.json", R"({"queue":{"cap":7}})");
  start();
  std::filesystem::create_directories(
    std::filesystem::path{dir / file_of(ann)}.parent_path());
  std::filesystem::create_symlink(dir / "elsewhere.json", dir / file_of(ann));
  CHECK(model_of(ann).starts_with("bad_config: " + (dir / file_of(ann))
                                  + ":1:1: cannot be read: "));
}

TEST_CASE_FIXTURE(settings_story, "a sign-in that expires while the node runs "
                                  "ends with its hour") {
  auto expires = std::to_string(start_ms + 3'600'000);
  put("auth.json", R"({"anthropic":{"type":"oauth","access":"t","expires":)"
                     + expires + "}}");
  put("settings.json",
      R"({"llm":{"provider":"anthropic","model":"claude-haiku-4-5"}})");
  start();
  CHECK(model_of(ann) == "anthropic/claude-haiku-4-5");
  advance(1h);
  CHECK(model_of(ann).starts_with("no_credential: "));
  CHECK(degraded->count("model") == 1);
}

TEST_CASE_FIXTURE(settings_story, "a malformed address is refused") {
  start();
  CHECK(model_of({platform_id::slack, "../x"}).starts_with("bad_identity: "));
  CHECK(probe->jobs.empty());
}

TEST_CASE_FIXTURE(settings_story, "memory of conversations is bounded") {
  put("models.json", lab);
  put(file_of(ann), R"({"llm":{"provider":"no","model":"x"}})");
  start();
  CHECK(model_of(ann).starts_with("bad_config: "));
  CHECK(degraded->size() == 1);
  for (size_t i = 0; i < limits::config_conversations; ++i)
    CHECK(model_of({platform_id::console, "c" + std::to_string(i)})
          == "lab/tiny");
  // The first one was forgotten, its health entry with it.
  CHECK(degraded->empty());
  std::string detail;
  ask(
    settings, [&](const status_line& line) { detail = line.detail; },
    [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::status_v);
  CHECK(detail
        == "conversations " + std::to_string(limits::config_conversations)
             + ", waiting 0, reloads 1");
}

TEST_CASE_FIXTURE(settings_story, "a stopped actor answers whoever waits") {
  silent_pool = true;
  start();
  auto pending = self->request(settings, caf::infinite, atom::resolve_v, ann);
  settle();
  self->send_exit(settings, caf::exit_reason::user_shutdown);
  settle();
  auto code = errc::none;
  pending.receive([](const run_settings&) { FAIL("answered"); },
                  [&](const caf::error& err) { code = code_of(err); });
  CHECK(code == errc::shutting_down);
}

TEST_CASE_FIXTURE(settings_story, "a file pool that hangs does not hold runs "
                                  "for ever") {
  silent_pool = true;
  start();
  auto pending = self->request(settings, caf::infinite, atom::resolve_v, ann);
  // One deadline for the global files, one for the conversation's.
  advance(2 * std::chrono::milliseconds{limits::disk_timeout});
  auto code = errc::none;
  pending.receive([](const run_settings&) { FAIL("answered"); },
                  [&](const caf::error& err) { code = code_of(err); });
  CHECK(code == errc::timeout);
}

TEST_CASE_FIXTURE(settings_story, "no key is ever logged or told") {
  put("auth.json", R"({"openai":{"type":"api_key","key":"TOPSECRET","x":1},
    "xai":{"type":"api_key","key":["TOPSECRET"]}})");
  put("models.json",
      R"({"providers":{"p":{"apiKey":"TOPSECRET","models":5}}})");
  start();
  CHECK(model_of(ann) == "openai/gpt-5.4");
  put("auth.json", R"({"openai":"TOPSECRET)");
  advance(1s);
  model_of(ann);
  CHECK_FALSE(log_lines.empty());
  CHECK(times_logged("TOPSECRET") == 0);
  for (const auto& [component, reason] : *degraded)
    CHECK(reason.find("TOPSECRET") == std::string::npos);
  CHECK(caf::deep_to_string(last).find("TOPSECRET") == std::string::npos);
}

// -- changes ------------------------------------------------------------------

namespace {

/// What became of a change: "ok", or the code and sentence of its error.
std::string changed(settings_story& story, const office_address& address,
                    const std::string& patch) {
  std::string result;
  story.ask(
    story.settings, [&](caf::ok_atom) { result = "ok"; },
    [&](const caf::error& err) {
      result = to_string(code_of(err)) + ": " + sentence_of(err);
    },
    atom::patch_v, settings_patch{address, json_text{patch}});
  return result;
}

std::string content(settings_story& story, const std::string& name) {
  return get_file(story.dir / name);
}

} // namespace

TEST_CASE_FIXTURE(settings_story, "the rules of the queue come from the "
                                  "settings") {
  put("settings.json", R"({"queue":{"mode":"collect","overflow":"collect"}})");
  put(file_of(ann), R"({"queue":{"mode":"interrupt"}})");
  start();
  model_of(ann);
  CHECK(last.mode == queue_mode::interrupt);
  CHECK(last.overflow == queue_overflow::collect);
  model_of(bob);
  CHECK(last.mode == queue_mode::collect);
  CHECK(times_logged("no effect") == 0);
}

TEST_CASE_FIXTURE(settings_story, "a change is in force at once and only "
                                  "there") {
  start();
  model_of(ann);
  CHECK(last.mode == queue_mode::follow_up);
  CHECK(changed(*this, ann, R"({"queue":{"mode":"steer"}})") == "ok");
  model_of(ann);
  CHECK(last.mode == queue_mode::steer);
  model_of(bob);
  CHECK(last.mode == queue_mode::follow_up);
  CHECK(content(*this, file_of(ann))
        == "{\n  \"queue\": {\n    \"mode\": \"steer\"\n  }\n}\n");
  struct stat facts = {};
  REQUIRE(::stat((dir / file_of(ann)).c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600);
}

TEST_CASE_FIXTURE(settings_story, "a change keeps what it does not name, and "
                                  "null removes") {
  put(file_of(ann), R"({"queue":{"mode":"steer","cap":3},"mine":[1]})");
  start();
  CHECK(changed(*this, ann, R"({"queue":{"mode":null,"overflow":"collect"}})")
        == "ok");
  model_of(ann);
  CHECK(last.mode == queue_mode::follow_up);
  CHECK(last.queue_cap == 3);
  CHECK(last.overflow == queue_overflow::collect);
  CHECK(content(*this, file_of(ann)).find("mine") != std::string::npos);
}

TEST_CASE_FIXTURE(settings_story, "the global file can be changed") {
  start();
  model_of(bob);
  CHECK(changed(*this, {}, R"({"queue":{"cap":4}})") == "ok");
  model_of(bob);
  CHECK(last.queue_cap == 4);
}

TEST_CASE_FIXTURE(settings_story, "what must not be changed stays as it is") {
  struct row {
    const char* name;
    const char* before;
    const char* patch;
    const char* want;
  };
  const row rows[] = {
    {"no JSON", "{\n  \"queue\": }", R"({"queue":{"mode":"steer"}})",
     "settings.json:2:12: "},
    {"wrong shape", "{\"queue\": 5}", R"({"queue":{"mode":"steer"}})",
     "settings.json:1:11: "},
    {"the result would be wrong", "{}", R"({"queue":{"mode":"loud"}})",
     "bad_config: The change would not be valid: "},
    {"half a model", "{}", R"({"llm":{"model":"big"}})",
     "bad_config: The change would not be valid: "},
    {"no object", "{}", "[]", "bad_request: "},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    put(file_of(ann), "{}");
    if (settings == nullptr)
      start();
    put(file_of(ann), row.before);
    auto end = changed(*this, ann, row.patch);
    CAPTURE(end);
    CHECK(end.find(row.want) != std::string::npos);
    CHECK(end.starts_with("bad_"));
    CHECK(content(*this, file_of(ann)) == row.before);
  }
}

TEST_CASE_FIXTURE(settings_story,
                  "a disk that takes no change is told, and the "
                  "next change goes on") {
  start();
  // Reading, the directory, then the write.
  probe->failures = {{}, {}, make_failure(errc::disk, "no space")};
  CHECK(changed(*this, ann, R"({"queue":{"mode":"steer"}})")
        == "disk: no space");
  CHECK(changed(*this, ann, R"({"queue":{"mode":"collect"}})") == "ok");
  model_of(ann);
  CHECK(last.mode == queue_mode::collect);
}

TEST_CASE_FIXTURE(settings_story, "changes that come together are both kept") {
  start();
  auto first =
    self->request(settings, caf::infinite, atom::patch_v,
                  settings_patch{ann, json_text{R"({"queue":{"cap":2}})"}});
  auto second = self->request(
    settings, caf::infinite, atom::patch_v,
    settings_patch{ann, json_text{R"({"queue":{"mode":"steer"}})"}});
  settle();
  auto done = 0;
  first.receive([&](caf::ok_atom) { ++done; },
                [](const caf::error& err) { FAIL(sentence_of(err)); });
  second.receive([&](caf::ok_atom) { ++done; },
                 [](const caf::error& err) { FAIL(sentence_of(err)); });
  CHECK(done == 2);
  model_of(ann);
  CHECK(last.queue_cap == 2);
  CHECK(last.mode == queue_mode::steer);
}

TEST_CASE_FIXTURE(settings_story, "a malformed conversation has no settings to "
                                  "change") {
  start();
  CHECK(changed(*this, {platform_id::console, "a\nb"}, "{}")
          .starts_with("bad_identity"));
}
