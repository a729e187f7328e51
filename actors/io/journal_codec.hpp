#pragma once

#include "messages/interfaces/journal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The bytes of the write-ahead file (decision A1), all little endian:
///
///   segment = frame*
///   frame   = u32 length of the records · u32 CRC-32C of the records · records
///   record  = u8 tag · u16 path length · path · u64 offset
///             · u32 byte count · bytes
///
/// The low bits of the tag are the root; bit 7 marks a seal, which has neither
/// offset nor bytes and makes all earlier records of its path void.
namespace bureau::io {

/// CRC-32C (Castagnoli). "123456789" gives e3069283.
uint32_t crc32c(std::string_view bytes);

/// A file of the journal.
struct journal_path {
  journal_root root = journal_root::state;
  std::string path;
  friend auto operator<=>(const journal_path&, const journal_path&) = default;
};

/// One record as it was read back.
struct wal_record {
  journal_path target;
  uint64_t offset = 0;
  std::string bytes;
  bool is_seal = false;
  friend bool operator==(const wal_record&, const wal_record&) = default;
};

/// Puts records together to one frame.
class frame_builder {
public:
  void add(const journal_path& target, uint64_t offset, std::string_view bytes);
  void add_seal(const journal_path& target);
  /// Adds the records of another builder behind the own ones.
  void add_all(const frame_builder& other);

  bool empty() const { return records_.empty(); }
  /// Size of the records so far, without the frame's header.
  size_t size() const { return records_.size(); }
  void clear() { records_.clear(); }

  /// The whole frame; the builder keeps its records.
  std::string frame() const;

private:
  std::string records_;
};

/// What a segment holds.
struct wal_segment {
  size_t frames = 0;
  std::vector<wal_record> records;
  /// Length of the part that is whole.
  size_t whole_bytes = 0;
  /// Whether something follows it.
  bool torn = false;
  /// Whether a whole frame is in that: the frames before were synced and have
  /// been damaged since. Otherwise it is the last write, which did not end.
  bool damaged = false;
};

/// Reads frames up to the first that is not whole. What lies behind it is only
/// looked at: without the length of a frame nobody knows for sure where the
/// next one begins, and texts of strangers are in there.
wal_segment decode_segment(std::string_view bytes);

/// `<16 hex>.wal`
std::string segment_name(uint64_t number);

/// The number of a segment's name; 0 when the name is something else.
uint64_t segment_number(std::string_view name);

/// What is added to the name of a segment that is kept for the operator and not
/// replayed again, and how many of them are kept.
inline constexpr std::string_view kept_ending = ".damaged";
inline constexpr size_t most_kept_segments = 4;

/// The number of a kept segment's name; 0 when the name is something else.
uint64_t kept_segment_number(std::string_view name);

} // namespace bureau::io
