#pragma once

#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/jobs.hpp"

/// What the model reads about process jobs.
namespace bureau::harness {

/// What `bash` answers when it was asked for the background.
tool_outcome admission_outcome(const job_answer& answer);

/// One job, with the end of its output.
tool_outcome job_outcome(const job_answer& answer);

/// What a cancel did.
tool_outcome cancel_outcome(const job_answer& answer);

/// The jobs of a conversation, newest first; the oldest of many are left out.
tool_outcome job_list_outcome(const job_list& list);

} // namespace bureau::harness
