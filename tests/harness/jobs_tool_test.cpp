#include "actors/harness/tools/jobs_tool.hpp"

#include "actors/harness/tools/core_tools.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_executor.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace bureau;
using namespace bureau::test;
using code = contracts::process_job_error_code;

namespace {

struct jobs_script {
  std::vector<job_request> submitted;
  std::vector<job_query> read;
  std::vector<job_query> cancelled;
  std::vector<std::string> listed;
  job_answer answer;
  job_list list;
};

struct scripted_jobs_state {
  jobs_actor::stateful_pointer<scripted_jobs_state> self;
  std::shared_ptr<jobs_script> script;
  static inline const char* name = "scripted_jobs";

  explicit scripted_jobs_state(
    jobs_actor::stateful_pointer<scripted_jobs_state> me)
    : self(me) {}

  void init(std::shared_ptr<jobs_script> shared) { script = std::move(shared); }

  jobs_actor::behavior_type make_behavior() {
    return {
      [this](atom::submit, const job_request& x) {
        script->submitted.push_back(x);
        return script->answer;
      },
      [this](atom::list, const std::string& x) {
        script->listed.push_back(x);
        return script->list;
      },
      [this](atom::read, const job_query& x) {
        script->read.push_back(x);
        return script->answer;
      },
      [this](atom::cancel, const job_query& x) {
        script->cancelled.push_back(x);
        return script->answer;
      },
      [](atom::describe, platform_id) { return job_outlook{}; },
      [](atom::settled, const contracts::continuation_context&) {},
      [](atom::load, const std::string&) { return job_continuation{}; },
      [](atom::start, const job_desk_actor&) {},
      [](atom::attach, platform_id, const transport_actor&) {},
      [](atom::status) {
        return status_line{"jobs", "ok", ""};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

struct jobs_tool_world : node_fixture {
  jobs_tool_world() {
    executor = machine.spawn(*system);
    jobs =
      kit::spawn_stateful<jobs_actor, scripted_jobs_state>(*system, script);
    script->answer.job.job_id = "pj-1";
    script->answer.job.summary = "make";
    script->answer.job.timestamps.admitted_at = "2026-01-01T00:00:00.000Z";
    args.place.address = {platform_id::console, "local"};
    args.session_key = "local";
    args.executor = executor;
    args.paths = scripted_executor::paths();
    bash =
      harness::make_core_tools(chance, background())(*system, args)[0].owner;
    look = harness::make_jobs_tool(background())(*system, args)[0].owner;
    settle();
  }

  ~jobs_tool_world() {
    for (auto handle : {caf::actor_cast<caf::actor>(executor),
                        caf::actor_cast<caf::actor>(jobs)})
      self->send_exit(handle, caf::exit_reason::user_shutdown);
    settle();
  }

  tool_outcome call(const tool_actor& tool, const std::string& name,
                    const std::string& arguments) {
    tool_outcome result;
    ask(
      tool, [&](const tool_outcome& outcome) { result = outcome; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::call_v,
      tool_invocation{"c1",
                      name,
                      json_text{arguments},
                      "r1",
                      "m1",
                      json_text{R"({"thread":"7"})"},
                      "job:pj-0",
                      {}});
    return result;
  }

  static std::string text_in(const tool_outcome& outcome) {
    REQUIRE(outcome.content.size() == 1);
    return outcome.content[0].text;
  }

  std::shared_ptr<jobs_script> script = std::make_shared<jobs_script>();
  scripted_executor machine;
  executor_actor executor;
  harness::background_jobs background() const {
    return {jobs, {args.place.address.platform}};
  }

  jobs_actor jobs;
  tool_pack_args args;
  tool_actor bash;
  tool_actor look;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("bash in the background is a job, answered with its id") {
  jobs_tool_world w;
  auto outcome =
    w.call(w.bash, "bash",
           R"({"label":"x","command":"make","background":true,"timeout":90})");
  CHECK_FALSE(outcome.is_error);
  CHECK(contains(w.text_in(outcome), "pj-1"));
  REQUIRE(w.script->submitted.size() == 1);
  const auto& request = w.script->submitted[0];
  CHECK(request.command == "make");
  CHECK(request.cwd == scripted_executor::paths().cwd);
  CHECK(request.max_runtime_ms == 90'000);
  CHECK(request.session_key == "local");
  CHECK(request.conversation == office_address{platform_id::console, "local"});
  CHECK(request.run == "r1");
  CHECK(request.message_id == "m1");
  CHECK(request.target.text == R"({"thread":"7"})");
  CHECK(request.wake == "job:pj-0");
  // What the run knows at its end is wanted by the wake.
  CHECK(outcome.continues);
  CHECK(w.machine.commands().empty());
}

TEST_CASE("a time that no job can have is refused") {
  jobs_tool_world w;
  for (auto time : {"0", "-1", "86401", "1e308", "\"90\""}) {
    CAPTURE(time);
    auto outcome =
      w.call(w.bash, "bash",
             std::string{R"({"label":"x","command":"make","background":true,)"}
               + "\"timeout\":" + time + "}");
    CHECK(outcome.is_error);
    CHECK(contains(w.text_in(outcome), "at most 86400"));
  }
  CHECK(w.script->submitted.empty());
}

TEST_CASE("where nobody takes news of jobs there are none") {
  jobs_tool_world w;
  w.args.place.address.platform = platform_id::slack;
  harness::background_jobs elsewhere{w.jobs, {platform_id::console}};
  auto pack = harness::make_core_tools(w.chance, elsewhere)(*w.system, w.args);
  for (const auto& tool : pack)
    CHECK_FALSE(contains(tool.definition.parameters.text, "background"));
  CHECK_FALSE(contains(pack[1].definition.description, "background: "));
  CHECK(harness::make_jobs_tool(elsewhere)(*w.system, w.args).empty());
  auto refused = w.call(pack[0].owner, "bash",
                        R"({"label":"x","command":"make","background":true})");
  CHECK(refused.is_error);
}

TEST_CASE("background: false is an ordinary command") {
  jobs_tool_world w;
  w.call(w.bash, "bash", R"({"label":"x","command":"ls","background":false})");
  CHECK(w.script->submitted.empty());
  CHECK(w.machine.commands().size() == 1);
}

TEST_CASE("a refused job is an error in public words") {
  jobs_tool_world w;
  w.script->answer.refusal = code::process_job_queue_full;
  auto outcome = w.call(w.bash, "bash",
                        R"({"label":"x","command":"make","background":true})");
  CHECK(outcome.is_error);
  CHECK(w.text_in(outcome) == "The process-job queue is full.");
}

TEST_CASE("without jobs there is no background") {
  jobs_tool_world w;
  auto alone = harness::make_core_tools(w.chance)(*w.system, w.args)[0].owner;
  auto outcome = w.call(alone, "bash",
                        R"({"label":"x","command":"make","background":true})");
  CHECK(outcome.is_error);
  CHECK(contains(w.text_in(outcome), "unsupported"));
}

TEST_CASE("the tool jobs names its own conversation, whatever it is asked") {
  jobs_tool_world w;
  w.script->list.jobs.push_back(w.script->answer.job);
  auto list = w.call(w.look, "jobs", R"({"label":"x","action":"list"})");
  CHECK(w.script->listed == std::vector<std::string>{"console:local"});
  CHECK(w.text_in(list) == "pj-1  queued  2026-01-01T00:00:00.000Z  make");
  w.call(w.look, "jobs",
         R"({"label":"x","action":"get","id":"pj-1",)"
         R"("conversation_id":"console:other"})");
  CHECK(w.script->read == std::vector<job_query>{{"console:local", "pj-1"}});
  auto cancel =
    w.call(w.look, "jobs", R"({"label":"x","action":"cancel","id":"pj-1"})");
  CHECK(w.script->cancelled
        == std::vector<job_query>{{"console:local", "pj-1"}});
  CHECK(contains(w.text_in(cancel), "is being ended"));
}

TEST_CASE("what the tool jobs does not understand") {
  jobs_tool_world w;
  for (auto arguments :
       {"[]", "{}", R"({"action":"get"})", R"({"action":"kill","id":"pj-1"})"})
    CHECK(w.call(w.look, "jobs", arguments).is_error);
  w.script->answer.refusal = code::process_job_not_found;
  auto gone = w.call(w.look, "jobs", R"({"action":"get","id":"pj-2"})");
  CHECK(gone.is_error);
  CHECK(w.text_in(gone) == "The process job was not found.");
  CHECK(w.text_in(w.call(w.look, "jobs", R"({"action":"list"})"))
        == "This conversation has no jobs.");
}

TEST_CASE("a job that has ended is shown with the end of its output") {
  jobs_tool_world w;
  auto& job = w.script->answer.job;
  job.state = contracts::process_job_state::failed;
  job.exit_code = 2;
  job.last_error = code::process_job_failed;
  job.output.preview = "no rule";
  CHECK(w.text_in(w.call(w.look, "jobs", R"({"action":"get","id":"pj-1"})"))
        == "pj-1  failed, exit code 2  2026-01-01T00:00:00.000Z  make\n"
           "The process job failed.\nOutput:\nno rule");
}
