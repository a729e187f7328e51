#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace bureau::io {

/// Kills every process of the machine whose environment carries
/// BUREAU_EXEC_ID=<one of the tags>, wherever it has re-parented, except this
/// one. Looks again until a pass finds nothing new, so that a forking escapee
/// is caught. Reads all of /proc: some milliseconds.
/// @return how many signals were sent
size_t kill_tagged(const std::set<std::string>& tags);

} // namespace bureau::io
