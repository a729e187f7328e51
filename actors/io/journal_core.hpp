#pragma once

#include "actors/io/journal_codec.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bureau::io {

/// While the disk refuses, the journal tries again after this time
/// (decision B4).
inline constexpr auto journal_retry_interval = std::chrono::seconds{1};

/// Says what is wrong with a record; empty when it may be appended.
std::string record_fault(const journal_record& record);

/// Whether a path may be journalled: relative, without `.`, `..`, empty parts
/// and NUL, at most 4096 bytes.
bool is_journal_path(std::string_view path);

/// What a boot does with the records of all segments, in their order.
struct replay_plan {
  /// Appends that still count, in order.
  std::vector<wal_record> appends;
  /// Every path that occurs, void or not, sorted, once.
  std::vector<journal_path> paths;
};

/// Drops what a later seal of the same path made void.
replay_plan plan_replay(std::vector<wal_record> records);

/// What is missing of a record in a file of some size.
struct missing_part {
  /// Where in the file the missing bytes begin.
  uint64_t offset = 0;
  /// How much of the record is there already.
  size_t skip = 0;
};

/// Nothing when all of it is there. A file that ends before the record begins
/// is not the file that the record was written to: `is_gap` is set and nothing
/// is written.
std::optional<missing_part> missing_of(const wal_record& record,
                                       uint64_t file_size, bool& is_gap);

} // namespace bureau::io
