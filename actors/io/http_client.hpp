#pragma once

#include "actors/io/http_loop.hpp"
#include "messages/interfaces/http.hpp"
#include "messages/interfaces/metrics.hpp"

#include <memory>

namespace bureau::io {

/// The outbound HTTP of the node: the actor that everybody talks to and the
/// loop behind it. Keep it in main and destroy it before the actor system:
/// ask `client` to stop, then join() the loop.
struct http_service {
  http_client_actor client;
  std::unique_ptr<http_loop> loop;
};

/// Starts the thread `http-loop` and its actor (decision S2).
///
/// Bounds: limits::http_active transfers at once and limits::http_waiting
/// waiting in order, then queue_full; limits::stream_window_bytes
/// unacknowledged for each stream. A sink or a fetching actor that ends cancels
/// its transfers.
///
/// Throws std::system_error or std::runtime_error when the loop cannot start.
/// @param metrics gets the gauge http_active; may be an empty handle
http_service start_http(caf::actor_system& system, http_options options,
                        metrics_actor metrics);

} // namespace bureau::io
