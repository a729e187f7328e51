#pragma once

#include "messages/ports/entropy.hpp"

namespace bureau::os {

/// The kernel's cryptographic generator.
class system_entropy final : public entropy {
public:
  uint64_t next() override;
};

} // namespace bureau::os
