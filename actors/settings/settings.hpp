#pragma once

#include "config/boot_config.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/node.hpp"
#include "messages/interfaces/settings.hpp"
#include "messages/ports/wall_clock.hpp"

#include <caf/typed_actor.hpp>

#include <memory>

namespace bureau::settings {

/// What the settings actor is made of.
struct settings_args {
  files_actor files;
  std::shared_ptr<const config::boot_config> boot;
  /// The files as the boot read them.
  config::config_snapshot initial;
  /// Decides whether a stored sign-in has expired.
  std::shared_ptr<const wall_clock> wall;
  /// Is told about parts that do not work as configured; may be empty.
  node_actor node;
};

/// Spawns the one reader of settings.json, models.json and auth.json at run
/// time, and the one writer of settings.json. When a run asks, each file is
/// looked at, at most once in limits::config_look_interval, and read when it
/// changed. A global file that turns bad keeps its last good content, with one
/// warning and a degraded node; a bad file of a conversation fails the runs of
/// that conversation only.
settings_actor spawn_settings(caf::actor_system& system, settings_args args);

} // namespace bureau::settings
