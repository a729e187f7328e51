#include "web/portals/status_portal.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

namespace bureau::web {

namespace {

// (h_call, web_call) -> web_reply => answer
struct portal_state {
  portal_actor::stateful_pointer<portal_state> self;
  node_actor node;
  metrics_actor metrics;
  exposure reach;
  kit::promise_guard<web_reply> open;
  static inline const char* name = "status_portal";

  explicit portal_state(portal_actor::stateful_pointer<portal_state> me)
    : self(me) {}

  void init(node_actor owner, metrics_actor hub, exposure outside) {
    node = std::move(owner);
    metrics = std::move(hub);
    reach = std::move(outside);
  }

  caf::typed_response_promise<web_reply> answer(const web_call& call) {
    auto promise = self->make_response_promise<web_reply>();
    auto decision = decide(call, reach);
    if (decision.refusal != 0) {
      promise.deliver(bare_reply(decision.refusal));
      return promise;
    }
    switch (decision.route) {
    case status_route::none:
      promise.deliver(bare_reply(404));
      break;
    case status_route::health:
      promise.deliver(health_reply());
      break;
    case status_route::ready:
      answer_ready(open.keep(promise));
      break;
    case status_route::metrics:
      answer_metrics(open.keep(promise));
      break;
    }
    return promise;
  }

  void answer_ready(uint64_t id) {
    kit::bounded_request(self, node, limits::mailbox_timeout, atom::health_v)
      .then(
        [this, id](const health_report& report) {
          open.deliver(id, ready_reply(report));
        },
        [this, id](const caf::error& err) {
          health_report report;
          report.degraded.push_back({"node", sentence_of(err)});
          open.deliver(id, ready_reply(report));
        });
  }

  void answer_metrics(uint64_t id) {
    kit::bounded_request(self, metrics, limits::mailbox_timeout, atom::scrape_v)
      .then(
        [this, id](std::string& text) {
          open.deliver(id, metrics_reply(std::move(text)));
        },
        [this, id](const caf::error&) { open.deliver(id, bare_reply(503)); });
  }

  portal_actor::behavior_type make_behavior() {
    return {[this](atom::h_call, const web_call& call) {
      return answer(call);
    }};
  }
};

} // namespace

portal_actor spawn_status_portal(caf::actor_system& system, node_actor node,
                                 metrics_actor metrics, exposure reach) {
  return kit::spawn_stateful<portal_actor, portal_state>(
    system, std::move(node), std::move(metrics), std::move(reach));
}

} // namespace bureau::web
