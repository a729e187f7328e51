#include "tests/support/node_fixture.hpp"

#include "actors/kit/log.hpp"

#include <algorithm>
#include <cstdlib>

namespace bureau::test {

namespace {

kit::system_config& testing(kit::system_config& config) {
  config.set("scheduler.policy", caf::atom("testing"));
  return config;
}

} // namespace

node_fixture::node_fixture()
  : config(2), system(std::make_unique<caf::actor_system>(testing(config))),
    self_holder(std::make_unique<caf::scoped_actor>(*system, true)),
    self(*self_holder),
    scheduler(
      dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler())),
    chance(std::make_shared<seeded_entropy>()) {
  // Stories provoke warnings on purpose; BUREAU_TEST_LOG=1 shows them.
  if (std::getenv("BUREAU_TEST_LOG") == nullptr)
    kit::log::set_level(kit::log::level::off);
  began_ = scheduler.clock().now();
  wall = std::make_shared<test_wall_clock>([this] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
             scheduler.clock().now() - began_)
      .count();
  });
}

node_fixture::~node_fixture() {
  settle();
  self_holder.reset();
  scheduler.clock().cancel_all();
  settle();
}

void node_fixture::settle() {
  while (scheduler.try_run_once())
    ;
}

void node_fixture::advance(std::chrono::milliseconds span) {
  settle();
  auto end = scheduler.clock().now() + span;
  for (;;) {
    auto& pending = scheduler.clock().schedule();
    auto now = scheduler.clock().now();
    auto next = end;
    if (!pending.empty())
      next = std::min(end, std::max(now, pending.begin()->first));
    scheduler.clock().advance_time(next - now);
    settle();
    if (next >= end && (pending.empty() || pending.begin()->first > end))
      return;
  }
}

} // namespace bureau::test
