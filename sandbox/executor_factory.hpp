#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/ports/file_system.hpp"
#include "sandbox/bwrap_core.hpp"
#include "sandbox/executor.hpp"
#include "sandbox/host_core.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

namespace bureau::sandbox {

/// The environment of all commands of a node; a value, made once at boot.
struct sandbox_config {
  /// Setting sandbox.default: "bwrap", "host", …
  std::string backend = "bwrap";
  bwrap_config bwrap;
  host_config host;
};

/// Fills in what the host itself decides: how /bin, /lib and the like look, the
/// compiled system call filter, the user's home and shell, whether the process
/// limit counts. May block; call it at boot, before the actors.
/// @param read_only setting sandbox.bwrap.readOnly
/// @return bad_config or spawn_failed with a sentence for the operator
caf::expected<sandbox_config>
detect_sandbox(file_system& fs, const workspace& ws, std::string backend,
               std::vector<std::string> read_only = {});

/// One executor in bubblewrap (decision S1).
executor_actor bwrap_executor(caf::actor_system& system, executor_deps deps,
                              bwrap_config config, executor_args args);

/// One executor that runs commands directly on the host.
executor_actor host_executor(caf::actor_system& system, executor_deps deps,
                             host_config config, executor_args args);

/// Executors for the backend of the configuration. A backend that this version
/// does not have yields executors that refuse with the ways out.
executor_factory make_executor_factory(sandbox_config config,
                                       executor_deps deps);

} // namespace bureau::sandbox
