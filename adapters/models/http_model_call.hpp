#pragma once

#include "adapters/models/call_report.hpp"
#include "adapters/models/request_core.hpp"
#include "adapters/models/stream_core.hpp"
#include "messages/interfaces/http.hpp"
#include "messages/interfaces/model.hpp"
#include "messages/ports/wall_clock.hpp"

#include <chrono>
#include <memory>

namespace bureau::models {

/// What one call over HTTP needs.
struct http_call_args {
  http_client_actor client;
  model_sink_actor sink;
  wire_request wire;
  std::shared_ptr<model_stream> stream;
  std::shared_ptr<wall_clock> clock;
  call_report report;
  /// Longest wait for the first byte and between two pieces; 0 = no limit.
  std::chrono::milliseconds idle_timeout;
};

/// Starts a call: one transfer through the HTTP client, its bytes decoded and
/// told to the sink, one terminal event, then the end of the actor. It ends,
/// and its transfer with it, when the sink dies; `cancel` ends it as aborted.
model_call_actor spawn_http_model_call(caf::actor_system& system,
                                       http_call_args args);

/// A call that cannot even begin: its whole stream is the failure.
model_call_actor spawn_refused_call(caf::actor_system& system,
                                    model_sink_actor sink, stream_end end,
                                    call_report report);

} // namespace bureau::models
