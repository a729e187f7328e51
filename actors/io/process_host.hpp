#pragma once

#include "actors/io/process_loop.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/process.hpp"

#include <memory>

namespace bureau::io {

/// The children of the node: the actor that everybody talks to and the loop
/// behind it. Keep it in main and destroy it before the actor system: ask
/// `host` to stop, then join() the loop.
struct process_service {
  process_host_actor host;
  std::unique_ptr<process_loop> loop;
};

/// Starts the thread `proc-loop` and its actor (decision S3). Block SIGCHLD in
/// the calling thread, and so in every later one, before.
///
/// Bounds: limits::processes_running at once and limits::processes_waiting
/// waiting in order, then queue_full. A sink or requester that ends has its
/// children killed.
///
/// Throws std::system_error when the loop cannot start.
/// @param metrics gets the gauge process_active; may be an empty handle
/// @param reaper ends the children of a node that was killed; outlives the
/// loop; may be null
process_service start_processes(caf::actor_system& system,
                                metrics_actor metrics,
                                process_reaper* reaper = nullptr);

} // namespace bureau::io
