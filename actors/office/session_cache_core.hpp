#pragma once

#include "messages/interfaces/session.hpp"

#include <map>
#include <string>
#include <vector>

namespace bureau::offices {

/// Names a session of the process.
struct session_name {
  office_address office;
  std::string session;
  friend auto operator<=>(const session_name&, const session_name&) = default;
};

/// The sessions that hold a runner, and which of them to let go above the cap
/// (decisions A6 and A37).
class session_cache {
public:
  explicit session_cache(size_t cap) : cap_(cap) {}

  /// Takes a report. Answers the idle sessions to let go, least recently used
  /// first; each is named once until its next report.
  std::vector<session_name> update(const office_address& office,
                                   const session_snapshot& seen);

  /// An office ended, and its sessions with it.
  void forget(const office_address& office);

  size_t size() const { return sessions_.size(); }

private:
  struct cached {
    int64_t used_ms = 0;
    bool idle = false;
    /// On its way out.
    bool leaving = false;
  };

  size_t cap_;
  std::map<session_name, cached> sessions_;
};

} // namespace bureau::offices
