#pragma once

#include "actors/io/process_host.hpp"
#include "messages/interfaces/watch.hpp"

namespace bureau::io {

/// Spawns the DIRECTORY WATCH actor in front of the thread `proc-loop`, which
/// waits for the kernel's news about directories beside those of children. At
/// most limits::watched_directories at one time. It ends with the loop.
directory_watch_actor spawn_directory_watch(caf::actor_system& system,
                                            const process_service& processes);

} // namespace bureau::io
