#include "adapters/models/request_core.hpp"

#include "adapters/models/transcript_core.hpp"
#include "config/host_safety.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <iterator>

#include <strings.h>

namespace bureau::models {

namespace {

constexpr std::string_view levels[] = {"off",  "minimal", "low", "medium",
                                       "high", "xhigh",   "max"};

/// Levels from here on exist only where a model maps them.
constexpr size_t first_optional_level = 5;

std::optional<size_t> level_index(std::string_view level) {
  auto found = std::find(std::begin(levels), std::end(levels), level);
  if (found == std::end(levels))
    return std::nullopt;
  return static_cast<size_t>(found - std::begin(levels));
}

json::bj::object object_of(const json_text& text) {
  if (text.empty())
    return {};
  auto parsed = json::parse(text.text);
  if (!parsed || !parsed.value.is_object())
    return {};
  return std::move(parsed.value.get_object());
}

bool is_supported(const model_descriptor& model, size_t index) {
  if (!model.reasoning)
    return index == 0;
  auto name = provider_level(model, std::string{levels[index]});
  return name.allowed && (index < first_optional_level || !name.name.empty());
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool carries_key(const header_field& field) {
  auto name = lower(field.name);
  return name == "authorization" || name == "x-api-key" || name == "api-key"
         || name == "proxy-authorization" || name == "cf-aig-authorization";
}

} // namespace

compat_flags::compat_flags(const json_text& text) : flags_(object_of(text)) {
}

bool compat_flags::flag(std::string_view name, bool otherwise) const {
  return json::bool_member(flags_, name).value_or(otherwise);
}

std::string compat_flags::text(std::string_view name,
                               std::string_view otherwise) const {
  auto value = json::string_member(flags_, name);
  return value ? *value : std::string{otherwise};
}

level_name provider_level(const model_descriptor& model,
                          const std::string& level) {
  level_name result;
  auto map = object_of(model.thinking_levels);
  auto value = json::member(map, level);
  if (!value)
    return result;
  result.allowed = !value->is_null();
  if (value->is_string())
    result.name = value->get_string();
  return result;
}

std::string clamp_thinking(const model_descriptor& model,
                           const std::string& level) {
  auto wanted = level_index(level).value_or(0);
  for (auto i = wanted; i < std::size(levels); ++i)
    if (is_supported(model, i))
      return std::string{levels[i]};
  for (auto i = wanted; i > 0; --i)
    if (is_supported(model, i - 1))
      return std::string{levels[i - 1]};
  return "off";
}

std::string requested_thinking(const model_choice& choice) {
  const auto& level = choice.thinking_level;
  return level.empty() || level == "off" ? "off"
                                         : clamp_thinking(choice.model, level);
}

thinking_plan plan_thinking(const std::string& level, int64_t cap,
                            int64_t model_max) {
  constexpr int64_t budgets[] = {0, 1024, 2048, 8192, 16'384, 16'384, 16'384};
  constexpr int64_t least_answer = 1024;
  thinking_plan plan;
  plan.budget = budgets[level_index(level).value_or(0)];
  plan.max_tokens =
    cap > 0 ? std::min(cap + plan.budget, model_max) : model_max;
  if (plan.max_tokens <= plan.budget)
    plan.budget = std::max(int64_t{0}, plan.max_tokens - least_answer);
  return plan;
}

int64_t clamp_output(const model_descriptor& model, int64_t wanted,
                     int64_t prompt_tokens) {
  if (model.context_window <= 0)
    return wanted;
  auto room =
    model.context_window - prompt_tokens - limits::context_safety_tokens;
  return std::min(wanted, std::max(int64_t{1}, room));
}

int64_t estimate_fixed_part(const model_request& request) {
  auto sum = estimate_tokens(request.system_prompt);
  for (const auto& tool : request.tools)
    sum += estimate_tokens(tool.name) + estimate_tokens(tool.description)
           + estimate_tokens(tool.parameters.text);
  return sum;
}

std::string host_of(std::string_view url) {
  auto parts = config::parse_url(url);
  auto is_web = parts.scheme == "http" || parts.scheme == "https";
  return parts && is_web ? parts.host : std::string{};
}

std::string base_url_of(const model_descriptor& model,
                        std::string_view well_known) {
  auto result =
    model.base_url.empty() ? std::string{well_known} : model.base_url;
  while (result.ends_with('/'))
    result.pop_back();
  return host_of(result).empty() ? std::string{} : result;
}

std::optional<call_failure> check_endpoint(const model_choice& choice,
                                           const std::string& base_url) {
  const auto& provider = choice.model.provider;
  if (base_url.empty())
    return local_failure(
      model_error_class::bad_request,
      "The model provider " + provider
        + " has no usable address: set providers." + provider
        + ".baseUrl in models.json to an http or https address.");
  auto keyed = std::any_of(choice.model.headers.begin(),
                           choice.model.headers.end(), carries_key);
  if (choice.api_key.empty() && !keyed
      && !config::is_loopback_host(host_of(base_url)))
    return local_failure(model_error_class::auth,
                         "There is no credential for the model provider "
                           + provider + ": put its key into auth.json or set "
                           + key_variable(provider) + ".");
  return std::nullopt;
}

std::string key_variable(std::string_view provider) {
  std::string result;
  for (auto c : provider) {
    auto upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    auto named =
      (upper >= 'A' && upper <= 'Z') || (upper >= '0' && upper <= '9');
    if (named)
      result += upper;
    else if (!result.ends_with('_'))
      result += '_';
  }
  return result + "_API_KEY";
}

void overlay_headers(std::vector<header_field>& base,
                     const std::vector<header_field>& over) {
  for (const auto& field : over) {
    auto same = std::find_if(base.begin(), base.end(), [&field](const auto& x) {
      return strcasecmp(x.name.c_str(), field.name.c_str()) == 0;
    });
    if (same == base.end())
      base.push_back(field);
    else
      *same = field;
  }
}

std::string schema_text(const tool_definition& tool) {
  auto parsed = json::parse(tool.parameters.text);
  if (!parsed || !parsed.value.is_object())
    return R"({"type":"object","properties":{}})";
  return tool.parameters.text;
}

std::string arguments_object(const json_text& arguments) {
  auto parsed = json::parse(arguments.text);
  return parsed && parsed.value.is_object() ? arguments.text : "{}";
}

std::string joined_text(const transcript_message& message) {
  std::string result;
  for (const auto& block : message.content) {
    if (block.kind != block_kind::text || text::is_blank(block.text))
      continue;
    if (!result.empty())
      result += '\n';
    result += block.text;
  }
  return result;
}

bool has_images(const transcript_message& message) {
  return std::any_of(
    message.content.begin(), message.content.end(),
    [](const auto& block) { return block.kind == block_kind::image; });
}

std::string cache_key(const std::string& session_id) {
  constexpr size_t longest = 64;
  std::string_view rest{session_id};
  size_t bytes = 0;
  for (size_t i = 0; i < longest && bytes < rest.size(); ++i)
    bytes += text::decode_at(rest, bytes).bytes;
  return session_id.substr(0, bytes);
}

} // namespace bureau::models
