#include "messages/codec/json_support.hpp"
#include "messages/contracts/ask.hpp"
#include "messages/contracts/cron_operator.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/contracts/settings_json.hpp"
#include "messages/contracts/stream_frame.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// A reproducible stream of numbers.
struct numbers {
  uint64_t state = 1;
  size_t below(size_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % bound;
  }
};

/// One small change of a text: a byte, a piece less, a piece twice, a word.
std::string mutated(std::string text, numbers& chance) {
  const std::string_view words[] = {
    "null",  "true", "1e400", "-1",          "9007199254740992",
    "\"\"",  "[]",   "{}",    "\"\\u0000\"", "0.5",
    "\"😀\"", "[[[[", "}",     "\xff"};
  auto pos = chance.below(text.size());
  auto length = 1 + chance.below(12);
  switch (chance.below(5)) {
  case 0:
    text[pos] = static_cast<char>(chance.below(256));
    break;
  case 1:
    text.erase(pos, length);
    break;
  case 2:
    text.insert(chance.below(text.size()), text.substr(pos, length));
    break;
  case 3:
    text.insert(pos, words[chance.below(std::size(words))]);
    break;
  default: {
    // A whole value becomes another one.
    auto colon = text.find(':', pos);
    auto end = text.find_first_of(",}", colon == text.npos ? pos : colon);
    if (colon != text.npos && end != text.npos)
      text.replace(colon + 1, end - colon - 1,
                   words[chance.below(std::size(words))]);
  }
  }
  return text.empty() ? std::string{"{}"} : text;
}

/// Mutates a text again and again and hands every result to `check`.
template <class Check>
void mutate(const std::string& base, Check check) {
  numbers chance;
  for (size_t i = 0; i < 1500; ++i) {
    auto text = base;
    for (size_t step = 0; step <= i % 4; ++step)
      text = mutated(std::move(text), chance);
    CAPTURE(text);
    check(text);
  }
}

const std::string job =
  R"({"schema":"mono-agent.process-job-projection.v1","jobId":"pj-1","tool":"Bash",)"
  R"("state":"queued","summary":"make","origin":{"conversationId":"chat:9",)"
  R"("channel":"chat","runId":"r1","historyBoundary":"r1","bucket":null},)"
  R"("timestamps":{"admittedAt":"2026-01-02T03:04:05.000Z",)"
  R"("queueDeadlineAt":"2026-01-02T03:09:05.000Z","startedAt":null,)"
  R"("runtimeDeadlineAt":null,"completedAt":null},"limits":{"maxRuntimeMs":600000,)"
  R"("maxOutputBytes":65536,"previewChars":2000,"chainDepth":0},)"
  R"("output":{"stdoutBytes":0,"stderrBytes":0,"truncated":false,"preview":"",)"
  R"("stdoutRef":"a/b","stderrRef":null},"wake":{"state":"pending","attempts":0,)"
  R"("deliveryKey":"k","lastAttemptAt":null},"exitCode":null,"signal":null,)"
  R"("durationMs":null,"cancelRequested":false,"lastError":null})";

const std::string detail =
  R"({"projection":"detail","runId":"r","jobId":"j",)"
  R"("scheduledAt":"2026-01-02T00:00:00.000Z","orderedAt":"2026-01-02T00:00:00.000Z",)"
  R"("sequence":4,"trigger":"scheduled","status":"succeeded","eventCount":3,)"
  R"("text":"done","fieldsTruncated":["text"],"replyPartOutcomes":[{"partIndex":0,)"
  R"("partType":"failure","status":"failed","code":"artifact_missing",)"
  R"("message":"Reply part failed before destination delivery."}],"events":[)"
  R"({"type":"usage_update","cumulativeUsd":0.5,"tokens":{"input":1,"output":2,)"
  R"("cacheRead":3,"cacheCreation":4}},{"type":"tool_call_completed","id":"c",)"
  R"("content":[1],"executionMs":1.5,"history":{"persistence":"persisted",)"
  R"("untrusted":true,"artifactReferences":[{"id":"a","available":true}]}}],)"
  R"("eventsIncluded":2})";

const std::string frames[] = {
  R"({"kind":"finish","finalText":"x","metadata":{"runId":"r"},"parts":[)"
  R"({"type":"failure","id":"p","code":"artifact_missing","message":"m"},)"
  R"({"type":"future","id":"x"}]})",
  R"({"kind":"event","event":{"type":"provider_status","kind":"retry_started",)"
  R"("durationMs":12.5,"retryIndex":1,"metadata":{"a":{}}}})",
  R"({"kind":"error","message":"stopped","code":"cancelled","cancelled":true})",
  R"({"kind":"append","delta":"😀"})",
};

} // namespace

TEST_CASE("mutated projections are refused or survive the wire") {
  size_t accepted = 0;
  mutate(job, [&accepted](const std::string& text) {
    auto parsed = parse_process_job_projection(json::parse(text).value);
    if (!parsed)
      return;
    ++accepted;
    auto again = parse_process_job_projection(to_json(parsed.projection));
    CHECK(again);
    CHECK(again.projection == parsed.projection);
  });
  CHECK(accepted > 0);
}

TEST_CASE("mutated runs are refused or survive the wire") {
  size_t accepted = 0;
  mutate(detail, [&accepted](const std::string& text) {
    auto parsed = parse_cron_run_detail(json::parse(text).value);
    if (!parsed)
      return;
    ++accepted;
    auto again = parse_cron_run_detail(to_json(*parsed));
    REQUIRE(again);
    CHECK(*again == *parsed);
  });
  CHECK(accepted > 0);
}

TEST_CASE("mutated frames are refused or can be sent again") {
  size_t accepted = 0;
  for (const auto& base : frames)
    mutate(base, [&accepted](const std::string& text) {
      auto parsed = parse_frame(text);
      if (!parsed)
        return;
      ++accepted;
      auto same = parse_frame(serialize_frame(*parsed));
      REQUIRE(same);
      auto frame = read_frame(*parsed);
      for (const auto& line : frame_lines(frame)) {
        auto again = parse_frame(line);
        REQUIRE(again);
        CHECK(read_frame(*again).kind == frame.kind);
      }
    });
  CHECK(accepted > 0);
}

TEST_CASE("any value is something to the tolerant readers") {
  for (const auto& base : {job, detail, frames[0], frames[1]})
    mutate(base, [](const std::string& text) {
      auto value = json::parse(text).value;
      auto outcomes = sanitize_outcomes(value);
      CHECK(outcomes.empty());
      to_json(parse_stream_event(value));
      to_json(parse_reply_part(value));
      static_cast<void>(parse_ask(value));
      auto settings = parse_settings_json(text, "/s");
      if (settings)
        CHECK(patched_settings_text(text, {}, "/s"));
    });
}
