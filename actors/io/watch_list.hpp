#pragma once

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/local_actor.hpp>

#include <map>

namespace bureau::io {

/// Actors that an actor monitors because they own open work: one monitor each,
/// however much work there is, or each would give a DOWN of its own.
class watch_list {
public:
  void add(caf::local_actor* self, const caf::actor_addr& whom) {
    if (!whom || ++counts_[whom] > 1)
      return;
    if (auto target = caf::actor_cast<caf::strong_actor_ptr>(whom))
      self->monitor(target);
  }

  void remove(caf::local_actor* self, const caf::actor_addr& whom) {
    auto found = counts_.find(whom);
    if (found == counts_.end() || --found->second > 0)
      return;
    counts_.erase(found);
    self->demonitor(whom);
  }

  /// After its DOWN.
  void forget(const caf::actor_addr& whom) { counts_.erase(whom); }

private:
  std::map<caf::actor_addr, size_t> counts_;
};

} // namespace bureau::io
