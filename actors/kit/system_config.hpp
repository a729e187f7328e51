#pragma once

#include <caf/actor_system_config.hpp>

namespace bureau::kit {

/// The one configuration of an actor system of ours: all message types, the
/// error texts, quiet CAF logs, and no file read from the working directory.
class system_config : public caf::actor_system_config {
public:
  /// @param workers scheduler threads, at least 2
  explicit system_config(size_t workers);
};

} // namespace bureau::kit
