#pragma once

#include "messages/model/model_descriptor.hpp"

#include <cstdint>
#include <string>

namespace bureau::models {

/// Dialects of the members that switch reasoning on and off.
enum class thinking_format : uint8_t {
  /// reasoning_effort: level
  openai,
  /// reasoning: {effort: level or "none"}
  openrouter,
  /// thinking: {type: enabled or disabled}, reasoning_effort
  deepseek,
  /// reasoning: {enabled}, reasoning_effort
  together,
  /// thinking: {type: enabled or disabled}
  zai,
  /// enable_thinking
  qwen,
  /// chat_template_kwargs: {enable_thinking, preserve_thinking}
  qwen_chat_template,
  /// chat_template_kwargs: {enable_thinking}
  chat_template,
  /// thinking: level or "none"
  string_thinking,
  /// reasoning: {effort: level}, nothing when off
  ant_ling,
};

/// What a server that speaks chat completions understands (note on the harness,
/// section 4.4). Flags of the model win; the rest is guessed from the provider
/// and the host; a host that nobody knows behaves like OpenAI.
struct chat_dialect {
  bool store = true;
  bool developer_role = true;
  bool reasoning_effort = true;
  bool usage_in_streaming = true;
  bool strict_mode = true;
  bool tool_result_name = false;
  bool assistant_after_tool_result = false;
  bool thinking_as_text = false;
  bool reasoning_content_always = false;
  bool anthropic_cache_control = false;
  bool affinity_headers = false;
  bool long_cache = true;
  std::string max_tokens_field = "max_completion_tokens";
  std::string affinity_format = "openai";
  thinking_format thinking = thinking_format::openai;
  /// The server accepts ids of exactly nine letters and digits only.
  bool nine_character_ids = false;
};

chat_dialect chat_dialect_of(const model_descriptor& model);

} // namespace bureau::models
