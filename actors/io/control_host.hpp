#pragma once

#include "actors/io/control_loop.hpp"
#include "messages/interfaces/control.hpp"

#include <memory>
#include <string>

namespace bureau::io {

/// The control socket of a node: the loop, and the actor that carries lines
/// between it and `control`. Keep it in main; ask `host` to stop, so that what
/// was answered is also written, then destroy the loop.
struct control_service {
  service_actor host;
  std::unique_ptr<control_loop> loop;
  explicit operator bool() const { return loop != nullptr; }
};

/// Opens `<state-dir>/control.sock` and starts its thread and its actor. The
/// caller holds the instance lock.
/// @param own user whose connections are taken, beside root's
/// @param fault receives one sentence when there is no socket; the service is
///   empty then
control_service start_control(caf::actor_system& system, control_actor control,
                              const std::string& state_dir, uid_t own,
                              std::string& fault, control_bounds bounds = {});

} // namespace bureau::io
