#include "actors/harness/answer_parts_core.hpp"

#include <string>
#include <utility>

namespace bureau::harness {

void answer_parts::add(const std::vector<contracts::reply_part>& parts) {
  for (const auto& part : parts) {
    if (kept_.size() < contracts::max_reply_parts)
      kept_.push_back(part);
    else
      ++more_;
  }
}

std::vector<contracts::reply_part> answer_parts::take() {
  if (more_ > 0) {
    contracts::failed_part rest;
    rest.id = "parts-left-out";
    rest.code = contracts::part_failure_code::reply_part_too_large;
    // Its own place is taken from a part, too.
    rest.message = std::to_string(more_ + 1)
                   + " more parts were left out; an "
                     "answer has at most "
                   + std::to_string(contracts::max_reply_parts) + ".";
    kept_.back() = std::move(rest);
    more_ = 0;
  }
  return std::exchange(kept_, {});
}

} // namespace bureau::harness
