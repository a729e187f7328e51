#pragma once

#include "actors/delivery/answer_split_core.hpp"
#include "actors/office/intake_core.hpp"
#include "actors/office/interfaces.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/wall_clock.hpp"

#include <functional>
#include <memory>

namespace bureau::offices {

/// What every office of a process shares.
struct office_deps {
  /// Path of the workspace and of the state directory.
  workspace place;
  journal_actor journal;
  files_actor files;
  /// May be empty: nothing is counted.
  metrics_actor metrics;
  session_factory sessions;
  session_store_factory stores;
  /// Asked and changed by the command /queue; may be empty: it says so.
  settings_actor settings;
  std::shared_ptr<const wall_clock> wall;
  intake_bounds intake;
  /// Cuts answers that are too long for a platform; empty: delivery::split_for.
  delivery::answer_splitter split;
  /// What is to be tidied up when an office goes to sleep; may be empty.
  std::function<file_job(const office&)> sleep_job;
  /// Makes the directory of an office again that somebody deleted; set by
  /// `offices`.
  registry_actor registry;
};

/// Spawns the OFFICE actor of one conversation: its intake, its ledger and chat
/// log, its sessions and the delivery of their answers (decisions A2, A3, A5,
/// A6, A13, A15). Child of `offices`, which recorded the office and made its
/// directory before. An office that cannot read its ledger ends with the error
/// and answers whoever waits with it.
/// @param transport may be empty until the adapter attaches
office_child_actor spawn_office(caf::actor_system& system, office_deps deps,
                                office place, transport_actor transport,
                                offices_parent_actor parent);

} // namespace bureau::offices
