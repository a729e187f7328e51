#pragma once

#include "messages/interfaces/common.hpp"

namespace bureau {

/// What happened in a watched directory.
struct directory_change {
  /// Entries that were written, moved in or out, or removed.
  std::vector<std::string> names;
  /// Names were lost, or the directory itself has changed: look at all of it.
  bool everything = false;
  /// Nobody watches any more; ask again.
  bool ended = false;
  friend bool operator==(const directory_change&,
                         const directory_change&) = default;
};

BUREAU_INSPECT(directory_change, x.names, x.everything, x.ended);

/// The WATCH SINK actor interface.
using watch_sink_actor = caf::typed_actor<
  // In the order in which the kernel told it.
  caf::reacts_to<atom::changed, directory_change>>;

/// The DIRECTORY WATCH actor interface.
using directory_watch_actor = caf::typed_actor<
  // Watches a directory until the sink ends. Errors: not_found, denied,
  // not_ready (the kernel gives no watch: look for oneself), queue_full,
  // shutting_down.
  caf::replies_to<atom::watch, std::string,
                  watch_sink_actor>::with<caf::ok_atom>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_watch, bureau::type_ids::watch)
CAF_ADD_TYPE_ID(bureau_watch, (bureau::directory_change))
CAF_ADD_TYPE_ID(bureau_watch, (bureau::watch_sink_actor))
CAF_ADD_TYPE_ID(bureau_watch, (bureau::directory_watch_actor))
CAF_END_TYPE_ID_BLOCK(bureau_watch)
