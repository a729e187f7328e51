#pragma once

#include "actors/system/channel_core.hpp"
#include "actors/system/main_events.hpp"
#include "messages/interfaces/control.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/office.hpp"

#include <caf/actor.hpp>
#include <caf/typed_actor.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bureau::system {

/// A service without which the node cannot keep its promises: its death ends
/// the process in good order, and the service manager starts it again.
struct critical_service {
  std::string label;
  status_actor handle;
};

/// An actor without a status of its own whose death counts like that of a
/// critical service.
struct watched_actor {
  std::string label;
  caf::actor handle;
};

/// Whatever brings new turns besides the adapters: at a shutdown it is told to
/// bring no more.
struct turn_source {
  std::string label;
  caf::typed_actor<caf::replies_to<atom::drain>::with<caf::ok_atom>> handle;
};

/// A service that is asked to stop after everything above it has ended.
struct closing_service {
  std::string label;
  service_actor handle;
};

/// How a channel reaches its host: what it tells carries the number of its
/// start.
struct channel_link {
  channel_host_actor host;
  uint64_t generation = 0;
};

/// An adapter to start, and to restart a bounded number of times. An adapter
/// attaches its outbox to the offices when it is started.
struct adapter_plan {
  platform_id platform = platform_id::console;
  std::function<adapter_service_actor(caf::actor_system&, const node_actor&,
                                      const channel_link&)>
    spawn;
};

/// Everything the node looks after.
struct node_plan {
  std::vector<critical_service> critical;
  std::vector<watched_actor> watched;
  offices_actor offices;
  std::vector<adapter_plan> adapters;
  std::vector<turn_source> sources;
  /// What the configuration says of channels; one with an adapter and without
  /// an entry here is wanted.
  std::vector<channel_plan> channels;
  /// Told when a channel has failed for good; empty: nobody is.
  std::function<void(platform_id)> channel_gone;
  /// In the order in which they stop.
  std::vector<closing_service> closing;
  metrics_actor metrics;
  /// Shutdown deadline (setting shutdown.timeoutMs).
  std::chrono::milliseconds deadline{30'000};
  /// News for the main thread: ready, stopping, finished.
  std::function<void(main_event)> tell_main;
  /// Set before `finished` is told: 0, or 1 when something was cut short.
  std::function<void(int)> set_exit_code;
};

/// Spawns the children of a node that is being born and lists them.
using node_builder = std::function<node_plan(const node_control_actor&)>;

/// Spawns the node: it builds its children, starts the adapters, answers
/// readiness and reports, keeps the list of degraded parts, and walks the
/// shutdown of decision A14.
node_control_actor spawn_node(caf::actor_system& system, node_builder build);

} // namespace bureau::system
