#include "actors/session/writer_table_core.hpp"

#include <utility>

namespace bureau::session {

namespace {

bool same_file(const writer_claim& held, const writer_claim& wanted) {
  if (held.path == wanted.path)
    return true;
  return held.inode != 0 && held.inode == wanted.inode
         && held.device == wanted.device;
}

/// The holder's file is gone, or another session is in its place.
bool outdated(const writer_claim& held, const writer_claim& wanted) {
  if (wanted.inode == 0)
    return held.inode != 0;
  return !held.session_id.empty() && !wanted.session_id.empty()
         && held.session_id != wanted.session_id;
}

} // namespace

bool writer_table::claim(uint64_t owner, writer_claim wanted) {
  for (auto entry = claims_.begin(); entry != claims_.end();) {
    const auto& [other, held] = *entry;
    if (other == owner || !same_file(held, wanted)) {
      ++entry;
      continue;
    }
    if (!outdated(held, wanted))
      return false;
    entry = claims_.erase(entry);
  }
  claims_[owner] = std::move(wanted);
  return true;
}

} // namespace bureau::session
