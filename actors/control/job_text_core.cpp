#include "actors/control/job_text_core.hpp"

#include "actors/control/status_text_core.hpp"
#include "messages/contracts/process_job.hpp"

namespace bureau::control {

namespace {

constexpr const char* unreadable = "The node said something that is no job.\n";

std::string end_of(const contracts::process_job_projection& job) {
  std::string result;
  if (job.exit_code)
    result += ", exit code " + std::to_string(*job.exit_code);
  if (job.signal)
    result += ", ended by " + *job.signal;
  if (job.duration_ms)
    result += ", " + duration_text(*job.duration_ms);
  if (job.cancel_requested && !contracts::is_ended(job.state))
    result += ", is being cancelled";
  return result;
}

std::string line_of(const contracts::process_job_projection& job) {
  return terminal_text(job.job_id + "  " + to_string(job.state) + end_of(job)
                       + "  " + job.origin.conversation_id + "  "
                       + job.timestamps.admitted_at + "  " + job.summary)
         + '\n';
}

void add(std::string& text, const char* label, const std::string& value) {
  if (!value.empty())
    text += std::string{label} + terminal_text(value) + '\n';
}

} // namespace

std::string jobs_text(const json::bj::object& result) {
  const auto* list = json::member(result, "jobs");
  if (list == nullptr)
    return unreadable;
  auto found = contracts::parse_process_job_projections(*list);
  if (!found)
    return unreadable;
  if (found.projections.empty())
    return "There are no jobs.\n";
  std::string text;
  for (const auto& job : found.projections)
    text += line_of(job);
  auto total = json::int_member(result, "total").value_or(0);
  auto rest = total - static_cast<int64_t>(found.projections.size());
  if (rest > 0)
    text += "(" + std::to_string(rest) + " older ones are not shown)\n";
  return text;
}

std::string job_text(const json::bj::object& result) {
  const auto* member = json::member(result, "job");
  if (member == nullptr)
    return unreadable;
  auto found = contracts::parse_process_job_projection(*member);
  if (!found)
    return unreadable;
  const auto& job = found.projection;
  auto text = line_of(job);
  add(text, "run: ", job.origin.run_id);
  if (job.timestamps.started_at)
    add(text, "started: ", *job.timestamps.started_at);
  if (job.timestamps.completed_at)
    add(text, "ended: ", *job.timestamps.completed_at);
  if (job.last_error)
    add(text,
        "error: ", std::string{contracts::public_message(*job.last_error)});
  auto disposition = json::text_or_empty(result, "disposition");
  add(text, "wake: ",
      to_string(job.wake.state)
        + (disposition.empty() ? "" : " (" + disposition + ")"));
  for (const auto& ref : {job.output.stdout_ref, job.output.stderr_ref})
    if (ref)
      add(text, "output: ", *ref);
  std::string_view rest = job.output.preview;
  while (!rest.empty()) {
    auto end = rest.find('\n');
    text += "> " + terminal_text(rest.substr(0, end)) + '\n';
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return text;
}

} // namespace bureau::control
