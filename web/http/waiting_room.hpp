#pragma once

#include "web/http/gate_core.hpp"

#include <Poco/Clock.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/StreamSocketImpl.h>

#include <deque>
#include <map>
#include <string>

namespace bureau::web {

/// Longest time from accepting a connection to the last byte of its request.
inline constexpr long request_deadline_us = 30'000'000;
/// Longest pause inside a request, and longest write of a response.
inline constexpr long socket_timeout_us = 10'000'000;
/// Connections whose request is not whole yet; one more puts out the oldest.
inline constexpr size_t most_waiting = 256;

/// A connection whose whole request has come. Reading never waits: after the
/// request comes the end.
class whole_request_socket final : public Poco::Net::StreamSocketImpl {
public:
  whole_request_socket(poco_socket_t fd, std::string request);

  int receiveBytes(void* buffer, int length, int flags = 0) override;
  bool poll(const Poco::Timespan& timeout, int mode) override;

private:
  std::string request_;
  size_t read_ = 0;
};

/// A listener that keeps a connection to itself until its request is
/// whole: a slow or silent client costs a few bytes here and never a worker.
/// The thread that accepts, and nobody else, does all of this inside poll().
class waiting_room final : public Poco::Net::ServerSocketImpl {
public:
  /// Binds and listens; throws a Poco exception when the port is taken.
  waiting_room(const Poco::Net::SocketAddress& address, uint64_t max_body);

  /// Whether a connection with a whole request is there.
  bool poll(const Poco::Timespan& timeout, int mode) override;

  /// That connection.
  Poco::Net::SocketImpl*
  acceptConnection(Poco::Net::SocketAddress& client) override;

  /// From now on poll() hardly waits, so that the thread that calls it sees at
  /// once that it is to end. The one member for other threads.
  void hurry();

  /// Closes the listener and every connection that waits. Only when nobody
  /// accepts any more.
  void clear();

private:
  struct guest {
    explicit guest(uint64_t max_body) : gate(max_body) {}
    request_gate gate;
    std::string bytes;
    Poco::Clock came;
    Poco::Clock spoke;
    /// It has had its refusal; what it still sends is dropped.
    bool refused = false;
  };

  ~waiting_room() override;
  bool watch(int fd, uint32_t events);
  bool is_ready(int fd) const;
  void admit();
  void hear(int fd);
  void refuse(int fd, guest& whom, uint32_t status);
  void put_out_late();
  void put_out_oldest();
  void put_out(int fd);

  uint64_t max_body_;
  int epoll_ = -1;
  /// Readable once somebody is in a hurry.
  int hurry_ = -1;
  std::map<int, guest> guests_;
  /// Descriptors of guests whose request is whole.
  std::deque<int> ready_;
};

/// A server socket over a waiting room.
class waiting_server_socket final : public Poco::Net::ServerSocket {
public:
  /// Binds and listens; throws a Poco exception when the port is taken.
  waiting_server_socket(const Poco::Net::SocketAddress& address,
                        uint64_t max_body);

  /// See waiting_room.
  void hurry();
  void clear();
};

} // namespace bureau::web
