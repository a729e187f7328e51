#include "messages/contracts/process_job.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 10> state_names = {
  "queued",    "starting",  "running",      "succeeded",     "failed",
  "timed_out", "cancelled", "spawn_failed", "queue_expired", "interrupted"};

struct error_text {
  std::string_view name;
  std::string_view message;
};

constexpr std::array<error_text, 22> errors = {{
  {"background_unsupported",
   "Background process jobs are unsupported for this tool call."},
  {"background_unsupported_channel",
   "Background process jobs are unsupported for this channel."},
  {"process_job_disabled", "Process jobs are disabled."},
  {"process_job_controller_unavailable",
   "The process-job controller is unavailable."},
  {"process_job_platform_unsupported",
   "Process jobs are unsupported on this platform."},
  {"process_job_not_found", "The process job was not found."},
  {"process_job_conflict",
   "The process job is no longer in the required state."},
  {"process_job_capacity", "Process-job capacity is full."},
  {"process_job_conversation_capacity",
   "This conversation reached its process-job capacity."},
  {"process_job_queue_full", "The process-job queue is full."},
  {"process_job_queue_expired", "The process job expired before launch."},
  {"process_job_chain_depth_exceeded",
   "The process-job chain-depth limit was reached."},
  {"process_job_spawn_failed", "The process job could not be launched."},
  {"process_job_failed", "The process job failed."},
  {"process_job_timeout", "The process job exceeded its runtime limit."},
  {"process_job_cancelled", "The process job was cancelled."},
  {"process_job_agent_restarted",
   "The process job was interrupted by an agent restart."},
  {"process_job_cleanup_incomplete",
   "Process-job cleanup could not be confirmed."},
  {"process_job_store_error", "Process-job storage failed."},
  {"process_job_wake_failed", "Process-job wake delivery failed."},
  {"process_job_response_too_large",
   "The process-job response exceeded its size limit."},
  {"process_job_invalid", "The process-job request is invalid."},
}};

constexpr std::array<std::string_view, 2> tool_names = {"Exec", "Bash"};
constexpr std::array<std::string_view, 3> wake_names = {"pending", "delivered",
                                                        "failed"};
constexpr std::array<std::string_view, 10> fault_names = {
  "none",   "envelope", "origin",    "timestamps",    "limits",
  "output", "wake",     "lastError", "output limits", "list"};

constexpr byte_limits filled(size_t max) {
  return {max, 1, true};
}

constexpr int64_t max_runtime_ms = 86'400'000;
constexpr int64_t max_output_bytes = 8'388'608;
constexpr int64_t max_preview_chars = 8000;
constexpr int64_t max_chain_depth = 8;
constexpr size_t max_summary_bytes = 8000;
constexpr size_t max_reference_bytes = 1024;

/// A relative path that stays where it is.
bool is_safe_reference(std::string_view path) {
  if (text::is_blank(path) || path.find('\\') != std::string_view::npos)
    return false;
  for (size_t pos = 0; pos <= path.size();) {
    auto end = std::min(path.find('/', pos), path.size());
    auto segment = path.substr(pos, end - pos);
    if (segment.empty() || segment == "." || segment == "..")
      return false;
    pos = end + 1;
  }
  return true;
}

/// Reads a projection part by part, so that the first fault names its part.
class projection_reader {
public:
  explicit projection_reader(const bj::value& value) : envelope_(value) {}

  projection_fault read(process_job_projection& into) {
    auto origin = envelope_.require("origin");
    auto timestamps = envelope_.require("timestamps");
    auto limits = envelope_.require("limits");
    auto output = envelope_.require("output");
    auto wake = envelope_.require("wake");
    auto last_error = envelope_.require("lastError");
    if (!read_envelope(into))
      return projection_fault::envelope;
    if (!read_origin(*origin, into.origin))
      return projection_fault::origin;
    if (!read_timestamps(*timestamps, into.timestamps))
      return projection_fault::timestamps;
    if (!read_limits(*limits, into.limits))
      return projection_fault::limits;
    if (!read_output(*output, into.output))
      return projection_fault::output;
    if (!read_wake(*wake, into.wake))
      return projection_fault::wake;
    if (!read_last_error(*last_error, into.last_error))
      return projection_fault::last_error;
    auto preview =
      static_cast<int64_t>(text::utf16_length(into.output.preview));
    // Neither count is above the largest safe integer: the sum does not
    // overflow.
    if (preview > into.limits.preview_chars
        || into.output.stdout_bytes + into.output.stderr_bytes
             > into.limits.max_output_bytes)
      return projection_fault::output_limits;
    return projection_fault::none;
  }

private:
  bool read_envelope(process_job_projection& into) {
    envelope_.expect(envelope_.text("schema", {process_job_schema.size()})
                     == process_job_schema);
    into.job_id = envelope_.text("jobId", filled(256));
    into.tool = envelope_.word("tool", parse_process_job_tool);
    into.state = envelope_.word("state", parse_process_job_state);
    into.summary = envelope_.text("summary", {max_summary_bytes});
    into.exit_code = envelope_.nullable_integer("exitCode", -max_safe_integer,
                                                max_safe_integer);
    into.signal = envelope_.nullable_text("signal", {128});
    into.duration_ms =
      envelope_.nullable_integer("durationMs", 0, max_safe_integer);
    into.cancel_requested = envelope_.boolean("cancelRequested");
    return envelope_.done();
  }

