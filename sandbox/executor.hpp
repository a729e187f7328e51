#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/process.hpp"
#include "messages/ports/entropy.hpp"
#include "sandbox/profile.hpp"

#include <caf/fwd.hpp>
#include <caf/typed_actor.hpp>

#include <memory>

namespace bureau::sandbox {

/// What every executor works through.
struct executor_deps {
  process_host_actor processes;
  files_actor files;
  /// May be empty.
  metrics_actor metrics;
  std::shared_ptr<entropy> chance;
};

/// Spawns the executor of one office over a backend.
///
/// It prepares the office's directories before the first command, runs any
/// number of commands at once, kills what times out or is aborted, and answers
/// a killed command within limits::kill_confirm_timeout. File requests are
/// carried out by the file pool where that means the same as inside, and by a
/// program inside everywhere else (decisions S1, B15, B29). Writes to one path
/// happen one after the other. An abort that overtakes its command still stops
/// it. `stop` aborts everything, answers, and ends the actor; an executor that
/// ends otherwise kills its commands too.
executor_actor spawn_executor(caf::actor_system& system, executor_deps deps,
                              std::shared_ptr<const profile> backend);

} // namespace bureau::sandbox
