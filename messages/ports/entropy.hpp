#pragma once

#include <cstdint>
#include <string>

namespace bureau {

/// Chance as a port: ids, jitter and tokens all come from it, so that a seed
/// reproduces a run.
class entropy {
public:
  virtual ~entropy() = default;
  /// 64 uniformly distributed bits; cryptographic in production. Thread safe.
  virtual uint64_t next() = 0;
};

/// `digits` lower-case hexadecimal digits (1 to 16).
std::string random_hex(entropy& source, int digits);

/// A random UUID, version 4, as text.
std::string random_uuid(entropy& source);

/// A time-ordered UUID, version 7, as text: used for run ids.
std::string timed_uuid(entropy& source, int64_t unix_ms);

} // namespace bureau
