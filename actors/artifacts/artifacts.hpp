#pragma once

#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>
#include <string>

namespace bureau::artifacts {

/// What the artifacts actor is made of.
struct artifacts_args {
  /// Host-only; the artifacts are below it.
  std::string state_dir;
  files_actor files;
  std::shared_ptr<const wall_clock> wall;
  std::shared_ptr<entropy> chance;
};

/// Spawns the one owner of the files that answers carry, child of the node. It
/// keeps them for limits::artifact_lifetime of wall time. The index is read
/// when it is first needed; while it cannot be read nothing is published, and
/// the next request tries again.
artifacts_actor spawn_artifacts(caf::actor_system& system, artifacts_args args);

} // namespace bureau::artifacts
