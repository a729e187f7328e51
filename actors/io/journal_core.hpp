#pragma once

#include "actors/io/journal_codec.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bureau::io {

/// While the disk refuses, the journal tries again after this time
/// (decision B4).
inline constexpr auto journal_retry_interval = std::chrono::seconds{1};

/// Targets that are kept open when the limit of open files is high enough. It
/// is used up to a quarter for them.
inline constexpr size_t most_open_targets = 1024;

/// Whether a commit should wait a moment for more records. Writers that were
/// just answered ask again at once: a commit that comes before them takes half
/// a group and lets the others wait for the next one. So it waits until as many
/// have come as were answered and waited before, but never longer than half the
/// time that the last commit took, nor most_wait. A writer that is alone never
/// waits.
class group_gatherer {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Larger groups share the cost of a commit well enough as they are.
  static constexpr size_t most_awaited = 32;
  /// The longest wait.
  static constexpr auto most_wait = std::chrono::microseconds{200};

  /// Asked again and again until the answer is no.
  /// @param waiting records that would be committed now
  bool waits(size_t waiting, time_point now);

  /// A commit of this many records is over.
  /// @param more others came meanwhile
  void committed(size_t count, bool more, time_point began, time_point ended);

private:
  /// Records of the commits before.
  size_t last_ = 0;
  size_t before_last_ = 0;
  bool more_ = false;
  std::chrono::steady_clock::duration patience_{0};
  /// What the present commit waits for, and until when.
  std::optional<time_point> until_;
  size_t wanted_ = 0;
};

/// Says what is wrong with a record; empty when it may be appended.
std::string record_fault(const journal_record& record);

/// Whether a path may be journalled: relative, without `.`, `..`, empty parts
/// and NUL, at most 4096 bytes.
bool is_journal_path(std::string_view path);

/// What a boot does with the records of all segments: it reads them twice, in
/// their order. First each is noted, then it is asked which of them count: not
/// those that a later seal of the same path made void.
class replay_plan {
public:
  void note(const wal_entry& entry);
  /// Whether the next record is an append that still counts.
  bool counts(const wal_entry& entry);
  /// Every path that occurs, void or not, sorted, once.
  std::vector<journal_path> paths() const;

private:
  /// The number of each path's last seal, 0 without one.
  std::map<journal_path, uint64_t> seals_;
  uint64_t noted_ = 0;
  uint64_t asked_ = 0;
};

/// What is missing of a record in a file of some size.
struct missing_part {
  /// Where in the file the missing bytes begin.
  uint64_t offset = 0;
  /// How much of the record is there already.
  uint32_t skip = 0;
};

/// Nothing when all of it is there. A file that ends before the record begins
/// is not the file that the record was written to: `is_gap` is set and nothing
/// is written.
std::optional<missing_part> missing_of(const wal_entry& entry,
                                       uint64_t file_size, bool& is_gap);

} // namespace bureau::io
