#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/interaction.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>
#include <string>

namespace bureau::jobs {

/// What the jobs of a process stand on.
struct jobs_deps {
  workspace ws;
  files_actor files;
  settings_actor settings;
  /// A job has an environment of its own: it outlives its run.
  executor_factory executors;
  std::shared_ptr<const wall_clock> wall;
  std::shared_ptr<entropy> chance;
  /// IANA name for TZ inside; empty = UTC.
  std::string time_zone;
  /// The owner's bearer token; empty: nobody is the operator.
  secret_text operator_token;
  /// Platforms whose conversations may have jobs: the others have not declared
  /// that they take news of them.
  std::vector<platform_id> channels;
  /// Shows how jobs stand, where it can; may be empty.
  interaction_actor interaction{};
  /// May be empty: nothing is counted.
  metrics_actor metrics{};
};

/// One actor, seen from two sides.
struct jobs_handles {
  jobs_actor jobs;
  job_operator_actor operators;
};

/// Spawns the JOBS actor: it admits commands, runs each in an environment of
/// its own, keeps state and output in `<state-dir>/jobs`, tells people about
/// the life of a job and wakes its conversation at the end, once. Child of the
/// node. Nothing happens before it is told where the offices are.
jobs_handles spawn_jobs(caf::actor_system& system, jobs_deps deps);

} // namespace bureau::jobs
