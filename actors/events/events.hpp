#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/time_zones.hpp"
#include "messages/ports/wall_clock.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace bureau::events {

/// What the schedules of a node stand on.
struct events_deps {
  workspace ws;
  files_actor files;
  journal_actor journal;
  /// May be an empty handle: then the directory is looked through.
  directory_watch_actor watch;
  metrics_actor metrics;
  std::shared_ptr<const wall_clock> wall;
  std::shared_ptr<const time_zones> zones;
  /// Platforms that the node is to speak.
  std::vector<platform_id> platforms;
  /// What is missed for longer does not fire any more (events.catchUpHours).
  std::chrono::hours catch_up{24};
};

/// Spawns the EVENTS actor: it reads `<workspace>/events`, gives turns to the
/// offices when they are due, and keeps `<state-dir>/events.jsonl` about them.
/// Child of the node. Nothing happens before it is told where the offices are.
events_actor spawn_events(caf::actor_system& system, events_deps deps);

} // namespace bureau::events
