#include "actors/io/files_core.hpp"

namespace bureau::io {

std::string reason_table::name_of(const std::string& reason) const {
  auto known = counts_.count(reason) > 0 || counts_.size() < most_reasons;
  return known && !reason.empty() ? reason : "other";
}

reason_counts& reason_table::operator[](const std::string& reason) {
  return counts_[name_of(reason)];
}

std::string reason_table::text() const {
  std::string result;
  for (const auto& [reason, count] : counts_) {
    if (!result.empty())
      result += ", ";
    result += reason + " ";
    if (count.busy > 0)
      result += std::to_string(count.busy) + " busy ";
    if (count.waiting > 0)
      result += std::to_string(count.waiting) + " waiting ";
    result += std::to_string(count.done) + " done";
  }
  return result;
}

uint64_t reason_table::waiting() const {
  uint64_t result = 0;
  for (const auto& entry : counts_)
    result += entry.second.waiting;
  return result;
}

uint64_t reason_table::busy() const {
  uint64_t result = 0;
  for (const auto& entry : counts_)
    result += entry.second.busy;
  return result;
}

} // namespace bureau::io
