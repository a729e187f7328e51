#pragma once

#include "messages/interfaces/model.hpp"
#include "messages/limits.hpp"

#include <cstdint>

/// When and how a failed model call is repeated (note on the harness, section
/// 3.6; decision B28).
namespace bureau::harness {

struct retry_policy {
  int max_retries = limits::model_retries;
  int64_t base_delay_ms = limits::model_retry_delay.count();
  int64_t cap_ms = std::chrono::milliseconds{limits::model_retry_cap}.count();
};

/// Whether the same request may succeed when it is sent again.
bool is_retryable(model_error_class error);

/// Delay before an attempt: base · 2^(attempt−1), up to a quarter more by
/// chance, or what the provider asked for when that is longer; never above the
/// cap.
/// @param attempt counts from 1
/// @param chance 64 random bits; 0 = no addition
int64_t retry_delay_ms(const retry_policy& policy, int attempt,
                       int64_t retry_after_ms, uint64_t chance);

} // namespace bureau::harness
