#include "web/http/bridge.hpp"

#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace bureau::web {

web_reply error_reply(uint32_t status, const std::string& text) {
  web_reply reply;
  reply.status = status;
  reply.headers = {{"Content-Type", "application/json", false},
                   {"Cache-Control", "no-store", false}};
  reply.body = json::print({{"error", text}});
  return reply;
}

namespace {

/// How often a worker that waits looks whether it is to give up.
constexpr auto look_interval = std::chrono::milliseconds{50};

/// Carries one call; ends with its answer.
using courier_actor = caf::typed_actor<caf::reacts_to<atom::h_call, web_call>>;

/// (h_call, web_call)  => carry
class courier_state {
public:
  using pointer = courier_actor::stateful_pointer<courier_state>;

  static inline const char* name = "web_courier";

  explicit courier_state(pointer self) : self_(self) {}

  ~courier_state() { answer(error_reply(503, "Service unavailable")); }

  void init(portal_actor portal, caf::actor worker) {
    portal_ = std::move(portal);
    worker_ = std::move(worker);
  }

  courier_actor::behavior_type make_behavior() {
    return {[this](atom::h_call, web_call& call) {
      carry(std::move(call));
    }};
  }

private:
  void carry(web_call call) {
    kit::bounded_request(self_, portal_, limits::web_call_timeout,
                         atom::h_call_v, std::move(call))
      .then(
        [this](web_reply& reply) {
          answer(std::move(reply));
          self_->quit();
        },
        [this](const caf::error& err) {
          auto code = code_of(err);
          answer(code == errc::shutting_down || code == errc::timeout
                   ? error_reply(503, "Service unavailable")
                   : error_reply(500, "Internal server error"));
          self_->quit();
        });
  }

  void answer(web_reply reply) {
    if (auto worker = std::exchange(worker_, nullptr))
      caf::anon_send(worker, atom::h_done_v, std::move(reply));
  }

  pointer self_;
  portal_actor portal_;
  caf::actor worker_;
};

} // namespace

web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call, const std::atomic<bool>& given_up) {
  caf::scoped_actor worker{system, true};
  auto courier = kit::spawn_stateful<courier_actor, courier_state>(
    system, portal, caf::actor{worker});
  caf::anon_send(courier, atom::h_call_v, std::move(call));
  std::optional<web_reply> answer;
  while (!answer)
    worker->receive(
      [&](atom::h_done, web_reply& reply) { answer = std::move(reply); },
      caf::after(look_interval) >>
        [&] {
          if (given_up)
            answer = error_reply(503, "Service unavailable");
        });
  caf::anon_send_exit(courier, caf::exit_reason::user_shutdown);
  return std::move(*answer);
}

} // namespace bureau::web
