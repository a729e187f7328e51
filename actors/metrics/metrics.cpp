#include "actors/metrics/metrics.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "actors/metrics/metric_table_core.hpp"
#include "messages/product.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <map>
#include <memory>
#include <set>

namespace bureau::metrics {

namespace {

using model_filter =
  std::function<bool(const std::string& provider, const std::string& model)>;

/// The family of one metric; exactly one pointer is set, by kind.
struct family {
  prometheus::Family<prometheus::Counter>* counter = nullptr;
  prometheus::Family<prometheus::Gauge>* gauge = nullptr;
  prometheus::Family<prometheus::Histogram>* histogram = nullptr;
  std::set<std::vector<std::string>> label_sets;
};

// (add, metric_sample)     => add
// (observe, metric_sample) => observe
// (gauge, metric_sample)   => set
// (scrape) -> string       => scrape
struct metrics_state {
  metrics_actor::stateful_pointer<metrics_state> self;
  /// All families; the library locks inside, only this actor calls it.
  prometheus::Registry registry;
  std::array<family, metric_count> families;
  std::function<process_figures()> figures;
  model_filter is_listed;
  std::map<std::string, prometheus::Gauge*> process_gauges;
  prometheus::Counter* cpu_seconds = nullptr;
  static inline const char* name = "metrics";

  explicit metrics_state(metrics_actor::stateful_pointer<metrics_state> me)
    : self(me) {}

  void init(std::function<process_figures()> source, model_filter filter) {
    figures = std::move(source);
    is_listed = std::move(filter);
    for (size_t i = 0; i < metric_count; ++i)
      build(static_cast<metric>(i));
    build_process_families();
  }

  void build(metric id) {
    const auto& definition = definition_of(id);
    auto& entry = families[static_cast<size_t>(id)];
    switch (definition.kind) {
    case metric_kind::counter:
      entry.counter = &prometheus::BuildCounter()
                         .Name(definition.name)
                         .Help(definition.help)
                         .Register(registry);
      break;
    case metric_kind::gauge:
      entry.gauge = &prometheus::BuildGauge()
                       .Name(definition.name)
                       .Help(definition.help)
                       .Register(registry);
      break;
    case metric_kind::histogram:
      entry.histogram = &prometheus::BuildHistogram()
                           .Name(definition.name)
                           .Help(definition.help)
                           .Register(registry);
      break;
    }
    // Metrics without labels exist from the start, so that a scraper sees 0.
    if (definition.labels.empty() && definition.kind == metric_kind::counter)
      entry.counter->Add({});
    if (definition.labels.empty() && definition.kind == metric_kind::gauge)
      entry.gauge->Add({});
  }

  void build_process_families() {
    prometheus::BuildGauge()
      .Name("bureau_build_info")
      .Help("Version of the running program")
      .Register(registry)
      .Add({{"version", product::version}})
      .Set(1);
    auto gauge = [this](const char* gauge_name, const char* help) {
      process_gauges[gauge_name] = &prometheus::BuildGauge()
                                      .Name(gauge_name)
                                      .Help(help)
                                      .Register(registry)
                                      .Add({});
    };
    gauge("bureau_uptime_seconds", "Time since the process started");
    gauge("process_resident_memory_bytes", "Resident memory");
    gauge("process_virtual_memory_bytes", "Virtual memory");
    gauge("process_open_fds", "Open file descriptors");
    gauge("process_max_fds", "Limit of open file descriptors");
    gauge("process_start_time_seconds", "Start of the process, Unix time");
    cpu_seconds = &prometheus::BuildCounter()
                     .Name("process_cpu_seconds_total")
                     .Help("CPU time used")
                     .Register(registry)
                     .Add({});
  }

  /// Labels of a sample; beyond the bound, all of them read "other".
  prometheus::Labels labels_of(const metric_sample& sample) {
    const auto& definition = definition_of(sample.id);
    auto& known = families[static_cast<size_t>(sample.id)].label_sets;
    auto values = sample.labels;
    values.resize(definition.labels.size());
    if (is_listed)
      hide_unlisted_model(definition, values, is_listed);
    if (!known.contains(values)) {
      if (known.size() >= max_label_sets)
        values.assign(values.size(), other_label);
      known.insert(values);
    }
    prometheus::Labels result;
    for (size_t i = 0; i < values.size(); ++i)
      result.emplace(definition.labels[i], values[i]);
    return result;
  }

  static double exposed(const metric_sample& sample) {
    return static_cast<double>(sample.value)
           / static_cast<double>(definition_of(sample.id).scale);
  }

  bool known(const metric_sample& sample, metric_kind kind) const {
    return static_cast<size_t>(sample.id) < metric_count
           && definition_of(sample.id).kind == kind;
  }

  void add(const metric_sample& sample) {
    // Many senders of one gauge add their changes: the order does not matter.
    if (known(sample, metric_kind::gauge)) {
      families[static_cast<size_t>(sample.id)]
        .gauge->Add(labels_of(sample))
        .Increment(exposed(sample));
      return;
    }
    if (known(sample, metric_kind::counter) && sample.value > 0)
      families[static_cast<size_t>(sample.id)]
        .counter->Add(labels_of(sample))
        .Increment(exposed(sample));
  }

  void observe(const metric_sample& sample) {
    if (known(sample, metric_kind::histogram))
      families[static_cast<size_t>(sample.id)]
        .histogram->Add(labels_of(sample), definition_of(sample.id).buckets)
        .Observe(exposed(sample));
  }

  void set(const metric_sample& sample) {
    if (known(sample, metric_kind::gauge))
      families[static_cast<size_t>(sample.id)]
        .gauge->Add(labels_of(sample))
        .Set(exposed(sample));
  }

  std::string scrape() {
    auto now = figures();
    auto put = [this](const char* gauge_name, int64_t value) {
      process_gauges[gauge_name]->Set(static_cast<double>(value));
    };
    process_gauges["bureau_uptime_seconds"]->Set(
      static_cast<double>(now.now_unix_ms - now.start_unix_ms) / 1000.0);
    process_gauges["process_start_time_seconds"]->Set(
      static_cast<double>(now.start_unix_ms) / 1000.0);
    put("process_resident_memory_bytes", now.resident_bytes);
    put("process_virtual_memory_bytes", now.virtual_bytes);
    put("process_open_fds", now.open_fds);
    put("process_max_fds", now.max_fds);
    auto cpu = static_cast<double>(now.cpu_micros) / 1e6;
    if (cpu > cpu_seconds->Value())
      cpu_seconds->Increment(cpu - cpu_seconds->Value());
    return prometheus::TextSerializer{}.Serialize(registry.Collect());
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& sample) { add(sample); },
      [this](atom::observe, const metric_sample& sample) { observe(sample); },
      [this](atom::gauge, const metric_sample& sample) { set(sample); },
      [this](atom::scrape) { return scrape(); },
    };
  }
};

} // namespace

metrics_actor spawn_metrics(caf::actor_system& system,
                            std::function<process_figures()> figures,
                            model_filter is_listed) {
  return kit::spawn_stateful<metrics_actor, metrics_state>(
    system, std::move(figures), std::move(is_listed));
}

} // namespace bureau::metrics
