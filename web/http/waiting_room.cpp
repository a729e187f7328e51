#include "web/http/waiting_room.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Timespan.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bureau::web {

namespace {

/// How long a refused client may go on sending before its connection closes;
/// closing at once could cost it the answer.
constexpr long farewell_us = 2'000'000;
/// Responses up to this leave the worker at once, however slowly they are read.
constexpr int send_buffer_bytes = 256 << 10;
/// Reads from one connection before the others have their turn.
constexpr int most_reads = 16;

} // namespace

whole_request_socket::whole_request_socket(poco_socket_t fd,
                                           std::string request)
  : Poco::Net::StreamSocketImpl(fd), request_(std::move(request)) {
  setBlocking(true);
  setSendBufferSize(send_buffer_bytes);
  setSendTimeout(Poco::Timespan(socket_timeout_us));
}

int whole_request_socket::receiveBytes(void* buffer, int length, int) {
  auto count = std::min(request_.size() - read_, static_cast<size_t>(length));
  std::memcpy(buffer, request_.data() + read_, count);
  read_ += count;
  return static_cast<int>(count);
}

bool whole_request_socket::poll(const Poco::Timespan& timeout, int mode) {
  if ((mode & SELECT_READ) != 0)
    return read_ < request_.size();
  return Poco::Net::StreamSocketImpl::poll(timeout, mode);
}

waiting_room::waiting_room(const Poco::Net::SocketAddress& address,
                           uint64_t max_body)
  : max_body_(max_body) {
  // Address reuse only: port reuse would let two nodes share one port.
  bind(address, true, false);
  listen(1024);
  setBlocking(false);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  hurry_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // Edges only: a connection that cannot be accepted must not keep us busy.
  if (!watch(sockfd(), EPOLLIN | EPOLLET) || !watch(hurry_, EPOLLIN))
    error();
}

waiting_room::~waiting_room() {
  clear();
  ::close(hurry_);
  ::close(epoll_);
}

bool waiting_room::poll(const Poco::Timespan& timeout, int) {
  admit();
  put_out_late();
  if (!ready_.empty())
    return true;
  std::array<epoll_event, 64> events;
  auto count =
    ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                 static_cast<int>(timeout.totalMilliseconds()));
  for (auto i = 0; i < count; ++i) {
    hear(events[static_cast<size_t>(i)].data.fd);
  }
  if (count > 0)
    admit();
  return !ready_.empty();
}

Poco::Net::SocketImpl*
waiting_room::acceptConnection(Poco::Net::SocketAddress& client) {
  if (ready_.empty())
    throw Poco::TimeoutException("no request is there");
  auto fd = ready_.front();
  ready_.pop_front();
  auto entry = guests_.extract(fd);
  auto result = new whole_request_socket(fd, std::move(entry.mapped().bytes));
  client = result->peerAddress();
  return result;
}

void waiting_room::hurry() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(hurry_, &one, sizeof one);
}

void waiting_room::clear() {
  close();
  ready_.clear();
  for (const auto& entry : guests_)
    ::close(entry.first);
  guests_.clear();
}

bool waiting_room::watch(int fd, uint32_t events) {
  epoll_event news{};
  news.events = events;
  news.data.fd = fd;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &news) == 0;
}

bool waiting_room::is_ready(int fd) const {
  return std::find(ready_.begin(), ready_.end(), fd) != ready_.end();
}

void waiting_room::admit() {
  for (;;) {
    auto fd =
      ::accept4(sockfd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED)
        continue;
      // Out of descriptors: the next call finds one.
      if (errno == EMFILE || errno == ENFILE)
        put_out_oldest();
      return;
    }
    if (guests_.size() - ready_.size() >= most_waiting)
      put_out_oldest();
    if (!watch(fd, EPOLLIN | EPOLLRDHUP)) {
      ::close(fd);
      continue;
    }
    guests_.emplace(fd, guest{max_body_});
    // Most requests have come with their connection.
    hear(fd);
  }
}

void waiting_room::hear(int fd) {
  auto found = guests_.find(fd);
  if (found == guests_.end())
    return;
  auto& who = found->second;
  std::array<char, 8192> buffer;
  for (auto i = 0; i < most_reads; ++i) {
    auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (got <= 0) {
      put_out(fd);
      return;
    }
    if (who.refused)
      continue;
    who.spoke.update();
    who.bytes.append(buffer.data(), static_cast<size_t>(got));
    auto state = who.gate.judge(who.bytes);
    if (state.refusal != 0) {
      refuse(fd, who, state.refusal);
    } else if (state.whole) {
      // What comes now is another request, which is not served.
      ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
      ready_.push_back(fd);
      return;
    }
  }
}

void waiting_room::refuse(int fd, guest& whom, uint32_t status) {
  auto text = refusal_text(status);
  // It fits into the empty buffer of a new connection.
  [[maybe_unused]] auto sent =
    ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(fd, SHUT_WR);
  whom.refused = true;
  whom.bytes = {};
  whom.came.update();
}

void waiting_room::put_out_late() {
  for (auto entry = guests_.begin(); entry != guests_.end();) {
    const auto& [fd, who] = *entry++;
    if (is_ready(fd))
      continue;
    auto late = who.refused ? who.came.isElapsed(farewell_us)
                            : who.came.isElapsed(request_deadline_us)
                                || who.spoke.isElapsed(socket_timeout_us);
    if (late)
      put_out(fd);
  }
}

void waiting_room::put_out_oldest() {
  auto oldest = guests_.end();
  for (auto entry = guests_.begin(); entry != guests_.end(); ++entry)
    if (!is_ready(entry->first)
        && (oldest == guests_.end()
            || entry->second.came < oldest->second.came))
      oldest = entry;
  if (oldest != guests_.end())
    put_out(oldest->first);
}

void waiting_room::put_out(int fd) {
  guests_.erase(fd);
  ::close(fd);
}

waiting_server_socket::waiting_server_socket(
  const Poco::Net::SocketAddress& address, uint64_t max_body)
  : Poco::Net::ServerSocket(new waiting_room(address, max_body), true) {
}

void waiting_server_socket::hurry() {
  static_cast<waiting_room*>(impl())->hurry();
}

void waiting_server_socket::clear() {
  static_cast<waiting_room*>(impl())->clear();
}

} // namespace bureau::web
