#include "web/http/bridge.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

namespace bureau::web {

web_reply error_reply(uint32_t status, const std::string& text) {
  web_reply reply;
  reply.status = status;
  reply.headers = {{"Content-Type", "application/json", false},
                   {"Cache-Control", "no-store", false}};
  reply.body = json::print({{"error", text}});
  return reply;
}

web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call) {
  caf::scoped_actor worker{system, true};
  web_reply answer;
  worker
    ->request(portal, limits::web_call_timeout, atom::h_call_v, std::move(call))
    .receive([&](web_reply& reply) { answer = std::move(reply); },
             [&](const caf::error& err) {
               answer = code_of(err) == errc::shutting_down
                            || code_of(err) == errc::timeout
                          ? error_reply(503, "Service unavailable")
                          : error_reply(500, "Internal server error");
             });
  return answer;
}

} // namespace bureau::web
