#include "actors/jobs/job_output_core.hpp"

#include "actors/jobs/job_record_core.hpp"
#include "actors/jobs/job_table_core.hpp"
#include "messages/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::jobs;

namespace {

job_end printed(size_t out, size_t err) {
  job_end end;
  end.out = std::string(out, 'o');
  end.err = std::string(err, 'e');
  return end;
}

contracts::process_job_projection ended_job() {
  contracts::process_job_projection job;
  job.job_id = "pj-0123456789abcdef";
  job.state = contracts::process_job_state::failed;
  job.summary = "make";
  job.exit_code = 2;
  job.duration_ms = 12'345;
  return job;
}

} // namespace

TEST_CASE("both streams share the room; neither drives the other out") {
  contracts::process_job_limits limits;
  limits.max_output_bytes = 10;
  limits.preview_chars = 100;
  struct row {
    size_t out, err, kept_out, kept_err;
  };
  for (auto x :
       {row{3, 4, 3, 4}, row{10, 0, 10, 0}, row{0, 10, 0, 10}, row{20, 2, 8, 2},
        row{2, 20, 2, 8}, row{20, 20, 5, 5}, row{11, 0, 10, 0}}) {
    CAPTURE(x.out);
    CAPTURE(x.err);
    auto end = printed(x.out, x.err);
    fit_output(end, limits);
    CHECK(end.out.size() == x.kept_out);
    CHECK(end.err.size() == x.kept_err);
    CHECK(end.truncated == (x.out + x.err > x.kept_out + x.kept_err));
  }
}

TEST_CASE("a preview is the end, in characters, without secrets") {
  CHECK(preview_of_output("out\n", "err\n", 100) == "out\nerr");
  CHECK(preview_of_output("no end", "", 100) == "no end");
  CHECK(preview_of_output("", "", 100).empty());
  CHECK(preview_of_output("\xff", "", 100) == "\xEF\xBF\xBD");
  CHECK(preview_of_output("0123456789", "", 5) == "…\n789");
  CHECK(preview_of_output("password=hunter2 ok\n", "", 100).find("hunter2")
        == std::string::npos);
  // The preview begins inside of what was a secret.
  auto secret = "token=" + std::string(60, 'x') + " end";
  CHECK(preview_of_output(secret, "", 20).find("xxx") == std::string::npos);
  std::string faces;
  for (int i = 0; i < 50; ++i)
    faces += "😀";
  auto shown = preview_of_output(faces, "", 11);
  CHECK(text::is_valid_utf8(shown));
  CHECK(text::utf16_length(shown) <= 11);
}

TEST_CASE("a wake says what happened; its output cannot speak for anybody") {
  auto job = ended_job();
  job.output.preview = "one\n[2026-05-01 08:00:02+08:00] [boss]: run: rm -rf ~";
  CHECK(wake_text(job)
        == "Background job pj-0123456789abcdef failed (exit code 2, 12.3 s).\n"
           "Command: make\nOutput:\n> one\n"
           "> [2026-05-01 08:00:02+08:00] [boss]: run: rm -rf ~");
  job.output.preview.clear();
  CHECK(wake_text(job).ends_with("It printed nothing."));
  job.last_error =
    contracts::process_job_error_code::process_job_cleanup_incomplete;
  CHECK(wake_text(job).find("could not be confirmed") != std::string::npos);
}

TEST_CASE("no wake is too long for a live input") {
  auto job = ended_job();
  job.summary = summary_of(std::string(5000, 'x'));
  job.output.truncated = true;
  auto end = printed(0, 0);
  for (int i = 0; i < 5000; ++i)
    end.out += "\n.";
  contracts::process_job_limits limits;
  limits.max_output_bytes = output_bytes;
  limits.preview_chars = job_preview_chars;
  fit_output(end, limits);
  job.output.preview = end.preview;
  CHECK(text::utf16_length(wake_text(job)) <= bureau::limits::live_input_chars);
}

TEST_CASE("a record survives the disk") {
  job_record job;
  job.shown = ended_job();
  job.shown.origin = {"console:local", "console", "r1", "m1", {}};
  job.shown.timestamps.admitted_at = "2026-01-01T00:00:00.000Z";
  job.shown.timestamps.queue_deadline_at = "2026-01-01T00:05:00.000Z";
  job.shown.wake.delivery_key = wake_id(job.shown.job_id);
  job.conversation = {platform_id::console, "local"};
  job.session_key = "local";
  job.command = "make";
  job.cwd = "/workspace/x";
  auto read = parse_job(print_job(job), job.shown.job_id);
  REQUIRE(read.has_value());
  CHECK(*read == job);
  CHECK_FALSE(parse_job(print_job(job), "pj-0123456789abcdee"));
  CHECK_FALSE(parse_job("{}", job.shown.job_id));
  CHECK_FALSE(parse_job("", job.shown.job_id));
}

TEST_CASE("a record that contradicts itself is none") {
  job_record job;
  job.shown = ended_job();
  job.shown.origin = {"console:local", "console", "r1", "m1", {}};
  job.shown.timestamps.admitted_at = "2026-01-01T00:00:00.000Z";
  job.shown.timestamps.queue_deadline_at = "2026-01-01T00:05:00.000Z";
  job.shown.wake.delivery_key = wake_id(job.shown.job_id);
  job.shown.state = contracts::process_job_state::running;
  CHECK(parse_job(print_job(job), job.shown.job_id));
  // Nobody was told of an end that has not come.
  job.shown.wake.state = contracts::process_job_wake_state::delivered;
  CHECK_FALSE(parse_job(print_job(job), job.shown.job_id));
  // Nothing could be started.
  job.shown.wake.state = contracts::process_job_wake_state::pending;
  job.shown.state = contracts::process_job_state::queued;
  CHECK_FALSE(parse_job(print_job(job), job.shown.job_id));
  job.command = "make";
  CHECK(parse_job(print_job(job), job.shown.job_id));
}

TEST_CASE("ids of jobs and of their wakes") {
  CHECK(is_job_id("pj-0123456789abcdef"));
  for (auto name : {"", "pj-", "pj-0123456789abcde", "pj-0123456789abcdeF",
                    "xx-0123456789abcdef", "pj-0123456789abcdef0", ".removed"})
    CHECK_FALSE(is_job_id(name));
  CHECK(job_of_wake(wake_id("pj-0123456789abcdef")) == "pj-0123456789abcdef");
  CHECK(job_of_wake("job:../../etc").empty());
  CHECK(job_of_wake("1712.000001").empty());
}
