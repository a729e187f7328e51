#pragma once

#include "messages/interfaces/session.hpp"

#include <caf/error.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// What a test sees and steers of a recording transport.
struct transport_probe {
  /// Every operation in arrival order.
  std::vector<outbound> operations;
  /// Outcomes of the next operations; without one an operation succeeds, a post
  /// with the reference r1, r2, …
  std::deque<delivered> outcomes;
  /// Operations are kept unanswered until release() is called.
  bool hold = false;
  /// Set by the actor: has the oldest kept operation answered at the next
  /// settle(); false without one.
  std::function<bool()> release;
  std::vector<std::string> dropped_runs;
  std::vector<closed_entry> closed;
  transport_info info;
  size_t posts = 0;

  /// `op text` of every operation, edits as `edit[ref] text`.
  std::vector<std::string> lines() const;
};

/// A transport that shows nothing and remembers everything.
transport_actor spawn_recording_transport(
  caf::actor_system& system, std::shared_ptr<transport_probe> probe);

/// What a test sees and steers of a recording turn owner.
struct owner_probe {
  std::vector<turn_started> started;
  std::vector<turn_produced> produced;
  std::vector<turn_dead> dead;
  std::vector<posted_notice> notices;
  std::vector<session_snapshot> snapshots;
  /// Failures of the next requests of each kind; an empty error is a success.
  std::deque<caf::error> start_failures;
  std::deque<caf::error> produce_failures;
  std::deque<caf::error> dead_failures;
  /// Requests of these kinds get no answer.
  bool mute_start = false;
  bool mute_produced = false;
};

/// The side of an office that sessions and responders see.
turn_owner_actor spawn_recording_owner(caf::actor_system& system,
                                       std::shared_ptr<owner_probe> probe);

/// A message of user `u1` in console/local, accepted and ready to run.
turn_ticket make_ticket(const std::string& message_id,
                        const std::string& text = "hello");

} // namespace bureau::test
