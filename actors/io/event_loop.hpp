#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>

namespace bureau::io {

/// Waits for descriptors and timers in one thread: epoll and one timerfd. Owned
/// and used by that thread alone. A handler may watch, change and forget any
/// descriptor, its own included.
class event_loop {
public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;
  /// Gets the EPOLL… bits that fired. Spurious calls are possible.
  using handler = std::function<void(uint32_t events)>;
  using timer_id = uint64_t;

  /// Throws std::system_error when the process is out of descriptors.
  event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop();

  /// Watches a descriptor, level triggered. @return whether epoll took it
  bool watch(int fd, uint32_t events, handler action);

  /// Changes what is waited for; ignored for an unknown descriptor.
  void change(int fd, uint32_t events);

  /// Stops watching. Call it before the descriptor is closed.
  void forget(int fd);

  bool watches(int fd) const { return entries_.count(fd) > 0; }

  /// Calls `action` once after a delay, in this thread.
  timer_id after(std::chrono::milliseconds delay, std::function<void()> action);

  /// Forgets a timer; 0 and timers that fired are ignored.
  void cancel(timer_id timer);

  /// The loops' monotonic clock.
  static time_point now();

  /// Waits until something is due and handles all of it.
  void turn();

private:
  struct entry {
    handler action;
    uint32_t generation = 0;
  };

  void set_timer_fd();
  void run_timers();

  int epoll_fd_;
  int timer_fd_;
  uint32_t last_generation_ = 0;
  std::unordered_map<int, std::shared_ptr<entry>> entries_;
  std::map<std::pair<time_point, timer_id>, std::function<void()>> timers_;
  std::unordered_map<timer_id, time_point> deadlines_;
  timer_id last_timer_ = 0;
  time_point armed_for_ = time_point::max();
};

/// Starts a named thread in which every signal is blocked: signals of the
/// process belong to main, and a write to a broken pipe must not kill it.
/// @param name at most 15 characters
std::thread start_loop_thread(const char* name, std::function<void()> body);

/// Whole milliseconds between two instants, at most 2^32 - 1.
uint32_t milliseconds_between(event_loop::time_point from,
                              event_loop::time_point to);

} // namespace bureau::io
