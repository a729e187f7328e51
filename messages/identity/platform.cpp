#include "messages/identity/platform.hpp"

#include <array>

namespace bureau {

namespace {

constexpr std::array<std::string_view, 5> platform_names = {
  "slack", "discord", "telegram", "github", "console"};

} // namespace

std::string to_string(platform_id platform) {
  auto index = static_cast<size_t>(platform);
  return std::string{index < platform_names.size() ? platform_names[index]
                                                   : "unknown"};
}

std::string to_string(conversation_kind kind) {
  return kind == conversation_kind::direct ? "direct" : "shared";
}

std::optional<platform_id> parse_platform(std::string_view name) {
  for (size_t i = 0; i < platform_names.size(); ++i)
    if (platform_names[i] == name)
      return static_cast<platform_id>(i);
  return std::nullopt;
}

std::optional<conversation_kind>
parse_conversation_kind(std::string_view name) {
  if (name == "direct")
    return conversation_kind::direct;
  if (name == "shared")
    return conversation_kind::shared;
  return std::nullopt;
}

} // namespace bureau
