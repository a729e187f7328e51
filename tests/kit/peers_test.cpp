#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/interfaces/common.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <stdexcept>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// Answers when the story lets it; throws on request.
struct slow_state {
  service_actor::stateful_pointer<slow_state> self;
  std::shared_ptr<std::vector<std::string>> seen;
  kit::promise_guard<caf::ok_atom> open;
  static inline const char* name = "slow";

  explicit slow_state(service_actor::stateful_pointer<slow_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<std::string>> diary) {
    seen = std::move(diary);
  }

  service_actor::behavior_type make_behavior() {
    return {
      [this](atom::status) -> caf::result<status_line> {
        seen->push_back("status");
        if (open.size() > 2)
          throw std::runtime_error("too much");
        return status_line{"slow", "ok", std::to_string(open.size())};
      },
      [this](atom::stop) {
        seen->push_back("stop");
        auto answer = self->make_response_promise<
          caf::typed_response_promise<caf::ok_atom>>();
        open.keep(answer);
        return answer;
      },
    };
  }
};

/// Asks the slow one and writes down what comes of it.
struct asking {
  std::shared_ptr<std::vector<std::string>> outcomes =
    std::make_shared<std::vector<std::string>>();

  void ask(caf::actor_system& system, const service_actor& slow, int times,
           std::chrono::milliseconds limit) {
    system.spawn(
      [slow, times, limit, out = outcomes](caf::event_based_actor* self) {
        for (int i = 0; i < times; ++i)
          kit::bounded_request(self, slow, limit, atom::stop_v)
            .then([out](caf::ok_atom) { out->push_back("ok"); },
                  [out](caf::error& reason) {
                    out->push_back(to_string(code_of(reason)));
                  });
      });
  }
};

struct kit_world : test::node_fixture {
  std::shared_ptr<std::vector<std::string>> seen =
    std::make_shared<std::vector<std::string>>();
  service_actor slow =
    kit::spawn_stateful<service_actor, slow_state>(*system, seen);
  asking asker;

  ~kit_world() {
    // A promise that was never answered holds both its ends.
    self->send_exit(slow, caf::exit_reason::kill);
    settle();
  }
};

using lines = std::vector<std::string>;

} // namespace

TEST_CASE_FIXTURE(kit_world, "promises that are left are answered at the end") {
  asker.ask(*system, slow, 2, 1h);
  settle();
  CHECK(asker.outcomes->empty());
  self->send_exit(slow, caf::exit_reason::user_shutdown);
  settle();
  CHECK(*asker.outcomes == lines{"shutting_down", "shutting_down"});
}

TEST_CASE_FIXTURE(kit_world, "a request that is not answered times out") {
  asker.ask(*system, slow, 1, 2s);
  settle();
  advance(1999ms);
  CHECK(asker.outcomes->empty());
  advance(1ms);
  CHECK(*asker.outcomes == lines{"timeout"});
}

TEST_CASE_FIXTURE(kit_world, "an urgent message overtakes what waits") {
  auto target = slow;
  system->spawn([target](caf::event_based_actor* me) {
    auto ignore = [](const status_line&) {
    };
    auto fine = [](caf::ok_atom) {
    };
    auto nothing = [](caf::error&) {
    };
    kit::bounded_request(me, target, 1h, atom::status_v).then(ignore, nothing);
    kit::bounded_request(me, target, 1h, atom::status_v).then(ignore, nothing);
    kit::urgent_request(me, target, 1h, atom::stop_v).then(fine, nothing);
  });
  settle();
  CHECK(*seen == lines{"stop", "status", "status"});
}

TEST_CASE_FIXTURE(kit_world, "what no handler knows harms nobody") {
  auto dynamic = caf::actor_cast<caf::actor>(slow);
  caf::anon_send(dynamic, std::string{"who are you?"});
  settle();
  auto refused = false;
  auto pending = self->request(dynamic, caf::infinite, uint64_t{7});
  settle();
  pending.receive([] { FAIL("answered"); },
                  [&](caf::error&) { refused = true; });
  CHECK(refused);
  ask(
    slow, [](const status_line& line) { CHECK(line.state == "ok"); },
    [](const caf::error&) { FAIL("it died"); }, atom::status_v);
}

TEST_CASE_FIXTURE(kit_world,
                  "a handler that throws ends its actor as a fault") {
  asker.ask(*system, slow, 3, 1h);
  settle();
  errc code{};
  ask(
    slow, [](const status_line&) { FAIL("answered"); },
    [&](const caf::error& reason) { code = code_of(reason); }, atom::status_v);
  CHECK(code != errc{});
  // And whoever waited for it learns of its end.
  CHECK(*asker.outcomes
        == lines{"shutting_down", "shutting_down", "shutting_down"});
}

TEST_CASE("log lines are one line each, levelled and labelled") {
  lines written;
  kit::log::to_sink([&](kit::log::level, std::string_view line) {
    written.emplace_back(line);
  });
  kit::log::set_level(kit::log::level::warning);
  kit::log::info("part", "dropped");
  kit::log::warning("part", "two\nlines\r\nin one");
  kit::log::error("part", "bad");
  kit::log::set_level(kit::log::level::off);
  kit::log::to_stderr();
  REQUIRE(written.size() == 2);
  CHECK(written[0].find("warning part: two") != std::string::npos);
  CHECK(written[0].find('\n') == std::string::npos);
  CHECK(written[0].find('\r') == std::string::npos);
  CHECK(written[1].ends_with("error part: bad"));
}
