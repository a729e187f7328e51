#include "actors/io/http_client.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/io/loopback_server.hpp"
#include "tests/io/real_system.hpp"

#include <stdlib.h>

#include <future>
#include <map>

using namespace bureau;
using test::connection;
using test::loopback_server;

namespace {

constexpr auto stream_head = "HTTP/1.1 200 OK\r\nContent-Type: "
                             "text/event-stream\r\nTransfer-Encoding: "
                             "chunked\r\n\r\n";

struct http_world : test::real_system {
  explicit http_world(io::http_options options = {})
    : service(io::start_http(system, std::move(options), {})) {}

  ~http_world() {
    result_of<caf::ok_atom>(service.client, atom::stop_v);
    service.loop->join();
  }

  http_request request(std::string url) {
    http_request result;
    result.id = ++last_id;
    result.url = std::move(url);
    result.reason = "test";
    return result;
  }

  /// Starts a stream whose events come to this test.
  uint64_t start(const http_request& what) {
    auto started = result_of<caf::ok_atom>(service.client, atom::start_v, what,
                                           as_sink<http_sink_actor>());
    REQUIRE(started);
    return what.id;
  }

  void ack(uint64_t id, uint64_t bytes) {
    self->send(service.client, atom::ack_v, http_ack{id, bytes});
  }

  caf::expected<http_response> fetch(const http_request& what) {
    return result_of<http_response>(service.client, atom::fetch_v, what);
  }

  http_done next_done() { return next<atom::h_done, http_done>(); }

  io::http_service service;
  uint64_t last_id = 0;
};

/// An actor that takes a stream and forgets it.
struct idle_sink_state {
  using pointer = http_sink_actor::stateful_pointer<idle_sink_state>;
  static inline const char* name = "idle_sink";
  explicit idle_sink_state(pointer) {}
  http_sink_actor::behavior_type make_behavior() {
    return {[](atom::h_head, const http_head&) {},
            [](atom::h_chunk, const http_chunk&) {},
            [](atom::h_done, const http_done&) {
            }};
  }
};

} // namespace

TEST_CASE("fetch sends what was asked and returns the whole response") {
  http_world world;
  std::promise<std::string> seen;
  loopback_server server{[&](connection& peer) {
    seen.set_value(peer.read_request());
    peer.answer("HTTP/1.1 418 I'm a teapot", "X-Kind: a\r\nx-kind: b\r\n",
                "short and stout");
  }};
  auto request = world.request(server.url("/tea?x=1"));
  request.method = "POST";
  request.headers = {{"Authorization", "Bearer hush", true},
                     {"X-Empty", "", false}};
  request.body = "{}";
  auto response = world.fetch(request);
  REQUIRE(response);
  CHECK(response->status == 418);
  CHECK(response->body == "short and stout");
  CHECK(header_value(response->headers, "X-KIND") == "a");
  auto sent = seen.get_future().get();
  CHECK(sent.starts_with("POST /tea?x=1 HTTP/1.1\r\n"));
  CHECK(sent.find("Authorization: Bearer hush\r\n") != std::string::npos);
  CHECK(sent.find("X-Empty:") != std::string::npos);
  CHECK(sent.find("User-Agent: bureau/") != std::string::npos);
  CHECK(sent.find("Content-Type") == std::string::npos);
  CHECK(sent.find("Expect") == std::string::npos);
  CHECK(sent.ends_with("\r\n\r\n{}"));
}

TEST_CASE("a stream comes as one head, gapless chunks and one end") {
  http_world world;
  loopback_server server{[](connection& peer) {
    peer.read_request();
    peer.write(stream_head);
    for (auto event : {"data: \xc3", "\xa4\n\n", "data: 2\n\n"})
      peer.write_chunk(event);
    peer.write_chunk("");
  }};
  auto id = world.start(world.request(server.url()));
  auto head = world.next<atom::h_head, http_head>();
  CHECK(head.id == id);
  CHECK(head.status == 200);
  CHECK(head.http_version == "1.1");
  CHECK(header_value(head.headers, "content-type") == "text/event-stream");
  std::string body;
  uint64_t seq = 0;
  while (body.size() < 19) {
    auto chunk = world.next<atom::h_chunk, http_chunk>();
    CHECK(chunk.seq == seq++);
    body += chunk.bytes;
    world.ack(id, chunk.bytes.size());
  }
  CHECK(body == "data: \xc3\xa4\n\ndata: 2\n\n");
  auto done = world.next_done();
  CHECK(done.error == http_error::none);
  CHECK(done.bytes_in == 19);
  CHECK(done.ms_total >= done.ms_first_byte);
}

