#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/control.hpp"
#include "messages/interfaces/files.hpp"

#include <caf/typed_actor.hpp>

namespace bureau::system {

/// Spawns the actor behind `office.show`: it walks an office_study over the
/// file pool, one part of a file at a time, and a few studies beside each
/// other.
office_inspector_actor spawn_office_inspector(caf::actor_system& system,
                                              workspace place,
                                              files_actor files);

} // namespace bureau::system
