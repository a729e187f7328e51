#include "messages/contracts/cron_operator.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

constexpr auto instant = "2026-01-02T00:00:00.000Z";

bj::object summary() {
  return {
    {"projection", "summary"}, {"runId", "r"},          {"jobId", "nightly"},
    {"scheduledAt", instant},  {"orderedAt", instant},  {"sequence", 4},
    {"trigger", "scheduled"},  {"status", "succeeded"}, {"eventCount", 2}};
}

bj::object full_summary() {
  auto run = summary();
  run["startedAt"] = instant;
  run["completedAt"] = instant;
  run["artifactRunId"] = "a";
  run["text"] = "";
  run["error"] = "e";
  run["failureKind"] = "k";
  run["blockedByRunId"] = "b";
  run["blockedByTrigger"] = "manual";
  run["queueDepth"] = 0;
  run["replyPartOutcomes"] = to_json(std::vector<delivery_outcome>(8));
  run["fieldsTruncated"] = {"text", "error"};
  run["eventsTruncated"] = true;
  return run;
}

bj::object detail(bj::array events = {}) {
  auto run = summary();
  run["projection"] = "detail";
  run["eventsIncluded"] = events.size();
  run["events"] = std::move(events);
  return run;
}

bj::object job() {
  return {{"jobId", "nightly"},        {"expression", "0 0 * * *"},
          {"timezone", "UTC"},         {"conversationId", ""},
          {"configured", true},        {"declaredEnabled", true},
          {"effectiveEnabled", false}, {"nextRunAt", instant},
          {"health", "disabled"},      {"lastRun", full_summary()},
          {"activeRunId", "r"}};
}

bj::object with(bj::object object, const char* name, bj::value value) {
  object[name] = std::move(value);
  return object;
}

bj::value text_of_length(size_t bytes) {
  return bj::value(bj::string(bytes, 'x'));
}

bool is_summary(const bj::value& value) {
  return static_cast<bool>(parse_cron_run_summary(value));
}

bool is_detail(const bj::value& value) {
  return static_cast<bool>(parse_cron_run_detail(value));
}

bj::object thought(size_t bytes) {
  return {{"type", "assistant_thought"}, {"text", text_of_length(bytes)}};
}

} // namespace

TEST_CASE("cron records survive the wire") {
  for (const auto& run : {summary(), full_summary()})
    CHECK(bj::value(to_json(*parse_cron_run_summary(run))) == bj::value(run));
  auto whole = detail({thought(3), thought(0)});
  CHECK(bj::value(to_json(*parse_cron_run_detail(whole))) == bj::value(whole));
  CHECK(bj::value(to_json(*parse_cron_job(job()))) == bj::value(job()));
  bj::object overview{{"generatedAt", instant},
                      {"actionsEnabled", true},
                      {"jobs", bj::array{job()}},
                      {"degradedReason", ""},
                      {"jobsTruncated", true}};
  CHECK(bj::value(to_json(*parse_cron_overview(overview)))
        == bj::value(overview));
  bj::object page{{"runs", bj::array{full_summary()}}, {"nextCursor", "c"}};
  CHECK(bj::value(to_json(*parse_cron_run_page(page))) == bj::value(page));
}

TEST_CASE("the error of a cron record says nothing of it") {
  auto parsed = parse_cron_job(with(job(), "secret", "s3cret"));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error() == cron_wire_error());
  CHECK(sentence_of(parsed.error()).find("s3cret") == std::string::npos);
}

TEST_CASE("no member of a run takes null, another type or company") {
  for (const auto& member : full_summary()) {
    auto name = std::string{member.key()};
    CAPTURE(name);
    CHECK_FALSE(is_summary(with(full_summary(), name.c_str(), nullptr)));
    CHECK_FALSE(is_summary(with(full_summary(), name.c_str(), bj::object{})));
    CHECK_FALSE(is_summary(with(full_summary(), name.c_str(), 0.5)));
  }
  CHECK_FALSE(is_summary(with(summary(), "extra", 1)));
  CHECK_FALSE(is_summary(with(summary(), "events", bj::array{})));
  CHECK_FALSE(is_summary(with(summary(), "eventsIncluded", 0)));
  CHECK_FALSE(is_summary(with(summary(), "projection", "detail")));
  for (auto name : {"runId", "jobId", "scheduledAt", "orderedAt", "sequence",
                    "trigger", "status", "eventCount", "projection"}) {
    auto run = summary();
    run.erase(name);
    CHECK_FALSE_MESSAGE(is_summary(run), name);
  }
}