TEST_CASE("a sink that does not acknowledge pauses its stream, only that") {
  http_world world;
  constexpr size_t total = 3u << 20;
  loopback_server server{[](connection& peer) {
    auto request = peer.read_request();
    if (request.starts_with("GET /other"))
      peer.answer("HTTP/1.1 200 OK", "", "fine");
    else
      peer.answer("HTTP/1.1 200 OK", "", std::string(total, 'x'));
  }};
  auto id = world.start(world.request(server.url("/big")));
  size_t got = 0;
  auto take_waiting = [&] {
    auto before = got;
    // The loop lives, and has had every reason to send more.
    for (int i = 0; i < 3; ++i)
      CHECK(world.fetch(world.request(server.url("/other"))));
    while (auto chunk = world.poll<atom::h_chunk, http_chunk>())
      got += chunk->bytes.size();
    return got - before;
  };
  while (got < limits::stream_window_bytes)
    got += world.next<atom::h_chunk, http_chunk>().bytes.size();
  take_waiting();
  CHECK(got < limits::stream_window_bytes + limits::stream_chunk_bytes);
  // Half the window is not enough to go on; a byte more is.
  world.ack(id, got - limits::stream_resume_bytes - 1);
  CHECK(take_waiting() == 0);
  world.ack(id, 1);
  auto unacked = limits::stream_resume_bytes;
  while (got < total) {
    auto chunk = world.next<atom::h_chunk, http_chunk>();
    got += chunk.bytes.size();
    unacked += chunk.bytes.size();
    CHECK(chunk.bytes.size() <= limits::stream_chunk_bytes);
    CHECK(unacked < limits::stream_window_bytes + limits::stream_chunk_bytes);
    if (unacked > limits::stream_window_bytes / 2) {
      world.ack(id, unacked);
      unacked = 0;
    }
  }
  auto done = world.next_done();
  CHECK(done.error == http_error::none);
  CHECK(done.bytes_in == total);
}

TEST_CASE("a cancel ends the stream and its connection") {
  http_world world;
  std::promise<bool> peer_left;
  loopback_server server{[&](connection& peer) {
    peer.read_request();
    peer.write(stream_head);
    peer.write_chunk("data: 1\n\n");
    peer_left.set_value(!peer.wait_for_bytes());
  }};
  auto id = world.start(world.request(server.url()));
  world.next<atom::h_chunk, http_chunk>();
  kit::urgent_send(world.self.ptr(), world.service.client, atom::cancel_v,
                   http_cancel{id});
  kit::urgent_send(world.self.ptr(), world.service.client, atom::cancel_v,
                   http_cancel{id});
  CHECK(world.next_done().error == http_error::cancelled);
  CHECK(peer_left.get_future().get());
  CHECK(world
          .fetch(world.request("http://127.0.0.1:"
                               + std::to_string(test::closed_port())))
          .error());
  CHECK_FALSE((world.poll<atom::h_done, http_done>()));
}

TEST_CASE("a cancel that overtakes its start is remembered") {
  http_world world;
  auto request = world.request("http://127.0.0.1:9/");
  kit::urgent_send(world.self.ptr(), world.service.client, atom::cancel_v,
                   http_cancel{request.id});
  auto started =
    world.result_of<caf::ok_atom>(world.service.client, atom::start_v, request,
                                  world.as_sink<http_sink_actor>());
  CHECK(code_of(started.error()) == errc::aborted);
}

