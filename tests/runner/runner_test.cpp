#include "actors/runner/runner.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/memory/memory.hpp"
#include "actors/runner/responder.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_executor.hpp"
#include "tests/support/scripted_model.hpp"
#include "tests/support/turn_fakes.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <utility>

using namespace bureau;
using namespace std::chrono_literals;
using test::make_ticket;

namespace {

// -- settings -----------------------------------------------------------------

struct settings_script {
  run_settings answer;
  caf::error failure;
  bool mute = false;
};

struct scripted_settings_state {
  using promise = caf::typed_response_promise<run_settings>;
  settings_actor::stateful_pointer<scripted_settings_state> self;
  std::shared_ptr<settings_script> script;
  std::vector<promise> muted;
  static inline const char* name = "scripted_settings";

  explicit scripted_settings_state(
    settings_actor::stateful_pointer<scripted_settings_state> me)
    : self(me) {}

  void init(std::shared_ptr<settings_script> shared) {
    script = std::move(shared);
  }

  settings_actor::behavior_type make_behavior() {
    return {
      [this](atom::resolve, const office_address&) {
        auto answer = self->make_response_promise<promise>();
        if (script->mute)
          muted.push_back(answer);
        else if (script->failure)
          answer.deliver(script->failure);
        else
          answer.deliver(script->answer);
        return answer;
      },
      [](atom::patch, const settings_patch&) { return caf::ok_atom_v; },
      [](atom::status) {
        return status_line{"settings", "ok", ""};
      },
    };
  }
};

// -- files --------------------------------------------------------------------

struct files_script {
  std::map<std::string, std::string> content;
  std::vector<file_job> jobs;
};

struct scripted_files_state {
  files_actor::stateful_pointer<scripted_files_state> self;
  std::shared_ptr<files_script> script;
  static inline const char* name = "scripted_files";

  explicit scripted_files_state(
    files_actor::stateful_pointer<scripted_files_state> me)
    : self(me) {}

