#include "actors/io/control_client.hpp"

#include "actors/io/control_line_core.hpp"
#include "actors/io/control_socket.hpp"
#include "actors/io/event_loop.hpp"
#include "messages/limits.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace bureau::io {

namespace {

/// Waits until a descriptor is ready. @return whether it is, before the instant
bool wait_ready(int fd, short events, event_loop::time_point until) {
  using namespace std::chrono;
  for (;;) {
    // Rounded up: a wait of nothing would spin through the last millisecond.
    auto left = ceil<milliseconds>(until - event_loop::now()).count();
    if (left <= 0)
      return false;
    pollfd wanted{fd, events, 0};
    auto ready = ::poll(&wanted, 1, static_cast<int>(left));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

bool would_block() {
  return errno == EAGAIN || errno == EINTR;
}

/// Writes everything. @return false at the end of time or of the connection
bool write_all(int fd, std::string_view bytes, event_loop::time_point until) {
  while (!bytes.empty()) {
    auto put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0)
      bytes.remove_prefix(static_cast<size_t>(put));
    else if (!would_block() || !wait_ready(fd, POLLOUT, until))
      return false;
  }
  return true;
}

/// Reads what is there. @return false at the end of time or of the connection
bool read_some(int fd, std::string& bytes, event_loop::time_point until) {
  std::array<char, 4096> buffer;
  for (;;) {
    auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      bytes.assign(buffer.data(), static_cast<size_t>(got));
      return true;
    }
    if (got == 0 || !would_block() || !wait_ready(fd, POLLIN, until))
      return false;
  }
}

} // namespace

control_client::control_client(const std::string& state_dir)
  : fd_(connect_control(state_dir)) {
}

std::optional<std::string> control_client::call(
  std::string_view line, std::chrono::milliseconds patience) {
  if (!fd_)
    return std::nullopt;
  auto until = event_loop::now() + patience;
  line_splitter answers{limits::json_text_bytes};
  std::string bytes{line};
  bytes += '\n';
  // A node that takes no more connections says so without reading.
  write_all(fd_.get(), bytes, until);
  while (read_some(fd_.get(), bytes, until)) {
    answers.feed(bytes);
    if (auto answer = answers.take())
      return answer;
    if (answers.too_long())
      break;
  }
  fd_.reset();
  return std::nullopt;
}

bool control_client::wait_for_end(std::chrono::milliseconds patience) {
  if (!fd_)
    return true;
  auto until = event_loop::now() + patience;
  std::string ignored;
  while (read_some(fd_.get(), ignored, until))
    ;
  auto over = event_loop::now() >= until;
  fd_.reset();
  return !over;
}

} // namespace bureau::io
