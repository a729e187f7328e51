#include "actors/events/run_view_core.hpp"

#include "messages/codec/event_file.hpp"
#include "messages/errc.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace bureau::events {

namespace {

using namespace bureau::contracts;

/// Ends of a turn that are no failures.
bool went_well(std::string_view why) {
  return why == "sent" || why == "silent";
}

bool was_cancelled(std::string_view why) {
  return why == "stopped" || why == "superseded";
}

cron_run_status status_of(const run_record& run, bool active) {
  using enum cron_run_status;
  switch (run.step) {
  case log_step::delivered:
    return active ? running : queued;
  case log_step::missed:
    return dropped;
  case log_step::ended:
    return went_well(run.why)       ? succeeded
           : was_cancelled(run.why) ? cancelled
                                    : failed;
  default:
    return admitted;
  }
}

/// Why there is no answer, in a sentence.
std::string error_of(const run_record& run) {
  if (run.step == log_step::missed) {
    if (run.why == "too_old")
      return "It was missed for too long to be made up for.";
    if (run.why == "superseded")
      return "It waited until a newer run was due.";
    if (run.why == "removed")
      return "Its file was removed before its turn was taken.";
    if (run.why == "replaced")
      return "Its file was changed before its turn was taken.";
    return run.why;
  }
  if (run.step == log_step::ended && !went_well(run.why))
    return run.why == "unknown"
             ? "How it ended is not known."
             : "It ended without an answer: " + run.why + ".";
  if (run.is_open() && run.refused)
    return "Its turn was refused and is tried again: " + run.why;
  return {};
}

/// Cuts fields to what a projection may carry, and tells which it cut.
class field_cutter {
public:
  explicit field_cutter(cron_run& run) : run_(run) {}

  void put(caf::optional<std::string>& into, const std::string& text,
           size_t bytes, cron_cut_field field, bool cut_before = false) {
    if (text.empty())
      return;
    auto clean = text::sanitize_utf8(text);
    auto kept = text::prefix_bytes(clean, bytes);
    if (kept.size() < clean.size() || cut_before)
      cut_.push_back(field);
    into = std::string{kept};
  }

  void finish() {
    if (!cut_.empty())
      run_.fields_truncated = cut_;
  }

private:
  cron_run& run_;
  std::vector<cron_cut_field> cut_;
};

cron_run view_of(const std::string& file, const run_record& run,
                 const active_runs& active, cron_projection projection) {
  auto detail = projection == cron_projection::detail;
  cron_run result;
  result.projection = projection;
  result.run_id = occurrence_id(file, run.occurrence);
  result.job_id = event_name_of(file);
  result.scheduled_at = text::iso_utc(occurrence_ms(run.occurrence));
  result.ordered_at = text::iso_utc(run.claimed_ms);
  result.sequence = run.sequence;
  result.trigger = cron_trigger::scheduled;
  auto at_work = active.find(result.run_id);
  result.status = status_of(run, at_work != active.end());
  if (run.ended_ms != 0)
    result.completed_at = text::iso_utc(run.ended_ms);
  auto error = error_of(run);
  field_cutter cut{result};
  cut.put(result.artifact_run_id,
          at_work != active.end() ? at_work->second : run.run,
          detail ? max_cron_detail_artifact_id_bytes
                 : max_cron_summary_artifact_id_bytes,
          cron_cut_field::artifact_run_id);
  cut.put(result.error, error,
          detail ? max_cron_detail_error_bytes : max_cron_summary_error_bytes,
          cron_cut_field::error);
  cut.put(result.failure_kind, error.empty() ? std::string{} : run.why,
          detail ? max_cron_detail_failure_kind_bytes
                 : max_cron_summary_failure_kind_bytes,
          cron_cut_field::failure_kind);
  cut.put(result.text, run.text,
          detail ? max_cron_detail_text_bytes : max_cron_summary_text_bytes,
          cron_cut_field::text, run.text_cut);
  cut.finish();
  return result;
}

cron_health health_of(const event_entry* entry, const run_record* last) {
  if (entry != nullptr && entry->state == event_state::faulty)
    return cron_health::unhealthy;
  if (last == nullptr)
    return cron_health::unknown;
  switch (last->step) {
  case log_step::ended:
    return went_well(last->why)       ? cron_health::healthy
           : was_cancelled(last->why) ? cron_health::warning
                                      : cron_health::unhealthy;
  case log_step::missed:
    return cron_health::warning;
  default:
    return last->refused && last->is_open() ? cron_health::warning
                                            : cron_health::unknown;
  }
}

void put_bounded(caf::optional<std::string>& into, const std::string& text,
                 size_t bytes) {
  if (!text.empty() && text.size() <= bytes)
    into = text;
}

std::string file_of(const std::string& job) {
  return job + ".json";
}

/// Opaque to clients: the number of the last run of the page.
std::string cursor_of(const run_record& run) {
  return "r" + std::to_string(run.sequence);
}

std::optional<int64_t> read_cursor(std::string_view text) {
  if (!text.starts_with('r'))
    return std::nullopt;
  text.remove_prefix(1);
  int64_t result = 0;
  auto [end, fault] =
    std::from_chars(text.data(), text.data() + text.size(), result);
  if (fault != std::errc{} || end != text.data() + text.size() || result < 1)
    return std::nullopt;
  return result;
}

caf::error unknown_job(const std::string& job) {
  return make_failure(errc::not_found, "there is no schedule '" + job + "'");
}

std::set<std::string> all_files(const schedule_core& schedules) {
  auto result = schedules.living();
  for (auto& file : schedules.runs().files())
    result.insert(file);
  return result;
}

cron_job job_of(const schedule_core& schedules, const std::string& file,
                const active_runs& active) {
  auto entry = schedules.entry(file);
  auto last = schedules.runs().last(file);
  cron_job result;
  result.job_id = event_name_of(file);
  std::string conversation;
  if (entry && entry->payload) {
    if (entry->payload->type == event_type::periodic) {
      put_bounded(result.expression, entry->payload->schedule,
                  max_cron_expression_bytes);
      put_bounded(result.timezone, entry->payload->timezone,
                  max_cron_timezone_bytes);
    }
    conversation = entry->payload->conversation_id;
  } else if (last != nullptr) {
    conversation = last->conversation.conversation_id;
  }
  if (conversation.size() <= max_cron_conversation_id_bytes)
    result.conversation_id = conversation;
  result.configured = entry.has_value();
  result.declared_enabled = entry.has_value();
  result.effective_enabled = entry && entry->state != event_state::faulty
                             && entry->state != event_state::done;
  if (entry && entry->next_run_ms != 0)
    result.next_run_at = text::iso_utc(entry->next_run_ms);
  result.health = health_of(entry ? &*entry : nullptr, last);
  if (last == nullptr)
    return result;
  result.last_run = view_of(file, *last, active, cron_projection::summary);
  if (result.last_run->status == cron_run_status::running)
    result.active_run_id = result.last_run->run_id;
  return result;
}

} // namespace

