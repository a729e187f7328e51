#pragma once

#include <cstdint>
#include <optional>

namespace bureau::system {

/// What can wake the main thread.
enum class main_event : uint8_t {
  /// SIGINT (^C in a terminal).
  interrupt,
  /// SIGTERM, SIGHUP (the terminal is gone) or SIGQUIT.
  terminate,
  /// The node takes messages; listeners may open.
  ready,
  /// The node began to shut down on its own account.
  stopping,
  /// The node has ended; see exit_code.
  finished,
};

/// The mailbox of the main thread: signals through a signalfd, news of the node
/// through a pipe. post() may be called from any thread.
class main_events {
public:
  /// Blocks these signals, SIGUSR1 and SIGUSR2 in the calling thread; threads
  /// started later inherit that, so call it before any thread exists.
  main_events();
  main_events(const main_events&) = delete;
  main_events& operator=(const main_events&) = delete;
  ~main_events();

  void post(main_event event);

  /// Blocks until something happens.
  main_event wait();

private:
  int signals_ = -1;
  int pipe_read_ = -1;
  int pipe_write_ = -1;
};

} // namespace bureau::system
