#include "messages/codec/json_append.hpp"
#include "messages/codec/message_json.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace bureau;

content_block call_block(const char* arguments) {
  content_block block;
  block.kind = block_kind::tool_call;
  block.id = "call_1";
  block.name = "bash";
  block.arguments = json_text{arguments};
  return block;
}

transcript_message assistant_message() {
  transcript_message message;
  message.role = message_role::assistant;
  content_block thinking;
  thinking.kind = block_kind::thinking;
  thinking.text = "hm";
  thinking.signature = "sig";
  thinking.redacted = true;
  auto text = text_block("hello");
  text.signature = "t-sig";
  auto call = call_block(R"({"command":"ls"})");
  call.signature = "c-sig";
  message.content = {thinking, text, call};
  message.api = "anthropic-messages";
  message.provider = "anthropic";
  message.model = "m1";
  message.response_model = "m1-20260101";
  message.response_id = "r1";
  message.spent.input = 10;
  message.spent.output = 5;
  message.spent.cache_read = 3;
  message.spent.cache_write = 2;
  message.spent.cache_write_1h = 1;
  message.spent.reasoning = 4;
  message.spent.total_tokens = 20;
  message.spent.cost_input_micro = 1500;
  message.spent.cost_output_micro = 1;
  message.spent.cost_total_micro = 1501;
  message.stop = stop_reason::error;
  message.error_message = "overloaded";
  message.error_class = "overloaded";
  message.timestamp_ms = 1'796'033'158'022;
  return message;
}

std::vector<transcript_message> one_of_each() {
  std::vector<transcript_message> all;
  all.push_back(user_message("hi \"you\"\n日本", 1));
  all.push_back(user_message("no time", 0));
  transcript_message image = user_message("see", 2);
  content_block picture;
  picture.kind = block_kind::image;
  picture.data = "aGk=";
  picture.mime_type = "image/png";
  image.content.push_back(picture);
  all.push_back(image);
  all.push_back(assistant_message());
  transcript_message bare;
  bare.role = message_role::assistant;
  all.push_back(bare);
  transcript_message result;
  result.role = message_role::tool_result;
  result.tool_call_id = "call_1";
  result.tool_name = "bash";
  result.content.push_back(text_block("out"));
  result.details = json_text{R"({"code":0,"list":[1,2]})"};
  result.is_error = true;
  result.timestamp_ms = 3;
  all.push_back(result);
  transcript_message custom;
  custom.role = message_role::custom;
  custom.custom_type = "note";
  custom.content.push_back(text_block("n"));
  custom.display = true;
  custom.timestamp_ms = 4;
  all.push_back(custom);
  transcript_message summary;
  summary.role = message_role::compaction_summary;
  summary.summary = "so far";
  summary.tokens_before = 1000;
  summary.timestamp_ms = 5;
  all.push_back(summary);
  transcript_message branch;
  branch.role = message_role::branch_summary;
  branch.summary = "left";
  branch.from_id = "root";
  branch.timestamp_ms = 6;
  all.push_back(branch);
  return all;
}

} // namespace

TEST_CASE("every message reads back as it was written") {
  for (const auto& message : one_of_each()) {
    auto text = print_message(message);
    CAPTURE(text);
    CHECK(text.find('\n') == std::string::npos);
    auto parsed = read_message(text);
    REQUIRE(parsed);
    CHECK(*parsed == message);
  }
}

TEST_CASE("messages have the members of the format") {
  CHECK(print_message(user_message("hi", 7))
        == R"({"role":"user","content":[{"type":"text","text":"hi"}],)"
           R"("timestamp":7})");
  CHECK(print_message(assistant_message())
        == R"({"role":"assistant","content":[{"type":"thinking",)"
           R"("thinking":"hm","thinkingSignature":"sig","redacted":true},)"
           R"({"type":"text","text":"hello","textSignature":"t-sig"},)"
           R"({"type":"toolCall","id":"call_1","name":"bash",)"
           R"("arguments":{"command":"ls"},"thoughtSignature":"c-sig"}],)"
           R"("api":"anthropic-messages","provider":"anthropic","model":"m1",)"
           R"("responseModel":"m1-20260101","responseId":"r1",)"
           R"("usage":{"input":10,"output":5,"cacheRead":3,"cacheWrite":2,)"
           R"("cacheWrite1h":1,"reasoning":4,"totalTokens":20,)"
           R"("cost":{"input":0.0015,"output":0.000001,"cacheRead":0,)"
           R"("cacheWrite":0,"total":0.001501}},"stopReason":"error",)"
           R"("errorMessage":"overloaded","errorClass":"overloaded",)"
           R"("timestamp":1796033158022})");
}

