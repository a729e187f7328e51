#include "tests/harness/harness_world.hpp"

#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"

namespace bureau::test {

namespace {

struct listener_state {
  harness_listener_actor::stateful_pointer<listener_state> self;
  std::shared_ptr<std::vector<harness_event>> events;
  static inline const char* name = "listener";

  explicit listener_state(
    harness_listener_actor::stateful_pointer<listener_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<harness_event>> target) {
    events = std::move(target);
  }

  harness_listener_actor::behavior_type make_behavior() {
    return {[this](atom::event, const harness_event& event) {
      events->push_back(event);
    }};
  }
};

struct metrics_twin_state {
  metrics_actor::stateful_pointer<metrics_twin_state> self;
  std::shared_ptr<std::vector<metric_sample>> samples;
  static inline const char* name = "metrics_twin";

  explicit metrics_twin_state(
    metrics_actor::stateful_pointer<metrics_twin_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<metric_sample>> target) {
    samples = std::move(target);
  }

  metrics_actor::behavior_type make_behavior() {
    auto keep = [this](const metric_sample& sample) {
      samples->push_back(sample);
    };
    return {
      [keep](atom::add, const metric_sample& sample) { keep(sample); },
      [keep](atom::observe, const metric_sample& sample) { keep(sample); },
      [keep](atom::gauge, const metric_sample& sample) { keep(sample); },
      [](atom::scrape) { return std::string{}; },
    };
  }
};

struct keeper_state {
  continuation_keeper_actor::stateful_pointer<keeper_state> self;
  static inline const char* name = "keeper";
  explicit keeper_state(
    continuation_keeper_actor::stateful_pointer<keeper_state> me)
    : self(me) {}
  void
  init(std::shared_ptr<std::vector<contracts::continuation_context>> into) {
    kept = std::move(into);
  }
  continuation_keeper_actor::behavior_type make_behavior() {
    return {
      [this](atom::settled, const contracts::continuation_context& context) {
        kept->push_back(context);
      }};
  }
  std::shared_ptr<std::vector<contracts::continuation_context>> kept;
};

} // namespace

harness_world::harness_world()
  : session(std::make_shared<memory_session>()), model(wall),
    models(model.factory()),
    events(std::make_shared<std::vector<harness_event>>()),
    samples(std::make_shared<std::vector<metric_sample>>()),
    kept_contexts(
      std::make_shared<std::vector<contracts::continuation_context>>()) {
  store = memory_store(*system, session);
  listener = kit::spawn_stateful<harness_listener_actor, listener_state>(
    *system, events);
  metrics =
    kit::spawn_stateful<metrics_actor, metrics_twin_state>(*system, samples);
  keeper = kit::spawn_stateful<continuation_keeper_actor, keeper_state>(
    *system, kept_contexts);
}

harness_world::~harness_world() {
  self->send_exit(subject, caf::exit_reason::user_shutdown);
  // An unanswered promise keeps its actor: deaf tools must be told.
  for (auto& owner : owners)
    self->send_exit(owner, caf::exit_reason::kill);
  settle();
}

void harness_world::start() {
  harness::harness_services services;
  services.models = [this](caf::actor_system& where, const model_request& what,
                           const model_sink_actor& sink) {
    return models(where, what, sink);
  };
  services.clock = wall;
  services.chance = std::make_shared<no_chance>();
  services.metrics = metrics;
  services.continuations = keeper;
  harness_args args;
  args.place.address = {platform_id::console, "1"};
  args.place.key = "v1-console-1";
  args.session_key = "1";
  args.store = store;
  args.listener = listener;
  subject = harness::make_harness_factory(services)(*system, args);
  settle();
}

prompt_request harness_world::request(std::string text) {
  prompt_request result;
  result.run = "run-1";
  result.message_id = "m1";
  result.text = std::move(text);
  result.system_prompt = "You are a test bot.";
  result.choice = scripted_model::choice();
  result.tools = tools.bind(*system);
  if (!result.tools.empty())
    owners.push_back(result.tools.front().owner);
  result.platform = "console";
  return result;
}

std::shared_ptr<prompt_end> harness_world::prompt(prompt_request what) {
  auto end = std::make_shared<prompt_end>();
  system->spawn([end, target = subject,
                 what = std::move(what)](caf::event_based_actor* client) {
    client->request(target, caf::infinite, atom::prompt_v, what)
      .then([end](const prompt_outcome& outcome) { end->outcome = outcome; },
            [end](const caf::error& reason) { end->error = reason; });
  });
  settle();
  return end;
}

void harness_world::abort() {
  kit::urgent_send(&*self, subject, atom::abort_v,
                   contracts::cancel_reason{"The user cancelled.", caf::none});
  settle();
}

std::string harness_world::event_kinds() const {
  std::string result;
  for (const auto& event : *events)
    if (event.kind != harness_event_kind::message_update)
      result += (result.empty() ? "" : " ") + to_string(event.kind);
  return result;
}

} // namespace bureau::test
