#include "config/os/system_entropy.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace bureau::os {

uint64_t system_entropy::next() {
  uint64_t bits = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&bits, sizeof bits, 0);
  } while (got < 0 && errno == EINTR);
  // Without the kernel's generator no id or token is safe: end at once.
  if (got != static_cast<ssize_t>(sizeof bits))
    std::abort();
  return bits;
}

} // namespace bureau::os
