#include "messages/schedule/cron.hpp"

#include "messages/errc.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace bureau {

namespace {

constexpr int64_t day_s = 86'400;
constexpr int64_t last_year = 9999;
/// The Gregorian calendar repeats itself, weekdays included.
constexpr int64_t calendar_cycle_years = 400;

/// What a field may hold.
struct field_rule {
  std::string_view name;
  int first;
  int last;
  /// Steps may not be larger.
  int size;
  std::array<std::string_view, 12> words;
  int first_word;
};

constexpr field_rule second_rule = {"second", 0, 59, 60, {}, 0};
constexpr field_rule minute_rule = {"minute", 0, 59, 60, {}, 0};
constexpr field_rule hour_rule = {"hour", 0, 23, 24, {}, 0};
constexpr field_rule day_rule = {"day of month", 1, 31, 31, {}, 0};
constexpr field_rule month_rule = {"month",
                                   1,
                                   12,
                                   12,
                                   {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                    "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"},
                                   1};
constexpr field_rule weekday_rule = {
  "day of week", 0, 7, 7, {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}, 0};
constexpr field_rule year_rule = {"year", 1, 9999, 10'000, {}, 0};

std::string upper(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return result;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> result;
  for (;;) {
    auto end = text.find(at);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return result;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  std::vector<std::string_view> result;
  for (;;) {
    auto begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos)
      return result;
    text.remove_prefix(begin);
    auto end = std::min(text.find_first_of(blank), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<int> plain_number(std::string_view text) {
  int value = 0;
  if (text.empty() || text.size() > 4
      || !std::all_of(text.begin(), text.end(),
                      [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A number or a name inside the bounds of a field.
std::optional<int> value_of(const field_rule& rule, std::string_view text) {
  for (size_t i = 0; i < rule.words.size(); ++i)
    if (!rule.words[i].empty() && rule.words[i] == text)
      return rule.first_word + static_cast<int>(i);
  auto value = plain_number(text);
  if (!value || *value < rule.first || *value > rule.last)
    return std::nullopt;
  return value;
}

/// `*`, a value, a range, and a step of the first or last.
struct stretch {
  int first = 0;
  int last = 0;
  int step = 1;
  bool all = false;
  bool stepped = false;
};

std::optional<stretch> stretch_of(const field_rule& rule,
                                  std::string_view item) {
  stretch result;
  auto slash = item.find('/');
  auto body = item.substr(0, slash);
  if (body == "*") {
    result.all = true;
    result.first = rule.first;
    // Sunday has two numbers, and seven days are enough.
    result.last = rule.size == 7 ? 6 : rule.last;
  } else {
    auto dash = body.find('-');
    auto first = value_of(rule, body.substr(0, dash));
    auto last = dash == std::string_view::npos
                  ? first
                  : value_of(rule, body.substr(dash + 1));
    if (!first || !last)
      return std::nullopt;
    result.first = *first;
    result.last = *last;
    // FRI-SUN ends with the other Sunday.
    if (dash != std::string_view::npos && body.substr(dash + 1) == "SUN")
      result.last = 7;
    if (result.first > result.last)
      return std::nullopt;
    // A single value with a step means nothing.
    if (slash != std::string_view::npos && dash == std::string_view::npos)
      return std::nullopt;
  }
  if (slash != std::string_view::npos) {
    auto step = plain_number(item.substr(slash + 1));
    if (!step || *step == 0 || *step > rule.size)
      return std::nullopt;
    result.step = *step;
    result.stepped = true;
  }
  return result;
}

/// `?` stands for `*` wherever it stands.
std::string starred(std::string_view text) {
  auto result = upper(text);
  std::replace(result.begin(), result.end(), '?', '*');
  return result;
}

// The readers below answer whether they understood the field.

/// @param fixed false once an item is a star or has a step
template <size_t Size>
bool read_set(const field_rule& rule, std::string_view text,
              std::bitset<Size>& into, bool& fixed) {
  auto field = starred(text);
  for (auto item : split(field, ',')) {
    auto found = stretch_of(rule, item);
    if (!found)
      return false;
    fixed = fixed && !found->all && !found->stepped;
    for (auto i = found->first; i <= found->last; i += found->step)
      into.set(static_cast<size_t>(i));
  }
  return true;
}

bool read_days(std::string_view text, cron_pattern& into) {
  auto field = starred(text);
  auto all = false;
  for (auto item : split(field, ',')) {
    if (item == "*") {
      // A star in a list leaves nothing out.
      all = true;
    } else if (item == "L") {
      into.last_day = true;
    } else if (item == "LW") {
      into.last_weekday = true;
    } else if (item.ends_with('W')) {
      auto day = value_of(day_rule, item.substr(0, item.size() - 1));
      if (!day)
        return false;
      into.nearest.set(static_cast<size_t>(*day));
    } else {
      auto found = stretch_of(day_rule, item);
      if (!found)
        return false;
      for (auto i = found->first; i <= found->last; i += found->step)
        into.days.set(static_cast<size_t>(i));
    }
  }
  into.day_restricted = !all;
  return true;
}

/// `d#k`, `d#L` and `dL`; false for anything else.
bool read_special_weekday(std::string_view item, cron_pattern& into) {
  auto hash = item.find('#');
  auto last =
    hash == std::string_view::npos && item.size() > 1 && item.ends_with('L');
  if (hash == std::string_view::npos && !last)
    return false;
  auto day = value_of(weekday_rule, last ? item.substr(0, item.size() - 1)
                                         : item.substr(0, hash));
  if (!day)
    return false;
  auto weekday = static_cast<size_t>(*day % 7);
  auto which = last ? std::string_view{"L"} : item.substr(hash + 1);
  if (which == "L") {
    into.last_of.set(weekday);
    return true;
  }
  auto k = plain_number(which);
  if (!k || *k < 1 || *k > 5)
    return false;
  into.nth[weekday].set(static_cast<size_t>(*k));
  return true;
}

bool read_weekdays(std::string_view text, cron_pattern& into) {
  auto field = starred(text);
  std::string_view rest = field;
  if (rest.starts_with('+')) {
    into.both_required = true;
    rest.remove_prefix(1);
  }
  auto all = false;
  for (auto item : split(rest, ',')) {
    if (item == "*") {
      all = true;
      continue;
    }
    if (read_special_weekday(item, into))
      continue;
    auto found = stretch_of(weekday_rule, item);
    if (!found)
      return false;
    for (auto i = found->first; i <= found->last; i += found->step)
      into.weekdays.set(static_cast<size_t>(i % 7));
  }
  into.weekday_restricted = !all;
  return true;
}

bool read_years(std::string_view text, cron_pattern& into) {
  auto field = starred(text);
  for (auto item : split(field, ',')) {
    auto found = stretch_of(year_rule, item);
    if (!found)
      return false;
    into.years.push_back({found->first, found->last, found->step});
  }
  if (field == "*")
    into.years.clear();
  return true;
}

std::string_view nickname(std::string_view text) {
  auto name = upper(text);
  if (name == "@YEARLY" || name == "@ANNUALLY")
    return "0 0 1 1 *";
  if (name == "@MONTHLY")
    return "0 0 1 * *";
  if (name == "@WEEKLY")
    return "0 0 * * 0";
  if (name == "@DAILY" || name == "@MIDNIGHT")
    return "0 0 * * *";
  if (name == "@HOURLY")
    return "0 * * * *";
  return {};
}

int days_in_month(int64_t year, int month) {
  auto next = month == 12 ? days_from_civil(year + 1, 1, 1)
                          : days_from_civil(year, month + 1, 1);
  return static_cast<int>(next - days_from_civil(year, month, 1));
}

/// Sunday is 0; the first day of the epoch was a Thursday.
int weekday_of(int64_t year, int month, int day) {
  auto days = days_from_civil(year, month, day);
  return static_cast<int>(((days + 4) % 7 + 7) % 7);
}

bool is_weekend(int weekday) {
  return weekday == 0 || weekday == 6;
}

/// The weekday nearest to a day, inside its month.
int nearest_weekday(int64_t year, int month, int day) {
  auto last = days_in_month(year, month);
  auto weekday = weekday_of(year, month, day);
  if (weekday == 6)
    return day == 1 ? 3 : day - 1;
  if (weekday == 0)
    return day == last ? day - 2 : day + 1;
  return day;
}

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

civil_time civil_from_local(int64_t local_s) {
  auto days = floor_div(local_s, day_s);
  auto rest = static_cast<int>(local_s - days * day_s);
  auto result = civil_from_days(days);
  result.hour = rest / 3600;
  result.minute = rest / 60 % 60;
  result.second = rest % 60;
  return result;
}

int64_t local_from_civil(const civil_time& time) {
  return days_from_civil(time.year, time.month, time.day) * day_s
         + (time.hour * 60 + time.minute) * 60 + time.second;
}

/// The first member of a set from `at` on; -1 for none.
template <size_t Size>
int next_in(const std::bitset<Size>& set, int at) {
  for (auto i = static_cast<size_t>(at); i < Size; ++i)
    if (set.test(i))
      return static_cast<int>(i);
  return -1;
}

/// The first time of day from a given one on.
bool next_time_of_day(const cron_pattern& pattern, civil_time& time) {
  auto hour = next_in(pattern.hours, time.hour);
  for (; hour >= 0; hour = next_in(pattern.hours, hour + 1)) {
    auto later_hour = hour > time.hour;
    auto minute = next_in(pattern.minutes, later_hour ? 0 : time.minute);
    for (; minute >= 0; minute = next_in(pattern.minutes, minute + 1)) {
      auto later = later_hour || minute > time.minute;
      auto second = next_in(pattern.seconds, later ? 0 : time.second);
      if (second < 0)
        continue;
      time.hour = hour;
      time.minute = minute;
      time.second = second;
      return true;
    }
  }
  return false;
}

/// The first matching local time from `from_s` on and before `until_s`.
std::optional<int64_t> next_local(const cron_pattern& pattern, int64_t from_s,
                                  int64_t until_s) {
  auto time = civil_from_local(from_s);
  auto give_up = time.year + calendar_cycle_years;
  while (time.year <= last_year && time.year <= give_up) {
    if (local_from_civil({time.year, time.month, time.day}) >= until_s)
      return std::nullopt;
    if (!pattern.matches_year(time.year)) {
      time = {time.year + 1};
      continue;
    }
    if (!pattern.months.test(static_cast<size_t>(time.month))) {
      time = time.month == 12 ? civil_time{time.year + 1}
                              : civil_time{time.year, time.month + 1};
      continue;
    }
    if (pattern.matches_day(time.year, time.month, time.day)
        && next_time_of_day(pattern, time)) {
      auto found = local_from_civil(time);
      return found < until_s ? std::optional{found} : std::nullopt;
    }
    time =
      civil_from_days(days_from_civil(time.year, time.month, time.day) + 1);
  }
  return std::nullopt;
}

/// Sums that stay in range: spans may be open at both ends.
int64_t shifted(int64_t instant, int64_t by) {
  constexpr auto far = std::numeric_limits<int64_t>::max() / 4;
  return std::clamp(instant, -far, far) + by;
}

} // namespace

int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  auto era = floor_div(year, 400);
  auto year_of_era = year - era * 400;
  auto day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  auto day_of_era =
    year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

civil_time civil_from_days(int64_t days) {
  days += 719'468;
  auto era = floor_div(days, 146'097);
  auto day_of_era = days - era * 146'097;
  auto year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524
                      - day_of_era / 146'096)
                     / 365;
  auto day_of_year =
    day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  auto shifted_month = (5 * day_of_year + 2) / 153;
  civil_time result;
  result.day =
    static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  result.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3
                                                     : shifted_month - 9);
  result.year = year_of_era + era * 400 + (result.month <= 2 ? 1 : 0);
  return result;
}

bool cron_pattern::matches_year(int64_t year) const {
  return years.empty()
         || std::any_of(years.begin(), years.end(), [year](const auto& range) {
              return year >= range.first && year <= range.last
                     && (year - range.first) % range.step == 0;
            });
}

bool cron_pattern::matches_day(int64_t year, int month, int day) const {
  auto last = days_in_month(year, month);
  auto weekday = weekday_of(year, month, day);
  auto by_day = [&] {
    if (days.test(static_cast<size_t>(day)) || (last_day && day == last))
      return true;
    for (auto i = 1; i <= last; ++i)
      if (nearest.test(static_cast<size_t>(i))
          && nearest_weekday(year, month, i) == day)
        return true;
    if (!last_weekday || is_weekend(weekday))
      return false;
    return nearest_weekday(year, month, last) == day;
  };
  auto by_weekday = [&] {
    auto index = static_cast<size_t>(weekday);
    return weekdays.test(index)
           || nth[index].test(static_cast<size_t>((day - 1) / 7 + 1))
           || (last_of.test(index) && day + 7 > last);
  };
  if (!day_restricted && !weekday_restricted)
    return true;
  if (!day_restricted)
    return by_weekday();
  if (!weekday_restricted)
    return by_day();
  return both_required ? by_day() && by_weekday() : by_day() || by_weekday();
}

caf::expected<cron_pattern> parse_cron(std::string_view text) {
  auto fields = words_of(text);
  if (fields.size() == 1 && fields[0].starts_with('@')) {
    auto expanded = nickname(fields[0]);
    if (expanded.empty())
      return make_failure(errc::bad_request, "the schedule '"
                                               + std::string{fields[0]}
                                               + "' is no known name");
    fields = words_of(expanded);
  }
  if (fields.size() < 5 || fields.size() > 7)
    return make_failure(errc::bad_request,
                        "the schedule '" + std::string{text} + "' has "
                          + std::to_string(fields.size())
                          + " fields; it must have 5 (minute hour day month "
                            "weekday), 6 or 7");
  size_t at = fields.size() > 5 ? 1 : 0;
  cron_pattern result;
  auto any = true;
  const field_rule* wrong = nullptr;
  auto check = [&wrong](const field_rule& rule, bool understood) {
    if (!understood && wrong == nullptr)
      wrong = &rule;
  };
  check(second_rule,
        read_set(second_rule, at == 1 ? fields[0] : "0", result.seconds, any));
  check(minute_rule, read_set(minute_rule, fields[at], result.minutes, any));
  result.fixed_hours = true;
  check(hour_rule,
        read_set(hour_rule, fields[at + 1], result.hours, result.fixed_hours));
  check(day_rule, read_days(fields[at + 2], result));
  check(month_rule, read_set(month_rule, fields[at + 3], result.months, any));
  check(weekday_rule, read_weekdays(fields[at + 4], result));
  if (fields.size() == 7)
    check(year_rule, read_years(fields[6], result));
  if (wrong != nullptr)
    return make_failure(errc::bad_request, "the " + std::string{wrong->name}
                                             + " field of the schedule '"
                                             + std::string{text}
                                             + "' is not understood");
  return result;
}

std::optional<int64_t> next_run_s(const cron_pattern& pattern,
                                  const zone_rules& zone, int64_t after_s) {
  auto at = after_s + 1;
  auto give_up = civil_from_local(at).year + calendar_cycle_years + 1;
  for (;;) {
    auto span = zone.at(at);
    auto offset = int64_t{span.offset_s};
    auto before = offset;
    if (pattern.fixed_hours
        && span.begin_s > std::numeric_limits<int64_t>::min() + 1)
      before = zone.at(span.begin_s - 1).offset_s;
    auto from = at + offset;
    // What a fall back repeats has had its turn already.
    if (before > offset)
      from = std::max(from, shifted(span.begin_s, before));
    auto found = next_local(pattern, from, shifted(span.end_s, offset));
    auto run = found ? std::optional{*found - offset} : std::nullopt;
    // What a leap forward skips comes at the same distance behind it.
    if (before < offset) {
      auto gap_end = span.begin_s + (offset - before);
      if (at < gap_end) {
        auto skipped = next_local(pattern, at + before, gap_end + before);
        if (skipped && (!run || *skipped - before < *run))
          run = *skipped - before;
      }
    }
    if (run)
      return run;
    if (span.end_s == std::numeric_limits<int64_t>::max()
        || civil_from_local(span.end_s).year > give_up
        || civil_from_local(span.end_s).year > last_year)
      return std::nullopt;
    at = span.end_s;
  }
}

missed_runs runs_between(const cron_pattern& pattern, const zone_rules& zone,
                         int64_t after_s, int64_t until_s) {
  missed_runs result;
  auto at = after_s;
  while (result.count < limits::event_missed_counted) {
    auto next = next_run_s(pattern, zone, at);
    if (!next || *next > until_s)
      return result;
    at = *next;
    result.latest_s = at;
    ++result.count;
  }
  // Too many to be counted: only the last of them matters, and it is near.
  constexpr int64_t first_step = 60;
  for (auto step = first_step;; step *= 2) {
    auto from = until_s - step;
    if (from <= at)
      break;
    auto near = next_run_s(pattern, zone, from);
    if (!near || *near > until_s)
      continue;
    while (near && *near <= until_s) {
      result.latest_s = *near;
      near = next_run_s(pattern, zone, *near);
    }
    return result;
  }
  return result;
}

} // namespace bureau
