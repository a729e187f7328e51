#include "adapters/models/openai_completions_core.hpp"

#include "adapters/models/transcript_core.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::models {

namespace {

constexpr std::string_view openai_url = "https://api.openai.com/v1";
constexpr std::string_view tool_image_note = "Images of the tool result:";
constexpr std::string_view image_only_note = "(see the image below)";
constexpr std::string_view no_output_note = "(no tool output)";
constexpr std::string_view bridge_text = "I have read the tool results.";

call_id_rule id_rule_of(const model_descriptor& model,
                        const chat_dialect& dialect) {
  if (dialect.nine_character_ids)
    return call_id_rule::nine_alphanumerics;
  return model.provider == "openai" ? call_id_rule::chat_openai
                                    : call_id_rule::chat;
}

std::string chat_base_url(const model_descriptor& model) {
  return base_url_of(model, model.provider == "openai" ? openai_url : "");
}

/// Writes one body.
class chat_writer {
public:
  chat_writer(const model_request& request, const chat_dialect& dialect,
              cache_retention retention)
    : request_(request), model_(request.choice.model), dialect_(dialect),
      retention_(retention),
      messages_(normal_transcript(request.messages, model_,
                                  id_rule_of(model_, dialect))) {}

  std::string write() {
    out_.begin_object();
    out_.member("model", model_.id);
    write_messages();
    out_.member("stream", true);
    if (dialect_.usage_in_streaming) {
      out_.key("stream_options");
      out_.begin_object();
      out_.member("include_usage", true);
      out_.end_object();
    }
    if (dialect_.store)
      out_.member("store", false);
    out_.member(dialect_.max_tokens_field, output_cap());
    write_tools();
    write_thinking();
    write_cache_key();
    out_.end_object();
    return out_.take();
  }

private:
  bool marks_cache() const {
    return dialect_.anthropic_cache_control
           && retention_ != cache_retention::none;
  }

  int64_t output_cap() const {
    auto wanted = request_.max_tokens > 0
                    ? std::min(request_.max_tokens, model_.max_tokens)
                    : model_.max_tokens;
    auto prompt = estimate_fixed_part(request_);
    for (const auto& message : messages_)
      prompt += estimate_tokens(message);
    return clamp_output(model_, wanted, prompt);
  }

  void write_cache_control() {
    out_.key("cache_control");
    out_.begin_object();
    out_.member("type", "ephemeral");
    if (retention_ == cache_retention::prolonged && dialect_.long_cache)
      out_.member("ttl", "1h");
    out_.end_object();
  }

  void write_text_part(std::string_view text, bool marked) {
    out_.begin_object();
    out_.member("type", "text");
    out_.member("text", text);
    if (marked)
      write_cache_control();
    out_.end_object();
  }

  void write_image_part(const content_block& block) {
    out_.begin_object();
    out_.member("type", "image_url");
    out_.key("image_url");
    out_.begin_object();
    out_.member("url", "data:" + block.mime_type + ";base64," + block.data);
    out_.end_object();
    out_.end_object();
  }

  void write_messages() {
    if (marks_cache())
      find_marked_message();
    out_.key("messages");
    out_.begin_array();
    write_system();
    for (size_t i = 0; i < messages_.size(); ++i) {
      const auto& message = messages_[i];
      auto after_tool =
        i > 0 && messages_[i - 1].role == message_role::tool_result;
      switch (message.role) {
      case message_role::assistant:
        write_assistant(message, i == marked_);
        break;
      case message_role::tool_result:
        write_tool_result(message);
        if (i + 1 == messages_.size()
            || messages_[i + 1].role != message_role::tool_result)
          write_tool_images(i);
        break;
      default:
        if (after_tool && dialect_.assistant_after_tool_result)
          write_bridge();
        write_user(message, i == marked_);
      }
    }
    out_.end_array();
  }

  /// The last user or assistant message with text carries the cache mark.
  void find_marked_message() {
    for (auto i = messages_.size(); i > 0; --i) {
      const auto& message = messages_[i - 1];
      if (message.role != message_role::tool_result
          && !joined_text(message).empty()) {
        marked_ = i - 1;
        return;
      }
    }
  }

  void write_system() {
    if (request_.system_prompt.empty())
      return;
    out_.begin_object();
    auto developer = model_.reasoning && dialect_.developer_role;
    out_.member("role", developer ? "developer" : "system");
    if (marks_cache()) {
      out_.key("content");
      out_.begin_array();
      write_text_part(request_.system_prompt, true);
      out_.end_array();
    } else {
      out_.member("content", request_.system_prompt);
    }
    out_.end_object();
  }

