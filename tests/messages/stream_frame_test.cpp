#include "messages/contracts/stream_frame.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

stream_frame text_frame(frame_kind kind, std::string text) {
  stream_frame frame;
  frame.kind = kind;
  frame.text = std::move(text);
  return frame;
}

stream_frame event_frame(stream_event event) {
  stream_frame frame;
  frame.kind = frame_kind::event;
  frame.event = std::move(event);
  return frame;
}

/// Every line is short enough, a line, and a frame.
std::vector<bj::object> parsed_lines(const stream_frame& frame) {
  std::vector<bj::object> result;
  for (const auto& line : frame_lines(frame)) {
    CHECK(line.size() <= frame_line_bytes);
    CHECK(line.find('\n') == line.size() - 1);
    auto parsed = parse_frame(line);
    REQUIRE(parsed);
    result.push_back(*parsed);
  }
  return result;
}

std::string text_at(const bj::object& frame, const char* name) {
  return json::text_or_empty(frame, name);
}

bool ends_with_mark(const std::string& text) {
  return text.ends_with("… [truncated]");
}

reply_part failed(std::string id, std::string message) {
  failed_part part;
  part.id = std::move(id);
  part.message = std::move(message);
  return part;
}

} // namespace

TEST_CASE("a typed frame survives the wire") {
  stream_event event;
  event.kind = stream_event_kind::tool_call_completed;
  event.id = "c1";
  event.content = json_text{R"({"a":[1,0.5]})"};
  event.is_error = false;
  event.duration_us = 1500;
  event.history = tool_history{};
  event.history->sequence = 4;
  event.history->artifacts = std::vector<tool_artifact>{{"a", true}};
  auto finish = text_frame(frame_kind::finish, "done");
  finish.metadata = json_text{R"({"runId":"r"})"};
  finish.parts = {failed("p", "m")};
  auto error = text_frame(frame_kind::error, "stopped");
  error.code = std::string{"cancelled"};
  error.cancelled = true;
  stream_frame silent;
  silent.kind = frame_kind::finish;
  for (const auto& frame :
       {text_frame(frame_kind::status, "…"), text_frame(frame_kind::append, ""),
        text_frame(frame_kind::replace, "a\nb\u2028"), event_frame(event),
        finish, error, silent}) {
    auto lines = frame_lines(frame);
    REQUIRE(lines.size() == 1);
    CHECK(read_frame(*parse_frame(lines.front())) == frame);
  }
  CHECK(frame_lines(event_frame(event)).front()
        == R"({"kind":"event","event":{"type":"tool_call_completed","id":"c1",)"
           R"("content":{"a":[1,0.5]},"isError":false,"executionMs":1.5,)"
           R"("history":{"sequence":4,"persistence":"failed",)"
           R"("artifactReferences":[{"id":"a","available":true}],)"
           R"("untrusted":true}}})"
           "\n");
}

