#include "adapters/models/retry_after_core.hpp"

#include "messages/interfaces/http.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace bureau::models {

namespace {

std::optional<int> month_number(std::string_view name) {
  constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr",
                                         "May", "Jun", "Jul", "Aug",
                                         "Sep", "Oct", "Nov", "Dec"};
  for (size_t i = 0; i < std::size(months); ++i)
    if (months[i] == name)
      return static_cast<int>(i) + 1;
  return std::nullopt;
}

std::optional<int64_t> number(std::string_view digits) {
  int64_t value = 0;
  auto end = digits.data() + digits.size();
  auto [rest, fault] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || digits.front() == '-' || fault != std::errc{}
      || rest != end)
    return std::nullopt;
  return value;
}

/// The words of a text, at most eight.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty() && result.size() < 8) {
    auto begin = text.find_first_not_of(" ,-");
    if (begin == std::string_view::npos)
      break;
    text.remove_prefix(begin);
    auto end = std::min(text.find_first_of(" ,-"), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return result;
}

} // namespace

std::optional<int64_t> parse_http_date(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and
  // "Sun Nov  6 08:49:37 1994".
  auto words = words_of(text);
  std::string_view day;
  std::string_view month;
  std::string_view year;
  std::string_view clock;
  if (words.size() == 6 && words[5] == "GMT") {
    day = words[1];
    month = words[2];
    year = words[3];
    clock = words[4];
  } else if (words.size() == 5) {
    month = words[1];
    day = words[2];
    clock = words[3];
    year = words[4];
  } else {
    return std::nullopt;
  }
  auto month_index = month_number(month);
  auto day_index = number(day);
  auto full_year = number(year);
  if (!month_index || !day_index || *day_index > 31 || !full_year
      || *full_year > 9999 || clock.size() != 8)
    return std::nullopt;
  if (year.size() == 2)
    *full_year += *full_year < 70 ? 2000 : 1900;
  std::array<char, 40> iso{};
  std::snprintf(iso.data(), iso.size(), "%04d-%02d-%02dT%.8sZ",
                static_cast<int>(*full_year), *month_index,
                static_cast<int>(*day_index), std::string{clock}.c_str());
  return text::parse_iso(iso.data());
}

int64_t retry_after_ms(const std::vector<header_field>& headers,
                       int64_t now_ms) {
  constexpr int64_t day_ms = 86'400'000;
  auto exact = number(header_value(headers, "retry-after-ms"));
  if (exact)
    return std::min(*exact, day_ms);
  auto value = header_value(headers, "retry-after");
  auto point = value.find('.');
  auto seconds = number(std::string_view{value}.substr(0, point));
  if (seconds) {
    // A fraction is rounded up: asking too early is what must not happen.
    auto extra = point == std::string::npos ? 0 : 1;
    return std::min(*seconds, day_ms / 1000 - 1) * 1000 + extra * 1000;
  }
  auto date = parse_http_date(value);
  return date ? std::clamp(*date - now_ms, int64_t{0}, day_ms) : 0;
}

} // namespace bureau::models
