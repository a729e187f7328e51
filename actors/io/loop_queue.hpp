#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

namespace bureau::io {

/// The way from actors into the thread of a loop: a queue that many push to and
/// one swaps out whole, with an eventfd that wakes the one. It holds the only
/// lock of the project, for as long as a deque takes to push or to swap.
template <class T>
class loop_queue {
public:
  /// Throws std::system_error when the process is out of descriptors; queues
  /// are made at boot only.
  loop_queue() : wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_fd_ < 0)
      throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  loop_queue(const loop_queue&) = delete;
  loop_queue& operator=(const loop_queue&) = delete;
  ~loop_queue() { ::close(wake_fd_); }

  /// Adds an element; order per pusher is kept. Any thread.
  /// @return false when the loop has ended: the element is dropped
  bool push(T element) {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      if (closed_)
        return false;
      elements_.push_back(std::move(element));
      // The reader has not taken the older ones yet, so it is awake already.
      if (elements_.size() > 1)
        return true;
    }
    uint64_t one = 1;
    // A full counter (EAGAIN) wakes as well; nothing else can fail here.
    [[maybe_unused]] auto written = ::write(wake_fd_, &one, sizeof one);
    return true;
  }

  /// Takes everything there is. Only the loop's thread.
  std::deque<T> take() {
    uint64_t count = 0;
    [[maybe_unused]] auto got = ::read(wake_fd_, &count, sizeof count);
    std::deque<T> result;
    std::lock_guard<std::mutex> guard{mutex_};
    result.swap(elements_);
    return result;
  }

  /// Refuses everything from now on and returns what was left.
  std::deque<T> close() {
    std::deque<T> result;
    std::lock_guard<std::mutex> guard{mutex_};
    closed_ = true;
    result.swap(elements_);
    return result;
  }

  /// Readable while elements wait.
  int wake_fd() const { return wake_fd_; }

private:
  int wake_fd_;
  std::mutex mutex_;
  std::deque<T> elements_;
  bool closed_ = false;
};

} // namespace bureau::io
