#include "web/portals/status_core.hpp"

#include "config/host_safety.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/interfaces/http.hpp"
#include "web/http/request_core.hpp"

namespace bureau::web {

namespace {

status_route route_of(const web_call& call) {
  // The server leaves the body out for HEAD.
  if (call.method != "GET" && call.method != "HEAD")
    return status_route::none;
  if (call.path == "/health")
    return status_route::health;
  if (call.path == "/ready")
    return status_route::ready;
  if (call.path == "/metrics")
    return status_route::metrics;
  return status_route::none;
}

} // namespace

route_decision decide(const web_call& call, const exposure& reach) {
  route_decision result;
  result.route = route_of(call);
  auto host = parse_host(header_value(call.headers, "Host"));
  auto local =
    host && config::is_loopback_host(host->host)
    && (host->port == call.port || (host->port == 0 && call.port == 80));
  if (reach.public_host.empty()) {
    // A page in a browser must not reach us under a name of its own (DNS
    // rebinding): only our own names count.
    if (!local)
      result.refusal = 421;
    else if (result.route == status_route::none)
      result.refusal = 404;
    return result;
  }
  auto published = host && host->host == reach.public_host;
  if (!published && !(local && result.route == status_route::health)) {
    result.refusal = 421;
    return result;
  }
  if (result.route == status_route::none) {
    result.refusal = 404;
  } else if (result.route != status_route::health) {
    if (reach.metrics_token.empty())
      result.refusal = 404;
    else if (!bearer_matches(header_value(call.headers, "Authorization"),
                             reach.metrics_token))
      result.refusal = 401;
  }
  return result;
}

web_reply health_reply() {
  web_reply reply;
  reply.headers = {{"Content-Type", "application/json", false}};
  reply.body = R"({"ok":true})";
  return reply;
}

web_reply ready_reply(const health_report& report) {
  boost::json::array degraded;
  for (const auto& part : report.degraded)
    degraded.push_back(
      {{"component", part.component}, {"reason", part.reason}});
  web_reply reply;
  reply.status = report.ready ? 200 : 503;
  reply.headers = {{"Content-Type", "application/json", false},
                   {"Cache-Control", "no-store", false}};
  reply.body = json::print({{"ready", report.ready}, {"degraded", degraded}});
  return reply;
}

web_reply metrics_reply(std::string text) {
  web_reply reply;
  reply.headers = {
    {"Content-Type", "text/plain; version=0.0.4; charset=utf-8", false},
    {"Cache-Control", "no-store", false}};
  reply.body = std::move(text);
  return reply;
}

web_reply bare_reply(uint32_t status) {
  web_reply reply;
  reply.status = status;
  return reply;
}

} // namespace bureau::web
