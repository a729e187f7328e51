#include "adapters/models/anthropic_messages_core.hpp"
#include "adapters/models/openai_completions_core.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/models/model_support.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using models::build_anthropic_messages;
using models::build_openai_completions;
using models::cache_retention;
using test::assistant_of;
using test::call_of;
using test::lab_request;
using test::result_of;

namespace {

model_request openai_request() {
  auto request = lab_request("openai-completions");
  request.choice.model.id = "g";
  request.choice.model.provider = "openai";
  request.choice.model.base_url.clear();
  return request;
}

model_request anthropic_request() {
  auto request = lab_request("anthropic-messages");
  request.choice.model.id = "c";
  request.choice.model.provider = "anthropic";
  request.choice.model.base_url.clear();
  return request;
}

json::bj::value chat_body(const model_request& request,
                          cache_retention kept = cache_retention::brief) {
  auto built = build_openai_completions(request, kept);
  REQUIRE_FALSE(built.refusal);
  auto parsed = json::parse(built.wire.body);
  REQUIRE(parsed);
  return parsed.value;
}

json::bj::value anthropic_body(const model_request& request,
                               cache_retention kept = cache_retention::brief) {
  auto built = build_anthropic_messages(request, kept);
  REQUIRE_FALSE(built.refusal);
  auto parsed = json::parse(built.wire.body);
  REQUIRE(parsed);
  return parsed.value;
}

/// Compact text of a member, "" when absent.
std::string at(const json::bj::value& body, std::string_view name) {
  auto value = json::member(body, name);
  return value ? json::print(*value) : "";
}

content_block image() {
  content_block result;
  result.kind = block_kind::image;
  result.mime_type = "image/png";
  result.data = "AAAA";
  return result;
}

content_block thought(std::string text, std::string signature,
                      bool redacted = false) {
  content_block result;
  result.kind = block_kind::thinking;
  result.text = std::move(text);
  result.signature = std::move(signature);
  result.redacted = redacted;
  return result;
}

std::string header(const models::built_request& built, const char* name) {
  return header_value(built.wire.headers, name);
}

} // namespace

TEST_CASE("the worked example of chat completions, byte for byte") {
  auto request = openai_request();
  request.tools = {test::read_tool()};
  auto built = build_openai_completions(request, cache_retention::brief);
  REQUIRE_FALSE(built.refusal);
  CHECK(built.wire.url == "https://api.openai.com/v1/chat/completions");
  CHECK(
    built.wire.body
    == R"({"model":"g","messages":[{"role":"system","content":"SYS"},)"
       R"({"role":"user","content":[{"type":"text","text":"hello"}]}],)"
       R"("stream":true,"stream_options":{"include_usage":true},"store":false,)"
       R"("max_completion_tokens":4096,"tools":[{"type":"function","function":)"
       R"({"name":"read","description":"Read","parameters":{"type":"object",)"
       R"("properties":{"path":{"type":"string"}},"required":["path"]},)"
       R"("strict":false}}]})");
}

TEST_CASE("the worked example of Anthropic messages, byte for byte") {
  auto request = anthropic_request();
  request.tools = {test::read_tool()};
  auto built = build_anthropic_messages(request, cache_retention::brief);
  REQUIRE_FALSE(built.refusal);
  CHECK(built.wire.url == "https://api.anthropic.com/v1/messages");
  CHECK(
    built.wire.body
    == R"({"model":"c","max_tokens":4096,"stream":true,"system":[{"type":)"
       R"("text","text":"SYS","cache_control":{"type":"ephemeral"}}],)"
       R"("messages":[{"role":"user","content":[{"type":"text","text":"hello",)"
       R"("cache_control":{"type":"ephemeral"}}]}],"tools":[{"name":"read",)"
       R"("description":"Read","eager_input_streaming":true,"input_schema":)"
       R"({"type":"object","properties":{"path":{"type":"string"}},)"
       R"("required":["path"]},"cache_control":{"type":"ephemeral"}}]})");
}

