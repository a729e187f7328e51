#pragma once

#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>

namespace bureau::test {

/// 2026-01-01T00:00:00Z, where every story begins unless it says otherwise.
inline constexpr int64_t start_ms = 1'767'225'600'000;

/// A wall clock that moves with the test clock, plus steps of its own.
class test_wall_clock final : public wall_clock {
public:
  /// @param elapsed_ms milliseconds of virtual time since the start
  explicit test_wall_clock(std::function<int64_t()> elapsed_ms = [] {
    return int64_t{0};
  });
  int64_t now_ms() const override;
  int offset_minutes(int64_t unix_ms) const override;
  /// Moves the wall clock alone, as an administrator or NTP would.
  void step(int64_t ms) { step_ms_ += ms; }
  void set_offset_minutes(int minutes) { offset_minutes_ = minutes; }

private:
  std::function<int64_t()> elapsed_ms_;
  std::atomic<int64_t> step_ms_ = 0;
  std::atomic<int> offset_minutes_ = 0;
};

/// A reproducible stream of bits (splitmix64).
class seeded_entropy final : public entropy {
public:
  explicit seeded_entropy(uint64_t seed = 1) : state_(seed) {}
  uint64_t next() override;

private:
  std::atomic<uint64_t> state_;
};

} // namespace bureau::test
