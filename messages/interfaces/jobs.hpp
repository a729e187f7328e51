#pragma once

#include "messages/contracts/channel.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/secret.hpp"

#include <string_view>

namespace bureau {

/// How the message that wakes a conversation at the end of a job begins.
inline constexpr std::string_view job_wake_head = "Background job ";

/// How the message id of such a wake begins; the id of the job follows.
inline constexpr std::string_view job_wake_id_head = "job:";

/// A command that is to outlive its turn.
struct job_request {
  office_address conversation;
  std::string session_key;
  /// Run that asks for it, and the message that run answers.
  std::string run;
  std::string message_id;
  /// Where the conversation hears of its end; made by the adapter at intake.
  json_text target;
  /// Wake that the run was caused by or has read; empty: none.
  std::string wake;
  contracts::process_job_tool tool = contracts::process_job_tool::bash;
  /// One program text for a POSIX shell.
  std::string command;
  /// Runtime path; empty: where commands of the office start.
  std::string cwd;
  /// 0 = the usual ones.
  int64_t max_runtime_ms = 0;
  int64_t max_output_bytes = 0;
  /// Variables of the command.
  contracts::tool_environment environment{};
  friend bool operator==(const job_request&, const job_request&) = default;
};

BUREAU_INSPECT(job_request, x.conversation, x.session_key, x.run, x.message_id,
               x.target, x.wake, x.tool, x.command, x.cwd, x.max_runtime_ms,
               x.max_output_bytes, x.environment);

/// Names a job as its own conversation may: the id of another one's job is as
/// unknown as one that never was.
struct job_query {
  /// Contract id, `<platform>:<session key>`.
  std::string conversation_id;
  std::string job_id;
  friend bool operator==(const job_query&, const job_query&) = default;
};

BUREAU_INSPECT(job_query, x.conversation_id, x.job_id);

/// A job, or why there is none.
struct job_answer {
  contracts::process_job_projection job;
  caf::optional<contracts::process_job_error_code> refusal;
  /// How its wake entered the conversation; absent: it has not, or nobody
  /// knows.
  caf::optional<contracts::wake_disposition> disposition{};
  friend bool operator==(const job_answer&, const job_answer&) = default;
};

BUREAU_INSPECT(job_answer, x.job, x.refusal, x.disposition);

/// What the turn of a wake is built from.
struct job_continuation {
  /// Absent: there is no such job.
  caf::optional<contracts::continuation_turn> turn;
  friend bool operator==(const job_continuation&,
                         const job_continuation&) = default;
};

BUREAU_INSPECT(job_continuation, x.turn);

/// Jobs, the newest first, without their previews.
struct job_list {
  std::vector<contracts::process_job_projection> jobs;
  friend bool operator==(const job_list&, const job_list&) = default;
};

BUREAU_INSPECT(job_list, x.jobs);

/// What is still to come of the jobs of a platform.
struct job_outlook {
  /// Jobs that have not ended, or whose conversation does not know it yet.
  uint64_t open = 0;
  /// Jobs that were ever admitted since the start of the node.
  uint64_t admitted = 0;
  friend bool operator==(const job_outlook&, const job_outlook&) = default;
};

BUREAU_INSPECT(job_outlook, x.open, x.admitted);

/// A call of the operator, with the owner's bearer token.
struct job_order {
  secret_text token;
  /// Empty for a list.
  std::string job_id;
  friend bool operator==(const job_order&, const job_order&) = default;
};

BUREAU_INSPECT(job_order, x.token, x.job_id);

/// The CONTINUATION SOURCE actor interface: what knows of turns that go on
/// where others have ended.
using continuation_source_actor = caf::typed_actor<
  caf::replies_to<atom::load, std::string>::with<job_continuation>>;

/// The OFFICES as jobs see them.
using job_desk_actor = caf::typed_actor<
  caf::replies_to<atom::intake, intake_request>::with<intake_reply>,
  caf::replies_to<atom::settled, entry_query>::with<entry_end>,
  caf::replies_to<atom::hold, office_address>::with<caf::ok_atom>,
  caf::reacts_to<atom::release, office_address>>;

/// The JOBS actor interface: process jobs of all conversations (decision A30,
/// agent contracts 2.9 and 3.12). Refusals are answers; errors are
/// shutting_down alone.
using jobs_actor = caf::typed_actor<
  // Takes a command; answered when the job is on the disk.
  caf::replies_to<atom::submit, job_request>::with<job_answer>,
  // Jobs of a conversation, by its contract id.
  caf::replies_to<atom::list, std::string>::with<job_list>,
  caf::replies_to<atom::read, job_query>::with<job_answer>,
  // Asks for the end of a job; answered at once. A job that runs ends as soon
  // as its processes have.
  caf::replies_to<atom::cancel, job_query>::with<job_answer>,
  // What its jobs may still bring to a platform.
  caf::replies_to<atom::describe, platform_id>::with<job_outlook>,
  // What a run knew at its end, for the wakes of the jobs that it admitted.
  caf::reacts_to<atom::settled, contracts::continuation_context>,
  // What the turn of a wake is built from, by the message id of the wake.
  caf::replies_to<atom::load, std::string>::with<job_continuation>,
  // Where wakes go; nothing is restored and no wake sent before.
  caf::reacts_to<atom::start, job_desk_actor>,
  // A platform can show updates, and its conversations can be woken.
  caf::reacts_to<atom::attach, platform_id, transport_actor>,
  caf::replies_to<atom::status>::with<status_line>,
  // Ends what runs (as interrupted); answers when it is on the disk and no
  // process is left.
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

/// The JOB OPERATOR actor interface: the owner's side. No tool and no adapter
/// ever holds it. Error: denied (another token).
using job_operator_actor =
  caf::typed_actor<caf::replies_to<atom::list, job_order>::with<job_list>,
                   caf::replies_to<atom::read, job_order>::with<job_answer>,
                   caf::replies_to<atom::cancel, job_order>::with<job_answer>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_jobs, bureau::type_ids::jobs)
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_request))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_query))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_answer))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_list))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_outlook))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_order))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_continuation))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_desk_actor))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::jobs_actor))
CAF_ADD_TYPE_ID(bureau_jobs, (bureau::job_operator_actor))
CAF_END_TYPE_ID_BLOCK(bureau_jobs)
