#pragma once

#include "messages/interfaces/node.hpp"

#include <caf/typed_actor.hpp>

namespace bureau::web {

/// Carries one request from a server worker to the portal actor and back. The
/// one place where a thread of ours waits for an actor: a worker may block.
web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call);

/// A JSON answer in the house form: {"error": text}.
web_reply error_reply(uint32_t status, const std::string& text);

} // namespace bureau::web
