#include "actors/system/shutdown_core.hpp"

#include "messages/limits.hpp"

namespace bureau::system {

bool turns_are_over(const shutdown_view& view) {
  if (view.running == 0)
    return true;
  auto reserve = limits::shutdown_abort_reserve;
  auto limit = view.deadline > reserve ? view.deadline - reserve
                                       : std::chrono::milliseconds{0};
  return view.elapsed >= limit;
}

bool deliveries_are_over(const shutdown_view& view) {
  return view.open_entries == 0 || view.elapsed >= view.deadline;
}

} // namespace bureau::system
