#pragma once

#include "messages/interfaces/interaction.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>

namespace bureau::interaction {

/// What the hub is made of.
struct interaction_args {
  /// Instants that an ask carries.
  std::shared_ptr<const wall_clock> wall;
  /// Ids of asks.
  std::shared_ptr<entropy> chance;
};

/// Spawns the one hub of asks, child of the node. It keeps nothing over its
/// end: after a restart a late answer is a message like any other.
interaction_actor spawn_interaction(caf::actor_system& system,
                                    interaction_args args);

} // namespace bureau::interaction
