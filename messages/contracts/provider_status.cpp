#include "messages/contracts/provider_status.hpp"

namespace bureau::contracts {

std::string format_provider_status_line(const provider_status& status) {
  auto cause =
    status.reason.empty() ? std::string{} : " (" + status.reason + ")";
  switch (status.kind) {
  case provider_status_kind::failover_started:
    return "⚠️ Failed over: " + status.from.value_or("?") + " → "
           + status.to.value_or("?") + cause;
  case provider_status_kind::retry_started:
    return "⏳ Retrying " + status.model.value_or("?") + " — attempt "
           + std::to_string(status.retry_index.value_or(1) + 1) + cause;
  case provider_status_kind::request_started:
  case provider_status_kind::request_completed:
  case provider_status_kind::failover_completed:
    break;
  }
  return {};
}

} // namespace bureau::contracts
