#pragma once

#include "actors/kit/generation_timer.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bureau::kit {

/// How a child is looked after.
struct child_spec {
  /// Instance label `role/key`.
  std::string label;
  /// Starts the child; called again for every restart.
  std::function<caf::actor()> start;
  /// At most this many restarts …
  size_t max_restarts = 5;
  /// … within this time; one more and the child is given up.
  std::chrono::milliseconds window{60'000};
  /// First delay before a restart; doubles up to 16 times it.
  std::chrono::milliseconds backoff{100};
};

/// The children of one actor: one monitor each, bounded restarts, then a
/// verdict of the parent. Install it once; it takes over the down handler.
class supervisor {
public:
  /// Told when a child is given up, with the reason of its last death.
  using verdict =
    std::function<void(const std::string& label, const caf::error& reason)>;
  /// Told about every restart.
  using restart_listener = std::function<void(const std::string& label)>;
  /// Gets the DOWN messages of actors that are not children.
  using stranger_handler =
    std::function<void(const caf::actor_addr&, const caf::error&)>;

  supervisor() = default;
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  void install(caf::scheduled_actor* self, verdict give_up,
               restart_listener restarted = {}, stranger_handler stranger = {});

  /// Starts a child and watches it.
  caf::actor add(child_spec spec);

  /// Stops watching a child that is about to end on purpose.
  void release(const caf::actor_addr& child);

  /// The running child with a label; empty while it restarts.
  caf::actor find(const std::string& label) const;

  size_t size() const { return children_.size(); }

private:
  struct child {
    child_spec spec;
    caf::actor handle;
    std::deque<int64_t> restarts_ms;
    generation_timer retry;
  };

  void handle_down(const caf::actor_addr& source, const caf::error& reason);
  void start(child& entry);

  caf::scheduled_actor* self_ = nullptr;
  verdict give_up_;
  restart_listener restarted_;
  stranger_handler stranger_;
  std::map<std::string, child> children_;
};

} // namespace bureau::kit
