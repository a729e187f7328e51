#pragma once

#include "messages/inspect_support.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A process that outlives its turn, as clients may see it (agent contracts,
/// 2.9 and 3.12): no command line, no environment, no path, no pid.
namespace bureau::contracts {

namespace bj = boost::json;

inline constexpr std::string_view process_job_schema =
  "mono-agent.process-job-projection.v1";
/// Jobs that may be listed: 10000 ended, 32 running, 64 queued.
inline constexpr size_t max_process_job_lifecycles = 10'096;

enum class process_job_state : uint8_t {
  queued,
  starting,
  running,
  succeeded,
  failed,
  timed_out,
  cancelled,
  spawn_failed,
  queue_expired,
  interrupted,
};

std::string to_string(process_job_state state);
std::optional<process_job_state> parse_process_job_state(std::string_view name);
bool is_process_job_state(const bj::value& value);

/// Whether a job in this state has ended.
bool is_ended(process_job_state state);

enum class process_job_error_code : uint8_t {
  background_unsupported,
  background_unsupported_channel,
  process_job_disabled,
  process_job_controller_unavailable,
  process_job_platform_unsupported,
  process_job_not_found,
  process_job_conflict,
  process_job_capacity,
  process_job_conversation_capacity,
  process_job_queue_full,
  process_job_queue_expired,
  process_job_chain_depth_exceeded,
  process_job_spawn_failed,
  process_job_failed,
  process_job_timeout,
  process_job_cancelled,
  process_job_agent_restarted,
  process_job_cleanup_incomplete,
  process_job_store_error,
  process_job_wake_failed,
  process_job_response_too_large,
  process_job_invalid,
};

std::string to_string(process_job_error_code code);
std::optional<process_job_error_code>
parse_process_job_error_code(std::string_view name);
bool is_process_job_error_code(const bj::value& value);

/// The one sentence that a client sees of an error; never an exception's.
std::string_view public_message(process_job_error_code code);

/// `{"code","message"}`.
bj::object process_job_public_error(process_job_error_code code);

enum class process_job_tool : uint8_t { exec, bash };

std::string to_string(process_job_tool tool);
std::optional<process_job_tool> parse_process_job_tool(std::string_view name);

/// Whether the conversation has been told about the end of a job.
enum class process_job_wake_state : uint8_t { pending, delivered, failed };

std::string to_string(process_job_wake_state state);
std::optional<process_job_wake_state>
parse_process_job_wake_state(std::string_view name);

struct process_job_origin {
  /// With its rollover bucket, if there is one; the reply route.
  std::string conversation_id;
  std::string channel;
  std::string run_id;
  std::string history_boundary;
  caf::optional<std::string> bucket;
  friend bool operator==(const process_job_origin&,
                         const process_job_origin&) = default;
};

BUREAU_INSPECT(process_job_origin, x.conversation_id, x.channel, x.run_id,
               x.history_boundary, x.bucket);

/// Instants as ISO text.
struct process_job_timestamps {
  std::string admitted_at;
  std::string queue_deadline_at;
  caf::optional<std::string> started_at;
  caf::optional<std::string> runtime_deadline_at;
  caf::optional<std::string> completed_at;
  friend bool operator==(const process_job_timestamps&,
                         const process_job_timestamps&) = default;
};

BUREAU_INSPECT(process_job_timestamps, x.admitted_at, x.queue_deadline_at,
               x.started_at, x.runtime_deadline_at, x.completed_at);

struct process_job_limits {
  int64_t max_runtime_ms = 1;
  int64_t max_output_bytes = 1;
  /// UTF-16 code units.
  int64_t preview_chars = 1;
  int64_t chain_depth = 0;
  friend bool operator==(const process_job_limits&,
                         const process_job_limits&) = default;
};

BUREAU_INSPECT(process_job_limits, x.max_runtime_ms, x.max_output_bytes,
               x.preview_chars, x.chain_depth);

struct process_job_output {
  int64_t stdout_bytes = 0;
  int64_t stderr_bytes = 0;
  bool truncated = false;
  std::string preview;
  /// Relative paths without "..".
  caf::optional<std::string> stdout_ref;
  caf::optional<std::string> stderr_ref;
  friend bool operator==(const process_job_output&,
                         const process_job_output&) = default;
};

BUREAU_INSPECT(process_job_output, x.stdout_bytes, x.stderr_bytes, x.truncated,
               x.preview, x.stdout_ref, x.stderr_ref);

struct process_job_wake {
  process_job_wake_state state = process_job_wake_state::pending;
  int64_t attempts = 0;
  std::string delivery_key;
  caf::optional<std::string> last_attempt_at;
  friend bool operator==(const process_job_wake&,
                         const process_job_wake&) = default;
};

BUREAU_INSPECT(process_job_wake, x.state, x.attempts, x.delivery_key,
               x.last_attempt_at);

/// A job.
struct process_job_projection {
  std::string job_id;
  process_job_tool tool = process_job_tool::bash;
  process_job_state state = process_job_state::queued;
  std::string summary;
  process_job_origin origin;
  process_job_timestamps timestamps;
  process_job_limits limits;
  process_job_output output;
  process_job_wake wake;
  caf::optional<int64_t> exit_code;
  caf::optional<std::string> signal;
  caf::optional<int64_t> duration_ms;
  bool cancel_requested = false;
  /// Its message is always the public one.
  caf::optional<process_job_error_code> last_error;
  friend bool operator==(const process_job_projection&,
                         const process_job_projection&) = default;
};

BUREAU_INSPECT(process_job_projection, x.job_id, x.tool, x.state, x.summary,
               x.origin, x.timestamps, x.limits, x.output, x.wake, x.exit_code,
               x.signal, x.duration_ms, x.cancel_requested, x.last_error);

/// The part of a projection that was refused.
enum class projection_fault : uint8_t {
  none,
  envelope,
  origin,
  timestamps,
  limits,
  output,
  wake,
  last_error,
  /// The output does not keep to the limits beside it.
  output_limits,
  /// The list as a whole.
  list,
};

std::string to_string(projection_fault fault);

/// A projection, or the first part that is wrong with it.
struct projection_result {
  process_job_projection projection;
  projection_fault fault = projection_fault::none;
  explicit operator bool() const { return fault == projection_fault::none; }
};

/// Reads a projection; every member must be there and nothing else.
projection_result parse_process_job_projection(const bj::value& value);

struct projections_result {
  std::vector<process_job_projection> projections;
  projection_fault fault = projection_fault::none;
  explicit operator bool() const { return fault == projection_fault::none; }
};

/// Reads a list; its first bad entry refuses all of it.
projections_result parse_process_job_projections(const bj::value& value);

bj::object to_json(const process_job_projection& projection);

} // namespace bureau::contracts
