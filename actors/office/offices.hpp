#pragma once

#include "actors/office/office.hpp"

#include <string>
#include <vector>

namespace bureau::offices {

/// What the offices actor is made of.
struct offices_args {
  office_deps deps;
  registry_actor registry;
  /// Keys of offices with unfinished entries: load_open_list united with
  /// keys_of_replayed. They are opened when their platform attaches.
  std::vector<std::string> resume_keys;
  /// Sessions that keep a runner between turns (setting sessions.maxCached).
  size_t cached_sessions = 500;
};

/// Spawns the OFFICES actor: owner of the runtime (decision A6). Offices are
/// spawned on first need, after the registry recorded them, and put to sleep
/// when they have been idle; nobody else holds the handle of one. They end with
/// it. Above the cap of cached sessions the idle one that was used least
/// recently is let go; one that runs never is.
office_services_actor spawn_offices(caf::actor_system& system,
                                    offices_args args);

} // namespace bureau::offices
