#pragma once

#include "messages/interfaces/files.hpp"

#include <cstdint>
#include <string>

namespace bureau::session {

/// The SESSION WRITERS actor interface: one live writer for each session file.
using session_writers_actor = caf::typed_actor<
  // Claims a file for the sender, in place of what it claimed before: path,
  // device and inode (0 before it exists), session id. Errors: busy.
  caf::replies_to<atom::open, std::string, uint64_t, uint64_t,
                  std::string>::with<caf::ok_atom>,
  // The sender lets go. Idempotent; the end of the sender does the same.
  caf::reacts_to<atom::close>>;

/// Spawns the SESSION WRITERS of a process. It ends with the files actor, and
/// does not hold the system up.
session_writers_actor spawn_session_writers(const files_actor& files);

} // namespace bureau::session