TEST_CASE("headers carry the key once, as a secret") {
  SUBCASE("chat completions") {
    auto built =
      build_openai_completions(openai_request(), cache_retention::brief);
    CHECK(header(built, "Authorization") == "Bearer k-1234567890");
    CHECK(header(built, "content-type") == "application/json");
    for (const auto& field : built.wire.headers)
      CHECK(field.secret == (field.name == "authorization"));
  }
  SUBCASE("Anthropic") {
    auto built =
      build_anthropic_messages(anthropic_request(), cache_retention::brief);
    CHECK(header(built, "x-api-key") == "k-1234567890");
    CHECK(header(built, "authorization").empty());
    CHECK(header(built, "anthropic-version") == "2023-06-01");
    CHECK(header(built, "anthropic-beta") == "interleaved-thinking-2025-05-14");
  }
  SUBCASE("an Anthropic token of a login travels as a bearer") {
    auto request = anthropic_request();
    request.choice.api_key = secret_text{"sk-ant-oat01-abc"};
    auto built = build_anthropic_messages(request, cache_retention::brief);
    CHECK(header(built, "x-api-key").empty());
    CHECK(header(built, "authorization") == "Bearer sk-ant-oat01-abc");
    CHECK(header(built, "anthropic-beta").find("oauth-2025-04-20")
          != std::string::npos);
  }
  SUBCASE("headers of the model win, whatever their case") {
    auto request = openai_request();
    request.choice.model.headers = {{"AUTHORIZATION", "Token t", true},
                                    {"x-lab", "1", false}};
    auto built = build_openai_completions(request, cache_retention::brief);
    CHECK(header(built, "authorization") == "Token t");
    CHECK(header(built, "x-lab") == "1");
  }
}

TEST_CASE("a request that cannot be made is refused before any I/O") {
  auto request = lab_request("openai-completions");
  auto refuse = [&request] {
    return build_openai_completions(request, cache_retention::brief).refusal;
  };
  SUBCASE("no key for a machine far away") {
    request.choice.model.base_url = "https://lab.invalid/v1";
    request.choice.model.provider = "my-llm.v2";
    request.choice.api_key = {};
    auto refusal = refuse();
    REQUIRE(refusal);
    CHECK(refusal->error.error == model_error_class::auth);
    CHECK(refusal->message.find("my-llm.v2") != std::string::npos);
    CHECK(refusal->message.find("MY_LLM_V2_API_KEY") != std::string::npos);
  }
  SUBCASE("no key, but a header that carries one") {
    request.choice.model.base_url = "https://lab.invalid/v1";
    request.choice.api_key = {};
    request.choice.model.headers = {{"Authorization", "Bearer x", true}};
    CHECK_FALSE(refuse());
  }
  SUBCASE("no key on this machine") {
    request.choice.api_key = {};
    CHECK_FALSE(refuse());
    for (auto url : {"http://localhost:1/v1", "http://[::1]:1/v1"}) {
      request.choice.model.base_url = url;
      CHECK_FALSE(refuse());
    }
    request.choice.model.base_url = "http://127.0.0.1.evil.invalid/v1";
    CHECK(refuse());
  }
  SUBCASE("no address") {
    for (auto url : {"", "ftp://x/v1", "lab:9000"}) {
      request.choice.model.base_url = url;
      auto refusal = refuse();
      REQUIRE(refusal);
      CHECK(refusal->error.error == model_error_class::bad_request);
      CHECK(refusal->message.find("baseUrl") != std::string::npos);
    }
  }
}

