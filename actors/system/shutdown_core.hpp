#pragma once

#include <chrono>
#include <cstdint>

namespace bureau::system {

/// What the waiting phases of a shutdown look at.
struct shutdown_view {
  std::chrono::milliseconds elapsed{0};
  std::chrono::milliseconds deadline{30'000};
  uint64_t running = 0;
  uint64_t open_entries = 0;
};

/// Whether running turns get no more time: none is left, or only the part of
/// the deadline that is kept for aborting them.
bool turns_are_over(const shutdown_view& view);

/// Whether deliveries get no more time: nothing is open, or the deadline is
/// over.
bool deliveries_are_over(const shutdown_view& view);

} // namespace bureau::system