  void init(std::shared_ptr<files_script> shared) {
    script = std::move(shared);
  }

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) -> caf::result<file_outcome> {
        script->jobs.push_back(job);
        if (job.op == file_op::ensure_directory)
          return file_outcome{};
        auto found = script->content.find(job.path);
        if (found == script->content.end())
          return make_failure(errc::not_found, job.path + " does not exist.");
        file_outcome outcome;
        outcome.bytes = found->second.substr(0, job.length);
        outcome.size = found->second.size();
        return outcome;
      },
      [](atom::status) {
        return status_line{"files", "ok", ""};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

// -- harness ------------------------------------------------------------------

enum class harness_mood : uint8_t { answers, waits, deaf, dies, fails };

struct harness_script {
  std::deque<harness_mood> moods;
  prompt_outcome outcome;
  std::vector<harness_event> events;
  caf::error failure;
  std::vector<prompt_request> prompts;
  size_t made = 0;
  size_t alive = 0;
  /// The last one.
  harness_actor self;
  /// Prompts that were told to end, however often.
  size_t aborts = 0;
  size_t disposed = 0;
  std::vector<live_input> offered;
  contracts::live_input_offer offer_answer;
  /// What becomes of an offer; without one it waits for the end of the harness.
  std::optional<contracts::live_input_settlement> settlement;
  std::vector<contracts::cancel_reason> reasons;
  /// The prompt is answered behind the offer.
  bool answers_after_offer = false;
};

struct scripted_harness_state {
  using promise = caf::typed_response_promise<prompt_outcome>;
  harness_actor::stateful_pointer<scripted_harness_state> self;
  std::shared_ptr<harness_script> script;
  harness_args args;
  kit::promise_guard<prompt_outcome> open;
  bool deaf = false;
  bool working = false;
  static inline const char* name = "scripted_harness";

  explicit scripted_harness_state(
    harness_actor::stateful_pointer<scripted_harness_state> me)
    : self(me) {}

  ~scripted_harness_state() { --script->alive; }

  void init(std::shared_ptr<harness_script> shared, harness_args with) {
    script = std::move(shared);
    args = std::move(with);
    ++script->alive;
    script->self = self;
  }

  harness_actor::behavior_type make_behavior() {
    return {
      [this](atom::prompt, const prompt_request& request) {
        return prompt(request);
      },
      [this](atom::offer, const live_input& input,
             const live_input_sink_actor& sink) { return offer(input, sink); },
      [this](atom::abort, const contracts::cancel_reason& reason) {
        script->reasons.push_back(reason);
        abort();
      },
      [this](atom::dispose) {
        ++script->disposed;
        return caf::ok_atom_v;
      },
    };
  }

  caf::typed_response_promise<contracts::live_input_offer>
  offer(const live_input& input, const live_input_sink_actor& sink) {
    script->offered.push_back(input);
    auto answer = self->make_response_promise<
      caf::typed_response_promise<contracts::live_input_offer>>();
    answer.deliver(script->offer_answer);
    if (script->settlement)
      self->send(
        sink, atom::settled_v,
        live_input_settled{input.target_run, input.id, *script->settlement});
    if (script->answers_after_offer)
      open.deliver_all(script->outcome);
    return answer;
  }

  promise prompt(const prompt_request& request) {
    script->prompts.push_back(request);
    auto answer = self->make_response_promise<promise>();
    auto mood = harness_mood::answers;
    if (!script->moods.empty()) {
      mood = script->moods.front();
      script->moods.pop_front();
    }
    for (auto event : script->events) {
      event.run = request.run;
      self->send(args.listener, atom::event_v, std::move(event));
    }
    switch (mood) {
    case harness_mood::answers:
      answer.deliver(script->outcome);
      break;
    case harness_mood::fails:
      answer.deliver(script->failure);
      break;
    case harness_mood::dies:
      self->quit(make_failure(errc::internal, "broken"));
      break;
    case harness_mood::deaf:
      deaf = true;
      [[fallthrough]];
    case harness_mood::waits:
      working = true;
      open.keep(answer);
      break;
    }
    return answer;
  }

  void abort() {
    if (!std::exchange(working, false))
      return;
    ++script->aborts;
    if (deaf)
      return;
    prompt_outcome outcome;
    outcome.stop = stop_reason::aborted;
    open.deliver_all(outcome);
  }
};

// -- a session that offers ----------------------------------------------------

struct offerer_state {
  live_input_sink_actor::stateful_pointer<offerer_state> self;
  static inline const char* name = "offerer";
  explicit offerer_state(
    live_input_sink_actor::stateful_pointer<offerer_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::string> into, runner_actor target,
            std::string run, turn_ticket ticket) {
    told = std::move(into);
    self
      ->request(target, caf::infinite, atom::offer_v, std::move(run),
                std::move(ticket), live_input_sink_actor{self})
      .then(
        [this](const contracts::live_input_offer& offer) {
          say(offer.unavailable ? to_string(*offer.unavailable) : "taken");
        },
        [this](const caf::error&) { say("error"); });
  }

  live_input_sink_actor::behavior_type make_behavior() {
    return {[this](atom::settled, const live_input_settled& what) {
      auto word = to_string(what.settlement.outcome);
      if (what.settlement.outcome == contracts::live_input_outcome::requeue)
        word += " " + to_string(what.settlement.reason);
      say(word);
    }};
  }

  void say(const std::string& word) {
    *told += (told->empty() ? "" : ", ") + word;
  }

  std::shared_ptr<std::string> told;
};

/// What jobs know of turns that go on.
struct source_state {
  continuation_source_actor::stateful_pointer<source_state> self;
  static inline const char* name = "source";
  explicit source_state(
    continuation_source_actor::stateful_pointer<source_state> me)
    : self(me) {}
  void init(std::shared_ptr<job_continuation> shared) {
    known = std::move(shared);
  }
  continuation_source_actor::behavior_type make_behavior() {
    return {[this](atom::load, const std::string&) {
      return *known;
    }};
  }
  std::shared_ptr<job_continuation> known;
};

contracts::live_input_settlement
settled_as(contracts::live_input_outcome outcome) {
  contracts::live_input_settlement result;
  result.outcome = outcome;
  return result;
}

// -- tools, metrics -----------------------------------------------------------

struct idle_tool_state {
  tool_actor::stateful_pointer<idle_tool_state> self;
  static inline const char* name = "idle_tool";
  std::shared_ptr<size_t> alive;

  explicit idle_tool_state(tool_actor::stateful_pointer<idle_tool_state> me)
    : self(me) {}

  ~idle_tool_state() { --*alive; }

  void init(std::shared_ptr<size_t> counter) {
    alive = std::move(counter);
    ++*alive;
  }

  tool_actor::behavior_type make_behavior() {
    return {
      [](atom::call, const tool_invocation&) { return tool_outcome{}; },
      [](atom::abort, const std::string&) {},
    };
  }
};

struct recording_metrics_state {
  metrics_actor::stateful_pointer<recording_metrics_state> self;
  std::shared_ptr<std::vector<metric_sample>> samples;
  static inline const char* name = "recording_metrics";

  explicit recording_metrics_state(
    metrics_actor::stateful_pointer<recording_metrics_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<metric_sample>> shared) {
    samples = std::move(shared);
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& x) { samples->push_back(x); },
      [this](atom::observe, const metric_sample& x) { samples->push_back(x); },
      [this](atom::gauge, const metric_sample& x) { samples->push_back(x); },
      [](atom::scrape) { return std::string{}; },
    };
  }
};

// -- world --------------------------------------------------------------------

