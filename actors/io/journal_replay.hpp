#pragma once

#include "actors/io/journal_codec.hpp"
#include "messages/ports/file_system.hpp"

#include <caf/error.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bureau::io {

/// What a boot found in the journal.
struct replay_report {
  size_t segments = 0;
  size_t frames = 0;
  uint64_t bytes_written = 0;
  /// Every file that occurs in a frame, sorted, once: their offices were busy
  /// when the node ended.
  std::vector<journal_path> touched;
  /// One sentence each: torn ends, damage, records that fit no file.
  std::vector<std::string> notes;
  /// Set: the disk refused, the segments are kept, the node must not start.
  caf::error failure;
};

/// Writes down what the segments alone know.
using replay_keeper =
  std::function<caf::error(const std::vector<journal_path>& touched)>;

/// Finishes what the last run did not (decision A1): appends the bytes of whole
/// frames that their targets lack, syncs the targets, then removes the
/// segments. Usable before the actor system exists; call it once at boot, under
/// the instance lock, before spawn_journal. Running it again changes nothing.
///
/// Existing bytes are never written again, links are never followed, and a
/// target that is shorter than a record's offset is left alone with a note. A
/// directory that is gone is made again. A torn last frame is dropped. A
/// segment that is damaged before its end is replayed up to there and kept as
/// `<name>.damaged`, and so are all when a record finds no place; at most
/// most_kept_segments of them.
/// @param keep told of every file that occurs in a frame before the segments
///        go; when it answers a failure, they stay
replay_report replay_journal(file_system& fs, const std::string& state_dir,
                             const std::string& workspace_root,
                             const replay_keeper& keep = {});

} // namespace bureau::io
