#pragma once

#include "actors/io/control_socket.hpp"
#include "actors/io/loop_queue.hpp"
#include "messages/interfaces/common.hpp"

#include <caf/typed_actor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include <sys/types.h>

namespace bureau::io {

/// What the loop tells its host actor.
using control_loop_owner_actor = caf::typed_actor<
  // A connection sent a line and waits for a control_answer.
  caf::reacts_to<atom::call, uint64_t, std::string>,
  // After a stop: nothing is left, the thread ends.
  caf::reacts_to<atom::drain>>;

/// Commands of the host actor to the loop.
struct control_attach {
  control_loop_owner_actor owner;
};
/// The answer of the one call that a connection has open.
struct control_answer {
  uint64_t connection = 0;
  /// Without its newline; empty: nothing is sent.
  std::string line;
};
/// Takes nothing any more, writes what is to be written, ends.
struct control_stop {};
using control_command =
  std::variant<control_attach, control_answer, control_stop>;
using control_queue = loop_queue<control_command>;

/// Bounds of the control socket.
struct control_bounds {
  size_t connections = 16;
  /// A connection that asks nothing for this long is closed.
  std::chrono::milliseconds idle = std::chrono::minutes{5};
  /// A peer takes its answer within this, or is closed.
  std::chrono::milliseconds write = std::chrono::seconds{10};
  /// Answers still to be written at the end get this.
  std::chrono::milliseconds farewell = std::chrono::seconds{1};
};

/// The thread `control` (decision S6): accepts at the control socket, turns
/// lines into messages and answers into lines. One call of a connection is open
/// at a time; until it is answered and written, nothing more is read.
class control_loop {
public:
  /// Starts the thread. Throws std::system_error when the process is out of
  /// descriptors.
  /// @param own user whose connections are taken, beside root's
  control_loop(control_socket socket, uid_t own, control_bounds bounds);
  control_loop(const control_loop&) = delete;
  control_loop& operator=(const control_loop&) = delete;
  /// Stops and joins.
  ~control_loop();

  std::shared_ptr<control_queue> queue() const { return queue_; }

private:
  class body;
  std::shared_ptr<control_queue> queue_;
  std::thread thread_;
};

} // namespace bureau::io
