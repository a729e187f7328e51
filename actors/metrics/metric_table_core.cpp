#include "actors/metrics/metric_table_core.hpp"

#include <array>
#include <string_view>

namespace bureau::metrics {

namespace {

constexpr int64_t micro = 1'000'000;

const std::vector<double> run_buckets = {0.1, 0.5, 1,   2,   5,   10,
                                         30,  60,  120, 300, 600, 1800};
const std::vector<double> call_buckets = {0.001, 0.005, 0.01, 0.05, 0.1,
                                          0.5,   1,     5,    10,   60};
const std::vector<double> commit_buckets = {
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 1};
const std::vector<double> ratio_buckets = {0.1, 0.25, 0.5, 0.75, 0.9, 1};

using table = std::array<metric_definition, metric_count>;

table make_table() {
  using enum metric_kind;
  table result;
  auto set = [&result](metric id, metric_definition definition) {
    result[static_cast<size_t>(id)] = std::move(definition);
  };
  set(metric::sessions_active,
      {"bureau_sessions_active", "Sessions with a run in progress", gauge, {}});
  set(metric::runs_started,
      {"bureau_runs_started_total", "Runs started", counter, {"platform"}});
  set(metric::runs_completed, {"bureau_runs_completed_total",
                               "Runs that settled",
                               counter,
                               {"platform", "stop_reason"}});
  set(metric::run_errors,
      {"bureau_run_errors_total", "Runs that failed", counter, {"platform"}});
  set(metric::run_duration, {"bureau_run_duration_seconds",
                             "Time from start to settlement of a run",
                             histogram,
                             {},
                             micro,
                             run_buckets});
  set(metric::llm_calls, {"bureau_llm_calls_total",
                          "Model requests that ended",
                          counter,
                          {"provider", "model", "outcome"}});
  set(metric::llm_tokens, {"bureau_llm_tokens_total",
                           "Tokens as reported by the provider",
                           counter,
                           {"provider", "model", "kind"}});
  set(metric::llm_cost, {"bureau_llm_cost_usd_total",
                         "Cost of model requests in US dollars",
                         counter,
                         {"provider", "model"},
                         micro});
  set(metric::llm_first_token, {"bureau_llm_first_token_seconds",
                                "Time to the first content of a model stream",
                                histogram,
                                {"provider"},
                                micro,
                                run_buckets});
  set(metric::context_utilization, {"bureau_context_utilization_ratio",
                                    "Part of the context window in use",
                                    histogram,
                                    {"provider", "model"},
                                    micro,
                                    ratio_buckets});
  set(metric::tool_calls, {"bureau_tool_calls_total",
                           "Tool calls that ended",
                           counter,
                           {"tool", "error"}});
  set(metric::tool_duration, {"bureau_tool_duration_seconds",
                              "Time of a tool call",
                              histogram,
                              {"tool"},
                              micro,
                              call_buckets});
  set(metric::intake, {"bureau_intake_total",
                       "Inbound messages by outcome",
                       counter,
                       {"platform", "outcome"}});
  set(metric::queue_waiting,
      {"bureau_queue_waiting", "Accepted turns that wait", gauge, {}});
  set(metric::outbox_pending, {"bureau_outbox_pending",
                               "Outbound operations not yet confirmed",
                               gauge,
                               {"platform"}});
  set(metric::outbound, {"bureau_outbound_total",
                         "Outbound operations by outcome",
                         counter,
                         {"platform", "outcome"}});
  set(metric::journal_records,
      {"bureau_journal_records_total", "Records appended", counter, {}});
  set(metric::journal_commit, {"bureau_journal_commit_seconds",
                               "Time of one group commit",
                               histogram,
                               {},
                               micro,
                               commit_buckets});
  set(metric::exec, {"bureau_exec_total",
                     "Commands that ended",
                     counter,
                     {"backend", "outcome"}});
  set(metric::exec_duration, {"bureau_exec_duration_seconds",
                              "Time of a command",
                              histogram,
                              {"backend"},
                              micro,
                              call_buckets});
  set(metric::http_active,
      {"bureau_http_active", "Outbound HTTP transfers", gauge, {}});
  set(metric::process_active,
      {"bureau_process_active", "Child processes", gauge, {}});
  set(metric::blocking_busy, {"bureau_blocking_busy",
                              "Busy workers of the file pool by reason",
                              gauge,
                              {"reason"}});
  set(metric::actor_restarts, {"bureau_actor_restarts_total",
                               "Actors restarted by their supervisor",
                               counter,
                               {"role"}});
  set(metric::component_up, {"bureau_component_up",
                             "1 when a component works as configured",
                             gauge,
                             {"component"}});
  set(metric::events, {"bureau_events_total",
                       "Scheduled turns by what became of them",
                       counter,
                       {"outcome"}});
  set(metric::events_scheduled,
      {"bureau_events_scheduled", "Event files by state", gauge, {"state"}});
  set(metric::jobs,
      {"bureau_jobs_total", "Background jobs that ended", counter, {"state"}});
  set(metric::job_duration, {"bureau_job_duration_seconds",
                             "Time that background jobs ran",
                             histogram,
                             {},
                             micro,
                             run_buckets});
  set(metric::jobs_running,
      {"bureau_jobs_running", "Background jobs that run", gauge, {}});
  set(metric::jobs_waiting,
      {"bureau_jobs_waiting", "Background jobs that wait", gauge, {}});
  set(metric::job_wakes, {"bureau_job_wakes_total",
                          "Wakes of conversations by how they arrived",
                          counter,
                          {"disposition"}});
  return result;
}

} // namespace

const metric_definition& definition_of(metric id) {
  static const table all = make_table();
  return all[static_cast<size_t>(id)];
}

void hide_unlisted_model(
  const metric_definition& definition, std::vector<std::string>& values,
  const std::function<bool(const std::string& provider,
                           const std::string& model)>& is_listed) {
  auto value_of = [&](std::string_view label) -> std::string* {
    for (size_t i = 0; i < definition.labels.size() && i < values.size(); ++i)
      if (definition.labels[i] == label)
        return &values[i];
    return nullptr;
  };
  auto provider = value_of("provider");
  auto model = value_of("model");
  if (provider != nullptr && model != nullptr && !is_listed(*provider, *model))
    *model = other_label;
}

} // namespace bureau::metrics
