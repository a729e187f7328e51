#pragma once

#include <Poco/Clock.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/StreamSocketImpl.h>

namespace bureau::web {

/// Longest time from accepting a connection, or from the end of the previous
/// answer, to the last byte of a request (slow headers and bodies).
inline constexpr long request_deadline_us = 30'000'000;
/// Longest pause inside a request, and longest write.
inline constexpr long socket_timeout_us = 10'000'000;

/// A connection whose reads end at a deadline, however slowly bytes trickle in.
/// Only the worker that serves the connection touches it, so nothing is shared.
class deadline_socket final : public Poco::Net::StreamSocketImpl {
public:
  explicit deadline_socket(poco_socket_t fd);

  /// A new request may begin: its time starts now.
  void restart();

  int receiveBytes(void* buffer, int length, int flags = 0) override;

private:
  Poco::Clock began_;
};

/// A listening socket whose connections are deadline_sockets.
class deadline_server_socket final : public Poco::Net::ServerSocket {
public:
  /// Binds and listens; throws a Poco exception when the port is taken.
  explicit deadline_server_socket(const Poco::Net::SocketAddress& address);
};

} // namespace bureau::web
