#pragma once

#include "actors/io/journal_core.hpp"
#include "actors/io/journal_target.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/ports/file_system.hpp"

#include <caf/error.hpp>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bureau::io {

/// One append of a batch and what became of it.
struct journal_append {
  journal_record record;
  /// Who waits; the writer only carries it.
  uint64_t promise = 0;
  /// Appends of one number other than 0 stand or fall together; they follow
  /// each other in the batch.
  uint64_t group = 0;
  /// Offset of the first byte in the target, when `failure` is empty.
  uint64_t offset = 0;
  caf::error failure;
};

/// The blocking half of the journal (decision A1), without an actor: segments,
/// targets and checkpoints on a file_system port. One thread uses it.
///
/// Invariants, from which replay follows:
///   - a frame is synced before its bytes go to a target;
///   - a segment is removed only after every target it names is synced, and
///     after the list of unfinished work on the disk is what was said of it;
///   - after any failed write or sync of a segment nothing is acknowledged
///     until all targets are synced, all segments removed and a fresh one
///     begun;
///   - a target whose end we cannot vouch for (failed write, foreign writer)
///     gets a seal with the next frame, all of them together;
///   - a write that fails takes back what stands behind it in the batch and all
///     of its groups, from every target; as long as that cannot be done, no
///     frame is forgotten;
///   - after a seal, the first frame of the path comes after a sync of the file
///     that then has the name, and of the name.
class journal_writer {
public:
  journal_writer(std::shared_ptr<file_system> fs, std::string state_dir,
                 std::string workspace_root);
  journal_writer(const journal_writer&) = delete;
  journal_writer& operator=(const journal_writer&) = delete;

  /// Appends a batch in order and fills in the outcomes. A group is in all of
  /// its targets or in none, now and after a crash, whatever fails. One frame
  /// with one sync when any append asks for it or belongs to a group, none
  /// otherwise. The caller keeps a batch within most_appends and
  /// limits::journal_frame_bytes, or to one append, or to one group.
  void commit(std::vector<journal_append>& batch);

  /// Makes a path's older frames void, after its target is synced.
  caf::error seal(const journal_path& path);

  /// An office has unfinished work, or none any more. From the first of these
  /// calls on the list of unfinished work (open_list.hpp) is what they said
  /// whenever a segment is removed.
  void mark(const std::string& key, bool unfinished);

  /// Whether the segment is long enough to be checkpointed.
  bool segment_full() const;

  /// Whether anything waits for a checkpoint.
  bool has_unsynced() const;

  /// Puts the segment aside; the next frame starts a new one. Then call
  /// checkpoint_step until it says that nothing is left.
  void begin_checkpoint();

  /// Syncs a few targets; after the last one the old segments are removed.
  /// @return whether there is more to do; false as well after a failure, which
  ///         the next checkpoint tries again
  bool checkpoint_step(size_t targets);

  /// Checkpoints everything at once. @return empty when no segment is left
  caf::error close();

  /// While there is trouble: finishes what a failure left undone, then writes a
  /// little below both directories, to a file without a name. Nothing else can
  /// tell that the disk works again when nobody appends.
  void retry();

  /// Whether the last frame or checkpoint failed.
  bool broken() const { return broken_; }
  /// What does not work now, for the status line; empty when all does.
  const std::string& trouble() const;
  uint64_t segment_bytes() const { return segment_size_; }
  size_t open_targets() const { return targets_.size(); }
  /// How many targets stay open between batches.
  size_t kept_targets() const { return kept_targets_; }
  /// Frames synced so far.
  uint64_t frames() const { return frames_; }

  /// Appends in one batch: bounds the descriptors that are open at once.
  static constexpr size_t most_appends = 512;

private:
  /// An append of the running batch has this as the next one of its target.
  static constexpr size_t none = SIZE_MAX;

