#include "messages/contracts/process_job.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

bj::object valid_job() {
  return json::parse(
           R"({"schema":"mono-agent.process-job-projection.v1","jobId":"pj-1",
    "tool":"Bash","state":"running","summary":"make",
    "origin":{"conversationId":"chat:9","channel":"chat","runId":"r1",
      "historyBoundary":"r1","bucket":null},
    "timestamps":{"admittedAt":"2026-01-02T03:04:05.000Z",
      "queueDeadlineAt":"2026-01-02T03:09:05.000Z","startedAt":null,
      "runtimeDeadlineAt":"2026-01-02T03:09:05.000Z","completedAt":null},
    "limits":{"maxRuntimeMs":600000,"maxOutputBytes":65536,
      "previewChars":2000,"chainDepth":0},
    "output":{"stdoutBytes":1,"stderrBytes":0,"truncated":false,"preview":"x",
      "stdoutRef":"a/b","stderrRef":null},
    "wake":{"state":"pending","attempts":0,"deliveryKey":"k",
      "lastAttemptAt":null},
    "exitCode":-1,"signal":"SIGTERM","durationMs":5,"cancelRequested":true,
    "lastError":{"code":"process_job_failed",
      "message":"The process job failed."}})")
    .value.as_object();
}

projection_fault fault_of(const bj::value& value) {
  return parse_process_job_projection(value).fault;
}

/// Fault of the valid job with one member of it changed.
projection_fault changed(std::string_view part, const char* name,
                         bj::value value) {
  auto job = valid_job();
  auto& target = part.empty() ? job : job[part].as_object();
  target[name] = std::move(value);
  return fault_of(job);
}

bj::string repeated(std::string_view unit, size_t times) {
  bj::string result;
  for (size_t i = 0; i < times; ++i)
    result += unit;
  return result;
}

} // namespace

TEST_CASE("a projection survives the wire") {
  auto parsed = parse_process_job_projection(valid_job());
  REQUIRE(parsed);
  CHECK(bj::value(to_json(parsed.projection)) == bj::value(valid_job()));
}

TEST_CASE("no member may be missing, foreign or of another type") {
  struct part {
    const char* name;
    projection_fault fault;
  };
  const part parts[] = {
    {"", projection_fault::envelope},
    {"origin", projection_fault::origin},
    {"timestamps", projection_fault::timestamps},
    {"limits", projection_fault::limits},
    {"output", projection_fault::output},
    {"wake", projection_fault::wake},
    {"lastError", projection_fault::last_error},
  };
  for (const auto& part : parts) {
    CAPTURE(part.name);
    auto job = valid_job();
    auto members = part.name[0] == '\0' ? job : job[part.name].as_object();
    for (const auto& member : members) {
      auto name = std::string{member.key()};
      CAPTURE(name);
      auto without = valid_job();
      auto& target =
        part.name[0] == '\0' ? without : without[part.name].as_object();
      target.erase(name);
      CHECK(fault_of(without) == part.fault);
      auto sub_object = part.name[0] == '\0' && member.value().is_object();
      if (!sub_object)
        CHECK(changed(part.name, name.c_str(), bj::array{}) == part.fault);
    }
    CHECK(changed(part.name, "extra", nullptr) == part.fault);
  }
}

TEST_CASE("limits of a projection") {
  CHECK(changed("limits", "chainDepth", 8) == projection_fault::none);
  CHECK(changed("limits", "chainDepth", 9) == projection_fault::limits);
  CHECK(changed("limits", "maxRuntimeMs", 86'400'001)
        == projection_fault::limits);
  CHECK(changed("", "jobId", repeated("é", 128)) == projection_fault::none);
  CHECK(changed("", "jobId", repeated("é", 129)) == projection_fault::envelope);
  CHECK(changed("", "jobId", " \u3000") == projection_fault::envelope);
  CHECK(changed("", "durationMs", 2.0) == projection_fault::none);
  CHECK(changed("", "durationMs", 2.5) == projection_fault::envelope);
  CHECK(changed("", "exitCode", uint64_t{1} << 63)
        == projection_fault::envelope);
}

