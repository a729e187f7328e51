#include "tests/support/turn_fakes.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/test_ports.hpp"

#include <caf/all.hpp>

namespace bureau::test {

std::vector<std::string> transport_probe::lines() const {
  std::vector<std::string> result;
  for (const auto& operation : operations) {
    auto line = to_string(operation.op);
    if (!operation.ref.empty())
      line += "[" + operation.ref + "]";
    result.push_back(line + " " + operation.text);
  }
  return result;
}

namespace {

using recorder = transport_actor::extend<caf::reacts_to<atom::tick>>;

/// Handlers:
///   (deliver, outbound)     → delivered => deliver
///   (drop, run)             => remembered
///   (closed, closed_entry)  => remembered
///   (config)                → transport_info
///   (tick)                  => answer_oldest
struct recording_transport_state {
  using promise = caf::typed_response_promise<delivered>;
  recorder::stateful_pointer<recording_transport_state> self;
  std::shared_ptr<transport_probe> probe;
  std::deque<std::pair<promise, delivered>> kept;
  static inline const char* name = "recording_transport";

  explicit recording_transport_state(
    recorder::stateful_pointer<recording_transport_state> me)
    : self(me) {}

  ~recording_transport_state() {
    probe->release = [] {
      return false;
    };
  }

  void init(std::shared_ptr<transport_probe> shared) {
    probe = std::move(shared);
    probe->release = [this] {
      if (kept.empty())
        return false;
      caf::strong_actor_ptr me{self->ctrl()};
      caf::anon_send(caf::actor_cast<recorder>(me), atom::tick_v);
      return true;
    };
  }

  recorder::behavior_type make_behavior() {
    return {
      [this](atom::deliver, const outbound& operation) {
        return deliver(operation);
      },
      [this](atom::drop, const std::string& run) {
        probe->dropped_runs.push_back(run);
      },
      [](atom::fetch, const attachment_fetch&) -> caf::result<uint64_t> {
        return make_failure(errc::not_found, "no such file");
      },
      [this](atom::closed, const closed_entry& entry) {
        probe->closed.push_back(entry);
      },
      [this](atom::config) { return probe->info; },
      [this](atom::tick) { answer_oldest(); },
    };
  }

  promise deliver(const outbound& operation) {
    probe->operations.push_back(operation);
    delivered outcome;
    outcome.ref = operation.ref;
    if (!probe->outcomes.empty()) {
      outcome = std::move(probe->outcomes.front());
      probe->outcomes.pop_front();
    } else if (operation.op == outbound_op::post) {
      outcome.ref = "r" + std::to_string(++probe->posts);
    }
    auto answer = self->make_response_promise<promise>();
    if (probe->hold)
      kept.emplace_back(answer, std::move(outcome));
    else
      answer.deliver(std::move(outcome));
    return answer;
  }

  void answer_oldest() {
    if (kept.empty())
      return;
    auto [answer, outcome] = std::move(kept.front());
    kept.pop_front();
    answer.deliver(std::move(outcome));
  }
};

/// Handlers: those of turn_owner_actor; each remembers its fact.
struct recording_owner_state {
  using promise = caf::typed_response_promise<caf::ok_atom>;
  turn_owner_actor::stateful_pointer<recording_owner_state> self;
  std::shared_ptr<owner_probe> probe;
  std::vector<promise> muted;
  static inline const char* name = "recording_owner";

  explicit recording_owner_state(
    turn_owner_actor::stateful_pointer<recording_owner_state> me)
    : self(me) {}

  void init(std::shared_ptr<owner_probe> shared) { probe = std::move(shared); }

  turn_owner_actor::behavior_type make_behavior() {
    return {
      [this](atom::run, const turn_started& fact) {
        probe->started.push_back(fact);
        return answer(probe->start_failures, probe->mute_start);
      },
      [this](atom::produced, const turn_produced& fact) {
        probe->produced.push_back(fact);
        return answer(probe->produce_failures, probe->mute_produced);
      },
      [this](atom::notice, const posted_notice& fact) {
        probe->notices.push_back(fact);
      },
      [this](atom::failed, const turn_dead& fact) {
        probe->dead.push_back(fact);
        return answer(probe->dead_failures, false);
      },
      [this](atom::settled, const session_snapshot& snapshot) {
        probe->snapshots.push_back(snapshot);
      },
    };
  }

  promise answer(std::deque<caf::error>& failures, bool mute) {
    auto result = self->make_response_promise<promise>();
    caf::error failure;
    if (!failures.empty()) {
      failure = std::move(failures.front());
      failures.pop_front();
    }
    if (mute)
      muted.push_back(result);
    else if (failure)
      result.deliver(std::move(failure));
    else
      result.deliver(caf::ok_atom_v);
    return result;
  }
};

} // namespace

transport_actor spawn_recording_transport(
  caf::actor_system& system, std::shared_ptr<transport_probe> probe) {
  return kit::spawn_stateful<recorder, recording_transport_state>(
    system, std::move(probe));
}

turn_owner_actor spawn_recording_owner(caf::actor_system& system,
                                       std::shared_ptr<owner_probe> probe) {
  return kit::spawn_stateful<turn_owner_actor, recording_owner_state>(
    system, std::move(probe));
}

turn_ticket make_ticket(const std::string& message_id,
                        const std::string& text) {
  turn_ticket result;
  auto& event = result.event;
  event.address = {platform_id::console, "local"};
  event.session_key = "local";
  event.message_id = message_id;
  event.user = "u1";
  event.user_name = "ann";
  event.text = text;
  event.target = json_text{"{}"};
  event.sent_ms = start_ms;
  return result;
}

} // namespace bureau::test