/// A runner between scripted neighbours; the responder is the real one.
class runner_world : public test::node_fixture {
public:
  runner_world() {
    transport = test::spawn_recording_transport(*system, screen);
    owner = test::spawn_recording_owner(*system, ledger);
    settings_handle =
      kit::spawn_stateful<settings_actor, scripted_settings_state>(*system,
                                                                   settings);
    settings->answer.choice = test::scripted_model::choice();
    harness->outcome.final_text = "4";
    metrics_handle =
      kit::spawn_stateful<metrics_actor, recording_metrics_state>(*system,
                                                                  samples);
    runner::runner_deps deps;
    deps.ws = make_workspace("/ws", "/state");
    deps.settings = settings_handle;
    deps.files =
      kit::spawn_stateful<files_actor, scripted_files_state>(*system, files);
    deps.wall = wall;
    deps.memory = memory::spawn_memory(*system, {deps.ws, deps.files, wall});
    deps.metrics = metrics_handle;
    deps.executors = executor.factory();
    deps.tools = [alive = tools_alive](caf::actor_system& sys,
                                       const tool_pack_args&) {
      tool_definition definition;
      definition.name = "bash";
      definition.description = "Runs a command.";
      auto owner_handle =
        kit::spawn_stateful<tool_actor, idle_tool_state>(sys, alive);
      return std::vector<tool_binding>{{definition, owner_handle}};
    };
    deps.harnesses = [script = harness](caf::actor_system& sys,
                                        const harness_args& args) {
      ++script->made;
      return kit::spawn_stateful<harness_actor, scripted_harness_state>(
        sys, script, args);
    };
    deps.responders = runner::make_responder_factory();
    deps.jobs = kit::spawn_stateful<continuation_source_actor, source_state>(
      *system, continuation);
    place = make_office(deps.ws, {platform_id::console, "local"});
    subject = runner::spawn_runner(
      *system, deps,
      {place, "local", test::memory_store(*system, session), owner, transport});
  }

  ~runner_world() {
    self->send_exit(subject, caf::exit_reason::kill);
    self->send_exit(owner, caf::exit_reason::kill);
    self->send_exit(transport, caf::exit_reason::kill);
    self->send_exit(settings_handle, caf::exit_reason::kill);
    settle();
  }

  struct pending {
    bool done = false;
    run_result result;
    errc failure = errc::none;
  };

  std::shared_ptr<pending> run(turn_ticket ticket) {
    auto result = ask_run(std::move(ticket));
    settle();
    return result;
  }

  /// Asks for a run without letting anything happen yet.
  std::shared_ptr<pending> ask_run(turn_ticket ticket) {
    auto result = std::make_shared<pending>();
    run_request request{"run-" + ticket.event.message_id, std::move(ticket)};
    system->spawn(
      [this, result, request](caf::event_based_actor* me,
                              int) -> caf::behavior {
        me->request(subject, caf::infinite, atom::run_v, request)
          .then(
            [result](const run_result& value) {
              result->done = true;
              result->result = value;
            },
            [result](const caf::error& reason) {
              result->done = true;
              result->failure = code_of(reason);
            });
        return {[](int) {
        }};
      },
      0);
    return result;
  }

  void abort() {
    self->send<caf::message_priority::high>(
      subject, atom::abort_v,
      contracts::cancel_reason{"The user cancelled.", caf::none});
    settle();
  }

  /// Offers a message; what it is told, as words.
  std::shared_ptr<std::string> offer(turn_ticket ticket,
                                     std::string run = "run-m1") {
    auto result = std::make_shared<std::string>();
    sinks.push_back(kit::spawn_stateful<live_input_sink_actor, offerer_state>(
      *system, result, subject, std::move(run), std::move(ticket)));
    return result;
  }

  std::string produced() const {
    std::string result;
    for (const auto& fact : ledger->produced)
      result += fact.message_id + "='" + fact.text + "'"
                + (fact.silent ? " silently;" : ";");
    return result;
  }

  int64_t counted(metric id) const {
    int64_t result = 0;
    for (const auto& sample : *samples)
      if (sample.id == id)
        result += sample.value;
    return result;
  }

  using lines = std::vector<std::string>;
  std::shared_ptr<test::transport_probe> screen =
    std::make_shared<test::transport_probe>();
  std::shared_ptr<test::owner_probe> ledger =
    std::make_shared<test::owner_probe>();
  std::shared_ptr<settings_script> settings =
    std::make_shared<settings_script>();
  std::shared_ptr<files_script> files = std::make_shared<files_script>();
  std::shared_ptr<harness_script> harness = std::make_shared<harness_script>();
  std::shared_ptr<test::memory_session> session =
    std::make_shared<test::memory_session>();
  std::shared_ptr<std::vector<metric_sample>> samples =
    std::make_shared<std::vector<metric_sample>>();
  std::shared_ptr<size_t> tools_alive = std::make_shared<size_t>(0);
  test::scripted_executor executor;
  office place;
  transport_actor transport;
  /// What the turn of a wake goes on from.
  std::shared_ptr<job_continuation> continuation =
    std::make_shared<job_continuation>();
  /// Whoever offers messages to the subject.
  std::vector<live_input_sink_actor> sinks;
  turn_owner_actor owner;
  settings_actor settings_handle;
  metrics_actor metrics_handle;
  runner_actor subject;
};

