#include "actors/kit/spawn_stateful.hpp"
#include "actors/kit/system_config.hpp"
#include "web/http/server.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace bureau;

namespace {

/// Answers with what it was asked, so that a test sees what arrived.
struct echo_state {
  portal_actor::stateful_pointer<echo_state> self;
  static inline const char* name = "echo_portal";
  explicit echo_state(portal_actor::stateful_pointer<echo_state> me)
    : self(me) {}
  portal_actor::behavior_type make_behavior() {
    return {
      [this](atom::h_call, const web_call& call) -> caf::result<web_reply> {
        if (call.path == "/fail")
          return make_failure(errc::internal, "a secret detail");
        if (call.path == "/never")
          return self->make_response_promise<web_reply>();
        if (call.path == "/large") {
          web_reply large;
          large.body = std::string(8u << 20, 'x');
          return large;
        }
        web_reply reply;
        reply.body =
          call.method + " " + call.path + "?" + call.query + "|" + call.body;
        return reply;
      }};
  }
};

/// A raw client, so that malformed requests can be sent.
class client {
public:
  explicit client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(
      ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address)
      == 0);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { ::close(fd_); }

  void send(const std::string& bytes) {
    CHECK(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
          == static_cast<ssize_t>(bytes.size()));
  }

  /// Everything until the server closes, or what came within a minute.
  std::string read_all() {
    std::string result;
    char buffer[4096];
    pollfd entry{fd_, POLLIN, 0};
    while (::poll(&entry, 1, 60'000) == 1) {
      auto got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0)
        break;
      result.append(buffer, static_cast<size_t>(got));
    }
    return result;
  }

  /// Waits for the server to close it. @return whether it did
  bool ends() {
    char byte = 0;
    pollfd entry{fd_, POLLIN, 0};
    return ::poll(&entry, 1, 60'000) == 1 && ::recv(fd_, &byte, 1, 0) <= 0;
  }

  /// Whether the server has neither closed it nor said anything.
  bool waits() const {
    pollfd entry{fd_, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 0;
  }

private:
  int fd_;
};

/// Many connections that have said the same.
class crowd {
public:
  crowd(uint16_t port, size_t size, const std::string& said) {
    for (size_t i = 0; i < size; ++i) {
      members_.push_back(std::make_unique<client>(port));
      if (!said.empty())
        members_.back()->send(said);
    }
  }

  size_t waiting() const {
    return static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [](const auto& member) { return member->waits(); }));
  }

private:
  std::vector<std::unique_ptr<client>> members_;
};

struct server_fixture {
  kit::system_config config{2};
  caf::actor_system system{config};
  portal_actor portal = kit::spawn_stateful<portal_actor, echo_state>(system);
  web::server server{system, portal, {"127.0.0.1", 0, 1024}};

  std::string exchange(const std::string& request) {
    client peer{server.port()};
    peer.send(request);
    return peer.read_all();
  }

  static std::string close_get(const std::string& target) {
    return "GET " + target
           + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  }
};

} // namespace

TEST_CASE_FIXTURE(server_fixture,
                  "a request reaches the portal and comes back") {
  auto text = exchange(close_get("/a%20b?c=d"));
  CHECK(text.starts_with("HTTP/1.1 200 OK"));
  CHECK(text.ends_with("GET /a b?c=d|"));
  CHECK(text.find("X-Content-Type-Options: nosniff") != std::string::npos);
}

