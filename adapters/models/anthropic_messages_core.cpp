#include "adapters/models/anthropic_messages_core.hpp"

#include "adapters/models/transcript_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::models {

namespace {

constexpr std::string_view anthropic_url = "https://api.anthropic.com";
constexpr std::string_view api_version = "2023-06-01";
constexpr std::string_view interleaved_beta = "interleaved-thinking-2025-05-14";
constexpr std::string_view fine_streaming_beta =
  "fine-grained-tool-streaming-2025-05-14";
constexpr std::string_view oauth_beta = "oauth-2025-04-20";
constexpr std::string_view oauth_infix = "sk-ant-oat";
constexpr std::string_view image_only_note = "(see the image below)";
/// The provider refuses smaller budgets.
constexpr int64_t least_budget = 1024;

struct anthropic_dialect {
  bool adaptive_thinking = false;
  bool eager_tools = true;
  bool empty_signatures = false;
  bool long_cache = true;

  explicit anthropic_dialect(const model_descriptor& model) {
    compat_flags compat{model.compat};
    adaptive_thinking = compat.flag("forceAdaptiveThinking", false);
    eager_tools = compat.flag("supportsEagerToolInputStreaming", true);
    empty_signatures = compat.flag("allowEmptySignature", false);
    long_cache = compat.flag("supportsLongCacheRetention", true);
  }
};

bool is_sent_text(const content_block& block) {
  return block.kind == block_kind::text && !text::is_blank(block.text);
}

bool is_sent_from_user(const content_block& block) {
  return is_sent_text(block) || block.kind == block_kind::image;
}

/// Writes one body.
class messages_writer {
public:
  messages_writer(const model_request& request,
                  const anthropic_dialect& dialect, cache_retention retention)
    : request_(request), model_(request.choice.model), dialect_(dialect),
      retention_(retention), level_(requested_thinking(request.choice)),
      messages_(
        normal_transcript(request.messages, model_, call_id_rule::anthropic)) {}

  std::string write() {
    plan_output();
    out_.begin_object();
    out_.member("model", model_.id);
    out_.member("max_tokens", plan_.max_tokens);
    out_.member("stream", true);
    write_system();
    write_messages();
    write_tools();
    write_thinking();
    out_.end_object();
    return out_.take();
  }

private:
  bool thinks() const { return model_.reasoning && level_ != "off"; }

  void plan_output() {
    auto prompt = estimate_fixed_part(request_);
    for (const auto& message : messages_)
      prompt += estimate_tokens(message);
    if (thinks() && !dialect_.adaptive_thinking)
      plan_ = plan_thinking(level_, request_.max_tokens, model_.max_tokens);
    else
      plan_.max_tokens = request_.max_tokens > 0
                           ? std::min(request_.max_tokens, model_.max_tokens)
                           : model_.max_tokens;
    plan_.max_tokens = clamp_output(model_, plan_.max_tokens, prompt);
    plan_.budget = std::min(plan_.budget, plan_.max_tokens - least_budget);
  }

  void write_cache_control() {
    if (retention_ == cache_retention::none)
      return;
    out_.key("cache_control");
    out_.begin_object();
    out_.member("type", "ephemeral");
    if (retention_ == cache_retention::prolonged && dialect_.long_cache)
      out_.member("ttl", "1h");
    out_.end_object();
  }

  void write_system() {
    if (text::is_blank(request_.system_prompt))
      return;
    out_.key("system");
    out_.begin_array();
    write_text(request_.system_prompt, true);
    out_.end_array();
  }

  void write_text(std::string_view text, bool marked) {
    out_.begin_object();
    out_.member("type", "text");
    out_.member("text", text);
    if (marked)
      write_cache_control();
    out_.end_object();
  }

  void write_image(const content_block& block, bool marked) {
    out_.begin_object();
    out_.member("type", "image");
    out_.key("source");
    out_.begin_object();
    out_.member("type", "base64");
    out_.member("media_type", block.mime_type);
    out_.member("data", block.data);
    out_.end_object();
    if (marked)
      write_cache_control();
    out_.end_object();
  }

