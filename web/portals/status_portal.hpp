#pragma once

#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/node.hpp"
#include "web/portals/status_core.hpp"

namespace bureau::web {

/// The portal behind GET /health, /ready and /metrics (decision B13).
/// @param node answers readiness
/// @param metrics answers the exposition
portal_actor spawn_status_portal(caf::actor_system& system, node_actor node,
                                 metrics_actor metrics, exposure reach);

} // namespace bureau::web
