#include "actors/events/run_view_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::events;
using namespace bureau::contracts;

namespace {

constexpr int64_t t0 = 1'767'225'600'000;

struct view_world {
  schedule_core core;

  view_world() {
    schedule_rules rules;
    rules.platforms = {platform_id::console};
    core.begin(std::move(rules), {});
  }

  void tell(log_step step, const std::string& occurrence,
            const std::string& why = {}, const std::string& text = {}) {
    log_line line;
    line.step = step;
    line.at_ms = t0;
    line.file = "daily.json";
    line.occurrence = occurrence;
    line.why = why;
    line.text = text;
    line.run = step == log_step::ended ? "r1" : "";
    line.conversation = {platform_id::console, "local"};
    core.runs().apply(line);
  }

  cron_run last(const active_runs& active = {}) {
    auto page = page_of(core, active, "daily", {});
    REQUIRE(page);
    REQUIRE_FALSE(page->runs.empty());
    return page->runs.front();
  }
};

constexpr const char* first = "2026-01-01T00:00:00.000Z";

} // namespace

TEST_SUITE("runs as operators see them") {

  TEST_CASE("the state of a run") {
    view_world w;
    w.tell(log_step::claimed, first);
    CHECK(w.last().status == cron_run_status::admitted);
    CHECK(w.last().run_id == "event:daily@2026-01-01T00:00:00.000Z");
    CHECK(w.last().scheduled_at == first);
    w.tell(log_step::refused, first, "queue_full");
    CHECK(w.last().failure_kind == std::string{"queue_full"});
    w.tell(log_step::delivered, first);
    CHECK(w.last().status == cron_run_status::queued);
    auto possible = possible_runs(w.core, {});
    REQUIRE(possible.size() == 1);
    CHECK(possible[0].session_key == "local:event:daily");
    active_runs active{{possible[0].id, "r1"}};
    CHECK(w.last(active).status == cron_run_status::running);
    CHECK(w.last(active).artifact_run_id == std::string{"r1"});
    auto overview = overview_of(w.core, active, "", t0);
    REQUIRE(overview);
    CHECK(overview->jobs[0].active_run_id == possible[0].id);
    w.tell(log_step::ended, first, "sent", "all is well");
    CHECK(w.last().status == cron_run_status::succeeded);
    CHECK(w.last().text == std::string{"all is well"});
    CHECK(w.last().completed_at == std::string{first});
    CHECK(possible_runs(w.core, {}).empty());
  }

  TEST_CASE("ends that are none") {
    const std::pair<const char*, cron_run_status> ends[] = {
      {"silent", cron_run_status::succeeded},
      {"stopped", cron_run_status::cancelled},
      {"undeliverable", cron_run_status::failed},
      {"unknown", cron_run_status::failed}};
    for (const auto& [why, status] : ends) {
      view_world w;
      w.tell(log_step::claimed, first);
      w.tell(log_step::delivered, first);
      w.tell(log_step::ended, first, why);
      CHECK(w.last().status == status);
      CHECK(static_cast<bool>(w.last().error)
            == (status != cron_run_status::succeeded));
    }
    view_world w;
    w.tell(log_step::missed, first, "too_old");
    CHECK(w.last().status == cron_run_status::dropped);
    CHECK(w.last().failure_kind == std::string{"too_old"});
  }

  TEST_CASE("pages go from the newest to the oldest") {
    view_world w;
    for (auto i = 1; i <= 120; ++i) {
      auto id = std::to_string(i) + "-1";
      w.tell(log_step::claimed, id);
      w.tell(log_step::delivered, id);
    }
    auto page = page_of(w.core, {}, "daily", {});
    REQUIRE(page);
    CHECK(page->runs.size() == 50);
    CHECK(page->runs.front().sequence == 120);
    REQUIRE(page->next_cursor);
    auto next = page_of(w.core, {}, "daily", {100, *page->next_cursor});
    REQUIRE(next);
    CHECK(next->runs.front().sequence == 70);
    CHECK(next->runs.size() == 70);
    CHECK_FALSE(next->next_cursor);
    CHECK_FALSE(page_of(w.core, {}, "daily", {50, "x"}));
    CHECK_FALSE(page_of(w.core, {}, "daily", {101, ""}));
    CHECK(code_of(page_of(w.core, {}, "none", {}).error()) == errc::not_found);
  }

  TEST_CASE("what is too long is cut and said to be") {
    view_world w;
    w.tell(log_step::claimed, first);
    w.tell(log_step::delivered, first);
    w.tell(log_step::ended, first, std::string(600, 'x'),
           std::string(3000, 'y'));
    auto run = w.last();
    CHECK(run.text->size() == max_cron_summary_text_bytes);
    REQUIRE(run.fields_truncated);
    CHECK(run.fields_truncated->size() == 3);
    auto id = run.run_id;
    auto detail = detail_of(w.core, {}, "daily", id);
    REQUIRE(detail);
    CHECK(detail->projection == cron_projection::detail);
    CHECK(detail->text->size() == 3000);
    CHECK_FALSE(detail_of(w.core, {}, "other", id));
    CHECK_FALSE(detail_of(w.core, {}, "daily", "event:daily@1-1"));
  }

  TEST_CASE("an overview names what is wrong and is bounded") {
    view_world w;
    for (auto i = 0; i < 70; ++i) {
      log_line line;
      line.step = log_step::missed;
      line.file = "p" + std::to_string(i) + ".json";
      line.occurrence = "1-1";
      w.core.runs().apply(line);
    }
    auto overview = overview_of(w.core, {}, "no disk", t0);
    REQUIRE(overview);
    CHECK(overview->jobs.size() == max_cron_jobs);
    CHECK(overview->jobs_truncated);
    CHECK(overview->degraded_reason == std::string{"no disk"});
    CHECK_FALSE(overview->actions_enabled);
    CHECK_FALSE(overview->jobs[0].configured);
    CHECK(overview->jobs[0].health == cron_health::warning);
    CHECK(parse_cron_overview(to_json(*overview)));
  }
}
