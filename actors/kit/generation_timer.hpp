#pragma once

#include <caf/fwd.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace bureau::kit {

/// A timer on the actor's own clock: virtual in tests, real in production. It
/// fires inside the actor as one more turn of its mailbox. Arming it again, or
/// cancelling it, makes the previous arming void. Moving a deadline later, as
/// idle timers do for every byte, schedules nothing new.
///
/// A delayed self-message would keep the actor alive until it fires; this timer
/// is a response that never comes, so CAF forgets it with the actor.
class generation_timer {
public:
  generation_timer();
  generation_timer(const generation_timer&) = delete;
  generation_timer& operator=(const generation_timer&) = delete;
  ~generation_timer();

  /// Calls `action` once after `delay`, unless armed again or cancelled before.
  /// @param self the owner of the state that holds this timer
  void arm(caf::scheduled_actor* self, std::chrono::milliseconds delay,
           std::function<void()> action);

  void cancel();

  bool armed() const;

private:
  struct shared_state;
  static void schedule(caf::scheduled_actor* self,
                       std::shared_ptr<shared_state> state);
  std::shared_ptr<shared_state> state_;
};

} // namespace bureau::kit
