#include "messages/contracts/provider_status.hpp"

namespace bureau::contracts {

namespace {

std::string name_of(const caf::optional<std::string>& name) {
  return name ? *name : "?";
}

} // namespace

std::string format_provider_status_line(const stream_event& event) {
  if (event.kind != stream_event_kind::provider_status)
    return {};
  std::string cause;
  if (event.reason && !event.reason->empty())
    cause = " (" + *event.reason + ")";
  switch (event.phase) {
  case provider_phase::failover_started:
    return "⚠️ Failed over: " + name_of(event.from) + " → "
           + name_of(event.to) + cause;
  case provider_phase::retry_started: {
    auto retry = event.retry_index ? *event.retry_index : 1;
    return "⏳ Retrying " + name_of(event.model) + " — attempt "
           + std::to_string(retry + 1) + cause;
  }
  case provider_phase::request_started:
  case provider_phase::request_completed:
  case provider_phase::failover_completed:
    break;
  }
  return {};
}

} // namespace bureau::contracts
