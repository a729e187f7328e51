#pragma once

#include "messages/interfaces/node.hpp"

#include <caf/typed_actor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace bureau::web {

/// Where the portal server listens (decision B13).
struct server_options {
  std::string host = "127.0.0.1";
  /// 0 = any free port.
  uint16_t port = 0;
  /// Longest request body in bytes.
  uint64_t max_body = 32u << 10;
  /// Other machines may reach it. Otherwise a name that resolves to an address
  /// of theirs is refused.
  bool allow_non_loopback = false;
  /// What running requests get when it stops; as much again is waited once they
  /// have been cut off.
  std::chrono::milliseconds grace{250};
};

/// The HTTP server of the node: sockets, workers and parsing; every request
/// becomes one message to the portal. Owned by main, outside the actor system,
/// because starting and stopping it may block.
class server {
public:
  /// Listens at once. Throws std::runtime_error with one sentence when the
  /// address cannot be had.
  server(caf::actor_system& system, portal_actor portal,
         server_options options);
  ~server();

  /// The port that was bound.
  uint16_t port() const;

  /// Refuses new requests, drops connections without one, lets running ones end
  /// within the grace, then cuts them off, and joins the workers (agent
  /// contracts, rule 100). Idempotent.
  void stop();

private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

} // namespace bureau::web
