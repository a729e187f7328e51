#pragma once

#include "actors/io/owned_fd.hpp"

#include <string>

#include <sys/types.h>

namespace bureau::io {

/// Name of the control socket in the state directory.
inline constexpr const char* control_socket_name = "control.sock";

/// The listening end of `<state-dir>/control.sock` (decision S6). Whoever opens
/// it holds the instance lock: a socket that is there already was left behind
/// and is replaced. Anything else under that name is left alone and refused.
///
/// The path of a socket holds 107 bytes; a state directory may be deeper, so
/// the socket is bound below a descriptor of the directory.
class control_socket {
public:
  control_socket() = default;
  control_socket(control_socket&&) = default;
  control_socket& operator=(control_socket&&) = default;

  /// @param fault receives one sentence when there is no socket
  static control_socket open(const std::string& state_dir, std::string& fault);

  explicit operator bool() const { return static_cast<bool>(listener_); }
  int fd() const { return listener_.get(); }

  /// Stops listening and removes the name, if it is still this socket's.
  void remove();

private:
  owned_fd directory_;
  owned_fd listener_;
  ino_t inode_ = 0;
};

/// A connection to the node of a state directory, for programs beside it. Not
/// blocking; empty when nobody listens, errno says why.
owned_fd connect_control(const std::string& state_dir);

} // namespace bureau::io
