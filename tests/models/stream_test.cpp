#include "messages/codec/json_support.hpp"
#include "messages/model/error_text.hpp"
#include "tests/models/model_support.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using test::lab_request;
using test::play;
using test::sink_record;

namespace {

struct api_row {
  const char* api;
  std::string body;
};

std::vector<api_row> recorded() {
  return {{"openai-completions", test::recorded_chat()},
          {"anthropic-messages", test::recorded_anthropic()}};
}

sink_record whole(const std::string& api, std::string_view body) {
  return play(lab_request(api), body, {body.size()});
}

/// One chunk of chat completions.
std::string chat(std::string_view json) {
  return "data: " + std::string{json} + "\n\n";
}

std::string choice(std::string_view delta, std::string_view more = "") {
  return chat(R"({"choices":[{"index":0,"delta":)" + std::string{delta}
              + std::string{more} + "}]}");
}

std::string anthropic(std::string_view name, std::string_view json) {
  return "event: " + std::string{name} + "\ndata: " + std::string{json}
         + "\n\n";
}

const std::string chat_end = choice("{}", R"(,"finish_reason":"stop")");

const transcript_message& message_of(const sink_record& record) {
  REQUIRE(record.ends.size() == 1);
  return record.ends[0].message;
}

std::string kinds(const sink_record& record) {
  constexpr const char* letters[] = {"S", "t", ".", "T", "h",
                                     ",", "H", "c", ":", "C"};
  std::string result;
  for (const auto& event : record.events)
    result +=
      letters[static_cast<size_t>(event.kind)] + std::to_string(event.index);
  return result;
}

void check_bound(const test::sink_record& record, std::string_view what) {
  REQUIRE(record.ends.size() == 1);
  const auto& end = record.ends[0];
  CHECK_FALSE(is_retryable(end.failure.error));
  CHECK(end.message.stop == stop_reason::error);
  CHECK(end.message.error_message->find(what) != std::string::npos);
}

} // namespace

TEST_CASE("the recorded answers of both apis (case 60)") {
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    auto record = whole(x.api, x.body);
    const auto& message = message_of(record);
    CHECK(record.ends[0].failure.error == model_error_class::none);
    CHECK(message.role == message_role::assistant);
    CHECK(message.stop == stop_reason::tool_use);
    CHECK(message.error_message.empty());
    REQUIRE(message.content.size() == 2);
    CHECK(message.content[0] == text_block("Hi"));
    CHECK(message.content[1]
          == test::call_of("c1", "read", R"({"path":"a.txt"})"));
    CHECK(message.spent.total_tokens == 24);
    CHECK(message.spent.output == 7);
    CHECK(message.spent.cache_read == 5);
    CHECK(message.provider == "lab");
    CHECK(message.model == "tiny");
    CHECK(message.response_model.empty());
    CHECK_FALSE(message.response_id.empty());
    CHECK(message.timestamp_ms == 7);
    // Exactly the events of a stream, ends of chat blocks after the last chunk.
    auto expected = std::string{x.api} == "openai-completions"
                      ? "S0t0.0.0c1:1:1T0C1"
                      : "S0t0.0.0T0c1:1:1C1";
    CHECK(kinds(record) == expected);
    CHECK(record.events.back().block == message.content[1]);
  }
  auto chat_usage =
    message_of(whole("openai-completions", test::recorded_chat()));
  CHECK(chat_usage.spent.input == 12);
  CHECK(chat_usage.spent.reasoning == 3);
  auto usage =
    message_of(whole("anthropic-messages", test::recorded_anthropic()));
  CHECK(usage.spent.input == 10);
  CHECK(usage.spent.cache_write == 2);
}

TEST_CASE("an answer is the same however its bytes are cut in two") {
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    auto expected = whole(x.api, x.body);
    for (size_t cut = 1; cut < x.body.size(); ++cut) {
      auto record =
        play(lab_request(x.api), x.body, {cut, x.body.size() - cut});
      if (record.events != expected.events || record.ends != expected.ends)
        FAIL_CHECK("another answer when cut at byte " << cut);
    }
  }
}