harness_event text_event(std::string delta) {
  harness_event result;
  result.kind = harness_event_kind::message_update;
  result.update.kind = stream_kind::text_delta;
  result.update.delta = std::move(delta);
  return result;
}

} // namespace

TEST_CASE_FIXTURE(runner_world, "one run: prompt, output, answer, figures") {
  harness->events = {text_event("4")};
  harness->outcome.stats.llm_calls = 1;
  auto done = run(make_ticket("m1", "2+2?"));
  REQUIRE(done->done);
  CHECK(done->result.produced);
  CHECK(done->result.stop == stop_reason::stop);
  CHECK(done->result.provider == "faux");
  CHECK(done->result.model == "faux-1");
  CHECK(done->result.stats.llm_calls == 1);
  CHECK(screen->lines() == lines{"post 4"});
  CHECK(produced() == "m1='4';");
  CHECK(ledger->produced[0].provisional == "r1");
  REQUIRE(harness->prompts.size() == 1);
  const auto& prompt = harness->prompts[0];
  CHECK(prompt.run == "run-m1");
  CHECK(prompt.message_id == "m1");
  CHECK(prompt.text == "[2026-01-01 00:00:00+00:00] [ann]: 2+2?");
  CHECK(prompt.platform == "console");
  CHECK(prompt.tools.size() == 1);
  CHECK(prompt.budget == run_budget{});
  CHECK_FALSE(prompt.resume);
  CHECK(counted(metric::runs_started) == 1);
  CHECK(counted(metric::runs_completed) == 1);
  CHECK(counted(metric::run_errors) == 0);
}

TEST_CASE_FIXTURE(runner_world, "harness, tools and executor are kept, and the "
                                "prompt stays the same") {
  run(make_ticket("m1"));
  run(make_ticket("m2"));
  CHECK(harness->made == 1);
  CHECK(executor.made().size() == 1);
  REQUIRE(harness->prompts.size() == 2);
  CHECK(harness->prompts[0].system_prompt == harness->prompts[1].system_prompt);
}

