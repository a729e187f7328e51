#pragma once

#include "messages/ports/wall_clock.hpp"

namespace bureau::os {

/// The machine's wall clock and the process-local time zone (TZ).
class system_clock final : public wall_clock {
public:
  int64_t now_ms() const override;
  int offset_minutes(int64_t unix_ms) const override;
};

} // namespace bureau::os
