#pragma once

#include <caf/duration.hpp>
#include <caf/message_priority.hpp>

#include <chrono>
#include <utility>

namespace bureau::kit {

/// A request with a finite, named timeout. Always give `.then` both handlers.
template <class Self, class Handle, class Rep, class Period, class... Args>
auto bounded_request(Self* self, const Handle& receiver,
                     std::chrono::duration<Rep, Period> timeout,
                     Args&&... args) {
  return self->request(
    receiver, std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
    std::forward<Args>(args)...);
}

/// A request that overtakes everything queued. CAF drops the priority when the
/// timeout is a chrono duration; its own duration type keeps it.
template <class Self, class Handle, class Rep, class Period, class... Args>
auto urgent_request(Self* self, const Handle& receiver,
                    std::chrono::duration<Rep, Period> timeout,
                    Args&&... args) {
  auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  return self->template request<caf::message_priority::high>(
    receiver, caf::duration{limit}, std::forward<Args>(args)...);
}

/// A one-way message that overtakes everything queued.
template <class Self, class Handle, class... Args>
void urgent_send(Self* self, const Handle& receiver, Args&&... args) {
  self->template send<caf::message_priority::high>(receiver,
                                                   std::forward<Args>(args)...);
}

} // namespace bureau::kit