  void write_user(const transcript_message& message, bool marked) {
    size_t last_text = 0;
    size_t parts = 0;
    for (size_t i = 0; i < message.content.size(); ++i) {
      const auto& block = message.content[i];
      if (is_sent_text(block))
        last_text = i;
      parts += is_sent_text(block) || block.kind == block_kind::image ? 1u : 0u;
    }
    if (parts == 0)
      return;
    out_.begin_object();
    out_.member("role", "user");
    out_.key("content");
    out_.begin_array();
    for (size_t i = 0; i < message.content.size(); ++i) {
      const auto& block = message.content[i];
      if (is_sent_text(block))
        write_text_part(block.text, marked && i == last_text);
      else if (block.kind == block_kind::image)
        write_image_part(block);
    }
    out_.end_array();
    out_.end_object();
  }

  static bool is_sent_text(const content_block& block) {
    return block.kind == block_kind::text && !text::is_blank(block.text);
  }

  void write_bridge() {
    out_.begin_object();
    out_.member("role", "assistant");
    out_.member("content", bridge_text);
    out_.end_object();
  }

  void write_assistant(const transcript_message& message, bool marked) {
    std::string text;
    std::string thinking;
    std::string field;
    auto calls = false;
    for (const auto& block : message.content) {
      if (block.kind == block_kind::text)
        text += block.text;
      else if (block.kind == block_kind::thinking && !block.redacted)
        add_thinking(block, thinking, field);
      calls = calls || block.kind == block_kind::tool_call;
    }
    if (dialect_.thinking_as_text && !thinking.empty()) {
      text = text.empty() ? thinking : thinking + "\n\n" + text;
      thinking.clear();
    }
    if (text::is_blank(text) && !calls)
      return;
    out_.begin_object();
    out_.member("role", "assistant");
    write_assistant_text(text, marked);
    if (!thinking.empty() && !field.empty())
      out_.member(field, thinking);
    else if (dialect_.reasoning_content_always)
      out_.member("reasoning_content", "");
    if (calls)
      write_calls(message);
    out_.end_object();
  }

  /// The signature of a thinking block names the member it came in.
  void add_thinking(const content_block& block, std::string& thinking,
                    std::string& field) const {
    auto known = block.signature == "reasoning_content"
                 || block.signature == "reasoning"
                 || block.signature == "reasoning_text";
    if (block.text.empty() || (!known && !dialect_.thinking_as_text))
      return;
    if (!thinking.empty())
      thinking += '\n';
    thinking += block.text;
    if (known)
      field = block.signature;
  }

  void write_assistant_text(const std::string& text, bool marked) {
    out_.key("content");
    if (marked && !text::is_blank(text)) {
      out_.begin_array();
      write_text_part(text, true);
      out_.end_array();
    } else if (text::is_blank(text) && !dialect_.assistant_after_tool_result) {
      out_.null();
    } else {
      out_.string(text);
    }
  }

  void write_calls(const transcript_message& message) {
    out_.key("tool_calls");
    out_.begin_array();
    for (const auto& block : message.content) {
      if (block.kind != block_kind::tool_call)
        continue;
      out_.begin_object();
      out_.member("id", block.id);
      out_.member("type", "function");
      out_.key("function");
      out_.begin_object();
      out_.member("name", block.name);
      out_.member("arguments", arguments_object(block.arguments));
      out_.end_object();
      out_.end_object();
    }
    out_.end_array();
  }

  void write_tool_result(const transcript_message& message) {
    out_.begin_object();
    out_.member("role", "tool");
    out_.member("tool_call_id", message.tool_call_id);
    if (dialect_.tool_result_name)
      out_.member("name", message.tool_name);
    auto text = joined_text(message);
    if (text.empty())
      text = has_images(message) ? image_only_note : no_output_note;
    out_.member("content", text);
    out_.end_object();
  }

  /// Images of the group of results that ends at `last`.
  void write_tool_images(size_t last) {
    auto first = last;
    while (first > 0 && messages_[first - 1].role == message_role::tool_result)
      --first;
    auto any = std::any_of(messages_.begin() + static_cast<ptrdiff_t>(first),
                           messages_.begin() + static_cast<ptrdiff_t>(last) + 1,
                           has_images);
    if (!any)
      return;
    if (dialect_.assistant_after_tool_result)
      write_bridge();
    out_.begin_object();
    out_.member("role", "user");
    out_.key("content");
    out_.begin_array();
    write_text_part(tool_image_note, false);
    for (auto i = first; i <= last; ++i)
      for (const auto& block : messages_[i].content)
        if (block.kind == block_kind::image)
          write_image_part(block);
    out_.end_array();
    out_.end_object();
  }

  bool has_tool_traffic() const {
    return std::any_of(messages_.begin(), messages_.end(),
                       [](const auto& message) {
                         return message.role == message_role::tool_result;
                       });
  }

