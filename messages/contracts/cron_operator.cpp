#include "messages/contracts/cron_operator.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/stream_event.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/errc.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 2> trigger_names = {"scheduled",
                                                           "manual"};
constexpr std::array<std::string_view, 8> status_names = {
  "admitted", "running",   "queued",          "succeeded",
  "failed",   "cancelled", "skipped_overlap", "dropped"};
constexpr std::array<std::string_view, 5> health_names = {
  "healthy", "warning", "unhealthy", "disabled", "unknown"};
constexpr std::array<std::string_view, 4> cut_names = {"artifactRunId", "error",
                                                       "failureKind", "text"};
constexpr std::array<std::string_view, 2> projection_names = {"summary",
                                                              "detail"};

std::optional<cron_projection> parse_projection(std::string_view name) {
  return find_in<cron_projection>(projection_names, name);
}

/// Texts of a run, by projection.
struct text_limits {
  size_t text;
  size_t error;
  size_t artifact_id;
  size_t failure_kind;
  size_t outcomes;
};

constexpr text_limits limits_of(cron_projection projection) {
  if (projection == cron_projection::summary)
    return {max_cron_summary_text_bytes, max_cron_summary_error_bytes,
            max_cron_summary_artifact_id_bytes,
            max_cron_summary_failure_kind_bytes, max_cron_summary_outcomes};
  return {max_cron_detail_text_bytes, max_cron_detail_error_bytes,
          max_cron_detail_artifact_id_bytes, max_cron_detail_failure_kind_bytes,
          max_delivery_outcomes};
}

constexpr byte_limits filled(size_t max) {
  return {max, 1};
}

/// Reads one run.
class run_reader {
public:
  run_reader(const bj::value& value, cron_projection projection)
    : fields_(value) {
    run_.projection = projection;
  }

  std::optional<cron_run> read() {
    auto limits = limits_of(run_.projection);
    fields_.expect(fields_.word("projection", parse_projection)
                   == run_.projection);
    run_.run_id = fields_.text("runId", filled(max_cron_run_id_bytes));
    run_.job_id = fields_.text("jobId", filled(max_cron_job_id_bytes));
    run_.scheduled_at = fields_.instant("scheduledAt");
    run_.ordered_at = fields_.instant("orderedAt");
    run_.sequence = fields_.integer("sequence", 1, max_safe_integer);
    run_.trigger = fields_.word("trigger", parse_cron_trigger);
    run_.status = fields_.word("status", parse_cron_run_status);
    run_.started_at = fields_.optional_instant("startedAt");
    run_.completed_at = fields_.optional_instant("completedAt");
    run_.artifact_run_id =
      fields_.optional_text("artifactRunId", {limits.artifact_id});
    run_.text = fields_.optional_text("text", {limits.text});
    run_.error = fields_.optional_text("error", {limits.error});
    run_.failure_kind =
      fields_.optional_text("failureKind", {limits.failure_kind});
    run_.blocked_by_run_id =
      fields_.optional_text("blockedByRunId", {max_cron_run_id_bytes});
    run_.blocked_by_trigger =
      fields_.optional_word("blockedByTrigger", parse_cron_trigger);
    run_.queue_depth =
      fields_.optional_integer("queueDepth", 0, max_safe_integer);
    read_outcomes(limits.outcomes);
    run_.event_count = fields_.integer("eventCount", 0, max_cron_detail_events);
    read_cut_fields();
    run_.events_truncated = fields_.optional_mark("eventsTruncated");
    if (run_.projection == cron_projection::detail)
      read_events();
    if (!fields_.done())
      return std::nullopt;
    return std::move(run_);
  }

private:
  void read_outcomes(size_t max) {
    auto value = fields_.take("replyPartOutcomes");
    if (value == nullptr)
      return;
    auto valid = is_outcomes(*value) && value->get_array().size() <= max;
    fields_.expect(valid);
    if (valid)
      run_.outcomes = sanitize_outcomes(*value);
  }

  void read_cut_fields() {
    auto value = fields_.take("fieldsTruncated");
    if (value == nullptr)
      return;
    auto list = value->if_array();
    if (list == nullptr || list->size() > cut_names.size())
      return fields_.refuse();
    std::vector<cron_cut_field> result;
    for (const auto& element : *list) {
      auto name = element.if_string();
      auto field = name != nullptr ? parse_cron_cut_field(*name) : std::nullopt;
      if (!field
          || std::find(result.begin(), result.end(), *field) != result.end())
        return fields_.refuse();
      result.push_back(*field);
    }
    run_.fields_truncated = std::move(result);
  }

