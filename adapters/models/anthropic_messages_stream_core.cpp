#include "adapters/models/anthropic_messages_stream_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace bureau::models {

namespace {

constexpr std::string_view known_events[] = {
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "error",
};

/// Shown where the provider keeps the thoughts to itself.
constexpr std::string_view redacted_text =
  "[thinking redacted by the provider]";

const json::bj::object* object_member(const json::bj::object& object,
                                      std::string_view name) {
  auto value = json::member(object, name);
  return value && value->is_object() ? &value->get_object() : nullptr;
}

void set_if(int64_t& target, std::optional<int64_t> value) {
  if (value)
    target = *value;
}

} // namespace

bool anthropic_messages_stream::wants(std::string_view name) const {
  // Proxies that drop the event field leave the name in the data.
  return name.empty()
         || std::find(std::begin(known_events), std::end(known_events), name)
              != std::end(known_events);
}

void anthropic_messages_stream::handle(std::string_view name,
                                       const json::bj::object& data,
                                       stream_effects& out) {
  auto type = json::text_or_empty(data, "type");
  if (!name.empty())
    type = name;
  if (type == "message_start")
    start_message(data);
  else if (type == "content_block_start")
    start_block(data, out);
  else if (type == "content_block_delta")
    grow_block(data, out);
  else if (type == "content_block_stop")
    stop_block(data, out);
  else if (type == "message_delta")
    change_message(data);
  else if (type == "error")
    fail(stream_failure(context(), data), out);
  else if (type == "message_stop") {
    stopped_ = true;
    finish(out);
  }
}

void anthropic_messages_stream::read_usage(const json::bj::object& reported) {
  auto& spent = answer().spent();
  set_if(spent.input, token_member(reported, "input_tokens"));
  set_if(spent.output, token_member(reported, "output_tokens"));
  set_if(spent.cache_read, token_member(reported, "cache_read_input_tokens"));
  set_if(spent.cache_write,
         token_member(reported, "cache_creation_input_tokens"));
  if (auto split = object_member(reported, "cache_creation"))
    set_if(spent.cache_write_1h,
           token_member(*split, "ephemeral_1h_input_tokens"));
  if (auto details = object_member(reported, "output_tokens_details"))
    set_if(spent.reasoning, token_member(*details, "thinking_tokens"));
}

void anthropic_messages_stream::start_message(const json::bj::object& data) {
  auto started = object_member(data, "message");
  if (!started)
    return;
  auto& message = answer().message();
  message.response_id = json::text_or_empty(*started, "id");
  auto model = json::text_or_empty(*started, "model");
  if (!model.empty() && model != message.model)
    message.response_model = model;
  if (auto reported = object_member(*started, "usage"))
    read_usage(*reported);
}

std::optional<size_t>
anthropic_messages_stream::position(const json::bj::object& data) const {
  auto index = json::int_member(data, "index");
  if (!index)
    return std::nullopt;
  auto known = blocks_.find(*index);
  if (known == blocks_.end())
    return std::nullopt;
  return known->second;
}

void anthropic_messages_stream::start_block(const json::bj::object& data,
                                            stream_effects& out) {
  auto index = json::int_member(data, "index");
  auto started = object_member(data, "content_block");
  if (!index || !started)
    return;
  content_block block;
  auto type = json::text_or_empty(*started, "type");
  std::string first;
  if (type == "text") {
    first = json::text_or_empty(*started, "text");
  } else if (type == "thinking") {
    block.kind = block_kind::thinking;
    block.signature = json::text_or_empty(*started, "signature");
    first = json::text_or_empty(*started, "thinking");
  } else if (type == "redacted_thinking") {
    block.kind = block_kind::thinking;
    block.redacted = true;
    block.text = redacted_text;
    block.signature = json::text_or_empty(*started, "data");
  } else if (type == "tool_use") {
    block.kind = block_kind::tool_call;
    block.id = json::text_or_empty(*started, "id");
    block.name = json::text_or_empty(*started, "name");
    if (block.id.empty() || answer().has_call_id(block.id))
      block.id = answer().fresh_call_id();
    auto input = object_member(*started, "input");
    if (input && !input->empty())
      block.arguments = json_text{json::print(*input)};
  } else {
    return;
  }
  auto at = answer().open(std::move(block), out);
  blocks_[*index] = at;
  answer().append(at, first, out);
}

void anthropic_messages_stream::grow_block(const json::bj::object& data,
                                           stream_effects& out) {
  auto at = position(data);
  auto delta = object_member(data, "delta");
  if (!at || !delta)
    return;
  auto type = json::text_or_empty(*delta, "type");
  auto kind = answer().block(*at).kind;
  if (type == "text_delta" && kind == block_kind::text)
    answer().append(*at, json::text_or_empty(*delta, "text"), out);
  else if (type == "thinking_delta" && kind == block_kind::thinking)
    answer().append(*at, json::text_or_empty(*delta, "thinking"), out);
  else if (type == "input_json_delta" && kind == block_kind::tool_call)
    answer().append(*at, json::text_or_empty(*delta, "partial_json"), out);
  else if (type == "signature_delta" && kind == block_kind::thinking)
    answer().extend_signature(*at, json::text_or_empty(*delta, "signature"));
}

void anthropic_messages_stream::stop_block(const json::bj::object& data,
                                           stream_effects& out) {
  if (auto at = position(data))
    answer().close(*at, out);
}

void anthropic_messages_stream::change_message(const json::bj::object& data) {
  if (auto delta = object_member(data, "delta")) {
    auto reason = json::text_or_empty(*delta, "stop_reason");
    if (!reason.empty())
      stop_reason_ = reason;
    if (auto details = object_member(*delta, "stop_details"))
      explanation_ = json::text_or_empty(*details, "explanation");
  }
  if (auto reported = object_member(data, "usage"))
    read_usage(*reported);
}

void anthropic_messages_stream::complete(stream_effects& out) {
  const auto& reason = stop_reason_;
  if (reason == "end_turn" || reason == "pause_turn"
      || reason == "stop_sequence") {
    succeed(stop_reason::stop, out);
  } else if (reason == "max_tokens") {
    succeed(stop_reason::length, out);
  } else if (reason == "tool_use") {
    succeed(stop_reason::tool_use, out);
  } else if (reason.empty()) {
    fail(protocol_failure(context(), "the answer has no stop reason"), out);
  } else {
    answer().close_all(out);
    auto sentence = reason == "refusal"
                      ? "The model refused to answer"
                      : "The model ended its answer with the reason " + reason;
    if (!explanation_.empty())
      sentence += ": " + explanation_;
    auto error = reason == "model_context_window_exceeded"
                   ? model_error_class::overflow
                   : model_error_class::unknown;
    auto failure = local_failure(error, redacted(sentence, context().secrets));
    if (explanation_.empty())
      failure.message += ".";
    failure.error.code = reason;
    failure.error.http_status = 200;
    fail(failure, out);
  }
}

} // namespace bureau::models
