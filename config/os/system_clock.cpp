#include "config/os/system_clock.hpp"

#include <chrono>
#include <ctime>

namespace bureau::os {

int64_t system_clock::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

int system_clock::offset_minutes(int64_t unix_ms) const {
  auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm local{};
  if (localtime_r(&seconds, &local) == nullptr)
    return 0;
  return static_cast<int>(local.tm_gmtoff / 60);
}

} // namespace bureau::os
