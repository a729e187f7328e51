#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace bureau::io {

/// A kernel descriptor of a loop, closed with its owner.
class owned_fd {
public:
  owned_fd() = default;
  explicit owned_fd(int fd) : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~owned_fd() { reset(); }

  void reset() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_ = -1;
};

/// Makes reads and writes return instead of waiting.
inline bool set_nonblocking(int fd, bool on = true) {
  auto flags = ::fcntl(fd, F_GETFL);
  auto wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  return flags >= 0 && ::fcntl(fd, F_SETFL, wanted) == 0;
}

} // namespace bureau::io
