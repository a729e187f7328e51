#include "web/http/server.hpp"

#include "actors/kit/log.hpp"
#include "messages/contracts/host_safety.hpp"
#include "web/http/bridge.hpp"
#include "web/http/request_core.hpp"
#include "web/http/response_writer.hpp"
#include "web/http/waiting_room.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerRequestImpl.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/ThreadPool.h>

#include <caf/actor_system.hpp>
#include <caf/typed_actor.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bureau::web {

namespace {

namespace net = Poco::Net;

/// What every handler of one server shares.
class context {
public:
  context(caf::actor_system& sys, portal_actor entrance)
    : system(sys), portal(std::move(entrance)) {}

  caf::actor_system& system;
  portal_actor portal;
  std::atomic<bool> closing = false;
  /// Nobody waits for the portal any more.
  std::atomic<bool> given_up = false;

  /// A connection that is being served, by its descriptor.
  void enter(int fd) {
    std::lock_guard lock{mutex_};
    served_.insert(fd);
  }

  void leave(int fd) {
    std::lock_guard lock{mutex_};
    served_.erase(served_.find(fd));
    left_.notify_all();
  }

  /// Whether all have left in time.
  bool wait_empty(std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex_};
    return left_.wait_for(lock, patience, [this] { return served_.empty(); });
  }

  /// Nothing more goes through what is being served.
  void cut_off() {
    given_up = true;
    std::lock_guard lock{mutex_};
    for (auto fd : served_)
      ::shutdown(fd, SHUT_RDWR);
  }

private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::multiset<int> served_;
};

/// The socket of a response, written without ever waiting in the kernel.
class socket_sink final : public byte_sink {
public:
  explicit socket_sink(int fd) : fd_(fd) {}

  outcome push(std::string_view bytes) override {
    auto sent =
      ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      return {state::taken, static_cast<size_t>(sent), {}};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
      return {state::full, 0, {}};
    return {state::broken, 0, std::strerror(errno)};
  }

  drain await_room(std::chrono::milliseconds patience) override {
    pollfd entry{fd_, POLLOUT, 0};
    auto count = ::poll(&entry, 1, static_cast<int>(patience.count()));
    if (count < 0)
      return errno == EINTR ? drain::room : drain::broken;
    if (count == 0)
      return drain::late;
    return (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? drain::broken
                                                                 : drain::room;
  }

private:
  int fd_;
};

class handler final : public net::HTTPRequestHandler {
public:
  explicit handler(context& shared) : shared_(shared) {}

  void handleRequest(net::HTTPServerRequest& request,
                     net::HTTPServerResponse& response) override {
    auto& socket = static_cast<net::HTTPServerRequestImpl&>(request).socket();
    auto fd = static_cast<int>(socket.impl()->sockfd());
    shared_.enter(fd);
    try {
      answer(request, response, fd);
    } catch (const Poco::Exception& ex) {
      // The peer went away or was too slow; there is nobody to tell.
      response.setKeepAlive(false);
      kit::log::debug("web", "a request ended early: " + ex.displayText());
    }
    shared_.leave(fd);
  }

private:
  void answer(net::HTTPServerRequest& request,
              net::HTTPServerResponse& response, int fd) {
    if (shared_.closing) {
      send(request, response, error_reply(503, "Service unavailable"), fd);
      return;
    }
    auto target = parse_target(request.getURI());
    if (!target) {
      send(request, response, error_reply(400, "Bad request"), fd);
      return;
    }
    web_call call;
    call.method = request.getMethod();
    call.path = std::move(target->path);
    call.query = std::move(target->query);
    for (const auto& entry : request)
      call.headers.push_back({entry.first, entry.second, false});
    call.peer = request.clientAddress().host().toString();
    call.port = request.serverAddress().port();
    call.body.assign(std::istreambuf_iterator<char>{request.stream()}, {});
    send(request, response,
         ask_portal(shared_.system, shared_.portal, std::move(call),
                    shared_.given_up),
         fd);
  }