TEST_CASE("an answer is the same byte by byte and with other line ends") {
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    auto expected = whole(x.api, x.body);
    CHECK(play(lab_request(x.api), x.body, {1}).events == expected.events);
    CHECK(play(lab_request(x.api), x.body, {1}).ends == expected.ends);
    std::string other;
    for (auto c : x.body)
      other += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(play(lab_request(x.api), other, {3, 1, 2}).ends == expected.ends);
  }
}

TEST_CASE("a stream that ends early is truncated, and may be retried") {
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    auto anthropic_api = std::string{x.api} == "anthropic-messages";
    auto closing =
      x.body.find(anthropic_api ? "event: message_stop"
                                : "data: {\"id\":\"r1\",\"choices\":"
                                  "[{\"index\":0,\"delta\":{},");
    for (size_t size = 0; size < x.body.size(); ++size) {
      auto record =
        play(lab_request(x.api), x.body.substr(0, size), {size + 1});
      CAPTURE(size);
      REQUIRE(record.ends.size() == 1);
      const auto& end = record.ends[0];
      if (size <= closing) {
        CHECK(end.failure.error == model_error_class::truncated);
        CHECK(end.message.stop == stop_reason::error);
        CHECK(end.message.error_class == "truncated");
        // Older readers go by the words.
        CHECK(is_retryable(classify_error_text(end.message.error_message,
                                               error_text_rule::words)));
      }
      for (const auto& block : end.message.content)
        if (block.kind == block_kind::tool_call)
          CHECK(json::parse(block.arguments->text));
    }
  }
}

TEST_CASE("a connection that breaks keeps the content and says network") {
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    auto half = x.body.substr(0, x.body.size() / 2);
    auto record =
      play(lab_request(x.api), half, {half.size()}, http_error::reset);
    REQUIRE(record.ends.size() == 1);
    CHECK(record.ends[0].failure.error == model_error_class::network);
    CHECK(record.ends[0].failure.http_status == 200);
    CHECK(record.ends[0].message.content[0].text == "Hi");
    // A break after the last event changes nothing.
    auto late =
      play(lab_request(x.api), x.body, {x.body.size()}, http_error::reset);
    CHECK(late.ends == whole(x.api, x.body).ends);
  }
}

TEST_CASE("chat completions without the end mark are whole after the reason") {
  auto body = choice(R"({"content":"x"})") + chat_end;
  CHECK(message_of(whole("openai-completions", body)).stop
        == stop_reason::stop);
  auto broken = play(lab_request("openai-completions"), body, {body.size()},
                     http_error::truncated);
  CHECK(message_of(broken).stop == stop_reason::stop);
}

TEST_CASE("nothing comes after the terminal event") {
  auto body = test::recorded_chat() + choice(R"({"content":"late"})")
              + "data: [DONE]\n\n";
  auto record = whole("openai-completions", body);
  CHECK(record.ends.size() == 1);
  CHECK(record.events
        == whole("openai-completions", test::recorded_chat()).events);
}

TEST_CASE("reasons of chat completions") {
  struct row {
    const char* reason;
    stop_reason stop;
    model_error_class error;
  };
  const row rows[] = {
    {"stop", stop_reason::stop, model_error_class::none},
    {"end", stop_reason::stop, model_error_class::none},
    {"length", stop_reason::length, model_error_class::none},
    {"content_filter", stop_reason::error, model_error_class::unknown},
    {"network_error", stop_reason::error, model_error_class::network},
    {"odd", stop_reason::error, model_error_class::unknown},
  };
  for (const auto& x : rows) {
    CAPTURE(x.reason);
    auto record = whole(
      "openai-completions",
      choice(R"({"content":"x"})")
        + choice("{}", R"(,"finish_reason":")" + std::string{x.reason} + "\""));
    CHECK(message_of(record).stop == x.stop);
    CHECK(record.ends[0].failure.error == x.error);
    if (x.error != model_error_class::none)
      CHECK(record.ends[0].message.error_message->find(x.reason)
            != std::string::npos);
  }
}

