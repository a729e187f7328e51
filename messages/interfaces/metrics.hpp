#pragma once

#include "messages/interfaces/common.hpp"

namespace bureau {

/// Every metric of the node (decision B14). Names, kinds, help texts and label
/// names are in the metrics room; senders only know the id.
enum class metric : uint8_t {
  sessions_active,
  runs_started,
  runs_completed,
  run_errors,
  run_duration,
  llm_calls,
  llm_tokens,
  llm_cost,
  llm_first_token,
  context_utilization,
  tool_calls,
  tool_duration,
  intake,
  queue_waiting,
  outbox_pending,
  outbound,
  journal_records,
  journal_commit,
  exec,
  exec_duration,
  http_active,
  process_active,
  blocking_busy,
  actor_restarts,
  component_up,
  events,
  events_scheduled,
  jobs,
  job_duration,
  jobs_running,
  jobs_waiting,
  job_wakes,
};

inline constexpr size_t metric_count = 32;

/// One measurement. Durations are microseconds, money is millionths of a US
/// dollar, ratios are millionths. No label ever holds an id of a person,
/// conversation, session or message.
struct metric_sample {
  metric id = metric::sessions_active;
  /// Values in the order of the metric's label names.
  std::vector<std::string> labels;
  int64_t value = 1;
  friend bool operator==(const metric_sample&, const metric_sample&) = default;
};

BUREAU_INSPECT(metric_sample, x.id, x.labels, x.value);

/// The METRICS actor interface.
using metrics_actor = caf::typed_actor<
  // Counters: adds.
  caf::reacts_to<atom::add, metric_sample>,
  // Histograms: observes.
  caf::reacts_to<atom::observe, metric_sample>,
  // Gauges: sets.
  caf::reacts_to<atom::gauge, metric_sample>,
  // Prometheus text exposition of everything.
  caf::replies_to<atom::scrape>::with<std::string>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_metrics, bureau::type_ids::metrics)
CAF_ADD_TYPE_ID(bureau_metrics, (bureau::metric_sample))
CAF_ADD_TYPE_ID(bureau_metrics, (bureau::metrics_actor))
CAF_END_TYPE_ID_BLOCK(bureau_metrics)
