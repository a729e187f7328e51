#pragma once

#include "messages/ports/time_zones.hpp"

namespace bureau::os {

/// The zones of the system's database in /usr/share/zoneinfo. Its list is read
/// when a zone is first asked for. After 2037, where the files end, a zone
/// keeps the offset it has then.
class system_time_zones final : public time_zones {
public:
  std::shared_ptr<const zone_rules> find(std::string_view name) const override;
};

} // namespace bureau::os
