#pragma once

#include "messages/interfaces/common.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bureau::io {

/// What the file pool counts for one reason.
struct reason_counts {
  uint64_t waiting = 0;
  uint64_t busy = 0;
  uint64_t done = 0;
};

/// Counters of the file pool by reason, with a bound on the reasons.
class reason_table {
public:
  /// The name under which a reason is counted; those beyond the bound share
  /// "other".
  std::string name_of(const std::string& reason) const;

  reason_counts& operator[](const std::string& reason);

  /// `session 2 busy 1 waiting 17 done, …`
  std::string text() const;

  uint64_t waiting() const;
  uint64_t busy() const;

private:
  static constexpr size_t most_reasons = 32;
  std::map<std::string, reason_counts> counts_;
};

} // namespace bureau::io