  void write_messages() {
    out_.key("messages");
    out_.begin_array();
    for (size_t i = 0; i < messages_.size(); ++i) {
      const auto& message = messages_[i];
      if (message.role == message_role::assistant) {
        write_assistant(message);
      } else if (message.role == message_role::tool_result) {
        auto end = i;
        while (end < messages_.size()
               && messages_[end].role == message_role::tool_result)
          ++end;
        write_results(i, end);
        i = end - 1;
      } else {
        write_user(message, i + 1 == messages_.size());
      }
    }
    out_.end_array();
  }

  void write_user(const transcript_message& message, bool is_last) {
    const auto& content = message.content;
    auto last =
      std::find_if(content.rbegin(), content.rend(), is_sent_from_user);
    if (last == content.rend())
      return;
    out_.begin_object();
    out_.member("role", "user");
    out_.key("content");
    out_.begin_array();
    for (const auto& block : content) {
      auto marked = is_last && &block == &*last;
      if (is_sent_text(block))
        write_text(block.text, marked);
      else if (block.kind == block_kind::image)
        write_image(block, marked);
    }
    out_.end_array();
    out_.end_object();
  }

  bool is_sent_from_assistant(const content_block& block) const {
    switch (block.kind) {
    case block_kind::text:
      return is_sent_text(block);
    case block_kind::thinking:
      return !block.signature.empty() || !text::is_blank(block.text);
    case block_kind::tool_call:
      return true;
    case block_kind::image:
      return false;
    }
    return false;
  }

  void write_assistant(const transcript_message& message) {
    auto any = std::any_of(
      message.content.begin(), message.content.end(),
      [this](const auto& block) { return is_sent_from_assistant(block); });
    if (!any)
      return;
    out_.begin_object();
    out_.member("role", "assistant");
    out_.key("content");
    out_.begin_array();
    for (const auto& block : message.content)
      if (is_sent_from_assistant(block))
        write_assistant_block(block);
    out_.end_array();
    out_.end_object();
  }

  void write_assistant_block(const content_block& block) {
    if (block.kind == block_kind::tool_call) {
      out_.begin_object();
      out_.member("type", "tool_use");
      out_.member("id", block.id);
      out_.member("name", block.name);
      out_.key("input");
      out_.raw(arguments_object(block.arguments));
      out_.end_object();
    } else if (block.kind == block_kind::thinking && block.redacted) {
      out_.begin_object();
      out_.member("type", "redacted_thinking");
      out_.member("data", block.signature);
      out_.end_object();
    } else if (block.kind == block_kind::thinking
               && (!block.signature.empty() || dialect_.empty_signatures)) {
      out_.begin_object();
      out_.member("type", "thinking");
      out_.member("thinking", block.text);
      out_.member("signature", block.signature);
      out_.end_object();
    } else {
      // Thinking without its signature would be refused as thinking.
      write_text(block.text, false);
    }
  }

  void write_results(size_t begin, size_t end) {
    out_.begin_object();
    out_.member("role", "user");
    out_.key("content");
    out_.begin_array();
    for (auto i = begin; i < end; ++i)
      write_result(messages_[i], i + 1 == messages_.size());
    out_.end_array();
    out_.end_object();
  }

  void write_result(const transcript_message& message, bool marked) {
    out_.begin_object();
    out_.member("type", "tool_result");
    out_.member("tool_use_id", message.tool_call_id);
    out_.key("content");
    auto text = joined_text(message);
    if (has_images(message)) {
      out_.begin_array();
      write_text(text.empty() ? std::string{image_only_note} : text, false);
      for (const auto& block : message.content)
        if (block.kind == block_kind::image)
          write_image(block, false);
      out_.end_array();
    } else {
      out_.string(text);
    }
    out_.member("is_error", message.is_error);
    if (marked)
      write_cache_control();
    out_.end_object();
  }

