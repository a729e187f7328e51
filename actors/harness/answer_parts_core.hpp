#pragma once

#include "messages/contracts/reply_parts.hpp"

#include <cstddef>
#include <vector>

namespace bureau::harness {

/// What the tools of a run add to its answer, bounded: above
/// contracts::max_reply_parts the last place is a failure that counts the rest.
class answer_parts {
public:
  void add(const std::vector<contracts::reply_part>& parts);

  /// The parts of the answer; ends the collection.
  std::vector<contracts::reply_part> take();

private:
  std::vector<contracts::reply_part> kept_;
  /// Parts beyond those.
  size_t more_ = 0;
};

} // namespace bureau::harness