TEST_CASE("reasons of Anthropic messages") {
  struct row {
    const char* delta;
    stop_reason stop;
    const char* said;
  };
  const row rows[] = {
    {R"({"stop_reason":"end_turn"})", stop_reason::stop, ""},
    {R"({"stop_reason":"pause_turn"})", stop_reason::stop, ""},
    {R"({"stop_reason":"stop_sequence"})", stop_reason::stop, ""},
    {R"({"stop_reason":"max_tokens"})", stop_reason::length, ""},
    {R"({"stop_reason":"sensitive"})", stop_reason::error, "sensitive"},
    {R"({"stop_reason":"refusal","stop_details":{"explanation":"no bombs"}})",
     stop_reason::error, "no bombs"},
    {R"({"stop_reason":"odd"})", stop_reason::error, "odd"},
    {"{}", stop_reason::error, "no stop reason"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.delta);
    auto record =
      whole("anthropic-messages",
            anthropic("message_start", R"({"message":{"id":"m"}})")
              + anthropic("message_delta",
                          R"({"delta":)" + std::string{x.delta} + "}")
              + anthropic("message_stop", "{}"));
    CHECK(message_of(record).stop == x.stop);
    CHECK(record.ends[0].message.error_message->find(x.said)
          != std::string::npos);
  }
}

TEST_CASE("thinking comes in its own block and keeps its signature") {
  SUBCASE("chat completions remember the member") {
    auto record = whole("openai-completions",
                        choice(R"({"reasoning":"a","content":null})")
                          + choice(R"({"reasoning":"b","reasoning_text":"no"})")
                          + choice(R"({"content":"x"})") + chat_end);
    const auto& message = message_of(record);
    REQUIRE(message.content.size() == 2);
    CHECK(message.content[0].kind == block_kind::thinking);
    CHECK(message.content[0].text == "ab");
    CHECK(message.content[0].signature == "reasoning");
    CHECK(kinds(record) == "S0h0,0,0t1.1H0T1");
  }
  SUBCASE("Anthropic appends signatures silently") {
    auto record = whole(
      "anthropic-messages",
      anthropic(
        "content_block_start",
        R"({"index":3,"content_block":{"type":"thinking","thinking":""}})")
        + anthropic(
          "content_block_delta",
          R"({"index":3,"delta":{"type":"thinking_delta","thinking":"t"}})")
        + anthropic(
          "content_block_delta",
          R"({"index":3,"delta":{"type":"signature_delta","signature":"ab"}})")
        + anthropic(
          "content_block_delta",
          R"({"index":3,"delta":{"type":"signature_delta","signature":"cd"}})")
        + anthropic("content_block_stop", R"({"index":3})")
        + anthropic(
          "content_block_start",
          R"({"index":4,"content_block":{"type":"redacted_thinking","data":"enc"}})")
        + anthropic("content_block_start",
                    R"({"index":5,"content_block":{"type":"server_thing"}})")
        + anthropic("content_block_delta",
                    R"({"index":5,"delta":{"type":"text_delta","text":"?"}})")
        + anthropic(
          "message_delta",
          R"({"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}})")
        + anthropic("message_stop", "{}"));
    const auto& message = message_of(record);
    REQUIRE(message.content.size() == 2);
    CHECK(message.content[0].text == "t");
    CHECK(message.content[0].signature == "abcd");
    CHECK(message.content[1].redacted);
    CHECK(message.content[1].signature == "enc");
    CHECK_FALSE(message.content[1].text.empty());
    CHECK(message.spent.reasoning == 4);
    CHECK(kinds(record) == "S0h0,0H0h1H1");
  }
}