TEST_CASE("references stay inside") {
  for (auto good : {"a", "a/b", "日本/x y", "a:b", "...", ".a"})
    CHECK_MESSAGE(
      changed("output", "stdoutRef", good) == projection_fault::none, good);
  for (auto bad : {"", " ", "/x", "../x", "a/../b", "a//b", "a/", ".", "..",
                   "./a", "a\\b", "a/.."})
    CHECK_MESSAGE(
      changed("output", "stderrRef", bad) == projection_fault::output, bad);
  CHECK(changed("output", "stdoutRef", repeated("a/", 1'000'000))
        == projection_fault::output);
}

TEST_CASE("the output keeps to its limits") {
  auto job = valid_job();
  job["limits"].as_object()["previewChars"] = 8000;
  job["output"].as_object()["preview"] = repeated("😀", 4000);
  CHECK(fault_of(job) == projection_fault::none);
  job["output"].as_object()["preview"] = repeated("日", 8000);
  CHECK(fault_of(job) == projection_fault::none);
  job["output"].as_object()["preview"] = repeated("😀", 4000).append("a");
  CHECK(fault_of(job) == projection_fault::output);
  CHECK(changed("limits", "previewChars", 1) == projection_fault::none);
  CHECK(changed("output", "preview", repeated("a", 2001))
        == projection_fault::output_limits);
  CHECK(changed("output", "stderrBytes", 65'536)
        == projection_fault::output_limits);
  CHECK(changed("output", "stderrBytes", max_safe_integer)
        == projection_fault::output_limits);
}

TEST_CASE("an error's message is the public one") {
  auto job = valid_job();
  job["lastError"] = {{"code", "process_job_store_error"},
                      {"message", "secret at /path"}};
  auto parsed = parse_process_job_projection(job);
  REQUIRE(parsed);
  auto text = json::print(to_json(parsed.projection)["lastError"]);
  CHECK(
    text
    == R"({"code":"process_job_store_error","message":"Process-job storage failed."})");
}

TEST_CASE("lists of projections") {
  CHECK(parse_process_job_projections(bj::array{}));
  CHECK(parse_process_job_projections(bj::object{}).fault
        == projection_fault::list);
  bj::array full(max_process_job_lifecycles, valid_job());
  auto parsed = parse_process_job_projections(full);
  CHECK(parsed.projections.size() == max_process_job_lifecycles);
  full.push_back(valid_job());
  CHECK(parse_process_job_projections(full).fault == projection_fault::list);
  bj::array bad{valid_job(), nullptr};
  auto refused = parse_process_job_projections(bad);
  CHECK(refused.fault == projection_fault::envelope);
  CHECK(refused.projections.empty());
}

TEST_CASE("hostile projections") {
  for (const auto& value : {bj::value(), bj::value(5), bj::value("x"),
                            bj::value(bj::array{1}), bj::value(bj::object{})})
    CHECK(fault_of(value) == projection_fault::envelope);
  bj::value deep;
  for (size_t i = 0; i < 10'000; ++i)
    deep = bj::array{std::move(deep)};
  CHECK(changed("", "origin", deep) == projection_fault::origin);
  CHECK(changed("", "summary", repeated("x", 20'000'000))
        == projection_fault::envelope);
  CHECK_FALSE(is_process_job_state("active"));
  CHECK_FALSE(is_process_job_state(nullptr));
  CHECK_FALSE(is_process_job_error_code("process_job_timed_out"));
}

TEST_CASE("every error code has its name and its message") {
  for (int i = 0; i < 22; ++i) {
    auto code = static_cast<process_job_error_code>(i);
    CHECK(parse_process_job_error_code(to_string(code)) == code);
    CHECK(public_message(code).ends_with("."));
  }
  CHECK(to_string(process_job_error_code::process_job_invalid)
        == "process_job_invalid");
  CHECK(is_ended(process_job_state::succeeded));
  CHECK_FALSE(is_ended(process_job_state::running));
}