TEST_CASE("the output cap leaves room for the prompt") {
  auto request = openai_request();
  auto cap = [&request] {
    return at(chat_body(request), "max_completion_tokens");
  };
  CHECK(cap() == "4096");
  request.max_tokens = 100;
  CHECK(cap() == "100");
  request.max_tokens = 9999;
  CHECK(cap() == "4096");
  request.choice.model.context_window = 5000;
  // 5000 - 4096 - (1 for SYS + 2 for hello)
  CHECK(cap() == "901");
  request.messages = {user_message(std::string(20'000, 'x'), 0)};
  CHECK(cap() == "1");
  request.choice.model.context_window = 0;
  CHECK(cap() == "4096");
}

TEST_CASE("a conversation with tools in chat completions") {
  auto request = openai_request();
  request.choice.model.image_input = true;
  auto shot = result_of("B", "");
  shot.content = {image()};
  auto answer = assistant_of(
    {thought("hm", "reasoning_content"), text_block("a"), text_block("b"),
     call_of("A", "read", R"({"path":"x"})"), call_of("B", "read", "5")});
  answer.provider = "openai";
  answer.model = "g";
  request.messages = {user_message("q", 0), answer, result_of("A", ""), shot,
                      user_message("n", 0)};
  auto body = chat_body(request);
  CHECK(
    at(body, "messages")
    == R"([{"role":"system","content":"SYS"},{"role":"user","content":)"
       R"([{"type":"text","text":"q"}]},{"role":"assistant","content":"ab",)"
       R"("reasoning_content":"hm","tool_calls":[{"id":"A","type":"function",)"
       R"("function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"B",)"
       R"("type":"function","function":{"name":"read","arguments":"{}"}}]},)"
       R"x({"role":"tool","tool_call_id":"A","content":"(no tool output)"},)x"
       R"x({"role":"tool","tool_call_id":"B",)x"
       R"x("content":"(see the image below)"},)x"
       R"({"role":"user","content":[{"type":"text","text":)"
       R"("Images of the tool result:"},{"type":"image_url","image_url":)"
       R"({"url":"data:image/png;base64,AAAA"}}]},)"
       R"({"role":"user","content":[{"type":"text","text":"n"}]}])");
  // The history has tool traffic, so the member is there although empty.
  CHECK(at(body, "tools") == "[]");
}

TEST_CASE("a conversation with tools in Anthropic messages") {
  auto request = anthropic_request();
  request.choice.model.image_input = true;
  auto shot = result_of("B", "");
  shot.content = {image()};
  shot.is_error = true;
  auto answer = assistant_of(
    {thought("hm", "sig"), thought("[r]", "enc", true), thought("bare", ""),
     text_block("a"), text_block(" "), call_of("A", "read", R"({"path":"x"})"),
     call_of("B", "read", "[1]")});
  answer.provider = "anthropic";
  answer.model = "c";
  answer.api = "anthropic-messages";
  request.messages = {user_message("q", 0),
                      user_message("  ", 0),
                      answer,
                      assistant_of({text_block("x")}, stop_reason::error),
                      result_of("A", "1"),
                      shot};
  auto body = anthropic_body(request);
  CHECK(
    at(body, "messages")
    == R"([{"role":"user","content":[{"type":"text","text":"q"}]},)"
       R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm",)"
       R"("signature":"sig"},{"type":"redacted_thinking","data":"enc"},)"
       R"({"type":"text","text":"bare"},{"type":"text","text":"a"},)"
       R"({"type":"tool_use","id":"A","name":"read","input":{"path":"x"}},)"
       R"({"type":"tool_use","id":"B","name":"read","input":{}}]},)"
       R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"A",)"
       R"("content":"1","is_error":false},{"type":"tool_result",)"
       R"("tool_use_id":"B","content":[{"type":"text","text":)"
       R"x("(see the image below)"},{"type":"image","source":)x"
       R"({"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":true,)"
       R"("cache_control":{"type":"ephemeral"}}]}])");
}

TEST_CASE("thinking of Anthropic models") {
  auto request = anthropic_request();
  auto& model = request.choice.model;
  model.reasoning = true;
  model.max_tokens = 64'000;
  auto thinking = [&request] {
    auto body = anthropic_body(request);
    return at(body, "max_tokens") + at(body, "thinking")
           + at(body, "output_config");
  };
  SUBCASE("off") {
    CHECK(thinking() == R"(64000{"type":"disabled"})");
  }
  SUBCASE("off cannot be said") {
    model.thinking_levels = json_text{R"({"off":null})"};
    CHECK(thinking() == "64000");
    model.thinking_levels = {};
    model.reasoning = false;
    CHECK(thinking() == "64000");
  }
  SUBCASE("a budget inside the cap of the model (case 72)") {
    request.choice.thinking_level = "high";
    CHECK(
      thinking()
      == R"(64000{"type":"enabled","budget_tokens":16384,"display":"summarized"})");
  }
  SUBCASE("a budget beside an explicit cap (case 72)") {
    request.choice.thinking_level = "medium";
    request.max_tokens = 32'000;
    CHECK(
      thinking()
      == R"(40192{"type":"enabled","budget_tokens":8192,"display":"summarized"})");
  }
  SUBCASE("a small model (case 72)") {
    request.choice.thinking_level = "high";
    model.max_tokens = 8192;
    CHECK(
      thinking()
      == R"(8192{"type":"enabled","budget_tokens":7168,"display":"summarized"})");
  }
  SUBCASE("a window that leaves no room for thoughts") {
    request.choice.thinking_level = "high";
    model.context_window = 5100;
    CHECK(thinking() == R"(1001{"type":"disabled"})");
  }
  SUBCASE("adaptive") {
    model.compat = json_text{R"({"forceAdaptiveThinking":true})"};
    request.choice.thinking_level = "minimal";
    CHECK(
      thinking()
      == R"(64000{"type":"adaptive","display":"summarized"}{"effort":"low"})");
    model.thinking_levels = json_text{R"({"max":"max"})"};
    request.choice.thinking_level = "max";
    CHECK(
      thinking()
      == R"(64000{"type":"adaptive","display":"summarized"}{"effort":"max"})");
    auto built = build_anthropic_messages(request, cache_retention::brief);
    CHECK(header(built, "anthropic-beta").empty());
  }
}

TEST_CASE("levels are clamped to what the model supports (case 71)") {
  struct row {
    const char* name;
    bool reasoning;
    const char* map;
    const char* level;
    const char* expected;
  };
  const row rows[] = {
    {"xhigh needs a mapping", true, "", "xhigh", "high"},
    {"xhigh mapped", true, R"({"xhigh":"x"})", "xhigh", "xhigh"},
    {"no reasoning", false, "", "high", "off"},
    {"up first", true, R"({"minimal":null,"low":null})", "minimal", "medium"},
    {"then down", true, R"({"high":null})", "high", "medium"},
    {"unknown", true, "", "extreme", "off"},
    {"an unusable map", true, "[1", "low", "low"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    model_descriptor model;
    model.reasoning = x.reasoning;
    model.thinking_levels = json_text{x.map};
    CHECK(models::clamp_thinking(model, x.level) == x.expected);
  }
}

TEST_CASE("dialects of reasoning in chat completions") {
  struct row {
    const char* format;
    const char* on;
    const char* off;
  };
  const row rows[] = {
    {"openai", R"({"reasoning_effort":"low"})", "{}"},
    {"openrouter", R"({"reasoning":{"effort":"low"}})",
     R"({"reasoning":{"effort":"none"}})"},
    {"deepseek", R"({"thinking":{"type":"enabled"},"reasoning_effort":"low"})",
     R"({"thinking":{"type":"disabled"}})"},
    {"together", R"({"reasoning":{"enabled":true},"reasoning_effort":"low"})",
     R"({"reasoning":{"enabled":false}})"},
    {"zai", R"({"thinking":{"type":"enabled"}})",
     R"({"thinking":{"type":"disabled"}})"},
    {"qwen", R"({"enable_thinking":true})", R"({"enable_thinking":false})"},
    {"qwen-chat-template",
     R"({"chat_template_kwargs":{"enable_thinking":true,"preserve_thinking":true}})",
     R"({"chat_template_kwargs":{"enable_thinking":false,"preserve_thinking":true}})"},
    {"chat-template", R"({"chat_template_kwargs":{"enable_thinking":true}})",
     R"({"chat_template_kwargs":{"enable_thinking":false}})"},
    {"string-thinking", R"({"thinking":"low"})", R"({"thinking":"none"})"},
    {"ant-ling", R"({"reasoning":{"effort":"low"}})", "{}"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.format);
    auto request = lab_request("openai-completions");
    request.choice.model.reasoning = true;
    request.choice.model.compat =
      json_text{R"({"thinkingFormat":")" + std::string{x.format} + "\"}"};
    for (auto on : {true, false}) {
      request.choice.thinking_level = on ? "low" : "off";
      auto body = chat_body(request).get_object();
      for (auto name : {"model", "messages", "stream", "stream_options",
                        "store", "max_completion_tokens"})
        body.erase(name);
      CHECK(test::same_json(json::print(body), on ? x.on : x.off));
    }
  }
}

TEST_CASE("flags of a server change its requests") {
  auto request = lab_request("openai-completions");
  auto& model = request.choice.model;
  auto with = [&](const char* compat) {
    model.compat = json_text{compat};
    return chat_body(request);
  };
  SUBCASE("members that it does not know are left out") {
    auto body = with(R"({"supportsStore":false,"supportsUsageInStreaming":false,
                         "maxTokensField":"max_tokens"})");
    CHECK(at(body, "store").empty());
    CHECK(at(body, "stream_options").empty());
    CHECK(at(body, "max_completion_tokens").empty());
    CHECK(at(body, "max_tokens") == "4096");
  }
  SUBCASE("strict mode") {
    request.tools = {test::read_tool()};
    auto body = with(R"({"supportsStrictMode":false})");
    CHECK(at(body, "tools").find("strict") == std::string::npos);
  }
  SUBCASE("the developer role is for reasoning models") {
    CHECK(at(with("{}"), "messages").find("developer") == std::string::npos);
    model.reasoning = true;
    CHECK(at(with("{}"), "messages").find(R"("role":"developer")")
          != std::string::npos);
    CHECK(at(with(R"({"supportsDeveloperRole":false})"), "messages")
            .find("developer")
          == std::string::npos);
  }
  SUBCASE("names of tools, bridges after them, thoughts as text") {
    request.messages = {assistant_of({thought("hm", ""), text_block("a"),
                                      call_of("A", "read", "{}")}),
                        result_of("A", "1"), user_message("n", 0)};
    auto messages = at(with(R"({"requiresToolResultName":true,
                                "requiresAssistantAfterToolResult":true,
                                "requiresThinkingAsText":true})"),
                       "messages");
    CHECK(messages.find(R"("name":"read","content":"1")") != std::string::npos);
    CHECK(messages.find(R"("content":"hm\n\na")") != std::string::npos);
    CHECK(messages.find(R"({"role":"assistant","content":"I have read)")
          != std::string::npos);
  }
  SUBCASE("reasoning content on every answer") {
    request.messages = {assistant_of({text_block("a")}), user_message("n", 0)};
    auto body = with(R"({"requiresReasoningContentOnAssistantMessages":true})");
    CHECK(at(body, "messages").find(R"("reasoning_content":"")")
          != std::string::npos);
  }
  SUBCASE("cache marks in Anthropic's form") {
    request.tools = {test::read_tool()};
    request.messages = {user_message("q", 0), assistant_of({text_block("a")}),
                        user_message("n", 0)};
    auto body = with(R"({"cacheControlFormat":"anthropic"})");
    CHECK(at(body, "messages")
          == R"([{"role":"system","content":[{"type":"text","text":"SYS",)"
             R"("cache_control":{"type":"ephemeral"}}]},{"role":"user",)"
             R"("content":[{"type":"text","text":"q"}]},{"role":"assistant",)"
             R"("content":"a"},{"role":"user","content":[{"type":"text",)"
             R"("text":"n","cache_control":{"type":"ephemeral"}}]}])");
    CHECK(at(body, "tools").find("ephemeral") != std::string::npos);
    auto bare = chat_body(request, cache_retention::none);
    CHECK(json::print(bare).find("ephemeral") == std::string::npos);
  }
  SUBCASE("headers that keep a session on one machine") {
    request.session_id = "s-1";
    model.compat = json_text{R"({"sendSessionAffinityHeaders":true})"};
    auto built = build_openai_completions(request, cache_retention::brief);
    CHECK(header(built, "session_id") == "s-1");
    model.compat = json_text{R"({"sendSessionAffinityHeaders":true,
                                 "sessionAffinityFormat":"openrouter"})"};
    built = build_openai_completions(request, cache_retention::brief);
    CHECK(header(built, "x-session-id") == "s-1");
    CHECK(header(built, "session_id").empty());
  }
  SUBCASE("flags that are no object are no flags") {
    CHECK(at(with("[1]"), "store") == "false");
    CHECK(at(with("{"), "store") == "false");
  }
}

