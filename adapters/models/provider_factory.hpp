#pragma once

#include "adapters/models/request_core.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/http.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/limits.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <chrono>
#include <memory>

namespace bureau::models {

/// Options of all providers of one process.
struct provider_options {
  /// Longest wait for the first byte of an answer and between two pieces of it
  /// (HTTP_IDLE_TIMEOUT); 0 = no limit.
  std::chrono::milliseconds idle_timeout = limits::http_idle_timeout;
  cache_retention retention = cache_retention::brief;
};

/// The factory of all model calls: looks at `api` of the chosen model and
/// starts a call of that kind. Known are `openai-completions`,
/// `anthropic-messages` and `offline`; any other api, a missing credential and
/// a missing address are the terminal event of the stream, without any I/O.
/// @param metrics may be empty
model_factory make_model_factory(http_client_actor client,
                                 provider_options options,
                                 std::shared_ptr<wall_clock> clock,
                                 std::shared_ptr<entropy> chance,
                                 metrics_actor metrics);

} // namespace bureau::models
