#include "web/http/deadline_socket.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Timespan.h>

#include <algorithm>

namespace bureau::web {

namespace {

class deadline_listener final : public Poco::Net::ServerSocketImpl {
public:
  Poco::Net::SocketImpl*
  acceptConnection(Poco::Net::SocketAddress& client) override {
    sockaddr_storage storage{};
    auto length = static_cast<poco_socklen_t>(sizeof storage);
    auto address = reinterpret_cast<sockaddr*>(&storage);
    poco_socket_t fd = POCO_INVALID_SOCKET;
    do {
      fd = ::accept4(sockfd(), address, &length, SOCK_CLOEXEC);
    } while (fd == POCO_INVALID_SOCKET && lastError() == POCO_EINTR);
    if (fd == POCO_INVALID_SOCKET)
      error();
    client = Poco::Net::SocketAddress(address, length);
    return new deadline_socket(fd);
  }
};

} // namespace

deadline_socket::deadline_socket(poco_socket_t fd)
  : Poco::Net::StreamSocketImpl(fd) {
}

void deadline_socket::restart() {
  began_.update();
}

int deadline_socket::receiveBytes(void* buffer, int length, int flags) {
  auto left = request_deadline_us - static_cast<long>(began_.elapsed());
  auto wait = std::min(left, socket_timeout_us);
  if (wait <= 0 || !poll(Poco::Timespan(wait), SELECT_READ))
    throw Poco::TimeoutException("the request took too long");
  return Poco::Net::StreamSocketImpl::receiveBytes(buffer, length, flags);
}

deadline_server_socket::deadline_server_socket(
  const Poco::Net::SocketAddress& address)
  : Poco::Net::ServerSocket(new deadline_listener, true) {
  // Address reuse only: port reuse would let two nodes share one port.
  impl()->bind(address, true, false);
  impl()->listen(128);
}

} // namespace bureau::web
