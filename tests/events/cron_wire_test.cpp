#include "messages/contracts/cron_operator.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::contracts;

namespace {

namespace bj = boost::json;

constexpr const char* instant = "2026-01-01T00:00:00.000Z";

bj::object run_of(cron_projection projection) {
  cron_run run;
  run.projection = projection;
  run.run_id = "event:daily@1-1";
  run.job_id = "daily";
  run.scheduled_at = instant;
  run.ordered_at = instant;
  run.trigger = cron_trigger::scheduled;
  return to_json(run);
}

bj::object job_value() {
  cron_job job;
  job.job_id = "daily";
  return to_json(job);
}

bj::object overview_value() {
  cron_overview overview;
  overview.generated_at = instant;
  return to_json(overview);
}

bool is_summary(const bj::value& value) {
  return static_cast<bool>(parse_cron_run_summary(value));
}
bool is_detail(const bj::value& value) {
  return static_cast<bool>(parse_cron_run_detail(value));
}
bool is_job(const bj::value& value) {
  return static_cast<bool>(parse_cron_job(value));
}
bool is_overview(const bj::value& value) {
  return static_cast<bool>(parse_cron_overview(value));
}
bool is_page(const bj::value& value) {
  return static_cast<bool>(parse_cron_run_page(value));
}

/// A text of exactly so many bytes passes, one more byte does not.
void check_text(bj::object value, const char* member, size_t bytes,
                bool (*passes)(const bj::value&)) {
  CAPTURE(member);
  value[member] = std::string(bytes, 'x');
  CHECK(passes(value));
  value[member] = std::string(bytes + 1, 'x');
  CHECK_FALSE(passes(value));
}

} // namespace

TEST_SUITE("cron operator on the wire") {

  TEST_CASE("texts of a job and of an overview") {
    check_text(job_value(), "jobId", max_cron_job_id_bytes, is_job);
    check_text(job_value(), "expression", max_cron_expression_bytes, is_job);
    check_text(job_value(), "timezone", max_cron_timezone_bytes, is_job);
    check_text(job_value(), "conversationId", max_cron_conversation_id_bytes,
               is_job);
    check_text(job_value(), "activeRunId", max_cron_run_id_bytes, is_job);
    check_text(overview_value(), "degradedReason",
               max_cron_degraded_reason_bytes, is_overview);
    check_text(to_json(cron_run_page{}), "nextCursor", max_cron_cursor_bytes,
               is_page);
  }

  TEST_CASE("texts of a run") {
    auto summary = run_of(cron_projection::summary);
    check_text(summary, "text", max_cron_summary_text_bytes, is_summary);
    check_text(summary, "error", max_cron_summary_error_bytes, is_summary);
    check_text(summary, "artifactRunId", max_cron_summary_artifact_id_bytes,
               is_summary);
    check_text(summary, "failureKind", max_cron_summary_failure_kind_bytes,
               is_summary);
    auto detail = run_of(cron_projection::detail);
    check_text(detail, "text", max_cron_detail_text_bytes, is_detail);
    check_text(detail, "error", max_cron_detail_error_bytes, is_detail);
    check_text(detail, "artifactRunId", max_cron_detail_artifact_id_bytes,
               is_detail);
    check_text(detail, "failureKind", max_cron_detail_failure_kind_bytes,
               is_detail);
  }

  TEST_CASE("fields that were cut are named once") {
    auto value = run_of(cron_projection::summary);
    value["fieldsTruncated"] =
      bj::array{bj::string{to_string(cron_cut_field::text)}};
    CHECK(is_summary(value));
    value["fieldsTruncated"].as_array().push_back("text");
    CHECK_FALSE(is_summary(value));
  }

  TEST_CASE("lists are bounded") {
    bj::array runs;
    for (size_t i = 0; i < max_cron_run_page; ++i)
      runs.push_back(run_of(cron_projection::summary));
    bj::object page{{"runs", runs}};
    CHECK(is_page(page));
    page["runs"].as_array().push_back(run_of(cron_projection::summary));
    CHECK_FALSE(is_page(page));
    bj::array jobs;
    for (size_t i = 0; i < max_cron_jobs; ++i)
      jobs.push_back(job_value());
    auto overview = overview_value();
    overview["jobs"] = jobs;
    CHECK(is_overview(overview));
    overview["jobs"].as_array().push_back(job_value());
    CHECK_FALSE(is_overview(overview));
    // Each record fits, all of them together do not.
    auto long_run = run_of(cron_projection::summary);
    long_run["runId"] = std::string(max_cron_run_id_bytes, 'r');
    long_run["text"] = std::string(max_cron_summary_text_bytes, '\n');
    long_run["error"] = std::string(max_cron_summary_error_bytes, '\n');
    CHECK(is_summary(long_run));
    bj::array many(max_cron_run_page, bj::value(long_run));
    CHECK(max_cron_run_page * 2 * max_cron_summary_text_bytes
          < max_cron_response_bytes);
    bj::object big{{"runs", many}};
    CHECK(is_page(big)
          == (boost::json::serialize(big).size() <= max_cron_response_bytes));
  }

  TEST_CASE("events and outcomes of a run are bounded") {
    auto detail = run_of(cron_projection::detail);
    detail["eventCount"] = max_cron_detail_events;
    CHECK(is_detail(detail));
    detail["eventCount"] = max_cron_detail_events + 1;
    CHECK_FALSE(is_detail(detail));
    detail = run_of(cron_projection::detail);
    // One event larger than all may be together.
    bj::object event{{"type", "assistant_text"},
                     {"text", std::string(max_cron_detail_event_bytes, 'x')}};
    detail["events"] = bj::array{event};
    detail["eventsIncluded"] = 1;
    detail["eventCount"] = 1;
    CHECK_FALSE(is_detail(detail));
    auto summary = run_of(cron_projection::summary);
    delivery_outcome outcome;
    std::vector<delivery_outcome> outcomes(max_cron_summary_outcomes + 1,
                                           outcome);
    summary["replyPartOutcomes"] = to_json(outcomes);
    CHECK_FALSE(is_summary(summary));
  }
}
