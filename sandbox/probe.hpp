#pragma once

#include "sandbox/bwrap_core.hpp"
#include "sandbox/executor.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <string>

namespace bureau::sandbox {

/// What the boot learns about bubblewrap.
struct probe_report {
  bool ok = false;
  /// "0.8.0"; empty when it could not be asked.
  std::string version;
  /// When not ok: one sentence with the cause and the ways out. The boot prints
  /// it and ends with code 1; there is no silent fallback to another backend.
  std::string failure;
  /// Which limits this host cannot give, one line.
  std::string limits;
};

using probe_action = std::function<void(const probe_report&)>;

/// Tries bubblewrap once (decision S1, "Validate"): its version, its options,
/// then `true` through the full profile of a throw-away office below
/// `<state>/run/probe`, each within limits::sandbox_probe_timeout.
///
/// `action` is called exactly once, in a thread of the actor system; from main
/// hand it a std::promise and wait for its future. Metrics are not used.
void probe_bwrap(caf::actor_system& system, executor_deps deps,
                 bwrap_config config, const workspace& ws, probe_action action);

} // namespace bureau::sandbox