  void write_tools() {
    if (request_.tools.empty() && !has_tool_traffic())
      return;
    out_.key("tools");
    out_.begin_array();
    for (const auto& tool : request_.tools) {
      out_.begin_object();
      out_.member("type", "function");
      out_.key("function");
      out_.begin_object();
      out_.member("name", tool.name);
      out_.member("description", tool.description);
      out_.key("parameters");
      out_.raw(schema_text(tool));
      if (dialect_.strict_mode)
        out_.member("strict", false);
      out_.end_object();
      if (marks_cache() && &tool == &request_.tools.back())
        write_cache_control();
      out_.end_object();
    }
    out_.end_array();
  }

  void write_effort(const std::string& effort) {
    if (dialect_.reasoning_effort && !effort.empty())
      out_.member("reasoning_effort", effort);
  }

  void write_switch(std::string_view name, bool on) {
    out_.key(name);
    out_.begin_object();
    out_.member("type", on ? "enabled" : "disabled");
    out_.end_object();
  }

  void write_reasoning_effort(const std::string& effort) {
    if (effort.empty())
      return;
    out_.key("reasoning");
    out_.begin_object();
    out_.member("effort", effort);
    out_.end_object();
  }

  void write_thinking() {
    if (!model_.reasoning)
      return;
    auto level = requested_thinking(request_.choice);
    auto mapped = provider_level(model_, level);
    auto on = level != "off";
    // Off mapped to null: the model cannot be told to stop thinking.
    if (!on && !mapped.allowed)
      return;
    auto effort = on && mapped.name.empty() ? level : mapped.name;
    switch (dialect_.thinking) {
    case thinking_format::openai:
      write_effort(effort);
      break;
    case thinking_format::openrouter:
      write_reasoning_effort(effort.empty() ? "none" : effort);
      break;
    case thinking_format::deepseek:
      write_switch("thinking", on);
      if (on)
        write_effort(effort);
      break;
    case thinking_format::together:
      out_.key("reasoning");
      out_.begin_object();
      out_.member("enabled", on);
      out_.end_object();
      if (on)
        write_effort(effort);
      break;
    case thinking_format::zai:
      write_switch("thinking", on);
      break;
    case thinking_format::qwen:
      out_.member("enable_thinking", on);
      break;
    case thinking_format::qwen_chat_template:
    case thinking_format::chat_template:
      out_.key("chat_template_kwargs");
      out_.begin_object();
      out_.member("enable_thinking", on);
      if (dialect_.thinking == thinking_format::qwen_chat_template)
        out_.member("preserve_thinking", true);
      out_.end_object();
      break;
    case thinking_format::string_thinking:
      out_.member("thinking", effort.empty() ? std::string{"none"} : effort);
      break;
    case thinking_format::ant_ling:
      write_reasoning_effort(effort);
      break;
    }
  }

  void write_cache_key() {
    if (retention_ == cache_retention::none || request_.session_id.empty())
      return;
    auto prolonged =
      retention_ == cache_retention::prolonged && dialect_.long_cache;
    auto openai = host_of(chat_base_url(model_)) == "api.openai.com";
    if (!openai && !prolonged)
      return;
    out_.member("prompt_cache_key", cache_key(request_.session_id));
    if (prolonged)
      out_.member("prompt_cache_retention", "24h");
  }

  const model_request& request_;
  const model_descriptor& model_;
  const chat_dialect& dialect_;
  cache_retention retention_;
  std::vector<transcript_message> messages_;
  /// Past the end: no message is marked.
  size_t marked_ = static_cast<size_t>(-1);
  json_writer out_;
};

std::vector<header_field> headers_of(const model_request& request,
                                     const chat_dialect& dialect) {
  std::vector<header_field> result = {
    {"content-type", "application/json", false},
    {"accept", "text/event-stream", false},
  };
  const auto& key = request.choice.api_key;
  if (!key.empty())
    result.push_back({"authorization", "Bearer " + key.reveal(), true});
  if (dialect.affinity_headers && !request.session_id.empty()) {
    auto id = cache_key(request.session_id);
    if (dialect.affinity_format == "openrouter")
      result.push_back({"x-session-id", id, false});
    else
      for (auto name :
           {"session_id", "x-client-request-id", "x-session-affinity"})
        result.push_back({name, id, false});
  }
  overlay_headers(result, request.choice.model.headers);
  return result;
}

} // namespace

built_request build_openai_completions(const model_request& request,
                                       cache_retention retention) {
  built_request result;
  auto base = chat_base_url(request.choice.model);
  result.refusal = check_endpoint(request.choice, base);
  if (result.refusal)
    return result;
  auto dialect = chat_dialect_of(request.choice.model);
  result.wire.url = base + "/chat/completions";
  result.wire.headers = headers_of(request, dialect);
  result.wire.body = chat_writer{request, dialect, retention}.write();
  return result;
}

} // namespace bureau::models