TEST_CASE("dollars round-trip through JSON numbers") {
  for (int64_t micro :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{999'999},
        int64_t{1'000'000}, int64_t{1'000'001}, int64_t{123'456'789'012},
        int64_t{-5'250'000}, int64_t{1} << 50}) {
    std::string text;
    json::append_dollars(text, micro);
    CAPTURE(text);
    auto parsed = json::parse("{\"v\":" + text + "}");
    REQUIRE(parsed);
    auto number = json::number_member(parsed.value.get_object(), "v");
    REQUIRE(number);
    CHECK(json::micro_of(*number) == micro);
  }
  CHECK(json::micro_of(std::nan("")) == 0);
  CHECK(json::micro_of(1e300) == int64_t{1} << 53);
  CHECK(json::micro_of(-1e300) == -(int64_t{1} << 53));
  CHECK(json::micro_of(0.0000004) == 0);
}

TEST_CASE("old and foreign messages are read as far as they make sense") {
  struct row {
    const char* name;
    const char* text;
    size_t blocks;
    const char* said;
  };
  const row rows[] = {
    {"string content", R"({"role":"user","content":"hi"})", 1, "hi"},
    {"null content", R"({"role":"assistant","content":null})", 0, ""},
    {"missing content", R"({"role":"toolResult","toolCallId":"c"})", 0, ""},
    {"unknown blocks",
     R"({"role":"user","content":[{"type":"video"},5,{"type":"text","text":"x"}]})",
     1, "x"},
    {"numeric text", R"({"role":"user","content":[{"type":"text","text":5}]})",
     1, ""},
    {"shell command",
     R"({"role":"bashExecution","command":"ls","output":"a","exitCode":1})", 1,
     "Ran `ls`\n```\na\n```\nCommand exited with code 1"},
  };
  for (const auto& [name, text, blocks, said] : rows) {
    CAPTURE(name);
    auto parsed = read_message(text);
    REQUIRE(parsed);
    CHECK(parsed->content.size() == blocks);
    CHECK(text_of(*parsed) == said);
  }
  for (
    auto text :
    {R"({"role":"robot","content":"x"})", R"({"content":"x"})", "[]", "5",
     "nonsense", R"({"role":5})",
     R"({"role":"bashExecution","command":"x","excludeFromContext":true})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_message(text));
  }
}

TEST_CASE("numbers of usage are clamped to sane counts") {
  auto parsed = read_message(
    R"({"role":"assistant","content":[],"usage":{"input":-5,"output":2.9,)"
    R"("cacheRead":1e300,"cacheWrite":"x","cost":{"total":0.25,"input":null}}})");
  REQUIRE(parsed);
  CHECK(parsed->spent.input == 0);
  CHECK(parsed->spent.output == 2);
  CHECK(parsed->spent.cache_read == int64_t{1} << 53);
  CHECK(parsed->spent.cache_write == 0);
  CHECK(parsed->spent.cost_total_micro == 250'000);
  CHECK(read_message(R"({"role":"assistant","usage":5})")->spent == usage{});
}

TEST_CASE("nothing that is put into a message can break its line") {
  auto message = user_message("a\nb\r\x01\x7F\xFF", 0);
  auto text = print_message(message);
  CHECK(text.find('\n') == std::string::npos);
  REQUIRE(read_message(text));
  CHECK(text_of(*read_message(text)) == "a\nb\r\x01\x7F\xEF\xBF\xBD");
  transcript_message call;
  call.role = message_role::assistant;
  call.content = {call_block("{\n\"a\":1\n}"), call_block("not json"),
                  call_block("[1]"), call_block("")};
  text = print_message(call);
  CHECK(text.find('\n') == std::string::npos);
  auto parsed = read_message(text);
  REQUIRE(parsed);
  CHECK(parsed->content[0].arguments->text == R"({"a":1})");
  for (size_t i = 1; i < 4; ++i)
    CHECK(parsed->content[i].arguments->text == "{}");
  transcript_message result;
  result.role = message_role::tool_result;
  result.details = json_text{"not\njson"};
  parsed = read_message(print_message(result));
  REQUIRE(parsed);
  CHECK(parsed->details->text == R"("not\njson")");
}
