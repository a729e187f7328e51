#include "adapters/models/openai_completions_stream_core.hpp"

#include "adapters/models/cost_core.hpp"
#include "messages/codec/json_support.hpp"

#include <algorithm>

namespace bureau::models {

namespace {

const json::bj::object* object_member(const json::bj::object& object,
                                      std::string_view name) {
  auto value = json::member(object, name);
  return value && value->is_object() ? &value->get_object() : nullptr;
}

const json::bj::object* first_choice(const json::bj::object& chunk) {
  auto choices = json::member(chunk, "choices");
  if (!choices || !choices->is_array() || choices->get_array().empty())
    return nullptr;
  const auto& first = choices->get_array().front();
  if (!first.is_object())
    return nullptr;
  // Servers that answer several choices at once interleave their chunks.
  auto index = json::int_member(first.get_object(), "index").value_or(0);
  return index == 0 ? &first.get_object() : nullptr;
}

std::string arguments_text(const json::bj::object& function) {
  auto value = json::member(function, "arguments");
  if (!value || value->is_null())
    return {};
  // Some servers send the object itself.
  return value->is_string() ? std::string{value->get_string()}
                            : json::print(*value);
}

} // namespace

void openai_completions_stream::handle(std::string_view,
                                       const json::bj::object& data,
                                       stream_effects& out) {
  if (auto error = json::member(data, "error"); error && !error->is_null()) {
    fail(stream_failure(context(), *error), out);
    return;
  }
  auto& message = answer().message();
  if (message.response_id.empty())
    message.response_id = json::text_or_empty(data, "id");
  auto model = json::text_or_empty(data, "model");
  if (!model.empty() && model != message.model)
    message.response_model = model;
  if (auto usage = object_member(data, "usage"))
    read_usage(*usage);
  auto choice = first_choice(data);
  if (!choice)
    return;
  if (auto usage = object_member(*choice, "usage"))
    read_usage(*usage);
  if (auto delta = object_member(*choice, "delta"))
    read_delta(*delta, out);
  auto reason = json::text_or_empty(*choice, "finish_reason");
  if (!reason.empty())
    finish_reason_ = reason;
}

void openai_completions_stream::read_usage(const json::bj::object& reported) {
  auto& spent = answer().spent();
  auto prompt = token_member(reported, "prompt_tokens").value_or(0);
  if (auto details = object_member(reported, "prompt_tokens_details")) {
    spent.cache_read = token_member(*details, "cached_tokens").value_or(0);
    spent.cache_write =
      token_member(*details, "cache_write_tokens").value_or(0);
  }
  if (spent.cache_read == 0)
    spent.cache_read =
      token_member(reported, "prompt_cache_hit_tokens").value_or(0);
  // The prompt counts cached tokens too; ours are apart.
  spent.input =
    std::max(int64_t{0}, prompt - spent.cache_read - spent.cache_write);
  spent.output = token_member(reported, "completion_tokens").value_or(0);
  if (auto details = object_member(reported, "completion_tokens_details"))
    spent.reasoning = token_member(*details, "reasoning_tokens").value_or(0);
}

void openai_completions_stream::read_delta(const json::bj::object& delta,
                                           stream_effects& out) {
  for (auto field : {"reasoning_content", "reasoning", "reasoning_text"}) {
    auto thought = json::text_or_empty(delta, field);
    if (thought.empty())
      continue;
    append_thinking(thought, field, out);
    break;
  }
  if (auto content = json::member(delta, "content"))
    read_content(*content, out);
  append_text(json::text_or_empty(delta, "refusal"), out);
  auto calls = json::member(delta, "tool_calls");
  if (!calls || !calls->is_array())
    return;
  for (const auto& call : calls->get_array())
    if (call.is_object() && answer().fault().empty())
      read_call(call.get_object(), out);
}

/// A string, or parts as some servers send them.
void openai_completions_stream::read_content(const json::bj::value& content,
                                             stream_effects& out) {
  if (content.is_string()) {
    append_text(std::string{content.get_string()}, out);
    return;
  }
  if (!content.is_array())
    return;
  for (const auto& part : content.get_array()) {
    if (!part.is_object())
      continue;
    auto thoughts = json::member(part.get_object(), "thinking");
    if (thoughts && thoughts->is_array()) {
      for (const auto& thought : thoughts->get_array())
        if (thought.is_object())
          append_thinking(json::text_or_empty(thought.get_object(), "text"), "",
                          out);
    } else {
      append_text(json::text_or_empty(part.get_object(), "text"), out);
    }
  }
}

void openai_completions_stream::append_text(std::string_view text,
                                            stream_effects& out) {
  if (text.empty())
    return;
  if (!text_)
    text_ = answer().open(text_block(""), out);
  answer().append(*text_, text, out);
}

void openai_completions_stream::append_thinking(std::string_view text,
                                                std::string_view field,
                                                stream_effects& out) {
  if (text.empty())
    return;
  if (!thinking_) {
    content_block block;
    block.kind = block_kind::thinking;
    // The member it came in is the member it goes back in.
    block.signature = field;
    thinking_ = answer().open(std::move(block), out);
  }
  answer().append(*thinking_, text, out);
}

size_t openai_completions_stream::call_block(const json::bj::object& call,
                                             const std::string& id,
                                             const std::string& name,
                                             stream_effects& out) {
  auto index = json::int_member(call, "index");
  if (index) {
    auto known = calls_by_index_.find(*index);
    if (known != calls_by_index_.end())
      return known->second;
  } else if (!id.empty()) {
    auto known = calls_by_id_.find(id);
    if (known != calls_by_id_.end())
      return known->second;
  } else if (last_call_ && name.empty()) {
    return *last_call_;
  }
  content_block block;
  block.kind = block_kind::tool_call;
  block.id = id;
  block.name = name;
  if (!id.empty() && answer().has_call_id(id))
    block.id = answer().fresh_call_id();
  auto position = answer().open(std::move(block), out);
  if (index)
    calls_by_index_.emplace(*index, position);
  if (!id.empty())
    calls_by_id_.emplace(id, position);
  return position;
}

void openai_completions_stream::read_call(const json::bj::object& call,
                                          stream_effects& out) {
  auto id = json::text_or_empty(call, "id");
  auto function = object_member(call, "function");
  auto name = function ? json::text_or_empty(*function, "name") : std::string{};
  auto position = call_block(call, id, name, out);
  last_call_ = position;
  auto& block = answer().block(position);
  if (block.id.empty() && !id.empty())
    block.id = answer().has_call_id(id) ? answer().fresh_call_id() : id;
  if (block.name.empty())
    block.name = name;
  if (function)
    answer().append(position, arguments_text(*function), out);
}

void openai_completions_stream::handle_end_mark(stream_effects& out) {
  finish(out);
}

void openai_completions_stream::complete(stream_effects& out) {
  for (size_t i = 0; i < answer().block_count(); ++i) {
    auto& block = answer().block(i);
    if (block.kind == block_kind::tool_call && block.id.empty())
      block.id = answer().fresh_call_id();
  }
  const auto& reason = finish_reason_;
  if (reason == "length") {
    succeed(stop_reason::length, out);
  } else if (reason == "stop" || reason == "end" || reason == "tool_calls"
             || reason == "function_call") {
    // Servers disagree on the word; the calls themselves decide.
    succeed(answer().has_calls() ? stop_reason::tool_use : stop_reason::stop,
            out);
  } else {
    answer().close_all(out);
    auto error = reason == "network_error" ? model_error_class::network
                                           : model_error_class::unknown;
    auto failure = local_failure(
      error, "The model ended its answer with the reason " + reason + ".");
    failure.message = redacted(failure.message, context().secrets);
    failure.error.code = reason;
    failure.error.http_status = 200;
    fail(failure, out);
  }
}

} // namespace bureau::models
