#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/wall_clock.hpp"

#include <functional>
#include <memory>
#include <string>

namespace bureau::session {

/// What every session store of a process shares.
struct store_services {
  files_actor files;
  journal_actor journal;
  std::shared_ptr<const wall_clock> wall;
  /// Session and entry ids.
  std::shared_ptr<entropy> chance;
  /// Directory of an office as the tools of a run see it; goes into the headers
  /// of new session files. Empty: the host directory.
  std::function<std::string(const office&)> cwd;
};

/// Spawns the SESSION STORE of one office and session key: the one live writer
/// of the key's session file (decision A13). Journal paths are relative to the
/// workspace root, the office's directory being `<root>/<office key>`.
///
/// Requests are carried out one after the other. After an error the store
/// stays usable: what the disk holds decides what the next request finds.
session_store_actor spawn_session_store(caf::actor_system& system,
                                        store_services services, office place,
                                        std::string session_key);

/// The same as a value for sessions.
session_store_factory make_session_store_factory(store_services services);

} // namespace bureau::session
