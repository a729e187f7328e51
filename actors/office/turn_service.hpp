#pragma once

#include "messages/interfaces/office.hpp"
#include "messages/interfaces/turn_service.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <caf/typed_actor.hpp>

#include <memory>

namespace bureau::offices {

/// What the turn service stands on.
struct turn_service_args {
  turn_desk_actor offices;
  registry_actor registry;
  /// Empty: no file of an answer can be opened.
  artifacts_actor artifacts;
  std::shared_ptr<const wall_clock> wall;
  std::shared_ptr<entropy> chance;
};

/// Spawns the TURN SERVICE (decision A4): turns, follow-ups, cancellation,
/// notifications and files of answers for whoever sits on no platform. It holds
/// nothing but open answers; what it takes is in the ledger of its office.
turn_service_actor spawn_turn_service(caf::actor_system& system,
                                      turn_service_args args);

} // namespace bureau::offices
