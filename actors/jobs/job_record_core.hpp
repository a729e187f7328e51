#pragma once

#include "messages/contracts/channel.hpp"
#include "messages/contracts/continuation.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/contracts/turn.hpp"
#include "messages/identity/office_address.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What is kept of a job: its projection, and what nobody outside is shown.
namespace bureau::jobs {

/// A job as this room knows it; on disk `<state-dir>/jobs/<id>/job.json`.
struct job_record {
  contracts::process_job_projection shown;
  office_address conversation;
  std::string session_key;
  /// Where the conversation hears of its end.
  json_text target;
  /// Kept until it is started; what ran is then only told by the summary.
  std::string command;
  /// Runtime path; empty: where commands of the office start.
  std::string cwd;
  /// Variables of the command; kept until it is started.
  contracts::tool_environment environment{};
  /// How its wake entered the conversation, as far as anybody knows.
  std::optional<contracts::wake_disposition> disposition;
  /// What the run that asked knew at its end; until the wake has arrived.
  std::optional<contracts::continuation_context> context;
  friend bool operator==(const job_record&, const job_record&) = default;
};

/// Whether a name in the directory of jobs is that of a job.
bool is_job_id(std::string_view name);

/// Message id of the wake of a job; its delivery key as well.
std::string wake_id(std::string_view job_id);

/// The job that a message wakes for; empty: it is no wake.
std::string_view job_of_wake(std::string_view message_id);

/// Instants of a job as Unix milliseconds; -1: not yet.
int64_t instant_ms(const std::string& iso);
int64_t instant_ms(const caf::optional<std::string>& iso);

std::string print_job(const job_record& job);

/// Nothing when the text is no job of ours, or that of another id.
std::optional<job_record> parse_job(std::string_view text, std::string_view id);

} // namespace bureau::jobs
