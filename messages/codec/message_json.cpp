#include "messages/codec/message_json.hpp"

#include "messages/codec/json_append.hpp"

#include <array>

namespace bureau {

namespace {

using json::append_flag;
using json::append_json;
using json::append_member;
using json::append_name;
using json::append_optional;
using json::bj::object;
using json::bj::value;

void append_block(std::string& out, const content_block& block) {
  out += '{';
  switch (block.kind) {
  case block_kind::text:
    append_member(out, "type", "text");
    append_member(out, "text", block.text);
    append_optional(out, "textSignature", block.signature);
    break;
  case block_kind::thinking:
    append_member(out, "type", "thinking");
    append_member(out, "thinking", block.text);
    append_optional(out, "thinkingSignature", block.signature);
    if (block.redacted)
      append_flag(out, "redacted", true);
    break;
  case block_kind::image:
    append_member(out, "type", "image");
    append_member(out, "data", block.data);
    append_member(out, "mimeType", block.mime_type);
    break;
  case block_kind::tool_call: {
    append_member(out, "type", "toolCall");
    append_member(out, "id", block.id);
    append_member(out, "name", block.name);
    append_name(out, "arguments");
    // Arguments are an object by contract; a reader may rely on it.
    auto parsed = json::parse(block.arguments->text);
    out += parsed && parsed.value.is_object() ? json::print(parsed.value)
                                              : std::string{"{}"};
    append_optional(out, "thoughtSignature", block.signature);
    break;
  }
  }
  out += '}';
}

void append_cost(std::string& out, std::string_view name, int64_t micro) {
  append_name(out, name);
  json::append_dollars(out, micro);
}

void append_usage(std::string& out, const usage& spent) {
  append_name(out, "usage");
  out += '{';
  append_member(out, "input", spent.input);
  append_member(out, "output", spent.output);
  append_member(out, "cacheRead", spent.cache_read);
  append_member(out, "cacheWrite", spent.cache_write);
  if (spent.cache_write_1h != 0)
    append_member(out, "cacheWrite1h", spent.cache_write_1h);
  if (spent.reasoning != 0)
    append_member(out, "reasoning", spent.reasoning);
  append_member(out, "totalTokens", spent.total_tokens);
  append_name(out, "cost");
  out += '{';
  append_cost(out, "input", spent.cost_input_micro);
  append_cost(out, "output", spent.cost_output_micro);
  append_cost(out, "cacheRead", spent.cost_cache_read_micro);
  append_cost(out, "cacheWrite", spent.cost_cache_write_micro);
  append_cost(out, "total", spent.cost_total_micro);
  out += "}}";
}

void append_assistant(std::string& out, const transcript_message& message) {
  append_name(out, "content");
  append_content(out, message.content);
  append_member(out, "api", message.api);
  append_member(out, "provider", message.provider);
  append_member(out, "model", message.model);
  append_optional(out, "responseModel", message.response_model);
  append_optional(out, "responseId", message.response_id);
  append_usage(out, message.spent);
  append_member(out, "stopReason", to_string(message.stop));
  append_optional(out, "errorMessage", message.error_message);
  append_optional(out, "errorClass", message.error_class);
}

void append_details(std::string& out, const json_text& details) {
  if (details.empty())
    return;
  append_name(out, "details");
  append_json(out, details.text);
}

int64_t count_member(const object& fields, std::string_view name) {
  auto number = json::number_member(fields, name).value_or(0);
  constexpr double bound = 9007199254740992.0;
  if (!(number > 0))
    return 0;
  return number < bound ? static_cast<int64_t>(number) : int64_t{1} << 53;
}

int64_t cost_member(const object& fields, std::string_view name) {
  return json::micro_of(json::number_member(fields, name).value_or(0));
}

usage parse_usage(const object& message) {
  usage result;
  auto found = json::member(message, "usage");
  auto fields = found != nullptr ? found->if_object() : nullptr;
  if (fields == nullptr)
    return result;
  result.input = count_member(*fields, "input");
  result.output = count_member(*fields, "output");
  result.cache_read = count_member(*fields, "cacheRead");
  result.cache_write = count_member(*fields, "cacheWrite");
  result.cache_write_1h = count_member(*fields, "cacheWrite1h");
  result.reasoning = count_member(*fields, "reasoning");
  result.total_tokens = count_member(*fields, "totalTokens");
  auto cost = json::member(*fields, "cost");
  auto prices = cost != nullptr ? cost->if_object() : nullptr;
  if (prices == nullptr)
    return result;
  result.cost_input_micro = cost_member(*prices, "input");
  result.cost_output_micro = cost_member(*prices, "output");
  result.cost_cache_read_micro = cost_member(*prices, "cacheRead");
  result.cost_cache_write_micro = cost_member(*prices, "cacheWrite");
  result.cost_total_micro = cost_member(*prices, "total");
  return result;
}

stop_reason parse_stop(std::string_view name) {
  constexpr std::array all = {stop_reason::stop, stop_reason::length,
                              stop_reason::tool_use, stop_reason::error,
                              stop_reason::aborted};
  for (auto reason : all)
    if (to_string(reason) == name)
      return reason;
  return stop_reason::stop;
}

json_text details_of(const object& message) {
  auto details = json::member(message, "details");
  return details != nullptr ? json_text{json::print(*details)} : json_text{};
}

bool parse_block(const value& element, content_block& block) {
  auto fields = element.if_object();
  if (fields == nullptr)
    return false;
  auto type = json::text_or_empty(*fields, "type");
  if (type == "text") {
    block.text = json::text_or_empty(*fields, "text");
    block.signature = json::text_or_empty(*fields, "textSignature");
  } else if (type == "thinking") {
    block.kind = block_kind::thinking;
    block.text = json::text_or_empty(*fields, "thinking");
    block.signature = json::text_or_empty(*fields, "thinkingSignature");
    block.redacted = json::bool_member(*fields, "redacted").value_or(false);
  } else if (type == "image") {
    block.kind = block_kind::image;
    block.data = json::text_or_empty(*fields, "data");
    block.mime_type = json::text_or_empty(*fields, "mimeType");
  } else if (type == "toolCall") {
    block.kind = block_kind::tool_call;
    block.id = json::text_or_empty(*fields, "id");
    block.name = json::text_or_empty(*fields, "name");
    block.signature = json::text_or_empty(*fields, "thoughtSignature");
    auto arguments = json::member(*fields, "arguments");
    block.arguments = json_text{arguments != nullptr && arguments->is_object()
                                  ? json::print(*arguments)
                                  : "{}"};
  } else {
    return false;
  }
  return true;
}

/// A command that a person ran beside the conversation, as the model saw it.
std::optional<transcript_message> parse_shell(const object& message) {
  if (json::bool_member(message, "excludeFromContext").value_or(false))
    return std::nullopt;
  auto text = "Ran `" + json::text_or_empty(message, "command") + "`";
  auto output = json::text_or_empty(message, "output");
  text += output.empty() ? "\n(no output)" : "\n```\n" + output + "\n```";
  auto code = json::int_member(message, "exitCode");
  if (json::bool_member(message, "cancelled").value_or(false))
    text += "\n(command cancelled)";
  else if (code && *code != 0)
    text += "\nCommand exited with code " + std::to_string(*code);
  return user_message(std::move(text), 0);
}

std::optional<transcript_message> parse_fields(const object& message) {
  transcript_message result;
  auto role = json::text_or_empty(message, "role");
  if (role == "user") {
    result.content = parse_content(json::member(message, "content"));
  } else if (role == "assistant") {
    result.role = message_role::assistant;
    result.content = parse_content(json::member(message, "content"));
    result.api = json::text_or_empty(message, "api");
    result.provider = json::text_or_empty(message, "provider");
    result.model = json::text_or_empty(message, "model");
    result.response_model = json::text_or_empty(message, "responseModel");
    result.response_id = json::text_or_empty(message, "responseId");
    result.spent = parse_usage(message);
    result.stop = parse_stop(json::text_or_empty(message, "stopReason"));
    result.error_message = json::text_or_empty(message, "errorMessage");
    result.error_class = json::text_or_empty(message, "errorClass");
  } else if (role == "toolResult") {
    result.role = message_role::tool_result;
    result.content = parse_content(json::member(message, "content"));
    result.tool_call_id = json::text_or_empty(message, "toolCallId");
    result.tool_name = json::text_or_empty(message, "toolName");
    result.is_error = json::bool_member(message, "isError").value_or(false);
    result.details = details_of(message);
  } else if (role == "custom") {
    result.role = message_role::custom;
    result.custom_type = json::text_or_empty(message, "customType");
    result.content = parse_content(json::member(message, "content"));
    result.display = json::bool_member(message, "display").value_or(false);
    result.details = details_of(message);
  } else if (role == "compactionSummary") {
    result.role = message_role::compaction_summary;
    result.summary = json::text_or_empty(message, "summary");
    result.tokens_before = count_member(message, "tokensBefore");
  } else if (role == "branchSummary") {
    result.role = message_role::branch_summary;
    result.summary = json::text_or_empty(message, "summary");
    result.from_id = json::text_or_empty(message, "fromId");
  } else if (role == "bashExecution") {
    return parse_shell(message);
  } else {
    return std::nullopt;
  }
  return result;
}

} // namespace

void append_content(std::string& out,
                    const std::vector<content_block>& content) {
  out += '[';
  auto first = true;
  for (const auto& block : content) {
    if (!first)
      out += ',';
    first = false;
    append_block(out, block);
  }
  out += ']';
}

void append_message(std::string& out, const transcript_message& message) {
  out += '{';
  append_member(out, "role", to_string(message.role));
  switch (message.role) {
  case message_role::user:
    append_name(out, "content");
    append_content(out, message.content);
    break;
  case message_role::assistant:
    append_assistant(out, message);
    break;
  case message_role::tool_result:
    append_member(out, "toolCallId", message.tool_call_id);
    append_member(out, "toolName", message.tool_name);
    append_name(out, "content");
    append_content(out, message.content);
    append_details(out, message.details);
    append_flag(out, "isError", message.is_error);
    break;
  case message_role::custom:
    append_member(out, "customType", message.custom_type);
    append_name(out, "content");
    append_content(out, message.content);
    append_flag(out, "display", message.display);
    append_details(out, message.details);
    break;
  case message_role::compaction_summary:
    append_member(out, "summary", message.summary);
    append_member(out, "tokensBefore", message.tokens_before);
    break;
  case message_role::branch_summary:
    append_member(out, "summary", message.summary);
    append_member(out, "fromId", message.from_id);
    break;
  }
  if (message.timestamp_ms != 0)
    append_member(out, "timestamp", message.timestamp_ms);
  out += '}';
}

std::string print_message(const transcript_message& message) {
  std::string result;
  append_message(result, message);
  return result;
}

std::vector<content_block> parse_content(const json::bj::value* content) {
  std::vector<content_block> result;
  if (content == nullptr)
    return result;
  if (auto text = content->if_string()) {
    result.push_back(text_block(std::string{*text}));
  } else if (auto blocks = content->if_array()) {
    result.reserve(blocks->size());
    for (const auto& element : *blocks) {
      content_block block;
      if (parse_block(element, block))
        result.push_back(std::move(block));
    }
  }
  return result;
}

std::optional<transcript_message> parse_message(const json::bj::value& value) {
  auto fields = value.if_object();
  if (fields == nullptr)
    return std::nullopt;
  auto result = parse_fields(*fields);
  if (result)
    result->timestamp_ms = json::int_member(*fields, "timestamp").value_or(0);
  return result;
}

std::optional<transcript_message> read_message(std::string_view text) {
  auto parsed = json::parse(text);
  return parsed ? parse_message(parsed.value) : std::nullopt;
}

} // namespace bureau
