#include "actors/office/session_cache_core.hpp"

#include <algorithm>

namespace bureau::offices {

std::vector<session_name> session_cache::update(const office_address& office,
                                                const session_snapshot& seen) {
  session_name name{office, seen.session_key};
  if (seen.state.empty() || seen.state == "absent") {
    sessions_.erase(name);
    return {};
  }
  sessions_[std::move(name)] = {seen.last_access_ms,
                                seen.state == "idle" && seen.waiting == 0,
                                seen.state == "disposing"};
  std::vector<session_name> result;
  auto staying = static_cast<size_t>(
    std::count_if(sessions_.begin(), sessions_.end(),
                  [](const auto& entry) { return !entry.second.leaving; }));
  for (; staying > cap_; --staying) {
    auto oldest = sessions_.end();
    for (auto entry = sessions_.begin(); entry != sessions_.end(); ++entry)
      if (entry->second.idle && !entry->second.leaving
          && (oldest == sessions_.end()
              || entry->second.used_ms < oldest->second.used_ms))
        oldest = entry;
    if (oldest == sessions_.end())
      break;
    oldest->second.leaving = true;
    result.push_back(oldest->first);
  }
  return result;
}

void session_cache::forget(const office_address& office) {
  std::erase_if(
    sessions_, [&](const auto& entry) { return entry.first.office == office; });
}

} // namespace bureau::offices
