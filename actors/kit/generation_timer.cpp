#include "actors/kit/generation_timer.hpp"

#include <caf/actor_clock.hpp>
#include <caf/scheduled_actor.hpp>

namespace bureau::kit {

using clock_point = caf::actor_clock::time_point;

struct generation_timer::shared_state {
  std::function<void()> action;
  clock_point deadline;
  /// When the scheduled wake-up comes; meaningful while `pending`.
  clock_point wake_up;
  bool armed = false;
  bool pending = false;
  /// Wake-ups of older schedules are void.
  uint64_t generation = 0;
};

generation_timer::generation_timer()
  : state_(std::make_shared<shared_state>()) {
}

generation_timer::~generation_timer() {
  cancel();
}

void generation_timer::arm(caf::scheduled_actor* self,
                           std::chrono::milliseconds delay,
                           std::function<void()> action) {
  state_->action = std::move(action);
  state_->deadline = self->clock().now() + delay;
  state_->armed = true;
  if (state_->pending && state_->wake_up <= state_->deadline)
    return;
  schedule(self, state_);
}

void generation_timer::schedule(caf::scheduled_actor* self,
                                std::shared_ptr<shared_state> state) {
  auto now = self->clock().now();
  auto delay =
    state->deadline > now ? state->deadline - now : clock_point::duration{0};
  auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(
    delay + std::chrono::microseconds{999});
  state->wake_up = now + limit;
  state->pending = true;
  auto generation = ++state->generation;
  auto request = self->new_request_id(caf::message_priority::normal);
  self->request_response_timeout(caf::duration{limit}, request);
  self->add_multiplexed_response_handler(
    request.response_id(),
    caf::behavior{[self, state, generation](caf::error&) {
      if (generation != state->generation)
        return;
      state->pending = false;
      if (!state->armed)
        return;
      if (self->clock().now() < state->deadline) {
        schedule(self, state);
        return;
      }
      state->armed = false;
      auto action = std::move(state->action);
      state->action = nullptr;
      action();
    }});
}

void generation_timer::cancel() {
  state_->armed = false;
  state_->action = nullptr;
}

bool generation_timer::armed() const {
  return state_->armed;
}

} // namespace bureau::kit