TEST_CASE("calls of servers that bend the rules") {
  auto calls_of = [](const std::string& body) {
    auto record = whole("openai-completions", body + chat_end);
    std::string result;
    for (const auto& block : message_of(record).content)
      result += block.id + "=" + block.name + block.arguments->text + ";";
    return result;
  };
  SUBCASE("keyed by id, without index") {
    CHECK(
      calls_of(
        choice(
          R"({"tool_calls":[{"id":"a","function":{"name":"r","arguments":"{\"x\""}}]})")
        + choice(
          R"({"tool_calls":[{"id":"b","function":{"name":"s","arguments":"{}"}}]})")
        + choice(
          R"({"tool_calls":[{"id":"a","function":{"arguments":":1}"}}]})"))
      == R"(a=r{"x":1};b=s{};)");
  }
  SUBCASE("later pieces supply id and name") {
    CHECK(
      calls_of(
        choice(R"({"tool_calls":[{"index":1,"function":{"arguments":"{"}}]})")
        + choice(
          R"({"tool_calls":[{"index":1,"id":"a","function":{"name":"r","arguments":"}"}}]})"))
      == "a=r{};");
  }
  SUBCASE("no id at all") {
    CHECK(
      calls_of(
        choice(R"({"tool_calls":[{"function":{"name":"r","arguments":"{}"}}]})")
        + choice(
          R"({"tool_calls":[{"function":{"name":"s","arguments":"{}"}}]})"))
      == "call_seed_1=r{};call_seed_2=s{};");
  }
  SUBCASE("one id twice") {
    CHECK(
      calls_of(choice(
        R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"s","arguments":"{}"}}]})"))
      == "a=r{};call_seed_1=s{};");
  }
  SUBCASE("arguments as an object") {
    CHECK(
      calls_of(choice(
        R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":{"x":1}}}]})"))
      == R"(a=r{"x":1};)");
  }
  SUBCASE("no arguments") {
    CHECK(calls_of(choice(
            R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r"}}]})"))
          == "a=r{};");
  }
  SUBCASE("a raw line feed in the arguments") {
    CHECK(
      calls_of(choice(
        R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":"{\"x\":\"1\n2\"}"}}]})"))
      == "a=r{\"x\":\"1\\u000a2\"};");
  }
}

TEST_CASE("calls end a chat answer as tool use whatever the reason says") {
  auto record = whole(
    "openai-completions",
    choice(
      R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":"{}"}}]})")
      + chat_end);
  CHECK(message_of(record).stop == stop_reason::tool_use);
}

TEST_CASE("an Anthropic call whose input comes at once") {
  auto record = whole(
    "anthropic-messages",
    anthropic(
      "content_block_start",
      R"({"index":0,"content_block":{"type":"tool_use","id":"a","name":"r","input":{"x":1}}})")
      + anthropic("message_delta", R"({"delta":{"stop_reason":"tool_use"}})")
      + anthropic("message_stop", "{}"));
  CHECK(message_of(record).content[0].arguments->text == R"({"x":1})");
}

TEST_CASE("only the first choice counts") {
  auto record = whole(
    "openai-completions",
    chat(
      R"({"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]})")
      + choice(R"({"content":"yes"})") + chat_end);
  CHECK(record.text() == "yes");
}

TEST_CASE("a server that names another model is recorded") {
  auto record =
    whole("openai-completions",
          chat(R"({"id":"r","model":"tiny-2027","choices":[]})") + chat_end);
  CHECK(message_of(record).model == "tiny");
  CHECK(message_of(record).response_model == "tiny-2027");
  CHECK(message_of(record).response_id == "r");
}

