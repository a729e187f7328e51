#include "actors/jobs/routing_core.hpp"

#include <string_view>

namespace bureau::jobs {

std::optional<contracts::notify_delivery_result>
refuse_route(const contracts::process_job_delivery& delivery,
             const std::vector<job_channel>& channels) {
  if (auto refused = contracts::check_job_route(delivery))
    return refused;
  std::string_view id = delivery.conversation_id;
  auto scheme = id.substr(0, id.find(':'));
  const job_channel* owner = nullptr;
  for (const auto& channel : channels) {
    if (channel.scheme != scheme)
      continue;
    if (owner != nullptr)
      return contracts::no_job_channel();
    owner = &channel;
  }
  if (owner == nullptr)
    return contracts::no_job_channel();
  if (!owner->running)
    return contracts::job_channel_not_running();
  if (!owner->takes_jobs)
    return contracts::no_job_channel();
  return std::nullopt;
}

} // namespace bureau::jobs
