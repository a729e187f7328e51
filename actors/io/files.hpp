#pragma once

#include "messages/interfaces/files.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"

#include <memory>

namespace bureau::io {

/// Spawns the file pool of the node: a dispatcher on the scheduler and
/// limits::file_workers threads that may block. Jobs run side by side and
/// without any order among them, except that jobs which name one path, letter
/// for letter, run one after the other in the order of their arrival when one
/// of them may change it. So what is asked about a path after a change is told
/// what the change did, also when the change took longer than its requester
/// waited. At most limits::file_jobs_waiting wait, more are refused with
/// queue_full; what waited for limits::disk_timeout is answered with timeout
/// and not done. `status` counts per reason.
///
/// A worker that dies fails only its own job and is replaced. Stop the pool
/// before the actor system ends.
/// @param metrics gets the gauge blocking_busy by reason; may be empty
files_actor spawn_files(caf::actor_system& system,
                        std::shared_ptr<file_system> fs,
                        std::shared_ptr<entropy> chance, metrics_actor metrics);

} // namespace bureau::io
