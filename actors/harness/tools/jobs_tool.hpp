#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/jobs.hpp"

namespace bureau::harness {

tool_definition jobs_definition();

/// The tool with which the model looks at the process jobs of its own
/// conversation and cancels them; those of others do not exist for it.
tool_pack_factory make_jobs_tool(jobs_actor jobs);

} // namespace bureau::harness
