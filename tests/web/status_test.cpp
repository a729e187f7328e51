#include "tests/support/node_fixture.hpp"
#include "web/portals/status_core.hpp"
#include "web/portals/status_portal.hpp"

#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;

namespace {

web_call request(std::string method, std::string path, std::string host,
                 std::string authorization = {}) {
  web_call call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.port = 8181;
  call.headers.push_back({"host", std::move(host), false});
  if (!authorization.empty())
    call.headers.push_back({"Authorization", std::move(authorization), true});
  return call;
}

/// A node that answers what the test wants, or not at all.
struct scripted_node_state {
  node_actor::stateful_pointer<scripted_node_state> self;
  health_report report;
  static inline const char* name = "scripted_node";
  explicit scripted_node_state(
    node_actor::stateful_pointer<scripted_node_state> me)
    : self(me) {}
  void init(health_report answer) { report = std::move(answer); }
  node_actor::behavior_type make_behavior() {
    return {[this](atom::health) { return report; },
            [](atom::degrade, const degraded_part&) {},
            [](atom::shutdown, const std::string&) {},
            [](atom::status) {
              return status_line{"node", "ok", ""};
            }};
  }
};

struct scripted_metrics_state {
  metrics_actor::stateful_pointer<scripted_metrics_state> self;
  static inline const char* name = "scripted_metrics";
  explicit scripted_metrics_state(
    metrics_actor::stateful_pointer<scripted_metrics_state> me)
    : self(me) {}
  metrics_actor::behavior_type make_behavior() {
    return {[](atom::add, const metric_sample&) {},
            [](atom::observe, const metric_sample&) {},
            [](atom::gauge, const metric_sample&) {},
            [](atom::scrape) {
              return std::string{"bureau_x 1\n"};
            }};
  }
};

struct portal_fixture : test::node_fixture {
  health_report report{true, {}};
  node_actor node = kit::spawn_stateful<node_actor, scripted_node_state>(
    *system, health_report{true, {{"web", "port taken"}}});
  metrics_actor metrics =
    kit::spawn_stateful<metrics_actor, scripted_metrics_state>(*system);
  portal_actor portal =
    web::spawn_status_portal(*system, node, metrics, web::exposure{});

  web_reply get(const std::string& path) {
    web_reply answer;
    ask(
      portal, [&](const web_reply& reply) { answer = reply; },
      [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::h_call_v,
      request("GET", path, "localhost:8181"));
    return answer;
  }
};

} // namespace

TEST_CASE("who may see what") {
  struct row {
    const char* name;
    web_call call;
    web::exposure reach;
    uint32_t refusal;
  };
  web::exposure local;
  web::exposure open{"bot.example", ""};
  web::exposure guarded{"bot.example", "t0k"};
  const row rows[] = {
    {"local health", request("GET", "/health", "127.0.0.1:8181"), local, 0},
    {"local metrics", request("GET", "/metrics", "[::1]:8181"), local, 0},
    {"local ready", request("GET", "/ready", "localhost:8181"), local, 0},
    {"foreign name", request("GET", "/health", "evil.example:8181"), local,
     421},
    {"other port", request("GET", "/health", "localhost:80"), local, 421},
    {"no host", request("GET", "/health", ""), local, 421},
    {"without a body", request("HEAD", "/health", "localhost:8181"), local, 0},
    {"HEAD of an unknown path", request("HEAD", "/x", "localhost:8181"), local,
     404},
    {"another loopback", request("GET", "/health", "127.1.2.3:8181"), local, 0},
    {"wrong method", request("POST", "/health", "localhost:8181"), local, 404},
    {"trailing slash", request("GET", "/health/", "localhost:8181"), local,
     404},
    {"unknown path", request("GET", "/x", "localhost:8181"), local, 404},
    {"public health", request("GET", "/health", "bot.example"), open, 0},
    {"loopback health", request("GET", "/health", "127.0.0.1:8181"), open, 0},
    {"loopback metrics", request("GET", "/metrics", "127.0.0.1:8181"), open,
     421},
    {"no token set", request("GET", "/metrics", "bot.example"), open, 404},
    {"no bearer", request("GET", "/metrics", "bot.example"), guarded, 401},
    {"wrong bearer", request("GET", "/ready", "bot.example", "Bearer x"),
     guarded, 401},
    {"bearer", request("GET", "/ready", "bot.example", "Bearer t0k"), guarded,
     0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(web::decide(row.call, row.reach).refusal == row.refusal);
  }
}

TEST_CASE_FIXTURE(portal_fixture, "health says ok and nothing else") {
  auto reply = get("/health");
  CHECK(reply.status == 200);
  CHECK(reply.body == R"({"ok":true})");
}

TEST_CASE_FIXTURE(portal_fixture, "readiness names what is degraded") {
  auto reply = get("/ready");
  CHECK(reply.status == 200);
  CHECK(
    reply.body
    == R"({"ready":true,"degraded":[{"component":"web","reason":"port taken"}]})");
}

TEST_CASE_FIXTURE(portal_fixture, "a dead node is not ready") {
  self->send_exit(node, caf::exit_reason::user_shutdown);
  settle();
  auto reply = get("/ready");
  CHECK(reply.status == 503);
  CHECK(reply.body.find("\"ready\":false") != std::string::npos);
}

TEST_CASE_FIXTURE(portal_fixture, "metrics come from the metrics actor") {
  auto reply = get("/metrics");
  CHECK(reply.status == 200);
  CHECK(reply.body == "bureau_x 1\n");
  self->send_exit(metrics, caf::exit_reason::user_shutdown);
  settle();
  CHECK(get("/metrics").status == 503);
}