TEST_CASE("a broken transfer says how it broke and tells no secret") {
  http_world world;
  struct row {
    const char* name;
    std::function<void(connection&)> serve;
    http_error error;
  };
  const row rows[] = {
    {"orderly close before a response", [](connection&) {}, http_error::reset},
    {"reset before a response", [](connection& peer) { peer.reset(); },
     http_error::reset},
    {"reset in the body",
     [](connection& peer) {
       peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
       peer.reset();
     },
     http_error::reset},
    {"short body",
     [](connection& peer) {
       peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
     },
     http_error::truncated},
    {"chunked body without an end",
     [](connection& peer) {
       peer.write(stream_head);
       peer.write_chunk("data: 1\n\n");
     },
     http_error::truncated},
    {"not HTTP", [](connection& peer) { peer.write("hello, world\r\n\r\n"); },
     http_error::protocol},
    {"endless headers",
     [](connection& peer) {
       std::string line = "X-Fill: " + std::string(8000, 'f') + "\r\n";
       auto alive = peer.write("HTTP/1.1 200 OK\r\n");
       while (alive)
         alive = peer.write(line);
     },
     http_error::protocol},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    loopback_server server{[&](connection& peer) {
      peer.read_request();
      row.serve(peer);
    }};
    auto request = world.request(server.url("/bot-token-path?q=token"));
    request.headers = {{"Authorization", "Bearer secret-value", true}};
    world.start(request);
    auto done = world.next_done();
    CHECK(to_string(done.error) == to_string(row.error));
    CHECK_FALSE(done.detail.empty());
    CHECK(done.detail.find("secret-value") == std::string::npos);
    CHECK(done.detail.find("token") == std::string::npos);
    CHECK(done.detail.find("127.0.0.1") != std::string::npos);
  }
}

TEST_CASE("nobody listening is a connect error, plain text a TLS error") {
  http_world world;
  auto port = std::to_string(test::closed_port());
  world.start(world.request("http://127.0.0.1:" + port + "/"));
  CHECK(world.next_done().error == http_error::connect);
  loopback_server server{[](connection& peer) {
    peer.answer("HTTP/1.1 200 OK", "", "");
  }};
  world.start(
    world.request("https://127.0.0.1:" + std::to_string(server.port()) + "/"));
  CHECK(world.next_done().error == http_error::tls);
}

TEST_CASE("a server that never answers the connection times out") {
  http_world world;
  // The kernel accepts the connection, nobody answers the handshake.
  test::silent_listener nobody;
  auto request = world.request("https" + nobody.url().substr(4));
  request.connect_timeout_ms = 50;
  world.start(request);
  CHECK(world.next_done().error == http_error::timeout);
}

TEST_CASE("two hundred streams run beside each other") {
  http_world world;
  constexpr size_t streams = 200;
  constexpr size_t events = 20;
  loopback_server server{[](connection& peer) {
    peer.read_request();
    peer.write(stream_head);
    for (size_t i = 0; i < events; ++i)
      peer.write_chunk("data: {\"delta\":\"0123456789\"}\n\n");
    peer.write_chunk("");
  }};
  for (size_t i = 0; i < streams; ++i)
    world.self->send(world.service.client, atom::start_v,
                     world.request(server.url()),
                     world.as_sink<http_sink_actor>());
  std::map<uint64_t, size_t> bytes;
  std::map<uint64_t, uint64_t> next_seq;
  size_t heads = 0;
  size_t ends = 0;
  while (ends < streams) {
    world.self->receive([&](atom::h_head, const http_head&) { ++heads; },
                        [&](atom::h_chunk, const http_chunk& chunk) {
                          CHECK(chunk.seq == next_seq[chunk.id]++);
                          bytes[chunk.id] += chunk.bytes.size();
                          world.ack(chunk.id, chunk.bytes.size());
                        },
                        [&](atom::h_done, const http_done& done) {
                          CHECK(done.error == http_error::none);
                          CHECK(done.bytes_in == bytes[done.id]);
                          ++ends;
                        },
                        caf::after(test::patience) >>
                          [] { FAIL("the streams have stopped"); });
  }
  CHECK(heads == streams);
  for (const auto& entry : bytes)
    CHECK(entry.second == events * 30);
}

