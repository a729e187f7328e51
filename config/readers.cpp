#include "config/readers.hpp"

#include "messages/contracts/config_readers.hpp"

#include <algorithm>
#include <cmath>

namespace bureau::config {

std::optional<std::string> normalize_optional(std::string_view raw) {
  return contracts::normalize_optional_string(raw);
}

std::optional<int64_t> read_integer(std::string_view raw, int64_t min,
                                    int64_t max) {
  auto text = normalize_optional(raw);
  auto value = text ? contracts::parse_digits(*text) : std::nullopt;
  return value && *value >= min && *value <= max ? value : std::nullopt;
}

std::optional<bool> read_boolean(std::string_view raw) {
  auto text = normalize_optional(raw);
  return text ? contracts::parse_boolean(*text) : std::nullopt;
}

std::vector<std::string> read_csv(std::string_view raw) {
  return contracts::read_csv(raw);
}

int64_t micro_of(double dollars) {
  constexpr double micro_per_dollar = 1e6;
  // What is not exact in binary must not become one more.
  constexpr double noise = 1e-3;
  return std::max<int64_t>(
    1, static_cast<int64_t>(std::ceil(dollars * micro_per_dollar - noise)));
}

} // namespace bureau::config
