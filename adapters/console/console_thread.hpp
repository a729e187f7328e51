#pragma once

#include "adapters/console/console_port.hpp"
#include "messages/limits.hpp"

#include <chrono>
#include <memory>

namespace bureau::console {

/// Descriptors of a console; they stay the caller's.
struct console_streams {
  bool interactive = false;
  int input_fd = 0;
  int output_fd = 1;
  int error_fd = 2;
  /// How long a write may find no reader once the end is near.
  std::chrono::milliseconds patience = limits::abort_settle_timeout;
};

/// The real port: one thread that polls the input and a wake-up descriptor and
/// does all writing, so that no actor ever waits for a terminal or a pipe. It
/// ends by stop(), at the latest two seconds after it when nobody reads the
/// output. SIGPIPE must be ignored in the process or blocked; the thread itself
/// blocks all signals.
std::shared_ptr<console_port> make_console_thread(console_streams streams);

} // namespace bureau::console
