#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>

namespace bureau::io {

/// The ids of cancels that found nothing to end. An urgent cancel overtakes the
/// normal start it belongs to; the start then finds its id here.
class recent_ids {
public:
  void add(uint64_t id) {
    if (!known_.insert(id).second)
      return;
    order_.push_back(id);
    if (order_.size() > most) {
      known_.erase(order_.front());
      order_.pop_front();
    }
  }

  bool contains(uint64_t id) const { return known_.count(id) > 0; }

private:
  static constexpr size_t most = 1024;
  std::set<uint64_t> known_;
  std::deque<uint64_t> order_;
};

} // namespace bureau::io
