#pragma once

#include "actors/io/control_host.hpp"
#include "actors/system/boot.hpp"
#include "actors/system/composition.hpp"

namespace bureau::system {

/// The control socket of a running node: what an operator of this machine may
/// ask. It opens when the node is ready and is the last of the listeners to
/// close, so that a shutdown can be watched. Used by the main thread.
class control_side {
public:
  /// Opens the socket. Without one the node runs, degraded.
  void open(caf::actor_system& system, const boot_result& boot,
            const runtime& parts, const node_control_actor& node);

  /// Closes it once what was answered is written; waits for that.
  void close(caf::actor_system& system);

private:
  office_inspector_actor inspector_;
  control_actor control_;
  io::control_service service_;
};

} // namespace bureau::system