  struct target {
    journal_target open;
    /// The key of this target.
    const journal_path* path = nullptr;
    std::list<target*>::iterator age;
    /// The last batch that touched it; what follows is about that batch.
    uint64_t batch = 0;
    /// End of the file including the planned part.
    uint64_t planned_end = 0;
    /// Its appends.
    size_t first = none;
    size_t last = none;
    /// The round of checkpoints for which it is in dirty_.
    uint64_t dirty_round = 0;
  };

  struct path_hash {
    using is_transparent = void;
    size_t operator()(journal_path_view path) const;
  };
  struct path_equal {
    using is_transparent = void;
    bool operator()(journal_path_view left, journal_path_view right) const;
  };

  const std::string& root_of(journal_path_view path) const;
  io_result<target*> acquire(journal_path_view path);
  io_result<target*> open_anew(const journal_path& path);
  io_status refresh(target& known);
  io_status cut_overlong(const journal_path& path, journal_target& opened);
  io_status cut_all_overlong();
  void mark_dirty(target& known);
  void retire_dirty();
  void drop_target(journal_path_view path);
  void trim_targets();
  void plan(std::vector<journal_append>& batch);
  bool needs_frame(const std::vector<journal_append>& batch) const;
  caf::error write_frame(const std::vector<journal_append>& batch);
  caf::error write_segment();
  io_status settle(const std::vector<journal_append>& batch);
  void apply(std::vector<journal_append>& batch);
  io_status write_target(const std::vector<journal_append>& batch,
                         const target& known);
  void take_back(std::vector<journal_append>& batch,
                 const std::map<journal_path, int>& failed);
  io_status probe(const std::string& directory);
  io_status ensure_segment();
  io_status recover();
  io_status sync_target(const journal_path& path);
  void forget_created(const journal_path& path);
  io_status remove_old_segments();
  io_status keep_marks();
  caf::error segment_failure(int error);
  os::descriptor open_directory(int& error);

  std::shared_ptr<file_system> fs_;
  std::string directory_;
  std::string roots_[2];
  os::descriptor segment_;
  uint64_t segment_size_ = 0;
  uint64_t last_number_ = 0;
  /// Segments that exist, oldest first, the current one last.
  std::vector<uint64_t> segments_;
  /// How many of them the running checkpoint will remove.
  size_t retiring_ = 0;
  std::unordered_map<journal_path, target, path_hash, path_equal> targets_;
  /// Least recently used first.
  std::list<target*> ages_;
  size_t kept_targets_;
  /// Lazy appends that are in their target and ride in the next frame.
  frame_builder riders_;
  /// Written since the last begin_checkpoint, and before it.
  std::set<journal_path> dirty_;
  std::set<journal_path> retiring_dirty_;
  /// Counts how often dirty_ was emptied.
  uint64_t dirty_round_ = 1;
  /// Created by us and not yet synced into their directory.
  std::set<journal_path> created_;
  /// Their frames so far must not be replayed.
  std::set<journal_path> unsure_;
  /// Sealed and not appended to since; for good, when the file was archived.
  std::set<journal_path> sealed_;
  /// Keys of the offices with unfinished work; absent: nobody has said.
  std::optional<std::unordered_set<std::string>> marks_;
  /// They are on the disk as they are here.
  bool marks_kept_ = false;
  /// Where a file should end that holds the rest of a failed write.
  std::map<journal_path, uint64_t> overlong_;
  uint64_t batch_ = 0;
  /// The targets of the running batch; of each append its target and the next
  /// append of that.
  std::vector<target*> touched_;
  std::vector<target*> places_;
  std::vector<size_t> followers_;
  /// The frames that are written next.
  frame_builder frame_;
  uint64_t frames_ = 0;
  bool broken_ = false;
  /// Of the segments, of a checkpoint, and of one target: each ends when the
  /// same works again.
  std::string trouble_;
  std::string checkpoint_trouble_;
  std::string target_trouble_;
  journal_path troubled_target_;
};

} // namespace bureau::io
