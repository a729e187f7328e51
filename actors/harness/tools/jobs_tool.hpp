#pragma once

#include "actors/harness/tools/core_tools.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/jobs.hpp"

namespace bureau::harness {

tool_definition jobs_definition();

/// The tool with which the model looks at the process jobs of its own
/// conversation and cancels them; those of others do not exist for it. Where no
/// jobs are, the pack is empty.
tool_pack_factory make_jobs_tool(background_jobs jobs);

} // namespace bureau::harness
