#pragma once

#include "actors/kit/system_config.hpp"
#include "messages/errc.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace bureau::test {

/// How long any single event of these tests may take; nothing waits for it
/// unless something is broken.
inline constexpr auto patience = std::chrono::seconds{60};

/// Blocks SIGCHLD before any thread exists, as main does in the node.
struct blocked_signals {
  blocked_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }
};

/// A real actor system with two workers, for what virtual time cannot test:
/// loops, sockets, processes, threads of the disk.
struct real_system {
  real_system() : config(2), system(config), self(system) {}

  /// A request that is waited for.
  template <class Result, class Handle, class... Args>
  caf::expected<Result> result_of(const Handle& receiver, Args&&... args) {
    caf::expected<Result> result{caf::error{}};
    self->request(receiver, patience, std::forward<Args>(args)...)
      .receive([&](Result& value) { result = std::move(value); },
               [&](caf::error& reason) { result = std::move(reason); });
    return result;
  }

  /// The next message of one type that reached this test as an actor.
  template <class Atom, class Payload>
  Payload next() {
    std::optional<Payload> result;
    self->receive([&](Atom, Payload& value) { result = std::move(value); },
                  caf::after(patience) >> [] { FAIL("no event came"); });
    return std::move(*result);
  }

  /// The next message of one type if it waits already.
  template <class Atom, class Payload>
  std::optional<Payload> poll() {
    std::optional<Payload> result;
    self->receive([&](Atom, Payload& value) { result = std::move(value); },
                  caf::after(std::chrono::milliseconds{0}) >> [] {});
    return result;
  }

  /// This test as the receiver of a stream: its mailbox takes any message.
  template <class Handle>
  Handle as_sink() {
    return caf::actor_cast<Handle>(self->address());
  }

  blocked_signals signals;
  kit::system_config config;
  caf::actor_system system;
  caf::scoped_actor self;
};

} // namespace bureau::test
