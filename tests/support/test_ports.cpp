#include "tests/support/test_ports.hpp"

namespace bureau::test {

test_wall_clock::test_wall_clock(std::function<int64_t()> elapsed_ms)
  : elapsed_ms_(std::move(elapsed_ms)) {
}

int64_t test_wall_clock::now_ms() const {
  return start_ms + elapsed_ms_() + step_ms_;
}

int test_wall_clock::offset_minutes(int64_t) const {
  return offset_minutes_;
}

uint64_t seeded_entropy::next() {
  auto z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

} // namespace bureau::test
