#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bureau::console {

/// What a port tells; called on the port's own thread.
struct console_events {
  /// A line without its line break; `cut`: it was longer than a message may be.
  std::function<void(std::string bytes, bool cut)> line;
  std::function<void()> end_of_input;
  /// ^C on a terminal.
  std::function<void()> interrupt;
  /// A write with a token above 0 is done, or the stream is closed.
  std::function<void(uint64_t token, bool fine)> written;
  /// Nothing more comes: the last event.
  std::function<void()> ended;
};

/// The streams of the console as a port. All members may be called from any
/// thread and return at once.
class console_port {
public:
  virtual ~console_port() = default;

  /// Begins; lines come only as far as `allow` lets them: while what they
  /// count, their bytes and limits::console_line_cost each, is below it.
  /// @returns one sentence when the streams cannot be used
  virtual std::optional<std::string> start(console_events events) = 0;

  /// Writes whole lines, in the order of the calls.
  virtual void write(uint64_t token, std::string out, std::string err) = 0;

  /// Lets lines of so many more bytes come.
  virtual void allow(size_t bytes) = 0;

  /// Shows another prompt; nothing in a pipe.
  virtual void prompt(std::string text) = 0;

  /// The end is near: a write that nobody takes for a while is given up, and
  /// all later ones with it.
  virtual void hurry() = 0;

  /// Stops reading for good, writes what was handed over, then ends.
  virtual void stop() = 0;
};

} // namespace bureau::console
