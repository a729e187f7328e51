#include "messages/contracts/stream_event.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

bj::value value_of(std::string_view text) {
  auto parsed = json::parse(text);
  REQUIRE(parsed);
  return parsed.value;
}

/// One full event of every kind.
const char* const full_events[] = {
  R"({"type":"assistant_thought","text":"hm","metadata":{"subagent":{"id":"s"}}})",
  R"({"type":"tool_call_started","id":"c","name":"n","arguments":[1,null],)"
  R"("history":{"persistence":"persisted","untrusted":true},"metadata":{}})",
  R"({"type":"tool_call_completed","id":"c","name":"n","arguments":{},)"
  R"("content":"x","structuredContent":{"a":null},"isError":true,"executionMs":999.6,)"
  R"("history":{"recordId":"r","sequence":3,"persistence":"failed",)"
  R"("terminalState":"exit_nonzero","truncated":false,"originalBytes":9,)"
  R"("retainedBytes":8,"artifactReferences":[],"errorCode":"e","untrusted":true}})",
  R"({"type":"tool_call_progress","id":"c","name":"n","partialResult":0.5})",
  R"({"type":"usage_update","model":"m","cumulativeUsd":0.012345,)"
  R"("tokens":{"input":1,"output":2,"cacheRead":3,"cacheCreation":4}})",
  R"({"type":"provider_status","kind":"retry_started","model":"m","from":"a","to":"b",)"
  R"("attemptIndex":0,"retryIndex":1,"reason":"r","durationMs":12,"cancelled":false})",
  R"({"type":"memory_recalled","source":"s","bytes":5})",
  R"({"type":"runtime_telemetry","kind":"k","data":{"x":[]}})",
  R"({"type":"runtime_warning","message":"m","warningKind":"w"})",
};

const char* const bare_events[] = {
  R"({"type":"assistant_thought","text":""})",
  R"({"type":"tool_call_started","id":"","name":""})",
  R"({"type":"tool_call_completed","id":"c"})",
  R"({"type":"tool_call_progress","id":"c"})",
  R"({"type":"usage_update"})",
  R"({"type":"provider_status","kind":"request_started"})",
  R"({"type":"memory_recalled"})",
  R"({"type":"runtime_telemetry","kind":""})",
  R"({"type":"runtime_warning","message":""})",
};

} // namespace

TEST_CASE("events survive the wire") {
  for (const auto& list : {full_events, bare_events})
    for (size_t i = 0; i < std::size(full_events); ++i) {
      CAPTURE(list[i]);
      auto value = value_of(list[i]);
      CHECK(is_stream_event(value));
      auto event = parse_stream_event(value);
      CHECK(event.kind != stream_event_kind::unknown);
      CHECK(to_json(event) == value);
    }
}

TEST_CASE("a later version's event is kept as it came") {
  for (auto text :
       {R"({"type":"future","x":9})", R"({"type":"unknown"})",
        R"({"type":"assistant_thought","text":5})", "[1]", "null"}) {
    auto value = value_of(text);
    CHECK_FALSE(is_stream_event(value));
    auto event = parse_stream_event(value);
    CHECK(event.kind == stream_event_kind::unknown);
    CHECK(to_json(event) == value);
  }
}

TEST_CASE("a later version's member is passed over") {
  auto value = value_of(
    R"({"type":"tool_call_started","id":"c","name":"n","later":{"x":1},)"
    R"("history":{"persistence":"persisted","untrusted":true,"later":1}})");
  CHECK_FALSE(is_stream_event(value));
  auto event = parse_stream_event(value);
  CHECK(event.kind == stream_event_kind::tool_call_started);
  CHECK(event.id == "c");
}

TEST_CASE("no member of the schema takes null or another type") {
  for (auto text : full_events) {
    auto whole = value_of(text);
    for (const auto& member : whole.as_object()) {
      auto name = std::string{member.key()};
      auto open = name == "arguments" || name == "content"
                  || name == "structuredContent" || name == "partialResult";
      for (const auto& wrong : {bj::value(), bj::value(bj::array{})}) {
        CAPTURE(text);
        CAPTURE(name);
        auto changed = whole;
        changed.as_object()[name] = wrong;
        CHECK(is_stream_event(changed) == open);
      }
    }
  }
}

TEST_CASE("payloads that are too large or too deep make an event unknown") {
  bj::object event{{"type", "tool_call_progress"},
                   {"id", "c"},
                   {"partialResult", std::string(2u << 20, 'x')}};
  CHECK(parse_stream_event(event).kind == stream_event_kind::unknown);
  bj::value deep;
  for (size_t i = 0; i < 10'000; ++i)
    deep = bj::array{std::move(deep)};
  event["partialResult"] = std::move(deep);
  CHECK(parse_stream_event(event).kind == stream_event_kind::unknown);
}