TEST_CASE("errors inside a stream are classified by what they say") {
  struct row {
    const char* name;
    const char* api;
    std::string body;
    model_error_class error;
    const char* said;
  };
  const row rows[] = {
    {"an error chunk", "openai-completions",
     chat(R"({"error":{"message":"slow down","code":"rate_limit_exceeded"}})"),
     model_error_class::rate_limit, "slow down"},
    {"a status number as code", "openai-completions",
     chat(R"({"error":{"message":"upstream","code":502}})"),
     model_error_class::server, "upstream"},
    {"an overflow by words", "openai-completions",
     chat(R"({"error":{"message":"This exceeds the context window"}})"),
     model_error_class::overflow, "context window"},
    {"an error event", "anthropic-messages",
     anthropic(
       "error",
       R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"),
     model_error_class::overloaded, "Overloaded"},
    {"an event that is no JSON", "openai-completions", "data: {nonsense\n\n",
     model_error_class::protocol, "not JSON"},
    {"a broken event of a name that matters", "anthropic-messages",
     "event: message_start\ndata: {\n\n", model_error_class::protocol,
     "not JSON"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    auto record = whole(x.api, x.body);
    CHECK(message_of(record).stop == stop_reason::error);
    CHECK(record.ends[0].failure.error == x.error);
    CHECK(record.ends[0].message.error_message->find(x.said)
          != std::string::npos);
  }
}

TEST_CASE("odd events are passed over or repaired") {
  auto odd = "event: ping\ndata: {broken\n\n" + anthropic("unheard_of", "[1,2")
             + "data: \n\n";
  CHECK(whole("anthropic-messages", odd + test::recorded_anthropic()).ends
        == whole("anthropic-messages", test::recorded_anthropic()).ends);
  // A raw tab inside a string of the event is repaired.
  auto record =
    whole("openai-completions",
          "data: {\"choices\":[{\"delta\":{\"content\":\"a\tb\"}}]}\n\n"
            + chat("7") + chat("null") + chat_end);
  CHECK(record.text() == "a\tb");
}

TEST_CASE("Anthropic events without their names are understood") {
  std::string body;
  auto recorded_body = test::recorded_anthropic();
  std::string_view rest{recorded_body};
  while (!rest.empty()) {
    auto end = rest.find('\n');
    auto line = rest.substr(0, end + 1);
    if (!line.starts_with("event:"))
      body += line;
    rest.remove_prefix(end + 1);
  }
  CHECK(whole("anthropic-messages", body).ends
        == whole("anthropic-messages", recorded_body).ends);
}

TEST_CASE("bounds of an answer") {
  SUBCASE("arguments of a call") {
    std::string body;
    auto piece = std::string(100'000, 'x');
    for (int i = 0; i < 12; ++i)
      body += choice(
        R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":")"
        + piece + R"("}}]})");
    check_bound(whole("openai-completions", body + chat_end),
                "the arguments of a tool call are longer than");
  }
  SUBCASE("blocks") {
    std::string body;
    for (size_t i = 0; i <= limits::model_answer_blocks; ++i)
      body += anthropic("content_block_start",
                        R"({"index":)" + std::to_string(i)
                          + R"(,"content_block":{"type":"text","text":""}})");
    check_bound(whole("anthropic-messages", body), "more than 1024 blocks");
  }
  SUBCASE("text") {
    std::string body;
    auto piece = choice(R"({"content":")" + std::string(100'000, 'x') + "\"}");
    for (size_t size = 0; size <= limits::model_answer_bytes; size += 100'000)
      body += piece;
    auto record = whole("openai-completions", body + chat_end);
    check_bound(record, "the answer is longer than 16777216 bytes");
    // Of what nobody will read the beginning is kept.
    REQUIRE(record.ends[0].message.content.size() == 1);
    CHECK(record.ends[0].message.content[0].text
          == std::string(limits::model_error_body_bytes, 'x'));
  }
}

TEST_CASE("absurd token counts become believable ones") {
  auto record = whole(
    "openai-completions",
    chat_end
      + chat(
        R"({"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300,"prompt_tokens_details":{"cached_tokens":"many"}}})"));
  CHECK(message_of(record).spent.input == 0);
  CHECK(message_of(record).spent.output > 0);
  CHECK(message_of(record).spent.cache_read == 0);
  CHECK(message_of(record).spent.total_tokens > 0);
}

TEST_CASE("random damage always ends with exactly one terminal event") {
  test::seeded_entropy chance{11};
  for (const auto& x : recorded()) {
    CAPTURE(x.api);
    for (int round = 0; round < 1500; ++round) {
      auto body = x.body;
      for (auto edits = chance.next() % 6 + 1; edits > 0; --edits) {
        auto at = chance.next() % body.size();
        switch (chance.next() % 4) {
        case 0:
          body.erase(at, chance.next() % 20 + 1);
          break;
        case 1:
          body.insert(at, 1, static_cast<char>(chance.next()));
          break;
        case 2:
          body.insert(at, body.substr(chance.next() % body.size(), 60));
          break;
        default:
          body[at] = static_cast<char>(chance.next());
        }
        if (body.empty())
          body = "x";
      }
      std::vector<size_t> sizes;
      for (int i = 0; i < 8; ++i)
        sizes.push_back(chance.next() % 200 + 1);
      auto error = static_cast<http_error>(chance.next() % 12);
      auto record = play(lab_request(x.api), body, sizes, error);
      CAPTURE(body);
      REQUIRE(record.ends.size() == 1);
      const auto& end = record.ends[0];
      auto failed = end.failure.error != model_error_class::none;
      CHECK(failed
            == (end.message.stop == stop_reason::error
                || end.message.stop == stop_reason::aborted));
      CHECK(failed == !end.message.error_message.empty());
      for (const auto& block : end.message.content)
        if (block.kind == block_kind::tool_call) {
          CHECK(json::parse(block.arguments->text));
          if (!failed)
            CHECK_FALSE(block.id.empty());
        }
    }
  }
}