TEST_CASE("known servers are guessed by provider and host") {
  model_descriptor model;
  model.base_url = "https://API.Mistral.ai/v1";
  auto mistral = models::chat_dialect_of(model);
  CHECK_FALSE(mistral.store);
  CHECK(mistral.max_tokens_field == "max_tokens");
  CHECK(mistral.nine_character_ids);
  model.base_url = "https://openrouter.ai/api/v1";
  model.id = "anthropic/claude";
  auto router = models::chat_dialect_of(model);
  CHECK(router.thinking == models::thinking_format::openrouter);
  CHECK(router.anthropic_cache_control);
  model.base_url = "https://notopenrouter.ai/v1";
  CHECK(models::chat_dialect_of(model).store);
  model.base_url = "http://10.0.0.5:8000/v1";
  auto plain = models::chat_dialect_of(model);
  CHECK(plain.store);
  CHECK(plain.developer_role);
  CHECK(plain.max_tokens_field == "max_completion_tokens");
  model.compat = json_text{R"({"supportsStore":false})"};
  CHECK_FALSE(models::chat_dialect_of(model).store);
}

TEST_CASE("cache keys go where they are understood") {
  auto request = openai_request();
  request.session_id = std::string(70, 's');
  auto key = [&request](cache_retention kept) {
    auto body = chat_body(request, kept);
    return at(body, "prompt_cache_key") + at(body, "prompt_cache_retention");
  };
  auto quoted = "\"" + std::string(64, 's') + "\"";
  CHECK(key(cache_retention::brief) == quoted);
  CHECK(key(cache_retention::prolonged) == quoted + "\"24h\"");
  CHECK(key(cache_retention::none).empty());
  request.choice.model.base_url = "http://10.0.0.5/v1";
  CHECK(key(cache_retention::brief).empty());
  CHECK(key(cache_retention::prolonged) == quoted + "\"24h\"");
  request.choice.model.compat =
    json_text{R"({"supportsLongCacheRetention":false})"};
  CHECK(key(cache_retention::prolonged).empty());
  auto long_one =
    anthropic_body(anthropic_request(), cache_retention::prolonged);
  CHECK(at(long_one, "system").find(R"("ttl":"1h")") != std::string::npos);
  auto none = anthropic_body(anthropic_request(), cache_retention::none);
  CHECK(json::print(none).find("cache_control") == std::string::npos);
}

TEST_CASE("text is made fit to be sent") {
  CHECK(models::sendable("a\xED\xA0\x80z") == "az");
  CHECK(models::sendable("a\xED\xBF\xBFz") == "az");
  CHECK(models::sendable("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(models::sendable("a\xED\x9F\xBFz") == "a\xED\x9F\xBFz");
  auto request = openai_request();
  std::string odd = "\"\\\n\r\t\x01 €😀";
  request.messages = {user_message(odd + "\xED\xA0\x80", 0)};
  auto body = chat_body(request);
  auto text = body.at("messages").at(1).at("content").at(0).at("text");
  CHECK(std::string{text.get_string()} == odd);
}

TEST_CASE("a schema that is none becomes an open object") {
  auto request = anthropic_request();
  request.tools = {test::read_tool()};
  request.tools[0].parameters = json_text{"nonsense"};
  auto body = anthropic_body(request);
  CHECK(
    at(body, "tools")
      .find(R"("input_schema":{"type":"object","properties":{},"required":[]})")
    != std::string::npos);
}
