#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/ports/entropy.hpp"

#include <memory>
#include <vector>

namespace bureau::harness {

/// Who runs commands in the background, and for conversations of which
/// platforms: the others have not declared that they take news of jobs.
struct background_jobs {
  jobs_actor jobs;
  std::vector<platform_id> channels;
  bool serves(platform_id platform) const;
};

/// read, bash, edit, write, in this order: the model sees them so.
/// @param background whether bash may run a command in the background
std::vector<tool_definition> core_tool_definitions(bool background = true);

/// One actor that runs these four tools in an execution environment (note on
/// the harness, section 3.15; decision B15). A relative path means below the
/// directory of the office, as it does for commands. The environment's failures
/// become error results; when it ends, every running call is answered. A
/// command for the background goes to the jobs, which run it in an environment
/// of its own; without them it is refused.
tool_actor core_tools(caf::actor_system& system, const tool_pack_args& args,
                      std::shared_ptr<entropy> chance, jobs_actor jobs = {});

/// The pack that runners are given.
/// @param chance ids of commands and names of spilled output
/// @param jobs take commands for the background
tool_pack_factory make_core_tools(std::shared_ptr<entropy> chance,
                                  background_jobs jobs = {});

} // namespace bureau::harness
