#pragma once

#include "messages/ports/time_zones.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Cron patterns in a time zone (harness note, 3.19). Pure.
namespace bureau {

/// A date and a time of day of some zone.
struct civil_time {
  int64_t year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  friend bool operator==(const civil_time&, const civil_time&) = default;
};

/// A pattern that was understood: which local times match.
struct cron_pattern {
  std::bitset<60> seconds;
  std::bitset<60> minutes;
  std::bitset<24> hours;
  /// From 1.
  std::bitset<13> months;
  std::bitset<32> days;
  bool last_day = false;
  bool last_weekday = false;
  /// nW: the weekday nearest to day n.
  std::bitset<32> nearest;
  /// Sunday is 0.
  std::bitset<7> weekdays;
  /// d#k: the k-th of a month, from 1.
  std::array<std::bitset<6>, 7> nth;
  /// dL: the last of a month.
  std::bitset<7> last_of;
  /// Ranges of years, with their step; empty: any.
  struct year_range {
    int64_t first = 1;
    int64_t last = 9999;
    int64_t step = 1;
    friend bool operator==(const year_range&, const year_range&) = default;
  };
  std::vector<year_range> years;
  bool day_restricted = false;
  bool weekday_restricted = false;
  /// Both day fields must match (`+`), not one of them.
  bool both_required = false;
  /// The hour field is numbers and ranges: a time of day that people chose.
  bool fixed_hours = false;
  friend bool operator==(const cron_pattern&, const cron_pattern&) = default;

  bool matches_day(int64_t year, int month, int day) const;
  bool matches_year(int64_t year) const;
};

/// Reads a pattern of five to seven fields, or a nickname. The error is a
/// bad_request whose sentence names the field.
caf::expected<cron_pattern> parse_cron(std::string_view text);

/// The first instant after `after_s` at which a pattern fires; nothing: never
/// again. A fixed local time that the clocks jump over fires at the same
/// distance behind the jump, one that they repeat fires once; other patterns
/// count every hour that passes.
std::optional<int64_t> next_run_s(const cron_pattern& pattern,
                                  const zone_rules& zone, int64_t after_s);

/// Runs of a stretch of time.
struct missed_runs {
  /// The last of them; nothing: there was none.
  std::optional<int64_t> latest_s;
  /// At most limits::event_missed_counted.
  size_t count = 0;
  friend bool operator==(const missed_runs&, const missed_runs&) = default;
};

/// Runs after `after_s` up to and with `until_s`.
missed_runs runs_between(const cron_pattern& pattern, const zone_rules& zone,
                         int64_t after_s, int64_t until_s);

/// Days from 1970-01-01 to a date of the Gregorian calendar, and back.
int64_t days_from_civil(int64_t year, int month, int day);
civil_time civil_from_days(int64_t days);

} // namespace bureau
