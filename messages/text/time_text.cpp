#include "messages/text/time_text.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace bureau::text {

namespace {

struct civil {
  int year;
  unsigned month;
  unsigned day;
  int hour;
  int minute;
  int second;
  int millisecond;
};

civil civil_of(int64_t unix_ms) {
  using namespace std::chrono;
  auto instant = sys_time<milliseconds>{milliseconds{unix_ms}};
  auto midnight = floor<days>(instant);
  year_month_day date{midnight};
  hh_mm_ss<milliseconds> time{instant - midnight};
  return {int{date.year()},
          unsigned{date.month()},
          unsigned{date.day()},
          static_cast<int>(time.hours().count()),
          static_cast<int>(time.minutes().count()),
          static_cast<int>(time.seconds().count()),
          static_cast<int>(time.subseconds().count())};
}

/// Reads exactly `digits` digits at `pos` and moves it on.
std::optional<int> number(std::string_view text, size_t& pos, size_t digits) {
  if (pos + digits > text.size())
    return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    auto c = text[pos + i];
    if (c < '0' || c > '9')
      return std::nullopt;
    value = value * 10 + (c - '0');
  }
  pos += digits;
  return value;
}

bool literal(std::string_view text, size_t& pos, char expected) {
  if (pos >= text.size() || text[pos] != expected)
    return false;
  ++pos;
  return true;
}

} // namespace

std::string iso_utc(int64_t unix_ms) {
  auto c = civil_of(unix_ms);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                c.year, c.month, c.day, c.hour, c.minute, c.second,
                c.millisecond);
  return buffer;
}

std::optional<int64_t> parse_iso(std::string_view text) {
  using namespace std::chrono;
  size_t pos = 0;
  auto year_part = number(text, pos, 4);
  if (!year_part || !literal(text, pos, '-'))
    return std::nullopt;
  auto month_part = number(text, pos, 2);
  if (!month_part || !literal(text, pos, '-'))
    return std::nullopt;
  auto day_part = number(text, pos, 2);
  if (!day_part)
    return std::nullopt;
  year_month_day date{year{*year_part},
                      month{static_cast<unsigned>(*month_part)},
                      day{static_cast<unsigned>(*day_part)}};
  if (!date.ok())
    return std::nullopt;
  auto midnight_ms =
    duration_cast<milliseconds>(sys_days{date}.time_since_epoch()).count();
  if (pos == text.size())
    return midnight_ms;
  if (!literal(text, pos, 'T'))
    return std::nullopt;
  auto hour_part = number(text, pos, 2);
  if (!hour_part || *hour_part > 23 || !literal(text, pos, ':'))
    return std::nullopt;
  auto minute_part = number(text, pos, 2);
  if (!minute_part || *minute_part > 59 || !literal(text, pos, ':'))
    return std::nullopt;
  auto second_part = number(text, pos, 2);
  if (!second_part || *second_part > 59)
    return std::nullopt;
  int64_t fraction_ms = 0;
  if (literal(text, pos, '.')) {
    int64_t scale = 100;
    size_t digits = 0;
    while (pos < text.size() && text[pos] >= '0' && text[pos] <= '9') {
      fraction_ms += scale * (text[pos] - '0');
      scale /= 10;
      ++pos;
      ++digits;
    }
    if (digits == 0)
      return std::nullopt;
  }
  int64_t offset_minutes = 0;
  if (!literal(text, pos, 'Z')) {
    if (pos >= text.size() || (text[pos] != '+' && text[pos] != '-'))
      return std::nullopt;
    auto sign = text[pos++] == '+' ? 1 : -1;
    auto hours_part = number(text, pos, 2);
    if (!hours_part || *hours_part > 23 || !literal(text, pos, ':'))
      return std::nullopt;
    auto minutes_part = number(text, pos, 2);
    if (!minutes_part || *minutes_part > 59)
      return std::nullopt;
    offset_minutes = sign * (*hours_part * 60 + *minutes_part);
  }
  if (pos != text.size())
    return std::nullopt;
  return midnight_ms
         + ((*hour_part * 60 + *minute_part - offset_minutes) * 60
            + *second_part)
             * 1000
         + fraction_ms;
}

std::string local_stamp(int64_t unix_ms, int offset_minutes) {
  auto c = civil_of(unix_ms + int64_t{offset_minutes} * 60'000);
  auto sign = offset_minutes < 0 ? '-' : '+';
  auto offset = std::abs(offset_minutes);
  char buffer[96];
  std::snprintf(
    buffer, sizeof buffer, "%04d-%02u-%02u %02d:%02d:%02d%c%02d:%02d", c.year,
    c.month, c.day, c.hour, c.minute, c.second, sign, offset / 60, offset % 60);
  return buffer;
}

} // namespace bureau::text
