#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>

namespace bureau::harness {

/// What every harness of a node shares.
struct harness_services {
  /// Starts model calls.
  model_factory models;
  /// Stamps messages.
  std::shared_ptr<wall_clock> clock;
  /// Jitter of retries.
  std::shared_ptr<entropy> chance;
  /// Gets the tool metrics; may be empty.
  metrics_actor metrics;
  /// Keeps what a run knew at its end for what it left running; may be empty.
  continuation_keeper_actor continuations{};
};

/// The harness of one session: owner of the transcript and of the turn loop
/// (note on the harness, sections 3.1 to 3.9). It opens the store anew for
/// every prompt, so that history that came in between is part of the run.
///
/// Failure behaviour: a model call, tool, or store that ends, or that does not
/// answer an abort within limits::abort_peer_grace, becomes an error result or
/// the end of the run, never a run that hangs. It ends itself when its listener
/// ends, and after `dispose`.
harness_actor harness(caf::actor_system& system,
                      const harness_services& services,
                      const harness_args& args);

/// The factory that runners are given.
harness_factory make_harness_factory(harness_services services);

} // namespace bureau::harness
