#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace bureau::test {

/// One accepted connection, used by the thread that serves it.
class connection {
public:
  explicit connection(int fd) : fd_(fd) {}

  /// The head of a request and its body of Content-Length bytes; empty at the
  /// end of the stream.
  std::string read_request();

  /// Waits for bytes or the peer's end. @return false when the peer has closed
  bool wait_for_bytes();

  /// Writes everything. @return false when the peer has gone
  bool write(std::string_view bytes);

  /// Writes a whole response with a Content-Length.
  bool answer(std::string_view status_line, std::string_view headers,
              std::string_view body);

  /// Writes one chunk of a chunked body; an empty one ends it.
  bool write_chunk(std::string_view bytes);

  /// Ends the connection with a reset instead of an orderly close.
  void reset();

private:
  int fd_;
  std::string buffer_;
};

/// A server on a port of 127.0.0.1 that the kernel chooses, one thread for each
/// connection.
class loopback_server {
public:
  using service = std::function<void(connection&)>;

  explicit loopback_server(service serve);
  loopback_server(const loopback_server&) = delete;
  loopback_server& operator=(const loopback_server&) = delete;
  ~loopback_server();

  /// `http://127.0.0.1:<port>` and a path.
  std::string url(std::string_view path = "/") const;
  uint16_t port() const { return port_; }

private:
  void accept_all();

  service serve_;
  /// Before the listener, which fills it in.
  uint16_t port_ = 0;
  int listener_;
  std::mutex mutex_;
  bool closing_ = false;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// A port on which nobody listens.
uint16_t closed_port();

/// A listening socket that never accepts.
class silent_listener {
public:
  silent_listener();
  silent_listener(const silent_listener&) = delete;
  silent_listener& operator=(const silent_listener&) = delete;
  ~silent_listener();
  std::string url() const;

private:
  int fd_;
};

} // namespace bureau::test
