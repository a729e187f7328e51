#pragma once

#include "messages/codec/registry_file.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>

namespace bureau::offices {

/// What the registry actor is made of.
struct registry_args {
  workspace place;
  /// As the boot migration left it.
  registry_state state;
  files_actor files;
  std::shared_ptr<const wall_clock> wall;
};

/// Spawns the REGISTRY actor: the single writer of office-registry.json while a
/// node runs. New offices that arrive while a write is under way share the next
/// one; an office is recorded first and its directory made afterwards, so that
/// no directory exists that nobody can list. A write that is given up may still
/// come to its end: the file pool keeps the order of one path, so that it is
/// always before the next one. It holds no actor and well below 1 kB for an
/// office that sleeps.
registry_actor spawn_registry(caf::actor_system& system, registry_args args);

} // namespace bureau::offices