TEST_CASE("an append is divided without loss") {
  auto lines =
    frame_lines(text_frame(frame_kind::append, std::string(262'116, 'x')));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() == frame_line_bytes);
  CHECK(lines[1].size() == 30);
  std::string hard;
  for (size_t i = 0; i < 60'000; ++i)
    hard += "\x01😀\"é日\n";
  std::string joined;
  for (const auto& frame : parsed_lines(text_frame(frame_kind::append, hard)))
    joined += text_at(frame, "delta");
  CHECK(joined == hard);
}

TEST_CASE("every line says what it is about, however it is cut") {
  const json_text about{R"({"messageId":"m1"})"};
  stream_event event;
  event.kind = stream_event_kind::usage_update;
  event.model = std::string(300'000, 'x');
  for (auto frame : {text_frame(frame_kind::append, std::string(600'000, 'x')),
                     text_frame(frame_kind::status, std::string(300'000, 'x')),
                     text_frame(frame_kind::finish, std::string(300'000, 'x')),
                     text_frame(frame_kind::error, "no"), event_frame(event)}) {
    frame.metadata = about;
    CAPTURE(to_string(frame.kind));
    std::string deltas;
    for (const auto& line : parsed_lines(frame)) {
      auto metadata = json::member(line, "metadata");
      REQUIRE(metadata != nullptr);
      CHECK(json::text_or_empty(metadata->get_object(), "messageId") == "m1");
      CHECK(read_frame(line).metadata.text.find("m1") != std::string::npos);
      deltas += json::text_or_empty(line, "delta");
    }
    if (frame.kind == frame_kind::append)
      CHECK(deltas == *frame.text);
  }
  SUBCASE("when that leaves no room for a character, it is an error") {
    auto frame = text_frame(frame_kind::append, "x");
    frame.metadata =
      json_text{json::print(bj::object{{"a", std::string(262'200, 'x')}})};
    auto lines = parsed_lines(frame);
    REQUIRE(lines.size() == 1);
    CHECK(json::text_or_empty(lines[0], "code") == "frame_too_large");
  }
}

TEST_CASE("text that is too long is cut and marked") {
  for (auto kind :
       {frame_kind::status, frame_kind::replace, frame_kind::error}) {
    auto frames = parsed_lines(text_frame(kind, std::string(300'000, '\x02')));
    REQUIRE(frames.size() == 1);
    auto name = kind == frame_kind::error ? "message" : "text";
    CHECK(ends_with_mark(text_at(frames[0], name)));
  }
  // The longest that fits: one more character would not.
  auto line =
    frame_lines(text_frame(frame_kind::status, std::string(300'000, 'x')))
      .front();
  CHECK(line.size() == frame_line_bytes);
}

TEST_CASE("payloads of an event are cut, the largest first") {
  stream_event event;
  event.kind = stream_event_kind::tool_call_completed;
  event.id = "c";
  event.arguments = json_text{R"({"path":"x"})"};
  event.content = json_text{'"' + std::string(400'000, 'x') + '"'};
  event.structured_content = json_text{R"({"rows":3})"};
  event.metadata = json_text{R"({"k":1})"};
  auto frames = parsed_lines(event_frame(event));
  REQUIRE(frames.size() == 1);
  auto& cut = frames[0]["event"].as_object();
  CHECK(ends_with_mark(text_at(cut, "content")));
  CHECK(cut["arguments"].is_object());
  CHECK(cut["structuredContent"].is_object());
  CHECK(json::print(cut["metadata"]) == R"({"k":1,"truncated":true})");

  event.structured_content =
    json_text{R"({"rows":")" + std::string(500'000, 'y') + "\"}"};
  frames = parsed_lines(event_frame(event));
  CHECK_FALSE(frames[0]["event"].as_object().contains("structuredContent"));
}

TEST_CASE("arguments that are an object are cut as text") {
  stream_event event;
  event.kind = stream_event_kind::tool_call_started;
  event.id = "c";
  event.name = std::string{"Write"};
  event.arguments =
    json_text{R"({"content":")" + std::string(400'000, 'x') + "\"}"};
  auto frames = parsed_lines(event_frame(event));
  auto text = text_at(frames[0]["event"].as_object(), "arguments");
  CHECK(text.starts_with(R"({"content":"xxx)"));
  CHECK(ends_with_mark(text));
}

TEST_CASE("a thought is cut without a mark") {
  stream_event event;
  event.kind = stream_event_kind::assistant_thought;
  for (size_t i = 0; i < 100'000; ++i)
    event.text += "😀";
  auto frames = parsed_lines(event_frame(event));
  auto& cut = frames[0]["event"].as_object();
  CHECK(text_at(cut, "text").ends_with("😀"));
  CHECK(json::print(cut["metadata"]) == R"({"truncated":true})");
}

TEST_CASE("an event that cannot be cut leaves a marker") {
  stream_event event;
  event.kind = stream_event_kind::usage_update;
  event.model = std::string(300'000, 'm');
  auto lines = frame_lines(event_frame(event));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() == 148);
  auto frame = read_frame(*parse_frame(lines[0]));
  CHECK(frame.event.telemetry_kind == "oversized_event");
  CHECK(frame.event.data.text == R"({"originalType":"usage_update"})");

  event = {};
  event.raw = json_text{R"({"type":")" + std::string(300'000, 't') + "\"}"};
  auto frames = parsed_lines(event_frame(event));
  auto data =
    frames[0]["event"].as_object()["data"].as_object()["originalType"];
  CHECK(data.as_string().size() == 128);
}

TEST_CASE("an answer with too many parts says so") {
  auto frame = text_frame(frame_kind::finish, "x");
  for (size_t i = 0; i < 25; ++i)
    frame.parts.push_back(failed("p" + std::to_string(i), "m"));
  auto frames = parsed_lines(frame);
  auto& parts = frames[0]["parts"].as_array();
  REQUIRE(parts.size() == 20);
  CHECK(text_at(parts[18].as_object(), "id") == "p18");
  CHECK(text_at(parts[19].as_object(), "id") == "wire-rich-parts-over-limit");
  CHECK(text_at(parts[19].as_object(), "code") == "reply_part_too_large");
}

TEST_CASE("an answer that is too large keeps what matters") {
  auto frame = text_frame(frame_kind::finish, "short");
  frame.metadata =
    json_text{R"({"runId":")" + std::string(600, 'r') + R"(","big":")"
              + std::string(300'000, 'x') + "\"}"};
  auto frames = parsed_lines(frame);
  CHECK(text_at(frames[0], "finalText") == "short");
  auto& metadata = frames[0]["metadata"].as_object();
  CHECK(metadata.size() == 2);
  CHECK(metadata["truncated"] == true);
  CHECK(text_at(metadata, "runId").size() == 512);

  frame.text = std::string(300'000, 'x');
  frame.parts = {failed("p", "m")};
  frames = parsed_lines(frame);
  CHECK(ends_with_mark(text_at(frames[0], "finalText")));
  CHECK(frames[0]["parts"].as_array().size() == 1);

  frame.text = std::string{"short"};
  frame.parts = {failed("a", "m"), failed("b", std::string(200'000, 'b')),
                 failed("c", std::string(200'000, 'c'))};
  frames = parsed_lines(frame);
  auto& parts = frames[0]["parts"].as_array();
  REQUIRE(parts.size() == 3);
  CHECK(text_at(parts[0].as_object(), "id") == "wire-rich-parts-truncated");
  CHECK(text_at(parts[1].as_object(), "id") == "a");
  CHECK(text_at(parts[2].as_object(), "id") == "b");
}

TEST_CASE("what was too large to be kept does not break its frame") {
  stream_event event;
  event.raw = json_text{"null"};
  auto frames = parsed_lines(event_frame(event));
  CHECK(text_at(frames[0]["event"].as_object(), "kind") == "oversized_event");

  auto frame = text_frame(frame_kind::finish, "x");
  frame.parts = {failed("a", "m"), unknown_part{json_text{"null"}},
                 failed("", "m"),
                 unknown_part{json_text{R"({"type":"new","id":"n"})"}}};
  frames = parsed_lines(frame);
  auto& parts = frames[0]["parts"].as_array();
  REQUIRE(parts.size() == 4);
  CHECK(text_at(parts[0].as_object(), "id") == "a");
  CHECK(text_at(parts[1].as_object(), "id") == "wire-part-unreadable");
  CHECK(text_at(parts[2].as_object(), "id") == "wire-part-unreadable");
  CHECK(text_at(parts[3].as_object(), "id") == "n");
}

TEST_CASE("nesting that only just parses does not break its frame") {
  stream_event event;
  event.kind = stream_event_kind::tool_call_started;
  event.id = "c";
  event.name = std::string{"n"};
  event.arguments = json_text{std::string(256, '[') + std::string(256, ']')};
  auto frames = parsed_lines(event_frame(event));
  CHECK(ends_with_mark(text_at(frames[0]["event"].as_object(), "arguments")));
  auto frame = text_frame(frame_kind::finish, "x");
  frame.metadata =
    json_text{R"({"a":)" + std::string(255, '[') + std::string(255, ']') + "}"};
  frames = parsed_lines(frame);
  CHECK(text_at(frames[0], "finalText") == "x");
}

TEST_CASE("an error whose code is too large is told as such") {
  auto frame = text_frame(frame_kind::error, "x");
  frame.code = std::string(300'000, 'c');
  auto frames = parsed_lines(frame);
  REQUIRE(frames.size() == 1);
  CHECK(text_at(frames[0], "code") == "frame_too_large");
}

TEST_CASE("hostile lines are refused") {
  auto refused = [](std::string_view line) {
    auto frame = parse_frame(line);
    return !frame && code_of(frame.error()) == errc::bad_request;
  };
  CHECK(refused(std::string(frame_read_bytes + 1, ' ')));
  CHECK(refused(std::string(100'000, '[')));
  CHECK(refused(R"({"kind":"append","delta":"x","deep":)"
                + std::string(300, '[') + std::string(300, ']') + "}"));
  CHECK(refused("{\"kind\":\"append\",\"delta\":\"\xff\"}"));
  CHECK(refused(R"({"kind":"append","delta":"\ud800"})"));
  CHECK(refused("\xef\xbb\xbf{\"kind\":\"append\",\"delta\":\"x\"}"));
  CHECK(refused(R"({"kind":"append","delta":"x","delta":5})"));
  std::string parts = R"({"kind":"finish","parts":[)";
  for (size_t i = 0; i < 21; ++i)
    parts += (i == 0 ? "" : ",") + std::string{R"({"type":"x","id":"y"})"};
  CHECK(refused(parts + "]}"));
  // The offending text is not repeated.
  CHECK(sentence_of(parse_frame("{secret").error()).find("secret")
        == std::string::npos);
}

TEST_CASE("optional members of a wrong type count as absent") {
  auto frame = read_frame(*parse_frame(
    R"({"kind":"finish","finalText":5,"metadata":"x","parts":[{"type":"new","id":"x"}]})"));
  CHECK_FALSE(frame.text);
  CHECK(frame.metadata.empty());
  CHECK(frame.parts.size() == 1);
  frame = read_frame(
    *parse_frame(R"({"kind":"error","message":"x","code":5,"cancelled":1})"));
  CHECK_FALSE(frame.code);
  CHECK_FALSE(frame.cancelled);
}