TEST_CASE("a body of 20 MB passes whole") {
  http_world world;
  std::string body;
  for (uint32_t i = 0; body.size() < 20'000'000; ++i)
    body += std::to_string(i * 2654435761u) + ",";
  loopback_server server{[&](connection& peer) {
    peer.read_request();
    peer.answer("HTTP/1.1 200 OK", "", body);
  }};
  auto id = world.start(world.request(server.url()));
  std::string got;
  while (got.size() < body.size()) {
    auto chunk = world.next<atom::h_chunk, http_chunk>();
    got += chunk.bytes;
    world.ack(id, chunk.bytes.size());
  }
  CHECK(world.next_done().error == http_error::none);
  CHECK((got == body));
}

TEST_CASE("a request body of 8 MB is sent whole") {
  http_world world;
  std::string body(8u << 20, 'b');
  loopback_server server{[&](connection& peer) {
    auto request = peer.read_request();
    auto same = request.ends_with(body);
    peer.answer("HTTP/1.1 200 OK", "", same ? "same" : "different");
  }};
  auto request = world.request(server.url());
  request.method = "PUT";
  request.body = body;
  auto response = world.fetch(request);
  REQUIRE(response);
  CHECK(response->body == "same");
}

TEST_CASE("form parts travel as multipart/form-data") {
  http_world world;
  std::promise<std::string> seen;
  loopback_server server{[&](connection& peer) {
    seen.set_value(peer.read_request());
    peer.answer("HTTP/1.1 200 OK", "", "");
  }};
  auto request = world.request(server.url("/upload"));
  request.method = "POST";
  std::string binary{"\0\r\n--\xff", 6};
  request.parts = {{"chat_id", "", "", "42"},
                   {"document", "a \"b\".bin", "application/x-test", binary}};
  CHECK(world.fetch(request));
  auto sent = seen.get_future().get();
  CHECK(sent.find("Content-Type: multipart/form-data; boundary=")
        != std::string::npos);
  CHECK(sent.find("name=\"chat_id\"\r\n\r\n42\r\n") != std::string::npos);
  CHECK(sent.find("filename=\"a %22b%22.bin\"") != std::string::npos);
  CHECK(sent.find("Content-Type: application/x-test\r\n\r\n" + binary)
        != std::string::npos);
}

TEST_CASE("a fetch keeps to its bound, a stream to its own") {
  http_world world;
  loopback_server server{[](connection& peer) {
    peer.read_request();
    peer.answer("HTTP/1.1 200 OK", "",
                std::string(limits::http_fetch_bytes + 1, 'x'));
  }};
  auto answer = world.fetch(world.request(server.url()));
  CHECK(code_of(answer.error()) == errc::too_large);
  auto larger = world.request(server.url());
  larger.max_bytes = limits::http_fetch_bytes + 1;
  CHECK(world.fetch(larger));
  auto stream = world.request(server.url());
  stream.max_bytes = 100;
  world.start(stream);
  CHECK(world.next_done().error == http_error::too_large);
}

TEST_CASE("a response without a body has a head and an end") {
  http_world world;
  loopback_server server{[](connection& peer) {
    while (!peer.read_request().empty())
      peer.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                 "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n");
  }};
  for (auto method : {"DELETE", "HEAD", "GET"}) {
    CAPTURE(method);
    auto request = world.request(server.url());
    request.method = method;
    world.start(request);
    auto head = world.next<atom::h_head, http_head>();
    CHECK(head.status == 204);
    CHECK(head.headers.size() == 1);
    CHECK(world.next_done().error == http_error::none);
  }
}

