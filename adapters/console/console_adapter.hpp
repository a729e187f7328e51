#pragma once

#include "adapters/console/console_io.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/node.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/ports/wall_clock.hpp"

#include <caf/typed_actor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace bureau::console {

/// What the console needs to know and whom it talks to.
struct console_options {
  io_options io;
  workspace ws;
  /// First conversation; see is_conversation_name.
  std::string first_conversation = "local";
  /// Login name: user id and name of every message.
  std::string user = "user";
  /// Shown before the first prompt of a terminal.
  std::string banner;
};

struct console_services {
  offices_actor offices;
  node_actor node;
  files_actor files;
  metrics_actor metrics;
  std::shared_ptr<const wall_clock> wall;
};

/// The console as others see it.
struct console_parts {
  adapter_service_actor service;
  transport_actor transport;
  /// ^C: ends the running turn, or the node when there is none. May be called
  /// from any thread.
  std::function<void()> interrupt;
  /// Keeps the console thread; destroy it on the main thread, after the system.
  std::shared_ptr<console_io> io;
};

/// Spawns the console: adapter and outbox of platform `console` (decision A10).
/// In a terminal it is a chat with line editing; otherwise every line of the
/// input is a message, and the end of the input ends the node once everything
/// accepted has been answered.
console_parts spawn_console(caf::actor_system& system,
                            console_services services, console_options options);

} // namespace bureau::console
