#include "tests/io/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace bureau::test {

namespace {

int bound_socket(uint16_t& port) {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(fd, generic, size) != 0 || ::getsockname(fd, generic, &size) != 0)
    std::abort();
  port = ntohs(address.sin_port);
  return fd;
}

std::string url_of(uint16_t port, std::string_view path) {
  return "http://127.0.0.1:" + std::to_string(port) + std::string{path};
}

} // namespace

std::string connection::read_request() {
  size_t needed = 0;
  for (;;) {
    if (needed == 0) {
      auto end = buffer_.find("\r\n\r\n");
      if (end != std::string::npos) {
        constexpr std::string_view field = "Content-Length: ";
        auto length = buffer_.find(field);
        needed = end + 4;
        if (length < end)
          needed += static_cast<size_t>(
            std::atol(buffer_.c_str() + length + field.size()));
      }
    }
    if (needed > 0 && buffer_.size() >= needed) {
      auto result = buffer_.substr(0, needed);
      buffer_.erase(0, needed);
      return result;
    }
    char bytes[16384];
    auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0)
      return {};
    buffer_.append(bytes, static_cast<size_t>(got));
  }
}

bool connection::wait_for_bytes() {
  char byte = 0;
  auto got = ::recv(fd_, &byte, 1, 0);
  if (got <= 0)
    return false;
  buffer_ += byte;
  return true;
}

bool connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    auto put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

bool connection::answer(std::string_view status_line, std::string_view headers,
                        std::string_view body) {
  auto head = std::string{status_line} + "\r\n" + std::string{headers}
              + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return write(head) && write(body);
}

bool connection::write_chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return write(std::string{size} + std::string{bytes} + "\r\n");
}

void connection::reset() {
  linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

loopback_server::loopback_server(service serve)
  : serve_(std::move(serve)), listener_(bound_socket(port_)) {
  if (::listen(listener_, 1024) != 0)
    std::abort();
  acceptor_ = std::thread{[this] {
    accept_all();
  }};
}

loopback_server::~loopback_server() {
  {
    std::lock_guard<std::mutex> guard{mutex_};
    closing_ = true;
    for (auto fd : open_)
      ::shutdown(fd, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (auto& thread : threads_)
    thread.join();
  ::close(listener_);
}

void loopback_server::accept_all() {
  for (;;) {
    auto fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      return;
    std::lock_guard<std::mutex> guard{mutex_};
    if (closing_) {
      ::close(fd);
      return;
    }
    open_.push_back(fd);
    threads_.emplace_back([this, fd] {
      connection peer{fd};
      serve_(peer);
      std::lock_guard<std::mutex> closing{mutex_};
      std::erase(open_, fd);
      ::close(fd);
    });
  }
}

std::string loopback_server::url(std::string_view path) const {
  return url_of(port_, path);
}

uint16_t closed_port() {
  uint16_t port = 0;
  ::close(bound_socket(port));
  return port;
}

silent_listener::silent_listener() {
  uint16_t port = 0;
  fd_ = bound_socket(port);
  if (::listen(fd_, 4096) != 0)
    std::abort();
}

silent_listener::~silent_listener() {
  ::close(fd_);
}

std::string silent_listener::url() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  return url_of(ntohs(address.sin_port), "/");
}

} // namespace bureau::test
