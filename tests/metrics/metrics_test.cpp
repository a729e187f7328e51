#include "actors/metrics/metric_table_core.hpp"
#include "actors/metrics/metrics.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace bureau;

namespace {

struct metrics_fixture : test::node_fixture {
  metrics_actor hub = metrics::spawn_metrics(*system, [] {
    metrics::process_figures figures;
    figures.resident_bytes = 4096;
    figures.cpu_micros = 1'500'000;
    figures.start_unix_ms = 10'000;
    figures.now_unix_ms = 12'500;
    return figures;
  });

  std::string page() {
    std::string text;
    ask(
      hub, [&](const std::string& answer) { text = answer; },
      [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::scrape_v);
    return text;
  }

  bool shows(const std::string& line) {
    return page().find(line + "\n") != std::string::npos;
  }
};

} // namespace

TEST_CASE("every metric has a distinct name in the house style") {
  std::set<std::string> names;
  for (size_t i = 0; i < metric_count; ++i) {
    const auto& definition = metrics::definition_of(static_cast<metric>(i));
    std::string name = definition.name;
    CAPTURE(name);
    CHECK(name.starts_with("bureau_"));
    CHECK(name.ends_with("_total")
          == (definition.kind == metrics::metric_kind::counter));
    CHECK(definition.buckets.empty()
          == (definition.kind != metrics::metric_kind::histogram));
    CHECK(names.insert(name).second);
  }
}

TEST_CASE_FIXTURE(metrics_fixture, "counters add up per label set") {
  self->send(hub, atom::add_v,
             metric_sample{metric::intake, {"console", "taken"}, 2});
  self->send(hub, atom::add_v,
             metric_sample{metric::intake, {"console", "taken"}, 1});
  self->send(hub, atom::add_v,
             metric_sample{metric::intake, {"console", "duplicate"}, 1});
  CHECK(shows("bureau_intake_total{outcome=\"taken\",platform=\"console\"} 3"));
  CHECK(
    shows("bureau_intake_total{outcome=\"duplicate\",platform=\"console\"} 1"));
}

TEST_CASE_FIXTURE(metrics_fixture, "durations are shown in seconds") {
  self->send(hub, atom::observe_v,
             metric_sample{metric::run_duration, {}, 1'500'000});
  CHECK(shows("bureau_run_duration_seconds_sum 1.5"));
  CHECK(shows("bureau_run_duration_seconds_bucket{le=\"1\"} 0"));
  CHECK(shows("bureau_run_duration_seconds_bucket{le=\"2\"} 1"));
}

TEST_CASE_FIXTURE(metrics_fixture, "money is shown in dollars") {
  self->send(hub, atom::add_v,
             metric_sample{metric::llm_cost, {"lab", "tiny"}, 2'500'000});
  CHECK(
    shows("bureau_llm_cost_usd_total{model=\"tiny\",provider=\"lab\"} 2.5"));
}

TEST_CASE_FIXTURE(metrics_fixture, "a gauge shows the last value") {
  self->send(hub, atom::gauge_v, metric_sample{metric::queue_waiting, {}, 7});
  self->send(hub, atom::gauge_v, metric_sample{metric::queue_waiting, {}, 3});
  CHECK(shows("bureau_queue_waiting 3"));
}

TEST_CASE_FIXTURE(metrics_fixture, "a gauge adds up differences") {
  self->send(hub, atom::add_v, metric_sample{metric::sessions_active, {}, 1});
  self->send(hub, atom::add_v, metric_sample{metric::sessions_active, {}, 1});
  self->send(hub, atom::add_v, metric_sample{metric::sessions_active, {}, -1});
  CHECK(shows("bureau_sessions_active 1"));
}

TEST_CASE_FIXTURE(metrics_fixture, "samples of the wrong kind change nothing") {
  self->send(hub, atom::observe_v, metric_sample{metric::queue_waiting, {}, 7});
  self->send(hub, atom::gauge_v, metric_sample{metric::intake, {"x", "y"}, 7});
  self->send(hub, atom::add_v, metric_sample{metric::journal_records, {}, -1});
  CHECK(shows("bureau_queue_waiting 0"));
  CHECK(shows("bureau_journal_records_total 0"));
  CHECK(page().find("platform=\"x\"") == std::string::npos);
}

TEST_CASE_FIXTURE(metrics_fixture, "label sets are bounded") {
  for (size_t i = 0; i < metrics::max_label_sets + 50; ++i)
    self->send(
      hub, atom::add_v,
      metric_sample{metric::tool_calls, {"t" + std::to_string(i), "false"}, 1});
  CHECK(shows("bureau_tool_calls_total{error=\"other\",tool=\"other\"} 50"));
}

TEST_CASE_FIXTURE(metrics_fixture, "a model that the catalogue does not have "
                                   "is no label") {
  hub = metrics::spawn_metrics(
    *system, [] { return metrics::process_figures{}; },
    [](const std::string& provider, const std::string& model) {
      return provider == "lab" && model == "tiny";
    });
  auto call = [&](const std::string& provider, const std::string& model) {
    self->send(hub, atom::add_v,
               metric_sample{metric::llm_calls, {provider, model, "ok"}, 1});
  };
  call("lab", "tiny");
  call("lab", "jane@example.org");
  call("lab", "customer-4711");
  call("elsewhere", "tiny");
  auto count = [](const std::string& provider, const std::string& model,
                  int calls) {
    return "bureau_llm_calls_total{model=\"" + model
           + "\",outcome=\"ok\",provider=\"" + provider + "\"} "
           + std::to_string(calls);
  };
  CHECK(shows(count("lab", "tiny", 1)));
  CHECK(shows(count("lab", "other", 2)));
  CHECK(shows(count("elsewhere", "other", 1)));
  // A metric without a model has nothing to hide.
  self->send(hub, atom::add_v,
             metric_sample{metric::intake, {"console", "taken"}, 1});
  CHECK(shows("bureau_intake_total{outcome=\"taken\",platform=\"console\"} 1"));
}

TEST_CASE_FIXTURE(metrics_fixture, "the process describes itself") {
  CHECK(shows("process_resident_memory_bytes 4096"));
  CHECK(shows("process_cpu_seconds_total 1.5"));
  CHECK(shows("bureau_uptime_seconds 2.5"));
  CHECK(page().find("bureau_build_info{version=") != std::string::npos);
}
