#include "actors/control/control_core.hpp"
#include "actors/control/event_text_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::control;

namespace {

incoming read(const std::string& method, const std::string& params) {
  return parse_call(R"({"jsonrpc":"2.0","id":1,"method":")" + method
                    + R"(","params":)" + params + "}");
}

contracts::cron_run run_at(int64_t sequence) {
  contracts::cron_run run;
  run.run_id = "event:daily@" + std::to_string(sequence) + "-1";
  run.job_id = "daily";
  run.scheduled_at = "2026-01-01T09:00:00.000Z";
  run.ordered_at = run.scheduled_at;
  run.sequence = sequence;
  run.status = contracts::cron_run_status::succeeded;
  return run;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("calls about schedules are read") {
  CHECK(
    std::holds_alternative<events_list_call>(*read("events.list", "{}").call));
  auto show =
    read("events.show", R"({"id":"daily","limit":10,"before":"r5","run":"x"})");
  REQUIRE(show.call);
  const auto& query = std::get<events_show_call>(*show.call).query;
  CHECK(query.job_id == "daily");
  CHECK(query.run_id == "x");
  CHECK(query.page == contracts::cron_runs_query{10, "r5"});
  auto remove = read("events.delete", R"({"filename":"daily.json"})");
  REQUIRE(remove.call);
  CHECK(std::get<events_delete_call>(*remove.call).filename == "daily.json");
  for (const auto& [method, params] :
       {std::pair{"events.list", R"({"all":true})"},
        {"events.show", "{}"},
        {"events.show", R"({"id":"daily","limit":0})"},
        {"events.show", R"({"id":"daily","limit":101})"},
        {"events.delete", R"({"filename":5})"}})
    CHECK_FALSE(read(method, params).call);
}

TEST_CASE("schedules as people read them") {
  contracts::cron_overview overview;
  overview.generated_at = "2026-01-01T10:00:00.000Z";
  contracts::cron_job job;
  job.job_id = "daily";
  job.configured = true;
  job.expression = "0 9 * * *";
  job.timezone = "UTC";
  job.conversation_id = "local";
  job.next_run_at = "2026-01-02T09:00:00.000Z";
  job.health = contracts::cron_health::healthy;
  job.last_run = run_at(1);
  overview.jobs.push_back(job);
  event_list files;
  event_entry broken;
  broken.filename = "bad.json";
  broken.fault = "bad.json: malformed";
  files.events.push_back(broken);
  auto text = events_text(events_result(overview, files));
  CHECK(contains(text, "daily  healthy  0 9 * * * UTC  in local  next "
                       "2026-01-02T09:00:00.000Z  last succeeded"));
  CHECK(contains(text, "! bad.json: malformed\n"));
  CHECK(events_text(
          events_result({overview.generated_at, false, {}, {}, false}, {}))
        == "There are no schedules.\n");
  CHECK(contains(events_text({}), "no list"));
}

TEST_CASE("runs as people read them") {
  contracts::cron_run_page page;
  CHECK(event_runs_text(event_runs_result(page)) == "It has not run yet.\n");
  page.runs = {run_at(2), run_at(1)};
  page.next_cursor = "r1";
  auto text = event_runs_text(event_runs_result(page));
  CHECK(contains(text, "event:daily@2-1  succeeded\n"));
  CHECK(contains(text, "(older ones: --before r1)"));
  auto run = run_at(2);
  run.projection = contracts::cron_projection::detail;
  run.artifact_run_id = "r9";
  run.text = "all is well";
  CHECK(
    contains(event_run_text(event_run_result(run)), "run r9\nall is well\n"));
  CHECK(contains(event_run_text({}), "no list"));
}
