#include "actors/events/event_log_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::events;

namespace {

constexpr int64_t t0 = 1'767'225'600'000;
constexpr int64_t hour = 3'600'000;

log_line line(log_step step, const char* occurrence, int64_t at_ms = t0) {
  log_line result;
  result.step = step;
  result.at_ms = at_ms;
  result.file = "daily.json";
  result.occurrence = occurrence;
  return result;
}

} // namespace

TEST_SUITE("record of events") {

  TEST_CASE("lines are read as they were written") {
    auto claimed = line(log_step::claimed, "2026-01-01T09:00:00.000Z");
    claimed.sequence = 4;
    claimed.skipped = 2;
    claimed.may_schedule = true;
    claimed.conversation = {platform_id::console, "local"};
    CHECK(print_log_line(claimed)
          == R"({"v":1,"at":"2026-01-01T00:00:00.000Z","file":"daily.json",)"
             R"("occ":"2026-01-01T09:00:00.000Z","st":"claimed","seq":4,)"
             R"("skipped":2,"maySchedule":true,"platform":"console",)"
             R"("conversationId":"local"})"
             "\n");
    auto missed = line(log_step::missed, "1-2");
    missed.why = "too_old";
    auto ended = line(log_step::ended, "1-2");
    ended.why = "sent";
    ended.run = "r1";
    ended.text = "done";
    ended.text_cut = true;
    auto written = line(log_step::written, "");
    written.content = {7, 8, "ab"};
    written.author = event_author::operators;
    for (const auto& x :
         {claimed, missed, ended, written, line(log_step::delivered, "1-2")})
      CHECK(parse_log_line(print_log_line(x)) == x);
    for (auto text : {"", "x", "[]", R"({"v":2,"file":"a","st":"claimed"})",
                      R"({"v":1,"file":"a.json","occ":"1","st":"new"})"})
      CHECK_FALSE(parse_log_line(text));
  }

  TEST_CASE("ids name an occurrence") {
    CHECK(occurrence_id("daily.json", "2026-01-01T09:00:00.000Z")
          == "event:daily@2026-01-01T09:00:00.000Z");
    CHECK(occurrence_ms("2026-01-01T00:00:00.000Z") == t0);
    CHECK(occurrence_ms("1700000000000-55") == 1'700'000'000'000);
  }

  TEST_CASE("the table knows what became of a run") {
    run_table table;
    table.apply(line(log_step::claimed, "2026-01-01T09:00:00.000Z"));
    REQUIRE(table.last("daily.json"));
    CHECK(table.last("daily.json")->is_open());
    CHECK(table.next_sequence("daily.json") == 2);
    table.apply(line(log_step::delivered, "2026-01-01T09:00:00.000Z"));
    CHECK_FALSE(table.last("daily.json")->is_open());
    CHECK(table.under_way().size() == 1);
    auto found = table.find_id("event:daily@2026-01-01T09:00:00.000Z");
    REQUIRE(found);
    CHECK(found->step == log_step::delivered);
    CHECK_FALSE(table.find_id("event:daily@2026-01-01T10:00:00.000Z"));
    CHECK_FALSE(table.find_id("m1"));
    table.apply(line(log_step::ended, "2026-01-01T09:00:00.000Z"));
    CHECK(table.under_way().empty());
  }

  TEST_CASE("an author is known by the content") {
    run_table table;
    auto written = line(log_step::written, "");
    written.content = {t0, 5, "ab"};
    written.author = event_author::operators;
    table.apply(written);
    CHECK(table.author_of("daily.json", {t0 + 3, 5, "ab"})
          == event_author::operators);
    CHECK_FALSE(table.author_of("daily.json", {t0, 5, "cd"}));
    CHECK_FALSE(table.author_of("other.json", {t0, 5, "ab"}));
  }

  TEST_CASE("a shorter record says the same") {
    run_table table;
    auto written = line(log_step::written, "");
    written.content = {t0, 5, "ab"};
    table.apply(written);
    constexpr auto old = 40 * 24 * hour;
    table.apply(line(log_step::claimed, "1-1", t0 - old));
    table.apply(line(log_step::delivered, "1-1", t0 - old));
    table.apply(line(log_step::claimed, "2-1", t0 - old));
    auto claimed = line(log_step::claimed, "3-1", t0 - hour);
    claimed.skipped = 1;
    table.apply(claimed);
    table.apply(line(log_step::delivered, "3-1", t0 - hour));
    auto ended = line(log_step::ended, "3-1", t0);
    ended.why = "sent";
    ended.text = "done";
    table.apply(ended);
    auto text = table.compact({"daily.json"}, t0);
    run_table again;
    for (size_t at = 0; at < text.size();) {
      auto end = text.find('\n', at);
      auto parsed = parse_log_line(text.substr(at, end - at));
      REQUIRE(parsed);
      again.apply(*parsed);
      at = end + 1;
    }
    // The open claim stays however old it is.
    REQUIRE(again.runs_of("daily.json"));
    CHECK(again.runs_of("daily.json")->size() == 2);
    CHECK(*again.runs_of("daily.json") == *table.runs_of("daily.json"));
    CHECK(again.author_of("daily.json", {0, 5, "ab"}) == event_author::agent);
    CHECK(again.next_sequence("daily.json") == 4);
  }

  TEST_CASE("a file keeps so many runs") {
    run_table table;
    for (size_t i = 1; i <= limits::event_runs_kept + 50; ++i) {
      auto id = std::to_string(i) + "-1";
      table.apply(line(log_step::claimed, id.c_str()));
      table.apply(line(log_step::delivered, id.c_str()));
    }
    CHECK(table.runs_of("daily.json")->size() == limits::event_runs_kept);
    CHECK(table.last("daily.json")->sequence
          == static_cast<int64_t>(limits::event_runs_kept) + 50);
  }
}
