#include "actors/harness/tools/jobs_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "messages/codec/json_support.hpp"

namespace bureau::harness {

namespace {

/// Jobs that a list shows.
constexpr size_t listed_jobs = 50;

std::string line_of(const contracts::process_job_projection& job) {
  auto text = job.job_id + "  " + to_string(job.state);
  if (job.signal)
    text += ", ended by " + *job.signal;
  if (job.exit_code)
    text += ", exit code " + std::to_string(*job.exit_code);
  if (job.cancel_requested && !is_ended(job.state))
    text += ", is being cancelled";
  return text + "  " + job.timestamps.admitted_at + "  " + job.summary;
}

tool_outcome refusal(contracts::process_job_error_code why) {
  auto outcome = failed_outcome(std::string{contracts::public_message(why)});
  outcome.details =
    json_text{json::print(contracts::process_job_public_error(why))};
  return outcome;
}

tool_outcome with_details(std::string text,
                          const contracts::process_job_projection& job) {
  auto outcome = text_outcome(std::move(text));
  outcome.details = json_text{json::print(contracts::to_json(job))};
  return outcome;
}

} // namespace

tool_outcome admission_outcome(const job_answer& answer) {
  if (answer.refusal)
    return refusal(*answer.refusal);
  auto outcome = with_details(
    "The command runs in the background as job " + answer.job.job_id
      + ". You will be woken when it ends; do not wait for it. The tool jobs "
        "shows or cancels it.",
    answer.job);
  // What is known when this turn ends is what the wake goes on from.
  outcome.continues = true;
  return outcome;
}

tool_outcome job_outcome(const job_answer& answer) {
  if (answer.refusal)
    return refusal(*answer.refusal);
  const auto& job = answer.job;
  auto text = line_of(job);
  if (job.last_error)
    text += "\n" + std::string{contracts::public_message(*job.last_error)};
  if (!is_ended(job.state))
    text += "\nIts output is shown when it has ended.";
  else if (job.output.preview.empty())
    text += "\n(no output)";
  else
    text += (job.output.truncated
               ? "\nLast part of its output that was seen (not all of it is "
                 "kept):\n"
               : "\nOutput:\n")
            + job.output.preview;
  return with_details(std::move(text), job);
}

tool_outcome cancel_outcome(const job_answer& answer) {
  if (answer.refusal)
    return refusal(*answer.refusal);
  return with_details(is_ended(answer.job.state)
                        ? "Job " + answer.job.job_id + " is cancelled."
                        : "Job " + answer.job.job_id
                            + " is being ended; you will be woken then.",
                      answer.job);
}

tool_outcome job_list_outcome(const job_list& list) {
  if (list.jobs.empty())
    return text_outcome("This conversation has no jobs.");
  std::string text;
  size_t shown = 0;
  for (const auto& job : list.jobs) {
    if (shown == listed_jobs)
      break;
    text += (shown++ > 0 ? "\n" : "") + line_of(job);
  }
  if (list.jobs.size() > shown)
    text += "\n(" + std::to_string(list.jobs.size() - shown)
            + " older ones are not shown)";
  return text_outcome(std::move(text));
}

} // namespace bureau::harness
