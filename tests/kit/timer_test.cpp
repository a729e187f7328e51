#include "actors/kit/generation_timer.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/interfaces/common.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

struct ticker_state {
  status_actor::stateful_pointer<ticker_state> self;
  std::shared_ptr<int> fired;
  kit::generation_timer timer;
  static inline const char* name = "ticker";

  explicit ticker_state(status_actor::stateful_pointer<ticker_state> me)
    : self(me) {}

  void init(std::shared_ptr<int> counter) { fired = std::move(counter); }

  void arm(std::chrono::milliseconds delay) {
    timer.arm(self, delay, [this] { ++*fired; });
  }

  status_actor::behavior_type make_behavior() {
    arm(10s);
    return {[this](atom::status) {
      arm(10s);
      return status_line{"ticker", "ok", ""};
    }};
  }
};

} // namespace

TEST_CASE_FIXTURE(test::node_fixture,
                  "a timer fires once, at its time and not before") {
  auto fired = std::make_shared<int>(0);
  auto ticker = kit::spawn_stateful<status_actor, ticker_state>(*system, fired);
  advance(9999ms);
  CHECK(*fired == 0);
  advance(1ms);
  CHECK(*fired == 1);
  advance(1min);
  CHECK(*fired == 1);
}

TEST_CASE_FIXTURE(test::node_fixture,
                  "arming a timer again moves its deadline") {
  auto fired = std::make_shared<int>(0);
  auto ticker = kit::spawn_stateful<status_actor, ticker_state>(*system, fired);
  advance(8s);
  ask(
    ticker, [](const status_line&) {},
    [](const caf::error&) { FAIL("no status"); }, atom::status_v);
  advance(9s);
  CHECK(*fired == 0);
  advance(1s);
  CHECK(*fired == 1);
}

TEST_CASE_FIXTURE(test::node_fixture,
                  "a pending timer does not keep a stopped actor") {
  auto fired = std::make_shared<int>(0);
  auto ticker = kit::spawn_stateful<status_actor, ticker_state>(*system, fired);
  settle();
  self->send_exit(ticker, caf::exit_reason::user_shutdown);
  advance(20s);
  CHECK(*fired == 0);
  CHECK(fired.use_count() == 1);
}
