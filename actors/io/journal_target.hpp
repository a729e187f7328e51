#pragma once

#include "config/os/durable.hpp"
#include "messages/ports/file_system.hpp"

#include <string>

namespace bureau::io {

/// `<state>/journal`, where the segments are.
std::string journal_directory(const std::string& state_dir);

/// An open target of the journal.
struct journal_target {
  /// Opened for appending: the kernel puts every write at the end, so that
  /// nothing is ever overwritten.
  os::descriptor file;
  uint64_t size = 0;
  /// Whether this opening created it, so that its directory must be synced.
  bool created = false;
};

/// Opens a regular file below a root without following any link. Its directory
/// must exist, and it must have no second name (EMLINK; decision B16).
/// @param may_create creates it with mode 0600 when it is absent
io_result<journal_target> open_journal_target(file_system& fs,
                                              const std::string& root,
                                              const std::string& path,
                                              bool may_create = true);

/// Makes a target's bytes durable, and with `directory` its name as well, up to
/// the root: nobody knows who made the directories on the way, and how. A
/// target that is gone, or no file any more, is nobody's to sync: no error.
io_status sync_journal_target(file_system& fs, const std::string& root,
                              const std::string& path, bool directory);

} // namespace bureau::io