  void write_tools() {
    if (request_.tools.empty())
      return;
    out_.key("tools");
    out_.begin_array();
    for (const auto& tool : request_.tools) {
      out_.begin_object();
      out_.member("name", tool.name);
      out_.member("description", tool.description);
      if (dialect_.eager_tools)
        out_.member("eager_input_streaming", true);
      out_.key("input_schema");
      write_schema(tool);
      if (&tool == &request_.tools.back())
        write_cache_control();
      out_.end_object();
    }
    out_.end_array();
  }

  /// The members that the provider knows, in a fixed order.
  void write_schema(const tool_definition& tool) {
    auto parsed = json::parse(schema_text(tool));
    out_.begin_object();
    out_.member("type", "object");
    auto copy = [this, &parsed](std::string_view name,
                                std::string_view otherwise) {
      auto value = json::member(parsed.value, name);
      if (!value && otherwise.empty())
        return;
      out_.key(name);
      out_.raw(value ? json::print(*value) : std::string{otherwise});
    };
    copy("properties", "{}");
    copy("required", "[]");
    copy("additionalProperties", "");
    copy("$defs", "");
    copy("definitions", "");
    out_.end_object();
  }

  void write_thinking() {
    if (!model_.reasoning)
      return;
    auto mapped = provider_level(model_, level_);
    if (!thinks()) {
      if (mapped.allowed)
        write_thinking_off();
    } else if (dialect_.adaptive_thinking) {
      out_.key("thinking");
      out_.begin_object();
      out_.member("type", "adaptive");
      out_.member("display", "summarized");
      out_.end_object();
      out_.key("output_config");
      out_.begin_object();
      out_.member("effort", effort(mapped));
      out_.end_object();
    } else if (plan_.budget < least_budget) {
      write_thinking_off();
    } else {
      out_.key("thinking");
      out_.begin_object();
      out_.member("type", "enabled");
      out_.member("budget_tokens", plan_.budget);
      out_.member("display", "summarized");
      out_.end_object();
    }
  }

  void write_thinking_off() {
    out_.key("thinking");
    out_.begin_object();
    out_.member("type", "disabled");
    out_.end_object();
  }

  std::string effort(const level_name& mapped) const {
    if (!mapped.name.empty())
      return mapped.name;
    return level_ == "minimal" ? "low" : level_;
  }

  const model_request& request_;
  const model_descriptor& model_;
  const anthropic_dialect& dialect_;
  cache_retention retention_;
  std::string level_;
  std::vector<transcript_message> messages_;
  thinking_plan plan_;
  json_writer out_;
};

std::vector<header_field> headers_of(const model_request& request,
                                     const anthropic_dialect& dialect) {
  std::vector<header_field> result = {
    {"content-type", "application/json", false},
    {"accept", "text/event-stream", false},
    {"anthropic-version", std::string{api_version}, false},
  };
  std::string betas;
  auto add_beta = [&betas](std::string_view name) {
    betas += betas.empty() ? "" : ",";
    betas += name;
  };
  const auto& key = request.choice.api_key.reveal();
  if (key.find(oauth_infix) != std::string::npos) {
    result.push_back({"authorization", "Bearer " + key, true});
    add_beta(oauth_beta);
  } else if (!key.empty()) {
    result.push_back({"x-api-key", key, true});
  }
  if (!dialect.adaptive_thinking)
    add_beta(interleaved_beta);
  if (!request.tools.empty() && !dialect.eager_tools)
    add_beta(fine_streaming_beta);
  if (!betas.empty())
    result.push_back({"anthropic-beta", betas, false});
  overlay_headers(result, request.choice.model.headers);
  return result;
}

} // namespace

built_request build_anthropic_messages(const model_request& request,
                                       cache_retention retention) {
  built_request result;
  const auto& model = request.choice.model;
  auto base =
    base_url_of(model, model.provider == "anthropic" ? anthropic_url : "");
  result.refusal = check_endpoint(request.choice, base);
  if (result.refusal)
    return result;
  anthropic_dialect dialect{model};
  result.wire.url = base + "/v1/messages";
  result.wire.headers = headers_of(request, dialect);
  result.wire.body = messages_writer{request, dialect, retention}.write();
  return result;
}

} // namespace bureau::models
