#pragma once

#include "messages/contracts/reply_parts.hpp"
#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Scheduled jobs and their runs as an operator's clients see them (agent
/// contracts, 2.10 and 3.13). Closed schemas: a producer parses what it is
/// about to send with the same functions, so both sides share one set of
/// limits.
namespace bureau::contracts {

namespace bj = boost::json;

/// Compact JSON of one answer, and what a consumer reads at most.
inline constexpr size_t max_cron_response_bytes = 786'432;
inline constexpr size_t max_cron_read_bytes = 1'048'576;
inline constexpr size_t max_cron_run_page = 100;
inline constexpr size_t max_cron_jobs = 64;
inline constexpr size_t max_cron_job_id_bytes = 256;
inline constexpr size_t max_cron_expression_bytes = 256;
inline constexpr size_t max_cron_timezone_bytes = 128;
inline constexpr size_t max_cron_conversation_id_bytes = 512;
inline constexpr size_t max_cron_run_id_bytes = 2048;
inline constexpr size_t max_cron_cursor_bytes = 4096;
inline constexpr size_t max_cron_degraded_reason_bytes = 4096;
inline constexpr size_t max_cron_summary_text_bytes = 2048;
inline constexpr size_t max_cron_summary_error_bytes = 512;
inline constexpr size_t max_cron_summary_artifact_id_bytes = 512;
inline constexpr size_t max_cron_summary_failure_kind_bytes = 128;
inline constexpr size_t max_cron_summary_outcomes = 8;
inline constexpr size_t max_cron_detail_text_bytes = 131'072;
inline constexpr size_t max_cron_detail_error_bytes = 32'768;
inline constexpr size_t max_cron_detail_artifact_id_bytes = 4096;
inline constexpr size_t max_cron_detail_failure_kind_bytes = 512;
inline constexpr size_t max_cron_detail_events = 256;
inline constexpr size_t max_cron_detail_event_bytes = 393'216;
/// Runs of a page that nobody limited.
inline constexpr int64_t default_cron_run_page = 50;

enum class cron_trigger : uint8_t { scheduled, manual };
std::string to_string(cron_trigger trigger);
std::optional<cron_trigger> parse_cron_trigger(std::string_view name);

enum class cron_run_status : uint8_t {
  admitted,
  running,
  queued,
  succeeded,
  failed,
  cancelled,
  skipped_overlap,
  dropped,
};
std::string to_string(cron_run_status status);
std::optional<cron_run_status> parse_cron_run_status(std::string_view name);

enum class cron_health : uint8_t {
  healthy,
  warning,
  unhealthy,
  disabled,
  unknown,
};
std::string to_string(cron_health health);
std::optional<cron_health> parse_cron_health(std::string_view name);

/// A field that the producer had to cut.
enum class cron_cut_field : uint8_t {
  artifact_run_id,
  error,
  failure_kind,
  text,
};
std::string to_string(cron_cut_field field);
std::optional<cron_cut_field> parse_cron_cut_field(std::string_view name);

/// A compact run for lists, or a run with its events.
enum class cron_projection : uint8_t { summary, detail };

/// A run. Instants are ISO text.
struct cron_run {
  cron_projection projection = cron_projection::summary;
  std::string run_id;
  std::string job_id;
  std::string scheduled_at;
  std::string ordered_at;
  int64_t sequence = 1;
  cron_trigger trigger = cron_trigger::scheduled;
  cron_run_status status = cron_run_status::admitted;
  caf::optional<std::string> started_at;
  caf::optional<std::string> completed_at;
  caf::optional<std::string> artifact_run_id;
  caf::optional<std::string> text;
  caf::optional<std::string> error;
  caf::optional<std::string> failure_kind;
  caf::optional<std::string> blocked_by_run_id;
  caf::optional<cron_trigger> blocked_by_trigger;
  caf::optional<int64_t> queue_depth;
  /// None, or one to 20.
  std::vector<delivery_outcome> outcomes;
  /// Events that are stored, at most 256.
  int64_t event_count = 0;
  caf::optional<std::vector<cron_cut_field>> fields_truncated;
  bool events_truncated = false;
  /// Of a detail: events of the closed schema, as compact JSON.
  std::vector<json_text> events;
  friend bool operator==(const cron_run&, const cron_run&) = default;
};

BUREAU_INSPECT(cron_run, x.projection, x.run_id, x.job_id, x.scheduled_at,
               x.ordered_at, x.sequence, x.trigger, x.status, x.started_at,
               x.completed_at, x.artifact_run_id, x.text, x.error,
               x.failure_kind, x.blocked_by_run_id, x.blocked_by_trigger,
               x.queue_depth, x.outcomes, x.event_count, x.fields_truncated,
               x.events_truncated, x.events);

/// A job.
struct cron_job {
  std::string job_id;
  caf::optional<std::string> expression;
  caf::optional<std::string> timezone;
  std::string conversation_id;
  bool configured = false;
  bool declared_enabled = false;
  bool effective_enabled = false;
  caf::optional<std::string> next_run_at;
  cron_health health = cron_health::unknown;
  /// A summary.
  caf::optional<cron_run> last_run;
  caf::optional<std::string> active_run_id;
  friend bool operator==(const cron_job&, const cron_job&) = default;
};

BUREAU_INSPECT(cron_job, x.job_id, x.expression, x.timezone, x.conversation_id,
               x.configured, x.declared_enabled, x.effective_enabled,
               x.next_run_at, x.health, x.last_run, x.active_run_id);

struct cron_overview {
  std::string generated_at;
  bool actions_enabled = false;
  std::vector<cron_job> jobs;
  caf::optional<std::string> degraded_reason;
  bool jobs_truncated = false;
  friend bool operator==(const cron_overview&, const cron_overview&) = default;
};

BUREAU_INSPECT(cron_overview, x.generated_at, x.actions_enabled, x.jobs,
               x.degraded_reason, x.jobs_truncated);

struct cron_run_page {
  /// Summaries.
  std::vector<cron_run> runs;
  caf::optional<std::string> next_cursor;
  friend bool operator==(const cron_run_page&, const cron_run_page&) = default;
};

BUREAU_INSPECT(cron_run_page, x.runs, x.next_cursor);

/// The one error of all parsers; it repeats nothing of the value.
caf::error cron_wire_error();

caf::expected<cron_overview> parse_cron_overview(const bj::value& value);
caf::expected<cron_job> parse_cron_job(const bj::value& value);
caf::expected<cron_run> parse_cron_run_summary(const bj::value& value);
caf::expected<cron_run> parse_cron_run_detail(const bj::value& value);
/// Checks the size of the whole page, too.
caf::expected<cron_run_page> parse_cron_run_page(const bj::value& value);

bj::object to_json(const cron_run& run);
bj::object to_json(const cron_job& job);
bj::object to_json(const cron_overview& overview);
bj::object to_json(const cron_run_page& page);

/// What a client asks for when it lists runs.
struct cron_runs_query {
  int64_t limit = default_cron_run_page;
  /// Opaque cursor of the page before; empty = the newest runs.
  std::string before;
  friend bool operator==(const cron_runs_query&,
                         const cron_runs_query&) = default;
};

BUREAU_INSPECT(cron_runs_query, x.limit, x.before);

/// Reads the query parameters; the error is a bad_request.
caf::expected<cron_runs_query>
parse_cron_runs_query(std::optional<std::string_view> limit,
                      std::optional<std::string_view> before);

} // namespace bureau::contracts