  void read_events() {
    auto value = fields_.require("events");
    auto included =
      fields_.integer("eventsIncluded", 0, max_cron_detail_events);
    auto list = value != nullptr ? value->if_array() : nullptr;
    if (list == nullptr || list->size() > max_cron_detail_events
        || static_cast<int64_t>(list->size()) != included
        || included > run_.event_count)
      return fields_.refuse();
    // The brackets around the list, and a comma before each event but the
    // first.
    size_t bytes = 2;
    for (const auto& event : *list) {
      bytes += run_.events.empty() ? 0 : 1;
      if (bytes > max_cron_detail_event_bytes || !is_stream_event(event))
        return fields_.refuse();
      auto text = print_wire(event, max_cron_detail_event_bytes - bytes);
      if (!text)
        return fields_.refuse();
      bytes += text->size();
      run_.events.emplace_back(std::move(*text));
    }
  }

  closed_object fields_;
  cron_run run_;
};

std::optional<cron_run> read_run(const bj::value& value,
                                 cron_projection projection) {
  return run_reader{value, projection}.read();
}

std::optional<cron_job> read_job(const bj::value& value) {
  closed_object fields{value};
  cron_job job;
  job.job_id = fields.text("jobId", filled(max_cron_job_id_bytes));
  job.expression =
    fields.optional_text("expression", {max_cron_expression_bytes});
  job.timezone = fields.optional_text("timezone", {max_cron_timezone_bytes});
  job.conversation_id =
    fields.text("conversationId", {max_cron_conversation_id_bytes});
  job.configured = fields.boolean("configured");
  job.declared_enabled = fields.boolean("declaredEnabled");
  job.effective_enabled = fields.boolean("effectiveEnabled");
  job.next_run_at = fields.optional_instant("nextRunAt");
  job.health = fields.word("health", parse_cron_health);
  job.active_run_id =
    fields.optional_text("activeRunId", {max_cron_run_id_bytes});
  if (auto value_of_run = fields.take("lastRun")) {
    auto run = read_run(*value_of_run, cron_projection::summary);
    fields.expect(run.has_value());
    if (run)
      job.last_run = std::move(*run);
  }
  if (!fields.done())
    return std::nullopt;
  return job;
}

/// Reads a list of at most `max` elements; nothing when one is refused.
template <class T, class Read>
std::optional<std::vector<T>> read_list(const bj::value* value, size_t max,
                                        Read read) {
  auto list = value != nullptr ? value->if_array() : nullptr;
  if (list == nullptr || list->size() > max)
    return std::nullopt;
  std::vector<T> result;
  result.reserve(list->size());
  for (const auto& element : *list) {
    auto item = read(element);
    if (!item)
      return std::nullopt;
    result.push_back(std::move(*item));
  }
  return result;
}

template <class T>
caf::expected<T> or_wire_error(std::optional<T> value) {
  if (value)
    return std::move(*value);
  return cron_wire_error();
}

template <class T>
void put(bj::object& into, const char* name, const caf::optional<T>& value) {
  if (value)
    into[name] = *value;
}

template <class T>
bj::array list_of(const std::vector<T>& items) {
  bj::array result;
  result.reserve(items.size());
  for (const auto& item : items)
    result.push_back(to_json(item));
  return result;
}

} // namespace

std::string to_string(cron_trigger trigger) {
  return name_in(trigger_names, trigger);
}

std::optional<cron_trigger> parse_cron_trigger(std::string_view name) {
  return find_in<cron_trigger>(trigger_names, name);
}

std::string to_string(cron_run_status status) {
  return name_in(status_names, status);
}

std::optional<cron_run_status> parse_cron_run_status(std::string_view name) {
  return find_in<cron_run_status>(status_names, name);
}

std::string to_string(cron_health health) {
  return name_in(health_names, health);
}

std::optional<cron_health> parse_cron_health(std::string_view name) {
  return find_in<cron_health>(health_names, name);
}

std::string to_string(cron_cut_field field) {
  return name_in(cut_names, field);
}

std::optional<cron_cut_field> parse_cron_cut_field(std::string_view name) {
  return find_in<cron_cut_field>(cut_names, name);
}

caf::error cron_wire_error() {
  return make_failure(errc::bad_request,
                      "the value is no valid cron operator record");
}

caf::expected<cron_overview> parse_cron_overview(const bj::value& value) {
  closed_object fields{value};
  cron_overview result;
  result.generated_at = fields.instant("generatedAt");
  result.actions_enabled = fields.boolean("actionsEnabled");
  auto jobs =
    read_list<cron_job>(fields.require("jobs"), max_cron_jobs, read_job);
  result.degraded_reason =
    fields.optional_text("degradedReason", {max_cron_degraded_reason_bytes});
  result.jobs_truncated = fields.optional_mark("jobsTruncated");
  if (!fields.done() || !jobs)
    return cron_wire_error();
  result.jobs = std::move(*jobs);
  return result;
}

caf::expected<cron_job> parse_cron_job(const bj::value& value) {
  return or_wire_error(read_job(value));
}