TEST_CASE_FIXTURE(server_fixture, "a body within the limit is delivered") {
  auto text = exchange("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                       "Connection: close\r\n\r\nhello");
  CHECK(text.ends_with("POST /x?|hello"));
}

TEST_CASE_FIXTURE(server_fixture, "a body over the limit is refused") {
  auto text =
    exchange("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n"
             + std::string(2000, 'x'));
  CHECK(text.starts_with("HTTP/1.1 413"));
}

TEST_CASE_FIXTURE(server_fixture, "a chunked body over the limit is refused") {
  std::string request = "POST /x HTTP/1.1\r\nHost: h\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 5; ++i)
    request += "190\r\n" + std::string(400, 'x') + "\r\n";
  request += "0\r\n\r\n";
  CHECK(exchange(request).starts_with("HTTP/1.1 413"));
}

TEST_CASE_FIXTURE(server_fixture,
                  "hostile targets are refused before the portal") {
  CHECK(exchange(close_get("/a%00b")).starts_with("HTTP/1.1 400"));
  CHECK(exchange(close_get("/a\\b")).starts_with("HTTP/1.1 400"));
}

TEST_CASE_FIXTURE(server_fixture,
                  "a failing portal gives 500 without details") {
  auto text = exchange(close_get("/fail"));
  CHECK(text.starts_with("HTTP/1.1 500"));
  CHECK(text.find("secret") == std::string::npos);
}

TEST_CASE_FIXTURE(server_fixture, "garbage does not end the server") {
  exchange("\x16\x03\x01 not http at all\r\n\r\n");
  exchange("GET\r\n\r\n");
  CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
}

TEST_CASE_FIXTURE(server_fixture, "what is ambiguous is refused") {
  for (auto fields :
       {"Host: localhost\r\nHost: localhost\r\n",
        "Host: h\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n",
        "Host: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n"}) {
    CAPTURE(fields);
    auto text = exchange("POST /x HTTP/1.1\r\n" + std::string{fields}
                         + "\r\n5\r\nhello\r\n0\r\n\r\n");
    CHECK(text.starts_with("HTTP/1.1 400"));
    CHECK(text.find("POST") == std::string::npos);
  }
}

TEST_CASE_FIXTURE(server_fixture, "HEAD has the headers of GET and no body") {
  auto text = exchange("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(text.starts_with("HTTP/1.1 200"));
  CHECK(text.find("Content-Length: 9\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE_FIXTURE(server_fixture, "a request may come in pieces") {
  client slow{server.port()};
  std::string request = "POST /x HTTP/1.1\r\nHost: h\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n"
                        "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
  for (auto byte : request)
    slow.send({byte});
  CHECK(slow.read_all().ends_with("POST /x?|hello"));
}

TEST_CASE_FIXTURE(server_fixture, "who says nothing holds up nobody") {
  struct row {
    const char* name;
    size_t size;
    std::string said;
  };
  const row rows[] = {
    {"nothing at all", 100, ""},
    {"half a head", 100, "GET /x HTTP/1.1\r\nHost: h\r\n"},
    {"no body", 100,
     "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"},
    {"half a chunk", 100,
     "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    crowd silent{server.port(), row.size, row.said};
    CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
    // The answer did not have to wait until they were cut off.
    CHECK(silent.waiting() == row.size);
  }
}

TEST_CASE_FIXTURE(server_fixture, "a connection is not kept for a next one") {
  client one{server.port()};
  one.send("GET /x HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
  auto text = one.read_all();
  CHECK(text.starts_with("HTTP/1.1 200"));
  CHECK(text.find("Connection: Close") != std::string::npos);
}

TEST_CASE_FIXTURE(server_fixture, "too many that wait put out the oldest") {
  crowd oldest{server.port(), 20, "GET"};
  CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
  CHECK(oldest.waiting() == 20);
  crowd others{server.port(), 300, "GET"};
  CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
  CHECK(oldest.waiting() == 0);
  CHECK(others.waiting() > 200);
  CHECK(others.waiting() < 300);
}

TEST_CASE_FIXTURE(server_fixture, "a taken port is a sentence, not a crash") {
  try {
    web::server second{system, portal, {"127.0.0.1", server.port(), 1024}};
    FAIL("two servers on one port");
  } catch (const std::runtime_error& ex) {
    std::string text = ex.what();
    CHECK(text.find("cannot listen on 127.0.0.1:") != std::string::npos);
    CHECK(text.find("LINK_PORT") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(server_fixture,
                  "stop ends open connections and is idempotent") {
  client idle{server.port()};
  client busy{server.port()};
  busy.send("GET /x HTTP/1.1\r\n");
  // Both are behind the door now.
  CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
  client late{server.port()};
  server.stop();
  server.stop();
  for (auto* open : {&idle, &busy, &late})
    CHECK(open->ends());
}

TEST_CASE_FIXTURE(server_fixture, "a large answer arrives whole") {
  auto text = exchange(close_get("/large"));
  CHECK(text.starts_with("HTTP/1.1 200"));
  CHECK(text.size() > (8u << 20));
  CHECK(text.ends_with("xxx"));
}

TEST_CASE_FIXTURE(server_fixture,
                  "a stop waits a little for what runs, then cuts it off") {
  client stuck{server.port()};
  stuck.send(close_get("/never"));
  client deaf{server.port()};
  deaf.send(close_get("/large"));
  // Both are with a worker now.
  CHECK(exchange(close_get("/ok")).starts_with("HTTP/1.1 200"));
  auto began = std::chrono::steady_clock::now();
  server.stop();
  auto took = std::chrono::steady_clock::now() - began;
  // Twice the grace, and what a busy machine needs.
  CHECK(took < std::chrono::seconds{5});
  CHECK(took >= std::chrono::milliseconds{200});
  CHECK(stuck.read_all().find("200 OK") == std::string::npos);
}

TEST_CASE_FIXTURE(server_fixture,
                  "an address that others reach needs leave, whatever its "
                  "name") {
  web::server_options open{"0.0.0.0", 0, 1024};
  CHECK_THROWS_AS((web::server{system, portal, open}), std::runtime_error);
  open.allow_non_loopback = true;
  web::server reachable{system, portal, open};
  CHECK(reachable.port() != 0);
  web::server by_name{system, portal, {"localhost", 0, 1024}};
  CHECK(by_name.port() != 0);
}