std::vector<possible_run> possible_runs(const schedule_core& schedules,
                                        const std::string& job) {
  std::vector<possible_run> result;
  for (const auto& file : all_files(schedules)) {
    auto last = schedules.runs().last(file);
    if (last == nullptr || last->step != log_step::delivered
        || (!job.empty() && event_name_of(file) != job))
      continue;
    result.push_back({occurrence_id(file, last->occurrence), last->conversation,
                      session_key_of(last->conversation, file)});
    if (result.size() == max_cron_jobs)
      break;
  }
  return result;
}

caf::expected<cron_overview> overview_of(const schedule_core& schedules,
                                         const active_runs& active,
                                         const std::string& degraded,
                                         int64_t now_ms) {
  cron_overview result;
  result.generated_at = text::iso_utc(now_ms);
  if (!degraded.empty())
    result.degraded_reason = std::string{text::prefix_bytes(
      text::sanitize_utf8(degraded), max_cron_degraded_reason_bytes)};
  auto files = all_files(schedules);
  // What is configured before what is only remembered.
  for (auto configured : {true, false})
    for (const auto& file : files) {
      if (schedules.knows(file) != configured)
        continue;
      if (result.jobs.size() == max_cron_jobs) {
        result.jobs_truncated = true;
        continue;
      }
      result.jobs.push_back(job_of(schedules, file, active));
    }
  return parse_cron_overview(to_json(result));
}

caf::expected<cron_run_page> page_of(const schedule_core& schedules,
                                     const active_runs& active,
                                     const std::string& job,
                                     const cron_runs_query& query) {
  auto file = file_of(job);
  auto runs = schedules.runs().runs_of(file);
  if (runs == nullptr && !schedules.knows(file))
    return unknown_job(job);
  if (query.limit < 1 || query.limit > static_cast<int64_t>(max_cron_run_page))
    return make_failure(errc::bad_request,
                        "limit must be a whole number from 1 to 100");
  std::optional<int64_t> before;
  if (!query.before.empty()) {
    before = read_cursor(query.before);
    if (!before)
      return make_failure(errc::bad_request, "the cursor is none of ours");
  }
  cron_run_page result;
  if (runs != nullptr)
    for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
      if (before && run->sequence >= *before)
        continue;
      if (static_cast<int64_t>(result.runs.size()) == query.limit) {
        result.next_cursor = cursor_of(*std::prev(run));
        break;
      }
      result.runs.push_back(
        view_of(file, *run, active, cron_projection::summary));
    }
  return parse_cron_run_page(to_json(result));
}

caf::expected<cron_run> detail_of(const schedule_core& schedules,
                                  const active_runs& active,
                                  const std::string& job,
                                  const std::string& run_id) {
  auto file = file_of(job);
  auto run = schedules.runs().find_id(run_id);
  if (run == nullptr || occurrence_id(file, run->occurrence) != run_id)
    return make_failure(errc::not_found, "the schedule '" + job
                                           + "' has no run '" + run_id + "'");
  return parse_cron_run_detail(
    to_json(view_of(file, *run, active, cron_projection::detail)));
}

} // namespace bureau::events
