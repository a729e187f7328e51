#pragma once

#include "messages/interfaces/node.hpp"

#include <caf/typed_actor.hpp>

#include <condition_variable>
#include <mutex>
#include <string>

namespace bureau::web {

/// Workers that wait for the portal, so that a server that stops can send them
/// away.
class waiting_line {
public:
  /// Every wait ends now, and every later one at once.
  void dissolve();

private:
  friend web_reply ask_portal(caf::actor_system&, const portal_actor&, web_call,
                              waiting_line&);
  struct slot;

  std::mutex mutex_;
  std::condition_variable news_;
  bool dissolved_ = false;
};

/// Carries one request from a server worker to the portal actor and back. The
/// one place where a thread of ours waits for an actor: a worker may block.
/// @param line outlives every call that waits in it
web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call, waiting_line& line);

/// A JSON answer in the house form: {"error": text}.
web_reply error_reply(uint32_t status, const std::string& text);

} // namespace bureau::web
