#pragma once

#include "actors/events/schedule_core.hpp"
#include "messages/contracts/cron_operator.hpp"

#include <map>
#include <string>
#include <vector>

/// Schedules and their runs as an operator's clients see them (decision A30;
/// agent contracts, 2.10 and 3.13). Pure.
namespace bureau::events {

/// Runs at work: id of the occurrence → id of the agent's run.
using active_runs = std::map<std::string, std::string>;

/// The newest run of every job that may be at work, for the question whether it
/// is.
struct possible_run {
  std::string id;
  office_address conversation;
  std::string session_key;
  friend bool operator==(const possible_run&, const possible_run&) = default;
};

/// @param job empty: of all jobs
std::vector<possible_run> possible_runs(const schedule_core& schedules,
                                        const std::string& job);

/// All jobs that have a file or had runs, as many as the contract lets through.
/// @param degraded why schedules do not work as they should; empty: they do
caf::expected<contracts::cron_overview>
overview_of(const schedule_core& schedules, const active_runs& active,
            const std::string& degraded, int64_t now_ms);

/// A page of the runs of a job, the newest first. Errors: bad_request (limit,
/// cursor), not_found (no such job).
caf::expected<contracts::cron_run_page>
page_of(const schedule_core& schedules, const active_runs& active,
        const std::string& job, const contracts::cron_runs_query& query);

/// One run with everything. Error: not_found.
caf::expected<contracts::cron_run> detail_of(const schedule_core& schedules,
                                             const active_runs& active,
                                             const std::string& job,
                                             const std::string& run_id);

} // namespace bureau::events
