#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/memory.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>

namespace bureau::memory {

/// What the store is made of.
struct memory_args {
  workspace ws;
  files_actor files;
  /// The days of the headings, in UTC.
  std::shared_ptr<const wall_clock> wall;
};

/// Spawns the one store of memory, child of the node. It writes one entry of an
/// office after the other; a file is replaced as a whole.
memory_actor spawn_memory(caf::actor_system& system, memory_args args);

} // namespace bureau::memory
