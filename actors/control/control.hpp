#pragma once

#include "actors/control/control_core.hpp"
#include "messages/interfaces/control.hpp"

#include <caf/typed_actor.hpp>

#include <chrono>
#include <string>

namespace bureau::control {

/// Whom `control` asks, and what it knows from the start.
struct control_args {
  node_control_actor node;
  offices_actor offices;
  registry_actor registry;
  office_inspector_actor inspector;
  turn_service_actor turns;
  /// The owner's side of the jobs, and what shows that we are the owner.
  job_operator_actor jobs{};
  secret_text operator_token{};
  events_actor events{};
  node_facts facts;
  /// Deadline of a shutdown that names none.
  std::chrono::milliseconds deadline{0};
  /// Level that the log has.
  std::string log_level;
  /// Where the offices of this node are.
  std::string workspace_root;
};

/// Spawns the actor behind the control socket (decision S6): it carries out one
/// call after the other, never waits for anybody without an end, and holds no
/// state but the log level. Whoever may talk to it is the operator.
control_actor spawn_control(caf::actor_system& system, control_args args);

} // namespace bureau::control
