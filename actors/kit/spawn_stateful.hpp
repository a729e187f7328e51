#pragma once

#include "actors/kit/hardened.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <type_traits>
#include <utility>

namespace bureau::kit {

/// Spawns an actor whose whole state is a class of ours.
///
/// A state class has an explicit constructor taking its stateful pointer, a
/// static `name`, a member `init(args…)` that may be absent when there are no
/// arguments, and `make_behavior()`. The helper closes CAF's trap that an
/// aggregate state has its first member initialised from the self pointer, and
/// hardens the actor (see hardened.hpp).
///
/// @tparam Handle typed actor handle of the interface
/// @tparam State state class
/// @tparam Options CAF spawn options, for example caf::detached
template <class Handle, class State,
          caf::spawn_options Options = caf::no_spawn_options, class... Args>
Handle spawn_stateful(caf::actor_system& system, Args&&... args) {
  static_assert(!std::is_aggregate_v<State>,
                "give the state an explicit constructor");
  static_assert(std::is_convertible_v<decltype(State::name), const char*>,
                "give the state a static name");
  using pointer = typename Handle::template stateful_pointer<State>;
  using behavior = typename Handle::behavior_type;
  return system.spawn<Options>(
    [](pointer self, std::decay_t<Args>... xs) -> behavior {
      hardened(self);
      if constexpr (sizeof...(Args) > 0)
        self->state.init(std::move(xs)...);
      return self->state.make_behavior();
    },
    std::forward<Args>(args)...);
}

} // namespace bureau::kit
