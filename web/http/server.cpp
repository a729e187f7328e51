#include "web/http/server.hpp"

#include "actors/kit/log.hpp"
#include "web/http/bridge.hpp"
#include "web/http/request_core.hpp"
#include "web/http/waiting_room.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/ThreadPool.h>

#include <caf/actor_system.hpp>
#include <caf/typed_actor.hpp>

#include <atomic>
#include <iterator>
#include <stdexcept>

namespace bureau::web {

namespace {

namespace net = Poco::Net;

/// What every handler of one server shares.
struct context {
  caf::actor_system& system;
  portal_actor portal;
  std::atomic<bool> closing = false;
};

void send(net::HTTPServerResponse& response, const web_reply& reply) {
  response.setStatus(static_cast<net::HTTPResponse::HTTPStatus>(reply.status));
  response.setReason(
    net::HTTPResponse::getReasonForStatus(response.getStatus()));
  for (const auto& field : reply.headers)
    response.set(field.name, field.value);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.sendBuffer(reply.body.data(), reply.body.size());
}

class handler final : public net::HTTPRequestHandler {
public:
  explicit handler(context& shared) : shared_(shared) {}

  void handleRequest(net::HTTPServerRequest& request,
                     net::HTTPServerResponse& response) override {
    try {
      answer(request, response);
    } catch (const Poco::Exception& ex) {
      // The peer went away or was too slow; there is nobody to tell.
      response.setKeepAlive(false);
      kit::log::debug("web", "a request ended early: " + ex.displayText());
    }
  }

private:
  void answer(net::HTTPServerRequest& request,
              net::HTTPServerResponse& response) {
    if (shared_.closing) {
      response.setKeepAlive(false);
      send(response, error_reply(503, "Service unavailable"));
      return;
    }
    auto target = parse_target(request.getURI());
    if (!target) {
      response.setKeepAlive(false);
      send(response, error_reply(400, "Bad request"));
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
    send(response, ask_portal(shared_.system, shared_.portal, std::move(call)));
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
      pool_("web", 1, 64),
      socket_(net::SocketAddress(options.host, options.port), options.max_body),
      server_(new factory(shared_), pool_, socket_, make_params()) {
    server_.start();
  }

  uint16_t port() const { return socket_.address().port(); }

  void stop() {
    if (shared_->closing.exchange(true))
      return;
    socket_.hurry();
    server_.stopAll(false);
    socket_.clear();
    pool_.joinAll();
  }

private:
  std::shared_ptr<context> shared_;
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
