#pragma once

#include "messages/contracts/reply_parts.hpp"
#include "messages/interfaces/common.hpp"

#include <caf/optional.hpp>

namespace bureau {

/// A file that is to go with an answer (decision A35).
struct artifact_publish {
  /// Conversation id of the agent contracts that may open it.
  std::string conversation_id;
  /// Run that made it; empty: unknown.
  std::string run;
  /// For display; what could harm a line or a path is taken out.
  std::string name;
  std::string media_type;
  std::string bytes;
  /// Instead of bytes: a file of this machine below a directory, reached
  /// through no link.
  std::string root;
  std::string path;
  friend bool operator==(const artifact_publish&,
                         const artifact_publish&) = default;
};

BUREAU_INSPECT(artifact_publish, x.conversation_id, x.run, x.name, x.media_type,
               x.bytes, x.root, x.path);

/// An artifact that may be read, or why not.
struct artifact_opened {
  /// artifact_missing, artifact_expired, artifact_integrity_failed; absent: it
  /// is open.
  caf::optional<contracts::part_failure_code> fault;
  contracts::attachment_part attachment;
  /// Names the open artifact; a secret of its opener.
  std::string token;
  friend bool operator==(const artifact_opened&,
                         const artifact_opened&) = default;
};

BUREAU_INSPECT(artifact_opened, x.fault, x.attachment, x.token);

/// Pulls a slice of an open artifact, one after the other.
struct artifact_read {
  std::string token;
  /// At most the end of what was pulled so far.
  uint64_t offset = 0;
  /// At most limits::artifact_read_bytes.
  uint64_t length = 0;
  friend bool operator==(const artifact_read&, const artifact_read&) = default;
};

BUREAU_INSPECT(artifact_read, x.token, x.offset, x.length);

struct artifact_slice {
  /// artifact_missing, artifact_expired, artifact_integrity_failed; absent: the
  /// bytes are there. What was pulled before a fault is not to be used.
  caf::optional<contracts::part_failure_code> fault;
  std::string bytes;
  /// The whole is as it was published.
  bool eof = false;
  friend bool operator==(const artifact_slice&,
                         const artifact_slice&) = default;
};

BUREAU_INSPECT(artifact_slice, x.fault, x.bytes, x.eof);

/// The ARTIFACTS actor interface: the one owner of the files that answers
/// carry.
using artifacts_actor = caf::typed_actor<
  // Keeps a file; answered when bytes and index are durable. Errors:
  // bad_request, too_large, not_found, is_directory, denied, disk, queue_full,
  // shutting_down.
  caf::replies_to<atom::publish,
                  artifact_publish>::with<contracts::attachment_part>,
  // Opens a file for its conversation: the office of the id, whatever the
  // thread. Of another conversation it is artifact_missing, as if there were
  // none. Errors: bad_request, disk, queue_full, shutting_down.
  caf::replies_to<atom::open,
                  contracts::artifact_open_request>::with<artifact_opened>,
  // The next bytes. Errors: not_found (no such token), bad_request, disk,
  // shutting_down.
  caf::replies_to<atom::read, artifact_read>::with<artifact_slice>,
  // The opener of a token needs it no more.
  caf::reacts_to<atom::close, std::string>,
  caf::replies_to<atom::status>::with<status_line>,
  // Refuses new work; answers when what was begun is on the disk.
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_artifacts, bureau::type_ids::artifacts)
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::artifact_publish))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::contracts::attachment_part))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::contracts::artifact_open_request))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::artifact_opened))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::artifact_read))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::artifact_slice))
CAF_ADD_TYPE_ID(bureau_artifacts, (bureau::artifacts_actor))
CAF_END_TYPE_ID_BLOCK(bureau_artifacts)