TEST_CASE("limits of a run") {
  struct row {
    const char* name;
    size_t summary;
    size_t detail;
  };
  const row rows[] = {
    {"text", 2048, 131'072},
    {"error", 512, 32'768},
    {"artifactRunId", 512, 4096},
    {"failureKind", 128, 512},
    {"blockedByRunId", 2048, 2048},
    {"runId", 2048, 2048},
    {"jobId", 256, 256},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto text = text_of_length(row.summary);
    CHECK(is_summary(with(summary(), row.name, text)));
    text = text_of_length(row.summary + 1);
    CHECK_FALSE(is_summary(with(summary(), row.name, text)));
    text = text_of_length(row.detail);
    CHECK(is_detail(with(detail(), row.name, text)));
    text = text_of_length(row.detail + 1);
    CHECK_FALSE(is_detail(with(detail(), row.name, text)));
  }
  CHECK(is_summary(with(summary(), "eventCount", 256)));
  CHECK_FALSE(is_summary(with(summary(), "eventCount", 257)));
  CHECK_FALSE(is_summary(with(summary(), "sequence", 0)));
  CHECK_FALSE(is_summary(with(summary(), "eventsTruncated", false)));
  CHECK(is_summary(with(summary(), "fieldsTruncated", bj::array{})));
  CHECK_FALSE(is_summary(with(summary(), "fieldsTruncated", {"text", "text"})));
  auto outcomes = [](size_t count) {
    return bj::value(to_json(std::vector<delivery_outcome>(count)));
  };
  CHECK_FALSE(is_summary(with(summary(), "replyPartOutcomes", outcomes(0))));
  CHECK_FALSE(is_summary(with(summary(), "replyPartOutcomes", outcomes(9))));
  CHECK(is_detail(with(detail(), "replyPartOutcomes", outcomes(20))));
}

TEST_CASE("events of a detail") {
  CHECK(is_detail(detail()));
  CHECK_FALSE(is_detail(detail({thought(1), thought(1), thought(1)})));
  CHECK_FALSE(is_detail(with(detail({thought(1)}), "eventsIncluded", 0)));
  CHECK_FALSE(is_detail(detail({bj::object{{"type", "future"}}})));
  CHECK(is_detail(detail({bj::object{{"type", "tool_call_completed"},
                                     {"id", "c"},
                                     {"structuredContent", 0.5}}})));
  // The limit is on the compact list, inclusive: 40 bytes besides the text.
  CHECK(is_detail(detail({thought(393'216 - 40)})));
  CHECK_FALSE(is_detail(detail({thought(393'216 - 39)})));
  CHECK_FALSE(is_detail(detail({thought(393'216 - 78), thought(0)})));
  bj::value deep;
  for (size_t i = 0; i < 10'000; ++i)
    deep = bj::array{std::move(deep)};
  CHECK_FALSE(is_detail(detail({bj::object{
    {"type", "tool_call_progress"}, {"id", "c"}, {"partialResult", deep}}})));
}

TEST_CASE("limits of a page") {
  bj::array runs(100, summary());
  CHECK(parse_cron_run_page(bj::object{{"runs", runs}}));
  runs.push_back(summary());
  CHECK_FALSE(parse_cron_run_page(bj::object{{"runs", runs}}));
  CHECK_FALSE(parse_cron_run_page(
    bj::object{{"runs", bj::array{}}, {"nextCursor", text_of_length(4097)}}));
  // Six bytes on the wire for each byte of the value: the page gets too large
  // while no member does.
  bj::array wide;
  bj::object page{{"runs", wide}};
  auto run = with(summary(), "text", bj::string(2048, '\x01'));
  size_t count = 0;
  for (; count < 100; ++count) {
    wide.push_back(run);
    page["runs"] = wide;
    if (!parse_cron_run_page(page))
      break;
  }
  CHECK(count < 100);
  CHECK(print_wire(page, 10'000'000)->size() > max_cron_response_bytes);
  // Exactly the limit, then one byte more.
  wide.pop_back();
  wide.push_back(summary());
  page["runs"] = wide;
  auto rest = max_cron_response_bytes - print_wire(page, 10'000'000)->size();
  REQUIRE(rest < 6 * 2048);
  rest -= std::string_view{",\"text\":\"\""}.size();
  wide.back().as_object()["text"] =
    std::string(rest / 6, '\x01') + std::string(rest % 6, 'x');
  page["runs"] = wide;
  CHECK(print_wire(page, 10'000'000)->size() == max_cron_response_bytes);
  CHECK(parse_cron_run_page(page));
  wide.front().as_object()["runId"] = "rr";
  page["runs"] = wide;
  CHECK_FALSE(parse_cron_run_page(page));
}

TEST_CASE("limits of an overview") {
  bj::object overview{{"generatedAt", instant},
                      {"actionsEnabled", true},
                      {"jobs", bj::array(64, job())}};
  CHECK(parse_cron_overview(overview));
  overview["jobs"] = bj::array(65, job());
  CHECK_FALSE(parse_cron_overview(overview));
  for (const auto& value : {bj::value(), bj::value(5), bj::value("x"),
                            bj::value(bj::array{}), bj::value(bj::object{})}) {
    CHECK_FALSE(parse_cron_overview(value));
    CHECK_FALSE(parse_cron_job(value));
    CHECK_FALSE(parse_cron_run_summary(value));
    CHECK_FALSE(parse_cron_run_detail(value));
    CHECK_FALSE(parse_cron_run_page(value));
  }
}

TEST_CASE("the query of a page") {
  CHECK(parse_cron_runs_query({}, {})->limit == 50);
  CHECK(parse_cron_runs_query("100", "c") == cron_runs_query{100, "c"});
  for (auto bad : {"0", "101", "x", "", "-1", "+1", "1.0", " 1", "0001"})
    CHECK_FALSE_MESSAGE(parse_cron_runs_query(bad, {}), bad);
  CHECK(parse_cron_runs_query({}, std::string(4096, 'c')));
  CHECK_FALSE(parse_cron_runs_query({}, std::string(4097, 'c')));
}
