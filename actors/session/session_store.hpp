#pragma once

#include "actors/session/session_writers.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/office.hpp"
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
  /// Makes the directory of an office again that somebody deleted. Null: a
  /// store makes it with its own.
  registry_actor registry;
  /// Who writes to which file. Null: nobody looks.
  session_writers_actor writers;
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

/// Spawns a session store that never touches a disk, for sessions that end with
/// their run: it begins empty, knows no chat log, and what was appended goes
/// when it is closed. Files and journal of the services may be null.
session_store_actor spawn_memory_session_store(caf::actor_system& system,
                                               store_services services,
                                               office place,
                                               std::string session_key);

/// Session stores as a value for sessions. All stores of a factory share one
/// SESSION WRITERS, made here unless the services bring it.
session_store_factory make_session_store_factory(store_services services);

/// The same for stores that never touch a disk.
session_store_factory
make_memory_session_store_factory(store_services services);

} // namespace bureau::session