caf::expected<cron_run> parse_cron_run_summary(const bj::value& value) {
  return or_wire_error(read_run(value, cron_projection::summary));
}

caf::expected<cron_run> parse_cron_run_detail(const bj::value& value) {
  return or_wire_error(read_run(value, cron_projection::detail));
}

caf::expected<cron_run_page> parse_cron_run_page(const bj::value& value) {
  closed_object fields{value};
  cron_run_page result;
  auto runs = read_list<cron_run>(
    fields.require("runs"), max_cron_run_page, [](const bj::value& element) {
      return read_run(element, cron_projection::summary);
    });
  result.next_cursor =
    fields.optional_text("nextCursor", {max_cron_cursor_bytes});
  if (!fields.done() || !runs)
    return cron_wire_error();
  result.runs = std::move(*runs);
  if (!print_wire(to_json(result), max_cron_response_bytes))
    return cron_wire_error();
  return result;
}

bj::object to_json(const cron_run& run) {
  bj::object result{{"projection", name_in(projection_names, run.projection)},
                    {"runId", run.run_id},
                    {"jobId", run.job_id},
                    {"scheduledAt", run.scheduled_at},
                    {"orderedAt", run.ordered_at},
                    {"sequence", run.sequence},
                    {"trigger", to_string(run.trigger)},
                    {"status", to_string(run.status)}};
  put(result, "startedAt", run.started_at);
  put(result, "completedAt", run.completed_at);
  put(result, "artifactRunId", run.artifact_run_id);
  put(result, "text", run.text);
  put(result, "error", run.error);
  put(result, "failureKind", run.failure_kind);
  put(result, "blockedByRunId", run.blocked_by_run_id);
  if (run.blocked_by_trigger)
    result["blockedByTrigger"] = to_string(*run.blocked_by_trigger);
  put(result, "queueDepth", run.queue_depth);
  if (!run.outcomes.empty())
    result["replyPartOutcomes"] = to_json(run.outcomes);
  result["eventCount"] = run.event_count;
  if (run.fields_truncated) {
    bj::array fields;
    for (auto field : *run.fields_truncated)
      fields.emplace_back(to_string(field));
    result["fieldsTruncated"] = std::move(fields);
  }
  if (run.events_truncated)
    result["eventsTruncated"] = true;
  if (run.projection == cron_projection::summary)
    return result;
  bj::array events;
  for (const auto& event : run.events)
    events.push_back(json::parse(event.text).value);
  result["events"] = std::move(events);
  result["eventsIncluded"] = static_cast<int64_t>(run.events.size());
  return result;
}

bj::object to_json(const cron_job& job) {
  bj::object result{{"jobId", job.job_id}};
  put(result, "expression", job.expression);
  put(result, "timezone", job.timezone);
  result["conversationId"] = job.conversation_id;
  result["configured"] = job.configured;
  result["declaredEnabled"] = job.declared_enabled;
  result["effectiveEnabled"] = job.effective_enabled;
  put(result, "nextRunAt", job.next_run_at);
  result["health"] = to_string(job.health);
  if (job.last_run)
    result["lastRun"] = to_json(*job.last_run);
  put(result, "activeRunId", job.active_run_id);
  return result;
}

bj::object to_json(const cron_overview& overview) {
  bj::object result{{"generatedAt", overview.generated_at},
                    {"actionsEnabled", overview.actions_enabled},
                    {"jobs", list_of(overview.jobs)}};
  put(result, "degradedReason", overview.degraded_reason);
  if (overview.jobs_truncated)
    result["jobsTruncated"] = true;
  return result;
}

bj::object to_json(const cron_run_page& page) {
  bj::object result{{"runs", list_of(page.runs)}};
  put(result, "nextCursor", page.next_cursor);
  return result;
}

caf::expected<cron_runs_query>
parse_cron_runs_query(std::optional<std::string_view> limit,
                      std::optional<std::string_view> before) {
  cron_runs_query result;
  if (limit) {
    auto digits = *limit;
    auto is_digit = [](char c) {
      return c >= '0' && c <= '9';
    };
    constexpr size_t max_digits = 3;
    if (digits.empty() || digits.size() > max_digits
        || !std::all_of(digits.begin(), digits.end(), is_digit))
      return make_failure(errc::bad_request,
                          "limit must be a whole number from 1 to 100");
    result.limit = 0;
    for (auto c : digits)
      result.limit = result.limit * 10 + (c - '0');
    if (result.limit < 1
        || result.limit > static_cast<int64_t>(max_cron_run_page))
      return make_failure(errc::bad_request,
                          "limit must be a whole number from 1 to 100");
  }
  if (before) {
    if (before->size() > max_cron_cursor_bytes)
      return make_failure(errc::bad_request, "the cursor is too long");
    result.before = *before;
  }
  return result;
}

} // namespace bureau::contracts
