#pragma once

#include "actors/io/event_loop.hpp"
#include "actors/io/process_core.hpp"
#include "actors/io/process_loop.hpp"
#include "actors/io/process_spawn.hpp"

#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace bureau::io {

/// The children of the process loop, from the queue to the grave. Lives in the
/// loop's thread; every member runs there.
///
/// A child that has ended stays a zombie until its pipes are read and its group
/// is dead: as long as it is not reaped, its number cannot name anyone else.
class process_children {
public:
  /// @param reaper is told which groups live; may be null
  process_children(event_loop& events, process_reaper* reaper)
    : events_(events), reaper_(reaper) {}
  process_children(const process_children&) = delete;
  process_children& operator=(const process_children&) = delete;

  void attach(process_loop_owner_actor owner) { owner_ = std::move(owner); }
  void add(proc_spec spec, process_sink_actor sink);
  void feed(proc_input input);
  void acknowledge(const proc_ack& ack);
  void kill(const proc_kill& request);
  void abandon(uint64_t id);
  /// Kills everything; finished() comes true when the last one is gone.
  void stop();
  bool finished() const;
  /// Tells the owner that nothing is left and lets go of it.
  void say_farewell();
  /// Reaps zombies that came to us from somewhere below our children.
  void reap_orphans();

private:
  struct child {
    proc_spec spec;
    process_sink_actor sink;
    spawned_child ours;
    event_loop::time_point started;
    capture out{0};
    capture err{0};
    std::vector<capture> extra;
    std::array<stream_window, 2> windows;
    std::deque<std::string> input;
    size_t input_offset = 0;
    uint64_t input_size = 0;
    bool input_ends = false;
    event_loop::timer_id drain_timer = 0;
    event_loop::timer_id kill_timer = 0;
    event_loop::timer_id confirm_timer = 0;
    event_loop::timer_id backstop_timer = 0;
    uint64_t drained = 0;
    bool exited = false;
    bool killed = false;
    /// Whether escapees were looked for after the last signal.
    bool tag_swept = false;
    /// The requester has had its last event.
    bool reported = false;
    bool is_run() const { return !sink; }
  };
  using child_ptr = std::unique_ptr<child>;

  child* find(uint64_t id);
  void start_waiting();
  void start(child_ptr added);
  void reject(const child& refused, errc code, std::string sentence);
  void watch_output(uint64_t id, int stream);
  void watch_extra(uint64_t id, size_t index);
  void read_output(uint64_t id, int stream);
  void read_extra(uint64_t id, size_t index);
  void take_output(child& from, int stream, std::string_view bytes);
  void write_input(child& to);
  void close_fd(owned_fd& fd);
  void pid_fired(uint64_t id);
  void start_drain(child& ended);
  void conclude_if_dry(child& ended);
  void conclude(uint64_t id);
  void read_rest(child& ended);
  /// SIGKILL to the group and the child itself.
  void strike(child& victim);
  /// strike, and the processes that carry its tag.
  void hard_kill(child& victim);
  void give_up(uint64_t id);
  void report(child& ended, proc_exit exit);
  proc_exit reap(child& ended);
  proc_exit first_words(const child& ended) const;

  event_loop& events_;
  process_reaper* reaper_;
  process_loop_owner_actor owner_;
  std::deque<child_ptr> waiting_;
  std::unordered_map<uint64_t, child_ptr> running_;
  std::unordered_map<pid_t, uint64_t> pids_;
  bool start_scheduled_ = false;
  bool stopping_ = false;
  std::array<char, limits::stream_chunk_bytes> buffer_;
};

} // namespace bureau::io
