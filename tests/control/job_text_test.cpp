#include "actors/control/control_core.hpp"
#include "actors/control/job_text_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::control;

namespace {

contracts::process_job_projection some_job() {
  contracts::process_job_projection job;
  job.job_id = "pj-0000000000000001";
  job.state = contracts::process_job_state::failed;
  job.summary = "make all";
  job.origin = {"console:local", "console", "r1", "m1", {}};
  job.timestamps = {"2026-01-01T00:00:00.000Z",
                    "2026-01-01T00:05:00.000Z",
                    {"2026-01-01T00:00:01.000Z"},
                    {"2026-01-01T01:00:01.000Z"},
                    {"2026-01-01T00:01:31.000Z"}};
  job.limits = {3'600'000, 8 << 20, 2000, 0};
  job.output.stdout_bytes = 20;
  job.output.preview = "one\n\x1b[2Jtwo";
  job.output.stdout_ref = "jobs/pj-0000000000000001/stdout";
  job.wake.state = contracts::process_job_wake_state::delivered;
  job.wake.delivery_key = "job:pj-0000000000000001";
  job.exit_code = 2;
  job.duration_ms = 90'000;
  job.last_error = contracts::process_job_error_code::process_job_failed;
  return job;
}

} // namespace

TEST_CASE("jobs are told in a line each") {
  CHECK(jobs_text(jobs_result({}, {})) == "There are no jobs.\n");
  CHECK(jobs_text({}) == "The node said something that is no job.\n");
  CHECK(jobs_text(jobs_result({{some_job()}}, {}))
        == "pj-0000000000000001  failed, exit code 2, 1 min  console:local  "
           "2026-01-01T00:00:00.000Z  make all\n");
  job_list many;
  many.jobs.assign(jobs_shown + 3, some_job());
  auto text = jobs_text(jobs_result(many, {}));
  CHECK(text.ends_with("(3 older ones are not shown)\n"));
  CHECK(jobs_text(jobs_result(many, contracts::process_job_state::running))
        == "There are no jobs.\n");
}

TEST_CASE("a job is told with the end of its output, harmless to a terminal") {
  job_answer answer;
  answer.job = some_job();
  answer.disposition = contracts::wake_disposition::steered;
  auto text = job_text(job_result(answer));
  CHECK(text.find("wake: delivered (steered)\n") != std::string::npos);
  CHECK(text.find("output: jobs/pj-0000000000000001/stdout\n")
        != std::string::npos);
  CHECK(text.find("> one\n> ") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(job_text({}) == "The node said something that is no job.\n");
}

TEST_CASE("calls about jobs") {
  auto list = parse_call(
    R"({"jsonrpc":"2.0","id":1,"method":"jobs.list","params":{"state":"running"}})");
  REQUIRE(list.call);
  CHECK(*list.call
        == method_call{jobs_list_call{contracts::process_job_state::running}});
  auto wrong = parse_call(
    R"({"jsonrpc":"2.0","id":1,"method":"jobs.list","params":{"state":"odd"}})");
  CHECK_FALSE(wrong.call);
  auto show = parse_call(
    R"({"jsonrpc":"2.0","id":1,"method":"jobs.show","params":{"id":"pj-1"}})");
  CHECK(*show.call == method_call{jobs_show_call{"pj-1"}});
  CHECK_FALSE(
    parse_call(R"({"jsonrpc":"2.0","id":1,"method":"jobs.cancel"})").call);
  auto refused = parse_reply(refusal_line(
    "1", contracts::process_job_error_code::process_job_not_found));
  CHECK(refused.code == service_failed);
  CHECK(refused.sentence
        == contracts::public_message(
          contracts::process_job_error_code::process_job_not_found));
}
