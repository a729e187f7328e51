#pragma once

#include <cstddef>
#include <cstdlib>

namespace bureau::test {

/// Whether `./dev test --long` runs: campaigns then leave nothing out.
inline bool is_long_run() {
  return std::getenv("BUREAU_LONG") != nullptr;
}

/// The stride of a sweep: 1 in a long run, else `cut`.
inline size_t stride(size_t cut) {
  return is_long_run() ? 1 : cut;
}

} // namespace bureau::test
