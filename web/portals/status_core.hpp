#pragma once

#include "messages/interfaces/node.hpp"

#include <string>

namespace bureau::web {

/// How the server is reached from outside (decision B13).
struct exposure {
  /// Host of LINK_URL, lower case; empty = local use only.
  std::string public_host;
  /// Bearer for /metrics and /ready when there is a public host.
  std::string metrics_token;
};

/// The routes of this portal.
enum class status_route : uint8_t { none, health, ready, metrics };

/// Outcome of the checks before a route is carried out.
struct route_decision {
  status_route route = status_route::none;
  /// 0 = carry it out, otherwise the status to answer.
  uint32_t refusal = 0;
};

/// Decides by method, path, Host and Authorization.
route_decision decide(const web_call& call, const exposure& reach);

web_reply health_reply();
web_reply ready_reply(const health_report& report);
web_reply metrics_reply(std::string text);
/// An answer with a status and nothing else.
web_reply bare_reply(uint32_t status);

} // namespace bureau::web
