#include "adapters/console/message_id_core.hpp"

#include <algorithm>
#include <charconv>

namespace bureau::console {

namespace {

constexpr int64_t micros_per_second = 1'000'000;
constexpr size_t fraction_digits = 6;
/// Longest whole part that cannot overflow.
constexpr size_t second_digits = 12;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

int64_t number(std::string_view digits) {
  int64_t result = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

} // namespace

std::optional<int64_t> parse_message_id(std::string_view text) {
  auto dot = text.find('.');
  if (dot == std::string_view::npos || dot > second_digits)
    return std::nullopt;
  auto whole = text.substr(0, dot);
  auto fraction = text.substr(dot + 1);
  if (!all_digits(whole) || !all_digits(fraction)
      || fraction.size() != fraction_digits)
    return std::nullopt;
  return number(whole) * micros_per_second + number(fraction);
}

std::string print_message_id(int64_t micros) {
  auto fraction = std::to_string(micros % micros_per_second);
  return std::to_string(micros / micros_per_second) + "."
         + std::string(fraction_digits - fraction.size(), '0') + fraction;
}

void message_ids::seen(std::string_view id) {
  if (auto micros = parse_message_id(id))
    last_micros_ = std::max(last_micros_, *micros);
}

std::string message_ids::next(int64_t now_ms) {
  last_micros_ = std::max(last_micros_ + 1, now_ms * 1000);
  return print_message_id(last_micros_);
}

} // namespace bureau::console
