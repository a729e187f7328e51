#pragma once

#include "actors/io/event_loop.hpp"
#include "actors/io/http_transfer.hpp"
#include "actors/io/loop_queue.hpp"

#include <caf/typed_actor.hpp>

#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>
#include <variant>

namespace bureau::io {

/// What the loop tells its client actor.
using http_loop_owner_actor = caf::typed_actor<
  // A stream is over; its slot is free.
  caf::reacts_to<atom::closed, http_done>,
  // A fetch is over.
  caf::reacts_to<atom::deliver, http_done, http_response>,
  // After a stop: nothing is left, the thread ends.
  caf::reacts_to<atom::drain>>;

/// Commands of the client actor to the loop.
struct http_attach {
  http_loop_owner_actor owner;
};
struct http_begin {
  http_request request;
  /// Empty: a fetch.
  http_sink_actor sink;
};
struct http_abandon {
  uint64_t id = 0;
};
struct http_stop {};
using http_command = std::variant<http_attach, http_begin, http_ack,
                                  http_cancel, http_abandon, http_stop>;
using http_queue = loop_queue<http_command>;

/// The thread `http-loop` (decision S2): all curl handles of the node live and
/// move in it and nowhere else. It waits in epoll for curl's sockets, for one
/// timer and for commands; it never waits for an actor.
class http_loop {
public:
  /// Starts the thread. Throws std::system_error when the process is out of
  /// descriptors, std::runtime_error when curl cannot start.
  explicit http_loop(http_options options);
  http_loop(const http_loop&) = delete;
  http_loop& operator=(const http_loop&) = delete;
  /// Stops and joins; transfers that are left end with shutting_down.
  ~http_loop();

  std::shared_ptr<http_queue> queue() const { return queue_; }

  /// Waits until the thread has ended, after a stop. Call it from main, never
  /// from an actor.
  void join();

private:
  class body;
  std::shared_ptr<http_queue> queue_;
  std::thread thread_;
};

} // namespace bureau::io