TEST_CASE_FIXTURE(runner_world, "the caps of the settings reach the harness") {
  settings->answer.budget = {1000, 2'500'000, 60'000, 3};
  run(make_ticket("m1"));
  REQUIRE(harness->prompts.size() == 1);
  CHECK(harness->prompts[0].budget == run_budget{1000, 2'500'000, 60'000, 3});
}

TEST_CASE_FIXTURE(runner_world, "a new door renews the executor") {
  run(make_ticket("m1"));
  settings->answer.sandbox_network = "host";
  settings->answer.door_policy = "trusted";
  settings->answer.layout = "full";
  run(make_ticket("m2"));
  REQUIRE(executor.made().size() == 2);
  CHECK(executor.made()[0].network == "none");
  CHECK(executor.made()[1].network == "host");
  CHECK(executor.made()[1].door_policy == "trusted");
  CHECK(executor.made()[1].layout == "full");
  CHECK(executor.stopped() == 1);
  CHECK(*tools_alive == 1);
  CHECK(harness->made == 1);
}

TEST_CASE_FIXTURE(runner_world, "memory enters the prompt, links and absence "
                                "do not stop a run") {
  auto key = place.key;
  files->content[key + "/MEMORY.md"] = "likes tea\xff";
  run(make_ticket("m1"));
  CHECK(harness->prompts[0].system_prompt.find("likes tea\xEF\xBF\xBD")
        != std::string::npos);
  REQUIRE(files->jobs.size() == 2);
  CHECK(files->jobs[0].op == file_op::ensure_directory);
  CHECK(files->jobs[0].path == key + "/scratch");
  CHECK(files->jobs[1].root == "/ws");
  CHECK(files->jobs[1].rule == resolve_rule::no_links);
}

TEST_CASE_FIXTURE(runner_world, "long memory is cut and says so") {
  files->content[place.key + "/MEMORY.md"] = std::string(70'000, 'x');
  run(make_ticket("m1"));
  const auto& prompt = harness->prompts[0].system_prompt;
  CHECK(prompt.size() < 70'000);
  CHECK(prompt.find("longer than 65536 bytes") != std::string::npos);
}

TEST_CASE_FIXTURE(runner_world, "images are shown, other files are named") {
  auto ticket = make_ticket("m1", "look");
  auto base = place.key + "/attachments/";
  ticket.event.attachments = {
    {"a.png", base + "1_a.png", "", ""},
    {"b.txt", base + "2_b.txt", "", ""},
    {"c.jpg", base + "3_c.jpg", "", ""},
    {"evil", "../../etc/passwd", "", ""},
  };
  executor.put("/workspace/" + base + "1_a.png", "foo");
  run(ticket);
  const auto& prompt = harness->prompts[0];
  REQUIRE(prompt.images.size() == 1);
  CHECK(prompt.images[0].data == "Zm9v");
  CHECK(prompt.images[0].mime_type == "image/png");
  CHECK(prompt.text.ends_with("<slack_attachments>\n/workspace/" + base
                              + "2_b.txt\n/workspace/" + base
                              + "3_c.jpg\n</slack_attachments>"));
}

TEST_CASE_FIXTURE(runner_world, "a model without eyes gets the file names") {
  settings->answer.choice.model.image_input = false;
  auto ticket = make_ticket("m1");
  ticket.event.attachments = {
    {"a.png", place.key + "/attachments/a.png", "", ""}};
  run(ticket);
  CHECK(harness->prompts[0].images.empty());
  CHECK(harness->prompts[0].text.find("/attachments/a.png")
        != std::string::npos);
}

TEST_CASE_FIXTURE(runner_world, "bad settings become one sentence") {
  settings->failure =
    make_failure(errc::bad_config, "settings.json:1:2: not JSON. Repair it.");
  auto done = run(make_ticket("m1"));
  REQUIRE(done->done);
  CHECK(done->result.produced);
  CHECK(done->result.stop == stop_reason::error);
  CHECK(done->result.error_class == "bad_config");
  CHECK(produced() == "m1='settings.json:1:2: not JSON. Repair it.';");
  CHECK(harness->prompts.empty());
  CHECK(counted(metric::run_errors) == 1);
}

TEST_CASE_FIXTURE(runner_world, "settings that never answer end the run") {
  settings->mute = true;
  auto done = run(make_ticket("m1"));
  advance(30s);
  REQUIRE(done->done);
  CHECK(done->result.error_class == "timeout");
  CHECK(done->result.produced);
}

TEST_CASE_FIXTURE(runner_world, "a failed model call is a result") {
  harness->outcome.stop = stop_reason::error;
  harness->outcome.error_sentence = "The key of lab was refused.";
  harness->outcome.error_class = "auth";
  auto done = run(make_ticket("m1"));
  CHECK(done->result.stop == stop_reason::error);
  CHECK(done->result.error_class == "auth");
  CHECK(produced() == "m1='The key of lab was refused.';");
}

TEST_CASE_FIXTURE(runner_world, "silence is recorded and shows nothing") {
  harness->outcome.final_text = "[SILENT]";
  auto done = run(make_ticket("m1"));
  CHECK(done->result.produced);
  CHECK(produced() == "m1='' silently;");
}

TEST_CASE_FIXTURE(runner_world, "a scheduled run has a budget") {
  auto ticket = make_ticket("event:e@1");
  ticket.event.origin = turn_origin::event;
  run(ticket);
  CHECK(harness->prompts[0].budget == run_budget{0, 10'000'000, 600'000, 50});
  CHECK(harness->prompts[0].text.starts_with("## Event Trigger Mode"));
}

TEST_CASE_FIXTURE(runner_world, "a second attempt resumes what is on disk") {
  session_entry cause;
  cause.kind = entry_kind::custom;
  cause.custom_type = "mikan.run_cause";
  cause.fields = json_text{R"({"messageId":"m1"})"};
  session_entry message;
  message.message = user_message("hello", 1);
  SUBCASE("the prompt is there") {
    session->entries = {cause, message};
    REQUIRE(session->facts("m1").admitted);
    auto ticket = make_ticket("m1");
    ticket.attempt = 2;
    ticket.provisional = "p7";
    run(ticket);
    CHECK(harness->prompts[0].resume);
    CHECK(ledger->produced[0].provisional == "p7");
  }
  SUBCASE("it is not") {
    auto ticket = make_ticket("m1");
    ticket.attempt = 2;
    run(ticket);
    CHECK_FALSE(harness->prompts[0].resume);
  }
}

TEST_CASE_FIXTURE(runner_world, "given a working harness, when the run is "
                                "aborted, then it settles and takes back what "
                                "it showed") {
  harness->moods = {harness_mood::waits};
  harness->events = {text_event("half")};
  auto done = run(make_ticket("m1"));
  CHECK_FALSE(done->done);
  abort();
  abort();
  REQUIRE(done->done);
  CHECK(harness->aborts == 1);
  CHECK(done->result.stop == stop_reason::aborted);
  CHECK_FALSE(done->result.produced);
  CHECK(ledger->produced.empty());
  CHECK(screen->lines() == lines{"post half", "delete[r1] "});
  CHECK(run(make_ticket("m2"))->result.produced);
}

TEST_CASE_FIXTURE(runner_world, "an abort during the preparation settles at "
                                "once") {
  settings->mute = true;
  auto done = run(make_ticket("m1"));
  abort();
  REQUIRE(done->done);
  CHECK(done->result.stop == stop_reason::aborted);
  CHECK(harness->prompts.empty());
}

TEST_CASE_FIXTURE(runner_world, "an abort while the answer is recorded") {
  ledger->mute_produced = true;
  auto done = run(make_ticket("m1"));
  CHECK_FALSE(done->done);
  abort();
  REQUIRE(done->done);
  CHECK(done->result.stop == stop_reason::aborted);
  CHECK_FALSE(done->result.produced);
}

TEST_CASE_FIXTURE(runner_world, "given a prompt that is still on its way to "
                                "the harness, when an abort overtakes it, then "
                                "it ends all the same, and the next one does "
                                "not") {
  harness->moods = {harness_mood::waits, harness_mood::waits};
  auto done = ask_run(make_ticket("m1"));
  while (harness->made == 0)
    REQUIRE(scheduler.try_run_once());
  REQUIRE(harness->prompts.empty());
  self->send<caf::message_priority::high>(
    subject, atom::abort_v,
    contracts::cancel_reason{"The user cancelled.", caf::none});
  scheduler.prioritize(subject);
  settle();
  REQUIRE(done->done);
  CHECK(done->result.stop == stop_reason::aborted);
  CHECK(harness->prompts.size() == 1);
  CHECK(harness->aborts == 1);
  CHECK_FALSE(run(make_ticket("m2"))->done);
  CHECK(harness->aborts == 1);
  abort();
}

TEST_CASE_FIXTURE(runner_world, "an abort without a run changes nothing") {
  abort();
  CHECK(run(make_ticket("m1"))->result.produced);
}

TEST_CASE_FIXTURE(runner_world, "given a harness that dies, then the user is "
                                "told and the next run gets a new one") {
  harness->moods = {harness_mood::dies};
  auto done = run(make_ticket("m1"));
  REQUIRE(done->done);
  CHECK(done->result.stop == stop_reason::error);
  CHECK(produced().starts_with("m1='"));
  CHECK(run(make_ticket("m2"))->result.stop == stop_reason::stop);
  CHECK(harness->made == 2);
}

TEST_CASE_FIXTURE(runner_world, "errors of the harness are said as they are") {
  harness->moods = {harness_mood::fails};
  harness->failure =
    make_failure(errc::corrupt, "x.jsonl:3: not an entry. Move it away.");
  auto done = run(make_ticket("m1"));
  CHECK(done->result.error_class == "corrupt");
  CHECK(produced() == "m1='x.jsonl:3: not an entry. Move it away.';");
  run(make_ticket("m2"));
  CHECK(harness->made == 1);
}

TEST_CASE_FIXTURE(runner_world, "an answer the disk refuses is an error") {
  ledger->produce_failures.push_back(make_failure(errc::disk, "full"));
  auto done = run(make_ticket("m1"));
  REQUIRE(done->done);
  CHECK(done->failure == errc::disk);
  CHECK(run(make_ticket("m2"))->result.produced);
}

TEST_CASE_FIXTURE(runner_world, "one run at a time") {
  harness->moods = {harness_mood::waits};
  run(make_ticket("m1"));
  CHECK(run(make_ticket("m2"))->failure == errc::busy);
}

TEST_CASE_FIXTURE(runner_world, "a final-only transport sees no interim") {
  screen->info.streaming = false;
  harness->events = {text_event("4")};
  run(make_ticket("m1"));
  CHECK(screen->operations.empty());
  CHECK(produced() == "m1='4';");
}

TEST_CASE_FIXTURE(runner_world, "activity names the model, and no path above "
                                "the office") {
  auto cwd = test::scripted_executor::paths().cwd;
  harness_event call;
  call.kind = harness_event_kind::tool_start;
  call.tool_name = "read";
  call.arguments = json_text{R"({"path":")" + cwd + R"(/a.txt"})"};
  harness_event retry;
  retry.kind = harness_event_kind::retry_start;
  retry.attempt = 1;
  harness->events = {call, retry};
  harness->moods = {harness_mood::waits};
  run(make_ticket("m1"));
  CHECK(screen->lines()
        == lines{"post 📖 Reading a.txt", "edit[r1] 📖 Reading a.txt\n"
                                         "⏳ Retrying faux/faux-1 — "
                                         "attempt 2"});
}

TEST_CASE_FIXTURE(runner_world, "output.mode final does the same") {
  settings->answer.output_mode = "final";
  harness->events = {text_event("4")};
  run(make_ticket("m1"));
  CHECK(screen->operations.empty());
}

TEST_CASE_FIXTURE(runner_world, "disposal ends everything") {
  harness->moods = {harness_mood::waits};
  auto done = run(make_ticket("m1"));
  auto disposed = false;
  ask(
    subject, [&](caf::ok_atom) { disposed = true; }, [](const caf::error&) {},
    atom::dispose_v);
  CHECK(disposed);
  CHECK(done->done);
  CHECK(harness->disposed == 1);
  CHECK(harness->alive == 0);
  CHECK(executor.stopped() == 1);
  CHECK(*tools_alive == 0);
  CHECK(run(make_ticket("m2"))->failure == errc::shutting_down);
}

TEST_CASE_FIXTURE(runner_world, "disposal does not wait for a deaf harness") {
  harness->moods = {harness_mood::deaf};
  auto done = run(make_ticket("m1"));
  auto disposal = self->request(subject, caf::infinite, atom::dispose_v);
  advance(5s);
  CHECK(done->done);
  CHECK(done->failure == errc::shutting_down);
  auto disposed = false;
  disposal.receive([&](caf::ok_atom) { disposed = true; },
                   [](const caf::error&) {});
  CHECK(disposed);
  CHECK(harness->alive == 0);
}

TEST_CASE_FIXTURE(runner_world, "a killed runner takes its children along") {
  harness->moods = {harness_mood::deaf};
  auto done = run(make_ticket("m1"));
  self->send_exit(subject, caf::exit_reason::kill);
  settle();
  CHECK(done->failure == errc::shutting_down);
  CHECK(harness->alive == 0);
  CHECK(*tools_alive == 0);
}

TEST_CASE_FIXTURE(runner_world, "a transport that is gone costs no answer") {
  harness->events = {text_event("4")};
  self->send_exit(transport, caf::exit_reason::kill);
  settle();
  auto done = run(make_ticket("m1"));
  REQUIRE(done->done);
  CHECK(done->result.produced);
  CHECK(produced() == "m1='4';");
  CHECK(screen->operations.empty());
}

// -- messages that share a turn -----------------------------------------------

TEST_CASE_FIXTURE(runner_world, "a message that the run has read is covered by "
                                "its answer") {
  harness->moods = {harness_mood::waits};
  harness->settlement = settled_as(contracts::live_input_outcome::applied);
  harness->answers_after_offer = true;
  auto done = run(make_ticket("m1"));
  auto ticket = make_ticket("m2", "and blue");
  ticket.event.sent_ms = 0;
  auto told = offer(ticket);
  settle();
  CHECK(*told == "taken, applied");
  CHECK(done->result.produced);
  REQUIRE(harness->offered.size() == 1);
  const auto& input = harness->offered[0];
  CHECK(input.id == "m2");
  CHECK(input.typed == "and blue");
  CHECK(input.text.ends_with("[ann]: and blue"));
  CHECK(input.text.starts_with("["));
  CHECK(input.received_ms == wall->now_ms());
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].covers == lines{"m2"});
  // The next run covers nothing.
  run(make_ticket("m3"));
  CHECK(ledger->produced[1].covers.empty());
}

TEST_CASE_FIXTURE(runner_world, "a message that the run gave back is not "
                                "covered") {
  harness->moods = {harness_mood::waits};
  harness->settlement = settled_as(contracts::live_input_outcome::requeue);
  harness->answers_after_offer = true;
  run(make_ticket("m1"));
  auto told = offer(make_ticket("m2"));
  settle();
  CHECK(*told == "taken, requeue closed");
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].covers.empty());
}

TEST_CASE_FIXTURE(runner_world, "without a run nothing is taken") {
  auto told = offer(make_ticket("m2"));
  settle();
  CHECK(*told == "inactive");
  CHECK(harness->made == 0);
}

TEST_CASE_FIXTURE(runner_world,
                  "a message that comes while the run is prepared "
                  "waits for the harness") {
  harness->moods = {harness_mood::waits};
  harness->settlement = settled_as(contracts::live_input_outcome::applied);
  harness->answers_after_offer = true;
  ask_run(make_ticket("m1"));
  auto told = offer(make_ticket("m2"));
  settle();
  CHECK(*told == "taken, applied");
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].covers == lines{"m2"});
}

TEST_CASE_FIXTURE(runner_world,
                  "a run that ends before its harness works gives "
                  "back what it was offered") {
  SUBCASE("its settings are bad") {
    settings->failure = make_failure(errc::bad_config, "Repair it.");
    ask_run(make_ticket("m1"));
    auto told = offer(make_ticket("m2"));
    settle();
    CHECK(*told == "taken, requeue failed");
    CHECK(ledger->produced[0].covers.empty());
  }
  SUBCASE("it is stopped") {
    settings->mute = true;
    ask_run(make_ticket("m1"));
    auto told = offer(make_ticket("m2"));
    settle();
    CHECK(*told == "taken");
    abort();
    CHECK(*told == "taken, discarded");
  }
}

TEST_CASE_FIXTURE(runner_world, "a pipe is not steered") {
  screen->info.streaming = false;
  harness->moods = {harness_mood::waits};
  run(make_ticket("m1"));
  auto told = offer(make_ticket("m2"));
  settle();
  CHECK(*told == "unsupported");
  CHECK(harness->offered.empty());
}

TEST_CASE_FIXTURE(runner_world, "an offer is settled when harness or run end") {
  harness->moods = {harness_mood::waits};
  run(make_ticket("m1"));
  auto told = offer(make_ticket("m2"));
  settle();
  CHECK(*told == "taken");
  SUBCASE("harness") {
    self->send_exit(harness->self, caf::exit_reason::kill);
    settle();
    CHECK(*told == "taken, requeue failed");
  }
  SUBCASE("stopped run") {
    harness->settlement = settled_as(contracts::live_input_outcome::discarded);
    auto second = offer(make_ticket("m3"));
    settle();
    abort();
    CHECK(*second == "taken, discarded");
    // A run that is being ended takes no more.
    auto third = offer(make_ticket("m4"));
    settle();
    CHECK(*third == "inactive");
  }
}

TEST_CASE_FIXTURE(runner_world,
                  "a turn of several messages is one prompt with a "
                  "line for each") {
  auto ticket = make_ticket("m1", "red");
  for (auto id : {"m2", "m3"}) {
    auto more = make_ticket(id, std::string{"paint "} + id).event;
    more.target = json_text{std::string{R"({"to":")"} + id + "\"}"};
    ticket.collected.push_back(more);
  }
  harness->events = {text_event("4")};
  auto done = run(ticket);
  REQUIRE(done->done);
  REQUIRE(harness->prompts.size() == 1);
  CHECK(harness->prompts[0].message_id == "m1");
  CHECK(harness->prompts[0].text
        == "[2026-01-01 00:00:00+00:00] [ann]: red\n"
           "[2026-01-01 00:00:00+00:00] [ann]: paint m2\n"
           "[2026-01-01 00:00:00+00:00] [ann]: paint m3");
  REQUIRE(ledger->produced.size() == 1);
  CHECK(ledger->produced[0].message_id == "m1");
  CHECK(ledger->produced[0].covers == lines{"m2", "m3"});
  REQUIRE(!screen->operations.empty());
  CHECK(screen->operations[0].target.text == R"({"to":"m3"})");
  // The history knows all of them; the harness adds the first one's cause.
  CHECK(session->opens == lines{"m1"});
  REQUIRE(session->entries.size() == 2);
  CHECK(session->entries[0].custom_type == "mikan.run_cause");
  CHECK(session->entries[1].fields.text == R"({"messageId":"m3"})");
}

TEST_CASE_FIXTURE(runner_world,
                  "a turn of several messages whose session takes "
                  "nothing is told in one sentence") {
  session->open_failure = errc::corrupt;
  auto ticket = make_ticket("m1");
  ticket.collected.push_back(make_ticket("m2").event);
  auto done = run(ticket);
  CHECK(done->result.error_class == "corrupt");
  CHECK(harness->prompts.empty());
  CHECK(ledger->produced[0].covers == lines{"m2"});
}

// -- turns that go on ---------------------------------------------------------

namespace {

turn_ticket wake_ticket() {
  auto ticket = make_ticket("job:pj-0000000000000001", "it is done");
  ticket.event.origin = turn_origin::action;
  return ticket;
}

transcript_message reply(std::string text) {
  transcript_message result;
  result.role = message_role::assistant;
  result.content.push_back(text_block(std::move(text)));
  return result;
}

} // namespace

TEST_CASE_FIXTURE(runner_world, "the turn of a wake goes on where the run that "
                                "asked has ended, without tools") {
  contracts::continuation_turn turn;
  turn.continuation_id = "job:pj-0000000000000001";
  turn.origin_run_id = "run-m1";
  turn.pinned = contracts::continuation_context{};
  continuation->turn = turn;
  harness->outcome.deferred = {user_message("it is done", 1), reply("4")};
  // The harness has opened it.
  session->is_open = true;
  auto done = run(wake_ticket());
  CHECK(done->result.produced);
  REQUIRE(harness->prompts.size() == 1);
  REQUIRE(harness->prompts[0].continuation);
  CHECK(*harness->prompts[0].continuation == turn);
  CHECK(harness->prompts[0].tools.empty());
  CHECK(harness->prompts[0].system_prompt.find("Runs a command.")
        == std::string::npos);
  // With the answer recorded, question and answer are part of the session.
  CHECK(session->roles() == "user assistant");
  CHECK(session->facts("job:pj-0000000000000001").admitted);
}

TEST_CASE_FIXTURE(runner_world, "the turn of a wake that nobody knows has no "
                                "tools either") {
  run(wake_ticket());
  REQUIRE(harness->prompts[0].continuation);
  CHECK_FALSE(harness->prompts[0].continuation->pinned);
  CHECK(harness->prompts[0].tools.empty());
  // A message of a person has them.
  run(make_ticket("m2"));
  CHECK_FALSE(harness->prompts[1].continuation);
  CHECK(harness->prompts[1].tools.size() == 1);
}

TEST_CASE_FIXTURE(runner_world, "a wake that the disk does not take is no "
                                "answer") {
  harness->moods = {harness_mood::fails};
  harness->failure = make_failure(errc::disk, "full");
  auto done = run(wake_ticket());
  CHECK(done->failure == errc::disk);
  CHECK(ledger->produced.empty());
}

TEST_CASE_FIXTURE(runner_world, "an abort says why, down to the harness") {
  harness->moods = {harness_mood::waits};
  run(make_ticket("m1"));
  abort();
  REQUIRE_FALSE(harness->reasons.empty());
  CHECK(harness->reasons[0].message == "The user cancelled.");
}
