#pragma once

#include "actors/io/directory_watches.hpp"
#include "actors/io/loop_queue.hpp"
#include "messages/interfaces/process.hpp"

#include <caf/error.hpp>
#include <caf/typed_actor.hpp>

#include <memory>
#include <thread>
#include <variant>

namespace bureau::io {

/// What the loop tells its host actor.
using process_loop_owner_actor = caf::typed_actor<
  // A child runs.
  caf::reacts_to<atom::ready, proc_started>,
  // A child could not be started; its slot is free.
  caf::reacts_to<atom::failed, uint64_t, caf::error>,
  // The result of a captured child.
  caf::reacts_to<atom::done, proc_result>,
  // A child has really ended; its slot is free.
  caf::reacts_to<atom::closed, uint64_t>,
  // After a stop: no child is left, the thread ends.
  caf::reacts_to<atom::drain>>;

/// Commands of the host actor to the loop.
struct process_attach {
  process_loop_owner_actor owner;
};
struct process_begin {
  proc_spec spec;
  /// Empty: a captured run.
  process_sink_actor sink;
};
/// Nobody listens any more: the child is killed, no event follows.
struct process_abandon {
  uint64_t id = 0;
};
struct process_stop {};
using process_command =
  std::variant<process_attach, process_begin, proc_input, proc_ack, proc_kill,
               process_abandon, process_stop, watch_begin, watch_end>;
using process_queue = loop_queue<process_command>;

class process_reaper;

/// The thread `proc-loop` (decision S3): it starts, feeds, reads, kills and
/// reaps every child of the node, and outlives them all, because a child's
/// parent-death signal follows the thread that started it. It watches
/// directories beside that.
class process_loop {
public:
  /// Starts the thread and makes this process adopt orphans of its children.
  /// Block SIGCHLD in main and so in every thread before; the loop reads it
  /// from a signalfd. Throws std::system_error when the process is out of
  /// descriptors.
  /// @param reaper outlives the loop; may be null
  explicit process_loop(process_reaper* reaper = nullptr);
  process_loop(const process_loop&) = delete;
  process_loop& operator=(const process_loop&) = delete;
  /// Stops and joins; children that are left are killed.
  ~process_loop();

  std::shared_ptr<process_queue> queue() const { return queue_; }

  /// Waits until the thread has ended, after a stop. Call it from main, never
  /// from an actor.
  void join();

private:
  class body;
  std::shared_ptr<process_queue> queue_;
  std::thread thread_;
};

} // namespace bureau::io
