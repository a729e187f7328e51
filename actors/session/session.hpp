#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>

namespace bureau::session {

/// What every session of a process shares.
struct session_deps {
  runner_factory runners;
  session_store_factory stores;
  /// Read for the rules of the queue; may be empty: one turn per message,
  /// limits::session_queue_cap.
  settings_actor settings;
  /// May be empty: nothing is counted.
  metrics_actor metrics;
  std::shared_ptr<const wall_clock> wall;
  /// Run ids (UUIDv7).
  std::shared_ptr<entropy> chance;
};

/// Spawns the SESSION actor of one office and key: the queue and state machine
/// of its turns (decisions A5, A8, A14, A37). It makes the runner and its
/// session store when a turn starts, keeps them between turns and disposes them
/// after limits::runner_idle_timeout. Its owner ends it by an exit message,
/// after drain_phase::close when nothing may be cut off.
session_actor spawn_session(caf::actor_system& system, session_deps deps,
                            session_args args);

/// The same as a value for the office.
session_factory make_session_factory(session_deps deps);

} // namespace bureau::session
