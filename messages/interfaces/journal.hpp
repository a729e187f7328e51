#pragma once

#include "messages/interfaces/common.hpp"

namespace bureau {

/// Directory that a journalled path is relative to.
enum class journal_root : uint8_t { state, workspace };

/// How long an append may be lost.
enum class durability : uint8_t {
  /// Answered after fdatasync of the frame that carries it.
  sync,
  /// Answered after the plain write to the target: survives kill -9, and rides
  /// in the next frame, so a power failure may lose it.
  lazy,
};

/// Bytes to append to one file (decision A1).
struct journal_record {
  journal_root root = journal_root::state;
  /// Relative to the root; its directory must exist.
  std::string path;
  std::string bytes;
  durability level = durability::sync;
  friend bool operator==(const journal_record&,
                         const journal_record&) = default;
};

BUREAU_INSPECT(journal_record, x.root, x.path, x.bytes, x.level);

using journal_batch = std::vector<journal_record>;

/// The JOURNAL actor interface: the one file that is synced on the message
/// path.
using journal_actor = caf::typed_actor<
  // Appends; answers the offset of the first byte in the target. Records of
  // one sender keep their order. Errors: disk (nothing was acknowledged; the
  // bytes may or may not reach the file later), bad_request, shutting_down.
  caf::replies_to<atom::append, journal_record>::with<uint64_t>,
  // Appends to several files at once, as durable as the most durable record:
  // they ride in one frame, so that a crash leaves all of them or none. Answers
  // the offsets. A fault of one target refuses all of them.
  caf::replies_to<atom::append, journal_batch>::with<std::vector<uint64_t>>,
  // Makes older frames of a path void; ask before rewriting, renaming or
  // archiving a journalled file. Answers when the target itself is synced.
  caf::replies_to<atom::seal, journal_root, std::string>::with<caf::ok_atom>,
  // An office has unfinished work from now on, or has none any more: its key
  // and which. Whoever says so before an append finds the office in the list of
  // unfinished work (open_list.hpp) before any frame of that append is
  // forgotten.
  caf::reacts_to<atom::mark, std::string, bool>,
  caf::replies_to<atom::status>::with<status_line>,
  // Checkpoints, removes the segments, answers.
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_journal, bureau::type_ids::journal)
CAF_ADD_TYPE_ID(bureau_journal, (bureau::journal_root))
CAF_ADD_TYPE_ID(bureau_journal, (bureau::journal_record))
CAF_ADD_TYPE_ID(bureau_journal, (bureau::journal_batch))
CAF_ADD_TYPE_ID(bureau_journal, (std::vector<uint64_t>))
CAF_ADD_TYPE_ID(bureau_journal, (bureau::journal_actor))
CAF_END_TYPE_ID_BLOCK(bureau_journal)
