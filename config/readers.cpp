#include "config/readers.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bureau::config {

std::optional<std::string> normalize_optional(std::string_view raw) {
  auto trimmed = text::trim(raw);
  if (trimmed.empty())
    return std::nullopt;
  return std::string{trimmed};
}

std::optional<int64_t> read_integer(std::string_view raw, int64_t min,
                                    int64_t max) {
  auto digits = text::trim(raw);
  auto is_digit = [](char c) {
    return c >= '0' && c <= '9';
  };
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
    return std::nullopt;
  int64_t value = 0;
  auto end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || value < min || value > max)
    return std::nullopt;
  return value;
}

std::optional<bool> read_boolean(std::string_view raw) {
  auto word = text::trim(raw);
  if (word == "true")
    return true;
  if (word == "false")
    return false;
  return std::nullopt;
}

std::vector<std::string> read_csv(std::string_view raw) {
  std::vector<std::string> result;
  for (size_t pos = 0; pos <= raw.size();) {
    auto end = std::min(raw.find(',', pos), raw.size());
    if (auto entry = normalize_optional(raw.substr(pos, end - pos)))
      result.push_back(std::move(*entry));
    pos = end + 1;
  }
  return result;
}

int64_t micro_of(double dollars) {
  constexpr double micro_per_dollar = 1e6;
  // What is not exact in binary must not become one more.
  constexpr double noise = 1e-3;
  return std::max<int64_t>(
    1, static_cast<int64_t>(std::ceil(dollars * micro_per_dollar - noise)));
}

} // namespace bureau::config
