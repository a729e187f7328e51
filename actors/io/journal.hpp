#pragma once

#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/ports/file_system.hpp"

#include <memory>
#include <string>

namespace bureau::io {

/// Spawns the journal of the node (decision A1): one detached actor, the only
/// writer of `<state_dir>/journal/<16 hex>.wal` and the only place that syncs
/// on the message path. Everything that waits in its mailbox becomes one frame
/// of at most limits::journal_frame_bytes and one fdatasync; a record or a
/// group that is larger, up to limits::journal_record_bytes, has both for
/// itself. Segments are checkpointed at limits::journal_segment_bytes or after
/// limits::journal_checkpoint_interval, a few targets at a time, so that
/// appends never wait for a whole checkpoint.
///
/// When the disk refuses, everything that waits fails with errc::disk, nothing
/// is acknowledged, and the next request tries again on a fresh segment, and
/// without one the journal itself each second (decision B4); status says
/// `degraded` meanwhile, and the log when it begins and ends.
///
/// Call replay_journal first. Stop it before the actor system ends.
/// @param state_dir,workspace_root absolute; what journalled paths are
///        relative to
/// @param metrics gets journal_records and journal_commit; may be empty
journal_actor spawn_journal(caf::actor_system& system,
                            std::shared_ptr<file_system> fs,
                            std::string state_dir, std::string workspace_root,
                            metrics_actor metrics);

/// The same actor without a thread of its own, for stories on virtual time.
journal_actor spawn_scheduled_journal(caf::actor_system& system,
                                      std::shared_ptr<file_system> fs,
                                      std::string state_dir,
                                      std::string workspace_root,
                                      metrics_actor metrics);

} // namespace bureau::io
