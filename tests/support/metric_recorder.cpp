#include "tests/support/metric_recorder.hpp"

#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::test {

namespace {

struct metric_recorder_state {
  metrics_actor::stateful_pointer<metric_recorder_state> self;
  std::shared_ptr<std::vector<metric_sample>> seen;
  static inline const char* name = "metric_recorder";

  explicit metric_recorder_state(
    metrics_actor::stateful_pointer<metric_recorder_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<metric_sample>> target) {
    seen = std::move(target);
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& x) { seen->push_back(x); },
      [this](atom::observe, const metric_sample& x) { seen->push_back(x); },
      [this](atom::gauge, const metric_sample& x) { seen->push_back(x); },
      [](atom::scrape) { return std::string{}; },
    };
  }
};

} // namespace

metrics_actor spawn_metric_recorder(
  caf::actor_system& system, std::shared_ptr<std::vector<metric_sample>> seen) {
  return kit::spawn_stateful<metrics_actor, metric_recorder_state>(
    system, std::move(seen));
}

} // namespace bureau::test
