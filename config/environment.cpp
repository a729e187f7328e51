#include "config/environment.hpp"

#include "config/readers.hpp"
#include "messages/product.hpp"

namespace bureau::config {

environment environment::capture(const char* const* entries) {
  std::map<std::string, std::string> raw;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    std::string_view entry{*entries};
    auto equals = entry.find('=');
    if (equals != std::string_view::npos && equals > 0)
      raw.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment{std::move(raw)};
}

std::optional<env_value> environment::find(std::string_view name) const {
  auto look = [this](std::string spelling) -> std::optional<env_value> {
    auto entry = raw_.find(spelling);
    if (entry == raw_.end())
      return std::nullopt;
    auto value = normalize_optional(entry->second);
    if (!value)
      return std::nullopt;
    return env_value{std::move(*value), std::move(spelling)};
  };
  std::string plain{name};
  if (auto found = look(plain))
    return found;
  if (auto found = look(product::env_prefix + plain))
    return found;
  if (auto found = look(product::legacy_env_prefix + plain))
    return found;
  if (name == "HTTP_PROXY" || name == "HTTPS_PROXY" || name == "NO_PROXY") {
    for (auto& c : plain)
      if (c >= 'A' && c <= 'Z')
        c = static_cast<char>(c - 'A' + 'a');
    return look(plain);
  }
  return std::nullopt;
}

std::string environment::text(std::string_view name) const {
  auto found = find(name);
  return found ? std::move(found->text) : std::string{};
}

std::vector<std::string>
environment::legacy_warnings(const std::vector<std::string_view>& names) const {
  std::vector<std::string> result;
  for (auto name : names) {
    auto found = find(name);
    if (found && found->spelling.starts_with(product::legacy_env_prefix))
      result.push_back(found->spelling + " is read for compatibility; rename it"
                       + " to " + product::env_prefix + std::string{name}
                       + '.');
  }
  return result;
}

} // namespace bureau::config
