#pragma once

#include "messages/contracts/memory.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/interfaces/office.hpp"

#include <caf/optional.hpp>

namespace bureau {

/// Memory of a conversation, if there is any.
struct memory_found {
  caf::optional<contracts::memory_block> block;
  friend bool operator==(const memory_found&, const memory_found&) = default;
};

BUREAU_INSPECT(memory_found, x.block);

/// Something to be remembered that belongs to no turn.
struct memory_summary {
  /// Contract id; its office remembers.
  std::string conversation_id;
  std::string summary;
  friend bool operator==(const memory_summary&,
                         const memory_summary&) = default;
};

BUREAU_INSPECT(memory_summary, x.conversation_id, x.summary);

/// The OFFICES as memory sees them: their ledgers know which runs are
/// remembered.
using memory_desk_actor = caf::typed_actor<
  caf::replies_to<atom::exists, office_mark>::with<bool>,
  caf::replies_to<atom::mark, office_mark>::with<caf::ok_atom>>;

/// The MEMORY actor interface: the MEMORY.md of every office (decision A30,
/// agent contracts 2.8 and 3.16). Errors: bad_identity, bad_request, denied (a
/// link), is_directory, too_large, disk, queue_full, shutting_down.
using memory_actor = caf::typed_actor<
  // Memory that primes a turn, at most limits::memory_load_bytes of it. Nothing
  // is kept of a turn, so that there is nothing to release.
  caf::replies_to<atom::load, contracts::memory_query>::with<memory_found>,
  // Appends an entry below a dated heading; answered when it is on the disk.
  caf::replies_to<atom::append,
                  memory_summary>::with<contracts::memory_write_result>,
  // The same for a turn, once for every run. Also: not_ready (before start).
  caf::replies_to<atom::submit, contracts::memory_completed_turn>::with<
    contracts::memory_admission>,
  // Answered when everything begun before is on the disk.
  caf::replies_to<atom::flush>::with<caf::ok_atom>,
  // Where the ledgers are.
  caf::reacts_to<atom::start, memory_desk_actor>,
  caf::replies_to<atom::status>::with<status_line>,
  // Refuses new entries; answers when those begun before are on the disk.
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_memory, bureau::type_ids::memory)
CAF_ADD_TYPE_ID(bureau_memory, (bureau::memory_found))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::memory_summary))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::contracts::memory_query))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::contracts::memory_write_result))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::contracts::memory_completed_turn))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::contracts::memory_admission))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::memory_desk_actor))
CAF_ADD_TYPE_ID(bureau_memory, (bureau::memory_actor))
CAF_END_TYPE_ID_BLOCK(bureau_memory)
