#pragma once

#include "messages/contracts/channel.hpp"

#include <optional>
#include <string>
#include <vector>

/// Which channel may hear of a job (agent contracts, rule 74).
namespace bureau::jobs {

/// A channel as far as jobs are concerned.
struct job_channel {
  /// Scheme of its conversations.
  std::string scheme;
  bool running = false;
  /// It declared that it takes news of jobs.
  bool takes_jobs = true;
};

/// Why news of a job may not go to its conversation, in the order of the
/// checks: origin, owner of the scheme, running, capability. Nothing: it may.
std::optional<contracts::notify_delivery_result>
refuse_route(const contracts::process_job_delivery& delivery,
             const std::vector<job_channel>& channels);

} // namespace bureau::jobs
