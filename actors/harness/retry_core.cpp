#include "actors/harness/retry_core.hpp"

#include <algorithm>

namespace bureau::harness {

bool is_retryable(model_error_class error) {
  switch (error) {
  case model_error_class::rate_limit:
  case model_error_class::overloaded:
  case model_error_class::server:
  case model_error_class::network:
  case model_error_class::truncated:
  case model_error_class::protocol:
    return true;
  case model_error_class::none:
  case model_error_class::auth:
  case model_error_class::quota:
  case model_error_class::overflow:
  case model_error_class::bad_request:
  case model_error_class::not_found:
  case model_error_class::cancelled:
  case model_error_class::unknown:
    return false;
  }
  return false;
}

int64_t retry_delay_ms(const retry_policy& policy, int attempt,
                       int64_t retry_after_ms, uint64_t chance) {
  auto delay = policy.base_delay_ms;
  for (auto i = 1; i < attempt && delay < policy.cap_ms; ++i)
    delay *= 2;
  delay = std::min(delay, policy.cap_ms);
  // The top 20 bits as a fraction of one, of which a quarter is added.
  auto fraction = static_cast<int64_t>(chance >> 44u);
  delay += delay * fraction / (int64_t{4} << 20u);
  delay = std::max(delay, std::max<int64_t>(retry_after_ms, 0));
  return std::min(delay, policy.cap_ms);
}

} // namespace bureau::harness
