#include "actors/control/event_text_core.hpp"

#include "actors/control/status_text_core.hpp"
#include "messages/contracts/cron_operator.hpp"

namespace bureau::control {

namespace {

using namespace bureau::contracts;

constexpr const char* unreadable =
  "The node said something that is no list of schedules.\n";

std::string line_of(const cron_job& job) {
  auto line = job.job_id + "  " + to_string(job.health);
  if (!job.configured)
    line += "  (no file any more)";
  if (job.expression)
    line += "  " + *job.expression;
  if (job.timezone)
    line += " " + *job.timezone;
  if (!job.conversation_id.empty())
    line += "  in " + job.conversation_id;
  if (job.next_run_at)
    line += "  next " + *job.next_run_at;
  if (job.active_run_id)
    line += "  running";
  else if (job.last_run)
    line += "  last " + to_string(job.last_run->status) + " "
            + job.last_run->scheduled_at;
  return terminal_text(line) + '\n';
}

std::string line_of(const cron_run& run) {
  auto line = run.run_id + "  " + to_string(run.status);
  if (run.completed_at)
    line += "  " + *run.completed_at;
  if (run.error)
    line += "  " + *run.error;
  return terminal_text(line) + '\n';
}

} // namespace

std::string events_text(const json::bj::object& result) {
  auto told = json::member(result, "overview");
  if (told == nullptr)
    return unreadable;
  auto overview = parse_cron_overview(*told);
  if (!overview)
    return unreadable;
  std::string text;
  for (const auto& job : overview->jobs)
    text += line_of(job);
  if (overview->jobs_truncated)
    text += "(there are more)\n";
  if (text.empty())
    text = "There are no schedules.\n";
  auto files = json::member(result, "files");
  if (files != nullptr && files->is_array())
    for (const auto& item : files->get_array())
      if (auto file = item.if_object())
        if (auto fault = json::text_or_empty(*file, "error"); !fault.empty())
          text += terminal_text("! " + fault) + '\n';
  if (overview->degraded_reason)
    text += terminal_text("! " + *overview->degraded_reason) + '\n';
  return text;
}

std::string event_runs_text(const json::bj::object& result) {
  auto page = parse_cron_run_page(result);
  if (!page)
    return unreadable;
  std::string text;
  for (const auto& run : page->runs)
    text += line_of(run);
  if (text.empty())
    text = "It has not run yet.\n";
  if (page->next_cursor)
    text +=
      terminal_text("(older ones: --before " + *page->next_cursor + ")") + '\n';
  return text;
}

std::string event_run_text(const json::bj::object& result) {
  auto told = json::member(result, "run");
  if (told == nullptr)
    return unreadable;
  auto run = parse_cron_run_detail(*told);
  if (!run)
    return unreadable;
  auto text = line_of(*run);
  if (run->artifact_run_id)
    text += terminal_text("run " + *run->artifact_run_id) + '\n';
  if (run->text)
    text += terminal_text(*run->text) + '\n';
  return text;
}

} // namespace bureau::control
