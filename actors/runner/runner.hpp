#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/memory.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>
#include <string>

namespace bureau::runner {

/// What every runner of a process shares.
struct runner_deps {
  workspace ws;
  settings_actor settings;
  files_actor files;
  /// What the office remembers, for the prompt.
  memory_actor memory;
  /// What the turn of a wake is built from; may be empty.
  continuation_source_actor jobs{};
  /// May be empty: nothing is counted.
  metrics_actor metrics;
  executor_factory executors;
  tool_pack_factory tools;
  harness_factory harnesses;
  responder_factory responders;
  std::shared_ptr<const wall_clock> wall;
  /// IANA name for TZ inside the executor; empty = UTC.
  std::string time_zone;
};

/// Spawns the RUNNER actor of one session (note on the harness, 3.10): per run
/// it resolves the settings, readies executor, tools and prompt, lets the
/// harness work and carries its output to the responder. Executor, tools and
/// harness are kept between runs; the executor is renewed when the door or the
/// network of the office changed. Child of its session, which ends it by
/// dispose, or by an exit message that takes all its children along.
runner_actor spawn_runner(caf::actor_system& system, runner_deps deps,
                          runner_args args);

/// The same as a value for the session.
runner_factory make_runner_factory(runner_deps deps);

} // namespace bureau::runner
