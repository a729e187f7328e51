#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/// Temporary files beside those that they were to replace: a process that is
/// killed in between leaves them for good.
namespace bureau::offices {

/// Leftovers that one look at a directory removes.
inline constexpr size_t leftovers_at_once = 64;

/// No replacement takes that long: an older temporary file has no owner, even
/// if the number of its process is ours. In a container every life has the
/// same.
inline constexpr auto leftover_age = std::chrono::hours{1};

struct leftover {
  std::string name;
  /// Its process had our number; only its age tells whether it was us.
  bool ours = false;
  friend bool operator==(const leftover&, const leftover&) = default;
};

/// The temporary files among the names of a directory, in their order, at most
/// leftovers_at_once.
std::vector<leftover> leftovers_among(const std::vector<std::string>& names,
                                      int64_t own_pid);

/// Files among the names of a directory of attachments whose fetching was cut
/// short, or goes on: the office knows. At most leftovers_at_once.
std::vector<std::string> stagings_among(const std::vector<std::string>& names);

/// Whether one of ours may go.
bool is_outdated(int64_t modified_ns, int64_t now_ms);

} // namespace bureau::offices
