#pragma once

#include "actors/io/owned_fd.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bureau::io {

/// One connection to the control socket of a running node, for the command
/// line: it blocks, within the time it is given.
class control_client {
public:
  /// Connects; empty when no node listens there.
  explicit control_client(const std::string& state_dir);

  explicit operator bool() const { return static_cast<bool>(fd_); }

  /// Sends a line and waits for the next one. Nothing when the time is over or
  /// the node has closed; further calls then answer nothing as well.
  std::optional<std::string> call(std::string_view line,
                                  std::chrono::milliseconds patience);

  /// Waits until the node closes the connection. @return whether it did
  bool wait_for_end(std::chrono::milliseconds patience);

private:
  owned_fd fd_;
};

} // namespace bureau::io
