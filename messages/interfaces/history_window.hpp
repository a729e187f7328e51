#pragma once

#include "messages/interfaces/common.hpp"
#include "messages/limits.hpp"

namespace bureau {

/// How much of the chat log enters a session (settings `history.*`).
struct history_window {
  int64_t recent_days = limits::history_recent_days;
  size_t messages = limits::history_messages;
  size_t thread_seed = limits::history_thread_seed;
  friend bool operator==(const history_window&,
                         const history_window&) = default;
};

BUREAU_INSPECT(history_window, x.recent_days, x.messages, x.thread_seed);

} // namespace bureau