  static bool read_origin(const bj::value& value, process_job_origin& into) {
    closed_object fields{value};
    into.conversation_id = fields.text("conversationId", filled(2048));
    into.channel = fields.text("channel", filled(128));
    into.run_id = fields.text("runId", filled(512));
    into.history_boundary = fields.text("historyBoundary", filled(512));
    into.bucket = fields.nullable_text("bucket", {512});
    return fields.done();
  }

  static bool read_timestamps(const bj::value& value,
                              process_job_timestamps& into) {
    closed_object fields{value};
    into.admitted_at = fields.instant("admittedAt");
    into.queue_deadline_at = fields.instant("queueDeadlineAt");
    into.started_at = fields.nullable_instant("startedAt");
    into.runtime_deadline_at = fields.nullable_instant("runtimeDeadlineAt");
    into.completed_at = fields.nullable_instant("completedAt");
    return fields.done();
  }

  static bool read_limits(const bj::value& value, process_job_limits& into) {
    closed_object fields{value};
    into.max_runtime_ms = fields.integer("maxRuntimeMs", 1, max_runtime_ms);
    into.max_output_bytes =
      fields.integer("maxOutputBytes", 1, max_output_bytes);
    into.preview_chars = fields.integer("previewChars", 1, max_preview_chars);
    into.chain_depth = fields.integer("chainDepth", 0, max_chain_depth);
    return fields.done();
  }

  static bool read_output(const bj::value& value, process_job_output& into) {
    // A code unit takes at most three bytes.
    constexpr size_t preview_bytes = 3 * max_preview_chars;
    closed_object fields{value};
    into.stdout_bytes = fields.integer("stdoutBytes", 0, max_safe_integer);
    into.stderr_bytes = fields.integer("stderrBytes", 0, max_safe_integer);
    into.truncated = fields.boolean("truncated");
    into.preview = fields.text("preview", {preview_bytes});
    fields.expect(text::utf16_length(into.preview) <= max_preview_chars);
    into.stdout_ref = reference(fields, "stdoutRef");
    into.stderr_ref = reference(fields, "stderrRef");
    return fields.done();
  }

  static caf::optional<std::string> reference(closed_object& fields,
                                              std::string_view name) {
    auto path = fields.nullable_text(name, {max_reference_bytes});
    fields.expect(!path || is_safe_reference(*path));
    return path;
  }

  static bool read_wake(const bj::value& value, process_job_wake& into) {
    closed_object fields{value};
    into.state = fields.word("state", parse_process_job_wake_state);
    into.attempts = fields.integer("attempts", 0, max_safe_integer);
    into.delivery_key = fields.text("deliveryKey", filled(512));
    into.last_attempt_at = fields.nullable_instant("lastAttemptAt");
    return fields.done();
  }

  static bool read_last_error(const bj::value& value,
                              caf::optional<process_job_error_code>& into) {
    if (value.is_null())
      return true;
    closed_object fields{value};
    into = fields.word("code", parse_process_job_error_code);
    fields.text("message", filled(8000));
    return fields.done();
  }

  closed_object envelope_;
};

template <class T>
bj::value or_null(const caf::optional<T>& value) {
  return value ? bj::value(*value) : bj::value{};
}

} // namespace

std::string to_string(process_job_state state) {
  return name_in(state_names, state);
}

std::optional<process_job_state>
parse_process_job_state(std::string_view name) {
  return find_in<process_job_state>(state_names, name);
}

bool is_process_job_state(const bj::value& value) {
  auto name = value.if_string();
  return name != nullptr && parse_process_job_state(*name).has_value();
}

