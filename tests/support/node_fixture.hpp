#pragma once

#include "actors/kit/system_config.hpp"
#include "tests/support/test_ports.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <memory>

namespace bureau::test {

/// An actor system on CAF's deterministic scheduler: nothing runs unless the
/// test says so, and time is virtual. Never spawn a detached actor here; inject
/// the inline twin of the service instead.
class node_fixture {
public:
  node_fixture();
  ~node_fixture();

  /// Delivers messages until none is left; fires no timeout.
  void settle();

  /// Moves virtual time on, stopping at every timeout on the way so that what
  /// it causes is settled before later ones fire.
  void advance(std::chrono::milliseconds span);

  /// Sends a request from outside and settles; `on_value` or `on_error` runs.
  template <class Handle, class OnValue, class OnError, class... Args>
  void ask(const Handle& receiver, OnValue on_value, OnError on_error,
           Args&&... args) {
    auto pending =
      self->request(receiver, caf::infinite, std::forward<Args>(args)...);
    settle();
    pending.receive(std::move(on_value), std::move(on_error));
  }

  kit::system_config config;
  std::unique_ptr<caf::actor_system> system;
  /// The test itself as an actor; hidden, so it does not hold the system up.
  std::unique_ptr<caf::scoped_actor> self_holder;
  caf::scoped_actor& self;
  caf::scheduler::test_coordinator& scheduler;
  std::shared_ptr<test_wall_clock> wall;
  std::shared_ptr<seeded_entropy> chance;

private:
  caf::actor_clock::time_point began_;
};

} // namespace bureau::test