  // A connection carries one response, so that a failed one simply ends.
  static void send(net::HTTPServerRequest& request,
                   net::HTTPServerResponse& response, const web_reply& reply,
                   int fd) {
    response.setStatus(
      static_cast<net::HTTPResponse::HTTPStatus>(reply.status));
    response.setReason(
      net::HTTPResponse::getReasonForStatus(response.getStatus()));
    for (const auto& field : reply.headers)
      response.set(field.name, field.value);
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.setKeepAlive(false);
    response.setContentLength64(static_cast<Poco::Int64>(reply.body.size()));
    std::ostringstream head;
    response.write(head);
    socket_sink sink{fd};
    response_writer_options options;
    options.on_failure = [](const std::string& sentence) {
      kit::log::debug("web", "a response ended early: " + sentence);
    };
    response_writer writer{sink, std::move(options)};
    if (writer.write_all(head.str()))
      return;
    if (request.getMethod() != net::HTTPRequest::HTTP_HEAD)
      writer.write_all(reply.body);
  }

  context& shared_;
};

class factory final : public net::HTTPRequestHandlerFactory {
public:
  explicit factory(std::shared_ptr<context> shared)
    : shared_(std::move(shared)) {}

  net::HTTPRequestHandler*
  createRequestHandler(const net::HTTPServerRequest&) override {
    return new handler(*shared_);
  }

private:
  std::shared_ptr<context> shared_;
};

net::HTTPServerParams::Ptr make_params() {
  net::HTTPServerParams::Ptr params = new net::HTTPServerParams;
  params->setMaxThreads(64);
  params->setMaxQueued(64);
  params->setTimeout(Poco::Timespan(socket_timeout_us));
  // A worker that waits for a next request would be one less for the others.
  params->setKeepAlive(false);
  return params;
}

} // namespace

class server::implementation {
public:
  implementation(caf::actor_system& system, portal_actor portal,
                 const server_options& options)
    : shared_(std::make_shared<context>(system, std::move(portal))),
      grace_(options.grace > std::chrono::milliseconds::zero()
               ? options.grace
               : std::chrono::milliseconds{250}),
      pool_("web", 1, 64),
      socket_(net::SocketAddress(options.host, options.port), options.max_body),
      server_(new factory(shared_), pool_, socket_, make_params()) {
    // A name may have become any address.
    auto bound = socket_.address().host().toString();
    auto unsafe = contracts::assert_safe_bind(
      bound, options.allow_non_loopback,
      make_failure(errc::bad_config,
                   options.host + " is " + bound
                     + ", which other machines can reach; that needs LINK_URL "
                       "with https, or LINK_HOST=127.0.0.1"));
    if (unsafe)
      throw std::runtime_error(sentence_of(unsafe));
    server_.start();
  }

  uint16_t port() const { return socket_.address().port(); }

  void stop() {
    if (shared_->closing.exchange(true))
      return;
    socket_.hurry();
    // Its stopAll would wait for every request that runs.
    server_.stop();
    socket_.clear();
    if (!shared_->wait_empty(grace_)) {
      shared_->cut_off();
      if (!shared_->wait_empty(grace_))
        kit::log::warning("web", "requests did not end when they were cut off");
    }
    pool_.joinAll();
  }

private:
  std::shared_ptr<context> shared_;
  std::chrono::milliseconds grace_;
  Poco::ThreadPool pool_;
  waiting_server_socket socket_;
  net::HTTPServer server_;
};

server::server(caf::actor_system& system, portal_actor portal,
               server_options options) {
  auto place = options.host + ":" + std::to_string(options.port);
  try {
    implementation_ =
      std::make_unique<implementation>(system, std::move(portal), options);
  } catch (const Poco::Exception& ex) {
    throw std::runtime_error("cannot listen on " + place + ": "
                             + ex.displayText()
                             + "; choose another LINK_PORT or free this one");
  }
}

server::~server() {
  stop();
}

uint16_t server::port() const {
  return implementation_->port();
}

void server::stop() {
  implementation_->stop();
}

} // namespace bureau::web
