#pragma once

#include "messages/interfaces/metrics.hpp"

#include <caf/fwd.hpp>

#include <memory>
#include <vector>

namespace bureau::test {

/// A metrics actor that remembers every sample, whatever its verb.
metrics_actor spawn_metric_recorder(
  caf::actor_system& system, std::shared_ptr<std::vector<metric_sample>> seen);

} // namespace bureau::test
