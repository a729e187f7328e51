#include "actors/io/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <pthread.h>
#include <string>
#include <system_error>

namespace bureau::io {

namespace {

/// The timerfd itself; descriptors of handlers carry a generation above 0.
constexpr uint64_t timer_tag = 0;

uint64_t tag_of(int fd, uint32_t generation) {
  return (uint64_t{generation} << 32) | static_cast<uint32_t>(fd);
}

} // namespace

event_loop::event_loop()
  : epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)),
    timer_fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = timer_tag;
  if (epoll_fd_ < 0 || timer_fd_ < 0
      || ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, timer_fd_, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "event loop");
}

event_loop::~event_loop() {
  ::close(timer_fd_);
  ::close(epoll_fd_);
}

bool event_loop::watch(int fd, uint32_t events, handler action) {
  forget(fd);
  auto added = std::make_shared<entry>();
  added->action = std::move(action);
  added->generation = ++last_generation_;
  if (last_generation_ == 0)
    added->generation = ++last_generation_;
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag_of(fd, added->generation);
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0)
    return false;
  entries_[fd] = std::move(added);
  return true;
}

void event_loop::change(int fd, uint32_t events) {
  auto found = entries_.find(fd);
  if (found == entries_.end())
    return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag_of(fd, found->second->generation);
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void event_loop::forget(int fd) {
  if (entries_.erase(fd) > 0)
    ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

event_loop::timer_id event_loop::after(std::chrono::milliseconds delay,
                                       std::function<void()> action) {
  auto id = ++last_timer_;
  auto deadline = now() + delay;
  timers_.emplace(std::pair{deadline, id}, std::move(action));
  deadlines_.emplace(id, deadline);
  if (deadline < armed_for_)
    set_timer_fd();
  return id;
}

void event_loop::cancel(timer_id timer) {
  auto found = deadlines_.find(timer);
  if (found == deadlines_.end())
    return;
  timers_.erase({found->second, timer});
  deadlines_.erase(found);
}

event_loop::time_point event_loop::now() {
  return clock::now();
}

void event_loop::set_timer_fd() {
  using namespace std::chrono;
  itimerspec when{};
  armed_for_ =
    timers_.empty() ? time_point::max() : timers_.begin()->first.first;
  if (!timers_.empty()) {
    // Zero would disarm it; an instant in the past fires at once.
    auto due = std::max<int64_t>(
      1, duration_cast<nanoseconds>(armed_for_.time_since_epoch()).count());
    when.it_value.tv_sec = due / 1'000'000'000;
    when.it_value.tv_nsec = due % 1'000'000'000;
  }
  ::timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &when, nullptr);
}

void event_loop::run_timers() {
  uint64_t expirations = 0;
  [[maybe_unused]] auto got =
    ::read(timer_fd_, &expirations, sizeof expirations);
  auto due = now();
  // Timers that the actions add wait for the next turn, even due ones.
  auto newest = last_timer_;
  for (;;) {
    auto first = timers_.begin();
    while (first != timers_.end() && first->first.first <= due
           && first->first.second > newest)
      ++first;
    if (first == timers_.end() || first->first.first > due)
      break;
    auto action = std::move(first->second);
    deadlines_.erase(first->first.second);
    timers_.erase(first);
    action();
  }
  set_timer_fd();
}

void event_loop::turn() {
  std::array<epoll_event, 128> events;
  auto count =
    ::epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), -1);
  if (count <= 0)
    return;
  bool timers_due = false;
  for (auto i = 0; i < count; ++i) {
    const auto& event = events[static_cast<size_t>(i)];
    auto tag = event.data.u64;
    if (tag == timer_tag) {
      timers_due = true;
      continue;
    }
    auto fd = static_cast<int>(tag & 0xffff'ffffu);
    auto found = entries_.find(fd);
    // Forgotten, or reused for another file, by an earlier handler of this
    // turn.
    if (found == entries_.end() || found->second->generation != tag >> 32)
      continue;
    auto kept = found->second;
    kept->action(event.events);
  }
  if (timers_due)
    run_timers();
}

std::thread start_loop_thread(const char* name, std::function<void()> body) {
  // The mask is set before the thread starts, or a signal could slip in.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread result{[label = std::string{name}, run = std::move(body)] {
    pthread_setname_np(pthread_self(), label.c_str());
    run();
  }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

uint32_t milliseconds_between(event_loop::time_point from,
                              event_loop::time_point to) {
  using namespace std::chrono;
  auto count = duration_cast<milliseconds>(to - from).count();
  auto most = int64_t{std::numeric_limits<uint32_t>::max()};
  return static_cast<uint32_t>(std::clamp<int64_t>(count, 0, most));
}

} // namespace bureau::io