TEST_CASE("redirects are followed only when they are allowed") {
  http_world world;
  loopback_server server{[](connection& peer) {
    for (;;) {
      auto request = peer.read_request();
      if (request.empty())
        return;
      if (request.starts_with("GET /new"))
        peer.answer("HTTP/1.1 200 OK", "", "here");
      else
        peer.answer("HTTP/1.1 302 Found", "Location: /new\r\n", "moved");
    }
  }};
  auto plain = world.fetch(world.request(server.url("/old")));
  REQUIRE(plain);
  CHECK(plain->status == 302);
  auto request = world.request(server.url("/old"));
  request.redirects = 1;
  world.start(request);
  CHECK(world.next<atom::h_head, http_head>().status == 200);
  CHECK(world.next<atom::h_chunk, http_chunk>().bytes == "here");
  CHECK(world.next_done().error == http_error::none);
  CHECK_FALSE((world.poll<atom::h_head, http_head>()));
}

TEST_CASE("proxies come from the options and never from the environment") {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  loopback_server server{[](connection& peer) {
    auto request = peer.read_request();
    peer.answer("HTTP/1.1 200 OK", "", request.substr(0, request.find("\r\n")));
  }};
  {
    http_world world;
    auto direct = world.fetch(world.request(server.url("/direct")));
    REQUIRE(direct);
    CHECK(direct->body == "GET /direct HTTP/1.1");
  }
  {
    http_world world{{server.url(""), "", "direct.example", ""}};
    auto away = world.fetch(world.request("http://far.example/x"));
    REQUIRE(away);
    CHECK(away->body == "GET http://far.example/x HTTP/1.1");
    auto near = world.fetch(world.request(server.url("/near")));
    REQUIRE(near);
    CHECK(near->body == "GET /near HTTP/1.1");
  }
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
}

TEST_CASE("a sink that ends takes its stream along") {
  http_world world;
  std::promise<void> streaming;
  std::promise<bool> peer_left;
  loopback_server server{[&](connection& peer) {
    peer.read_request();
    peer.write(stream_head);
    streaming.set_value();
    peer_left.set_value(!peer.wait_for_bytes());
  }};
  auto sink =
    kit::spawn_stateful<http_sink_actor, idle_sink_state>(world.system);
  CHECK(world.result_of<caf::ok_atom>(world.service.client, atom::start_v,
                                      world.request(server.url()), sink));
  streaming.get_future().get();
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  sink = nullptr;
  CHECK(peer_left.get_future().get());
}

TEST_CASE("starts beyond the bounds are refused, a stop ends all the others") {
  http_world world;
  test::silent_listener nowhere;
  auto sink = world.as_sink<http_sink_actor>();
  constexpr auto most = limits::http_active + limits::http_waiting;
  for (size_t i = 0; i < most; ++i)
    world.self->send(world.service.client, atom::start_v,
                     world.request(nowhere.url()), sink);
  size_t accepted = 0;
  while (accepted < most)
    world.self->receive([&](caf::ok_atom) { ++accepted; },
                        caf::after(test::patience) >>
                          [] { FAIL("a start was not answered"); });
  auto refused = world.result_of<caf::ok_atom>(
    world.service.client, atom::start_v, world.request(nowhere.url()), sink);
  CHECK(code_of(refused.error()) == errc::queue_full);
  auto line =
    world.result_of<status_line>(world.service.client, atom::status_v);
  REQUIRE(line);
  CHECK(line->detail == "6144 transfers, test 6144");
  CHECK(world.result_of<caf::ok_atom>(world.service.client, atom::stop_v));
  for (size_t i = 0; i < most; ++i)
    CHECK(world.next_done().error == http_error::shutting_down);
  auto late = world.fetch(world.request(nowhere.url()));
  CHECK(code_of(late.error()) == errc::shutting_down);
}

TEST_CASE("a fetch that waits is answered when the client stops") {
  http_world world;
  test::silent_listener nowhere;
  auto pending =
    world.self->request(world.service.client, test::patience, atom::fetch_v,
                        world.request(nowhere.url()));
  CHECK(world.result_of<caf::ok_atom>(world.service.client, atom::stop_v));
  auto code = errc::none;
  pending.receive([](const http_response&) {},
                  [&](const caf::error& reason) { code = code_of(reason); });
  CHECK(code == errc::shutting_down);
}
