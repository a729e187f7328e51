#include "adapters/models/chat_dialect_core.hpp"

#include "adapters/models/request_core.hpp"

#include <initializer_list>
#include <string_view>

namespace bureau::models {

namespace {

struct format_row {
  std::string_view name;
  thinking_format format;
};

constexpr format_row format_table[] = {
  {"openai", thinking_format::openai},
  {"openrouter", thinking_format::openrouter},
  {"deepseek", thinking_format::deepseek},
  {"together", thinking_format::together},
  {"zai", thinking_format::zai},
  {"qwen", thinking_format::qwen},
  {"qwen-chat-template", thinking_format::qwen_chat_template},
  {"chat-template", thinking_format::chat_template},
  {"string-thinking", thinking_format::string_thinking},
  {"ant-ling", thinking_format::ant_ling},
};

thinking_format parse_format(const std::string& name,
                             thinking_format otherwise) {
  for (const auto& row : format_table)
    if (row.name == name)
      return row.format;
  return otherwise;
}

std::string_view name_of(thinking_format format) {
  for (const auto& row : format_table)
    if (row.format == format)
      return row.name;
  return "openai";
}

/// Servers known to differ from OpenAI: they take the plain members only.
chat_dialect guess_dialect(const model_descriptor& model) {
  auto host = host_of(model.base_url);
  auto is = [&](std::string_view provider, std::string_view domain) {
    return model.provider == provider || host == domain
           || host.ends_with("." + std::string{domain});
  };
  chat_dialect guess;
  auto openrouter = is("openrouter", "openrouter.ai");
  auto deepseek = is("deepseek", "deepseek.com");
  auto together =
    is("together", "together.xyz") || is("together", "together.ai");
  auto zai = is("zai", "z.ai");
  auto mistral = is("mistral", "mistral.ai");
  auto xai = is("xai", "x.ai");
  auto moonshot =
    is("moonshot", "moonshot.ai") || is("moonshot", "moonshot.cn");
  auto plain = is("groq", "groq.com") || is("cerebras", "cerebras.ai")
               || is("chutes", "chutes.ai")
               || is("google", "generativelanguage.googleapis.com");
  if (openrouter || deepseek || together || zai || mistral || xai || moonshot
      || plain) {
    guess.store = false;
    guess.developer_role = false;
    guess.long_cache = false;
  }
  if (deepseek || together || mistral || moonshot || is("chutes", "chutes.ai"))
    guess.max_tokens_field = "max_tokens";
  if (xai || zai || mistral || moonshot)
    guess.reasoning_effort = false;
  if (together || mistral)
    guess.strict_mode = false;
  if (openrouter) {
    guess.thinking = thinking_format::openrouter;
    guess.anthropic_cache_control = model.id.starts_with("anthropic/");
  } else if (deepseek || moonshot) {
    guess.thinking = thinking_format::deepseek;
    guess.reasoning_content_always = model.reasoning;
  } else if (together) {
    guess.thinking = thinking_format::together;
  } else if (zai) {
    guess.thinking = thinking_format::zai;
  }
  if (mistral) {
    guess.tool_result_name = true;
    guess.assistant_after_tool_result = true;
    guess.thinking_as_text = true;
    guess.nine_character_ids = true;
  }
  return guess;
}

} // namespace

chat_dialect chat_dialect_of(const model_descriptor& model) {
  auto result = guess_dialect(model);
  compat_flags compat{model.compat};
  struct row {
    std::string_view name;
    bool* target;
  };
  for (const auto& [name, target] : std::initializer_list<row>{
         {"supportsStore", &result.store},
         {"supportsDeveloperRole", &result.developer_role},
         {"supportsReasoningEffort", &result.reasoning_effort},
         {"supportsUsageInStreaming", &result.usage_in_streaming},
         {"supportsStrictMode", &result.strict_mode},
         {"requiresToolResultName", &result.tool_result_name},
         {"requiresAssistantAfterToolResult",
          &result.assistant_after_tool_result},
         {"requiresThinkingAsText", &result.thinking_as_text},
         {"requiresReasoningContentOnAssistantMessages",
          &result.reasoning_content_always},
         {"sendSessionAffinityHeaders", &result.affinity_headers},
         {"supportsLongCacheRetention", &result.long_cache},
       })
    *target = compat.flag(name, *target);
  auto field = compat.text("maxTokensField", result.max_tokens_field);
  if (field == "max_tokens" || field == "max_completion_tokens")
    result.max_tokens_field = field;
  result.affinity_format =
    compat.text("sessionAffinityFormat", result.affinity_format);
  result.thinking = parse_format(
    compat.text("thinkingFormat", name_of(result.thinking)), result.thinking);
  auto cache = compat.text("cacheControlFormat",
                           result.anthropic_cache_control ? "anthropic" : "");
  result.anthropic_cache_control = cache == "anthropic";
  return result;
}

} // namespace bureau::models
