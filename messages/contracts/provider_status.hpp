#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What the router of models does between the calls of a run.
namespace bureau::contracts {

enum class provider_status_kind : uint8_t {
  request_started,
  request_completed,
  failover_started,
  failover_completed,
  retry_started,
};

struct provider_status {
  provider_status_kind kind = provider_status_kind::request_started;
  std::optional<std::string> model;
  std::optional<std::string> from;
  std::optional<std::string> to;
  /// 1 = the first retry.
  std::optional<int64_t> retry_index;
  std::string reason;
};

/// The activity line of a retry or of another model; empty for the other kinds.
/// Names and reason are the router's own and shown as they are.
std::string format_provider_status_line(const provider_status& status);

} // namespace bureau::contracts
