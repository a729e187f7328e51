#pragma once

#include <cstdint>

namespace bureau {

/// The wall clock as a port (decision A17). Actors take *intervals* from their
/// own CAF clock; only instants that are shown or stored come from here.
class wall_clock {
public:
  virtual ~wall_clock() = default;
  /// Unix time in milliseconds.
  virtual int64_t now_ms() const = 0;
  /// Offset of the process-local zone from UTC at an instant, in minutes.
  virtual int offset_minutes(int64_t unix_ms) const = 0;
};

} // namespace bureau
