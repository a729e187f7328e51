#include "web/http/bridge.hpp"

#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <functional>
#include <memory>
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

/// Carries one call; ends with its answer.
using courier_actor
  = caf::typed_actor<caf::reacts_to<atom::h_call, web_call>>;

/// (h_call, web_call)  => carry
class courier_state {
public:
  using pointer = courier_actor::stateful_pointer<courier_state>;
  using sink = std::function<void(web_reply)>;

  static inline const char* name = "web_courier";

  explicit courier_state(pointer self) : self_(self) {}

  ~courier_state() { answer(error_reply(503, "Service unavailable")); }

  void init(portal_actor portal, sink answered) {
    portal_ = std::move(portal);
    answered_ = std::move(answered);
  }

  courier_actor::behavior_type make_behavior() {
    return {[this](atom::h_call, web_call& call) { carry(std::move(call)); }};
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
    if (auto answered = std::exchange(answered_, {}))
      answered(std::move(reply));
  }

  pointer self_;
  portal_actor portal_;
  sink answered_;
};

} // namespace

/// Where an answer is put down. The courier may outlive the wait, and the line
/// with it.
struct waiting_line::slot {
  std::mutex mutex;
  waiting_line* line = nullptr;
  std::optional<web_reply> reply;

  void put(web_reply given) {
    std::lock_guard own{mutex};
    if (line == nullptr)
      return;
    std::lock_guard shared{line->mutex_};
    reply = std::move(given);
    line->news_.notify_all();
  }

  void leave() {
    std::lock_guard own{mutex};
    line = nullptr;
  }
};

void waiting_line::dissolve() {
  std::lock_guard lock{mutex_};
  dissolved_ = true;
  news_.notify_all();
}

web_reply ask_portal(caf::actor_system& system, const portal_actor& portal,
                     web_call call, waiting_line& line) {
  auto place = std::make_shared<waiting_line::slot>();
  place->line = &line;
  auto courier = kit::spawn_stateful<courier_actor, courier_state>(
    system, portal, courier_state::sink{[place](web_reply reply) {
      place->put(std::move(reply));
    }});
  caf::anon_send(courier, atom::h_call_v, std::move(call));
  std::optional<web_reply> answer;
  {
    std::unique_lock lock{line.mutex_};
    line.news_.wait(lock,
                    [&] { return place->reply.has_value() || line.dissolved_; });
    answer = std::move(place->reply);
  }
  place->leave();
  if (answer)
    return std::move(*answer);
  caf::anon_send_exit(courier, caf::exit_reason::user_shutdown);
  return error_reply(503, "Service unavailable");
}

} // namespace bureau::web
