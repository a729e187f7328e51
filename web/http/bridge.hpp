#pragma once

#include "messages/interfaces/node.hpp"

#include <caf/typed_actor.hpp>

#include <atomic>
#include <string>

namespace bureau::web {

/// Carries one request from a server worker to the portal actor and back. The
/// one place where a thread of ours waits for an actor: a worker may block.
/// @param given_up set when a server that stops cannot wait any longer
web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call, const std::atomic<bool>& given_up);

/// A JSON answer in the house form: {"error": text}.
web_reply error_reply(uint32_t status, const std::string& text);

} // namespace bureau::web
