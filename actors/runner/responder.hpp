#pragma once

#include "messages/interfaces/factories.hpp"

namespace bureau::runner {

/// Spawns the RESPONDER actor of one run (decision A4): shows what the run does
/// through the transport and records its answer with the turn owner. It ends by
/// itself after finish or dismiss.
responder_actor spawn_responder(caf::actor_system& system, responder_args args);

/// The same as a value for the runner.
responder_factory make_responder_factory();

} // namespace bureau::runner