bool is_ended(process_job_state state) {
  return state > process_job_state::running;
}

std::string to_string(process_job_error_code code) {
  auto index = static_cast<size_t>(code);
  return std::string{index < errors.size() ? errors[index].name : "unknown"};
}

std::optional<process_job_error_code>
parse_process_job_error_code(std::string_view name) {
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i].name == name)
      return static_cast<process_job_error_code>(i);
  return std::nullopt;
}

bool is_process_job_error_code(const bj::value& value) {
  auto name = value.if_string();
  return name != nullptr && parse_process_job_error_code(*name).has_value();
}

std::string_view public_message(process_job_error_code code) {
  return errors[static_cast<size_t>(code)].message;
}

bj::object process_job_public_error(process_job_error_code code) {
  return {{"code", to_string(code)}, {"message", public_message(code)}};
}

std::string to_string(process_job_tool tool) {
  return name_in(tool_names, tool);
}

std::optional<process_job_tool> parse_process_job_tool(std::string_view name) {
  return find_in<process_job_tool>(tool_names, name);
}

std::string to_string(process_job_wake_state state) {
  return name_in(wake_names, state);
}

std::optional<process_job_wake_state>
parse_process_job_wake_state(std::string_view name) {
  return find_in<process_job_wake_state>(wake_names, name);
}

std::string to_string(projection_fault fault) {
  return name_in(fault_names, fault);
}

projection_result parse_process_job_projection(const bj::value& value) {
  projection_result result;
  result.fault = projection_reader{value}.read(result.projection);
  if (!result)
    result.projection = {};
  return result;
}

projections_result parse_process_job_projections(const bj::value& value) {
  projections_result result;
  auto list = value.if_array();
  if (list == nullptr || list->size() > max_process_job_lifecycles) {
    result.fault = projection_fault::list;
    return result;
  }
  for (const auto& element : *list) {
    auto parsed = parse_process_job_projection(element);
    if (!parsed) {
      result.projections.clear();
      result.fault = parsed.fault;
      return result;
    }
    result.projections.push_back(std::move(parsed.projection));
  }
  return result;
}

bj::object to_json(const process_job_projection& job) {
  bj::object origin{{"conversationId", job.origin.conversation_id},
                    {"channel", job.origin.channel},
                    {"runId", job.origin.run_id},
                    {"historyBoundary", job.origin.history_boundary},
                    {"bucket", or_null(job.origin.bucket)}};
  bj::object timestamps{
    {"admittedAt", job.timestamps.admitted_at},
    {"queueDeadlineAt", job.timestamps.queue_deadline_at},
    {"startedAt", or_null(job.timestamps.started_at)},
    {"runtimeDeadlineAt", or_null(job.timestamps.runtime_deadline_at)},
    {"completedAt", or_null(job.timestamps.completed_at)}};
  bj::object limits{{"maxRuntimeMs", job.limits.max_runtime_ms},
                    {"maxOutputBytes", job.limits.max_output_bytes},
                    {"previewChars", job.limits.preview_chars},
                    {"chainDepth", job.limits.chain_depth}};
  bj::object output{{"stdoutBytes", job.output.stdout_bytes},
                    {"stderrBytes", job.output.stderr_bytes},
                    {"truncated", job.output.truncated},
                    {"preview", job.output.preview},
                    {"stdoutRef", or_null(job.output.stdout_ref)},
                    {"stderrRef", or_null(job.output.stderr_ref)}};
  bj::object wake{{"state", to_string(job.wake.state)},
                  {"attempts", job.wake.attempts},
                  {"deliveryKey", job.wake.delivery_key},
                  {"lastAttemptAt", or_null(job.wake.last_attempt_at)}};
  bj::value last_error;
  if (job.last_error)
    last_error = process_job_public_error(*job.last_error);
  return {{"schema", process_job_schema},
          {"jobId", job.job_id},
          {"tool", to_string(job.tool)},
          {"state", to_string(job.state)},
          {"summary", job.summary},
          {"origin", std::move(origin)},
          {"timestamps", std::move(timestamps)},
          {"limits", std::move(limits)},
          {"output", std::move(output)},
          {"wake", std::move(wake)},
          {"exitCode", or_null(job.exit_code)},
          {"signal", or_null(job.signal)},
          {"durationMs", or_null(job.duration_ms)},
          {"cancelRequested", job.cancel_requested},
          {"lastError", std::move(last_error)}};
}

} // namespace bureau::contracts
