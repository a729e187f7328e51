#include "config/os/system_time_zones.hpp"
#include "messages/codec/event_file.hpp"
#include "messages/errc.hpp"
#include "messages/schedule/cron.hpp"
#include "messages/text/time_text.hpp"

#include <doctest/doctest.h>

using namespace bureau;

namespace {

const os::system_time_zones zones;

/// The runs of a pattern behind an instant, without what they have in common.
std::string runs(const char* pattern, const char* zone, const char* from,
                 int count) {
  auto parsed = parse_cron(pattern);
  REQUIRE(parsed);
  auto rules = zones.find(zone);
  REQUIRE(rules);
  auto instant = event_instant_ms(from);
  REQUIRE(instant);
  auto at = *instant / 1000;
  std::string result;
  for (auto i = 0; i < count; ++i) {
    auto next = next_run_s(*parsed, *rules, at);
    result += result.empty() ? "" : " ";
    if (!next)
      return result + "never";
    CHECK(*next > at);
    at = *next;
    result += text::iso_utc(at * 1000).substr(0, 19);
  }
  return result;
}

bool is_refused(const char* pattern) {
  auto parsed = parse_cron(pattern);
  return !parsed && code_of(parsed.error()) == errc::bad_request;
}

} // namespace

TEST_SUITE("cron") {

  TEST_CASE("times of day in a zone") {
    CHECK(runs("0 9 * * 1-5", "Asia/Taipei", "2027-01-01T00:00:00Z", 3)
          == "2027-01-01T01:00:00 2027-01-04T01:00:00 2027-01-05T01:00:00");
    CHECK(runs("0 9 * * *", "UTC", "2027-01-01T09:00:00Z", 1)
          == "2027-01-02T09:00:00");
    CHECK(runs("*/20 * * * * *", "UTC", "2027-01-01T00:00Z", 3)
          == "2027-01-01T00:00:20 2027-01-01T00:00:40 2027-01-01T00:01:00");
    CHECK(runs("0 30 8 1 1 * 2029-2031/2", "UTC", "2027-01-01T00:00Z", 3)
          == "2029-01-01T08:30:00 2031-01-01T08:30:00 never");
  }

  TEST_CASE("days of months and weeks") {
    auto from = "2027-01-01T00:00Z";
    CHECK(runs("0 0 13 * 5", "UTC", from, 4)
          == "2027-01-08T00:00:00 2027-01-13T00:00:00 2027-01-15T00:00:00 "
             "2027-01-22T00:00:00");
    CHECK(runs("0 0 13 * +5", "UTC", from, 1) == "2027-08-13T00:00:00");
    CHECK(runs("0 0 L * *", "UTC", from, 2)
          == "2027-01-31T00:00:00 2027-02-28T00:00:00");
    CHECK(runs("0 0 15W * *", "UTC", "2027-05-01T00:00Z", 1)
          == "2027-05-14T00:00:00");
    CHECK(runs("0 0 * * SUN#2", "UTC", from, 1) == "2027-01-10T00:00:00");
    CHECK(runs("0 0 LW * *", "UTC", from, 1) == "2027-01-29T00:00:00");
    CHECK(runs("0 0 1W * *", "UTC", "2027-05-01T00:00Z", 1)
          == "2027-05-03T00:00:00");
    CHECK(runs("0 0 31W * *", "UTC", from, 2)
          == "2027-01-29T00:00:00 2027-03-31T00:00:00");
    CHECK(runs("0 0 ? * 1", "UTC", from, 2)
          == "2027-01-04T00:00:00 2027-01-11T00:00:00");
    CHECK(runs("0 0 * * FRI-SUN", "UTC", from, 4)
          == "2027-01-02T00:00:00 2027-01-03T00:00:00 2027-01-08T00:00:00 "
             "2027-01-09T00:00:00");
    CHECK(runs("0 0 29 2 *", "UTC", from, 1) == "2028-02-29T00:00:00");
    CHECK(runs("0 0 * * 5L", "UTC", from, 1) == "2027-01-29T00:00:00");
    CHECK(runs("0 0 30 2 *", "UTC", from, 1) == "never");
    CHECK(runs("@weekly", "UTC", from, 1) == "2027-01-03T00:00:00");
  }

  TEST_CASE("a time that the clocks jump over comes behind the jump") {
    CHECK(runs("30 2 * * *", "America/New_York", "2026-03-07T12:00Z", 2)
          == "2026-03-08T07:30:00 2026-03-09T06:30:00");
    CHECK(runs("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2)
          == "2026-03-29T01:30:00 2026-03-30T00:30:00");
    // Half an hour.
    CHECK(runs("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T00:00Z", 3)
          == "2026-10-02T15:45:00 2026-10-03T15:45:00 2026-10-04T15:15:00");
  }

  TEST_CASE("a time that the clocks repeat comes once") {
    CHECK(runs("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", 2)
          == "2026-11-01T05:30:00 2026-11-02T06:30:00");
    CHECK(runs("45 1 * * *", "Australia/Lord_Howe", "2026-04-03T00:00Z", 3)
          == "2026-04-03T14:45:00 2026-04-04T14:45:00 2026-04-05T15:15:00");
  }

  TEST_CASE("other patterns count every hour that passes") {
    CHECK(runs("*/30 * * * *", "America/New_York", "2026-11-01T05:00Z", 4)
          == "2026-11-01T05:30:00 2026-11-01T06:00:00 2026-11-01T06:30:00 "
             "2026-11-01T07:00:00");
    CHECK(runs("*/30 * * * *", "America/New_York", "2026-03-08T06:00Z", 4)
          == "2026-03-08T06:30:00 2026-03-08T07:00:00 2026-03-08T07:30:00 "
             "2026-03-08T08:00:00");
  }

  TEST_CASE("what is no pattern is refused") {
    for (auto pattern : {"* * * *",
                         "* * * * * * * *",
                         "not a cron",
                         "5/15 * * * *",
                         "60 * * * *",
                         "0 9 * * 8",
                         "0 9 0 * *",
                         "0 9 * 13 *",
                         "0 9 * * 5-1",
                         "0 9 * * 5-0",
                         "*/61 * * * *",
                         "*/0 * * * *",
                         "/15 * * * *",
                         "1,2,,3 * * * *",
                         "@reboot",
                         "2027-05-01T00:00:00Z",
                         "0 9 L-2 * *",
                         "0 9 * JANU *",
                         "",
                         "0 9 * * MON#6"})
      CHECK_MESSAGE(is_refused(pattern), pattern);
    CHECK(sentence_of(parse_cron("0 24 * * *").error()).find("hour")
          != std::string::npos);
    CHECK(parse_cron("  0   9 * * mon "));
  }

  TEST_CASE("zones have names of the database") {
    auto found = zones.find("asia/taipei");
    REQUIRE(found);
    CHECK(found->name() == "Asia/Taipei");
    CHECK(found->at(1'800'000'000).offset_s == 8 * 3600);
    CHECK_FALSE(zones.find("+08:00"));
    CHECK_FALSE(zones.find("Mars/Phobos"));
    CHECK_FALSE(zones.find(""));
  }

  TEST_CASE("what was missed is counted") {
    auto hourly = parse_cron("0 * * * *");
    auto utc = zones.find("UTC");
    REQUIRE(utc);
    constexpr int64_t t = 1'767'225'600;
    CHECK(runs_between(*hourly, *utc, t, t + 3599) == missed_runs{});
    CHECK(runs_between(*hourly, *utc, t, t + 7200) == missed_runs{t + 7200, 2});
    auto every_second = parse_cron("* * * * * *");
    auto many = runs_between(*every_second, *utc, t, t + 200'000);
    CHECK(many.latest_s == t + 200'000);
    CHECK(many.count == 10'000);
  }
}
