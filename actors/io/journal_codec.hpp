#pragma once

#include "messages/interfaces/journal.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
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
/// @param before the sum of the bytes in front of these
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// A file of the journal.
struct journal_path {
  journal_root root = journal_root::state;
  std::string path;
  friend auto operator<=>(const journal_path&, const journal_path&) = default;
};

/// The same where it lies; whoever owns the text outlives it.
struct journal_path_view {
  journal_root root = journal_root::state;
  std::string_view path;
  journal_path_view(journal_root where, std::string_view text)
    : root(where), path(text) {}
  journal_path_view(const journal_path& whole)
    : root(whole.root), path(whole.path) {}
};

/// Most bytes of the records in one frame: those of the largest record or
/// batch, with their paths.
inline constexpr uint64_t longest_frame =
  limits::journal_record_bytes + 8 * limits::journal_frame_bytes;

/// How long a record is in a frame.
size_t encoded_size(journal_path_view target, std::string_view bytes);

/// Puts records together to frames.
class frame_builder {
public:
  void add(journal_path_view target, uint64_t offset, std::string_view bytes);
  /// The same, but many bytes are not copied: they must outlive pieces().
  void refer(journal_path_view target, uint64_t offset, std::string_view bytes);
  void add_seal(journal_path_view target);
  /// Adds the records of another builder, which refers to none, behind the own.
  void add_all(const frame_builder& other);
  /// What is added from now on is another frame.
  void end_frame();

  bool empty() const { return size_ == 0; }
  /// Size of the records so far, without the headers of frames.
  size_t size() const { return size_; }
  /// Forgets all, but keeps a buffer of moderate size.
  void clear();

  /// The frames: to be written one behind the other, valid until the next call.
  std::vector<std::string_view> pieces();

private:
  struct reference {
    /// The bytes stand before this place of the buffer.
    size_t at = 0;
    std::string_view bytes;
  };

  void open_frame();
  void put_head(journal_path_view target, uint64_t offset, size_t length);

  std::string buffer_;
  std::vector<reference> references_;
  /// Where the open frame begins in both.
  size_t frame_at_ = 0;
  size_t frame_reference_ = 0;
  bool open_ = false;
  size_t size_ = 0;
};

/// A record as it lies in a segment.
struct wal_entry {
  journal_path target;
  /// In the target.
  uint64_t offset = 0;
  bool is_seal = false;
  /// Its bytes in the segment.
  uint64_t at = 0;
  uint32_t length = 0;
  friend bool operator==(const wal_entry&, const wal_entry&) = default;
};

/// Gives the bytes of a segment from an offset on, at most `count`, valid until
/// the next call. Fewer: it cannot be read there.
using segment_source =
  std::function<std::string_view(uint64_t offset, size_t count)>;

/// Reads a segment frame by frame up to the first that is not whole, in bounded
/// memory, whatever the frames claim to be. What lies behind it is only looked
/// at: without the length of a frame nobody knows for sure where the next one
/// begins, and texts of strangers are in there.
class segment_scan {
public:
  /// Takes a record; false ends the reading.
  using visitor = std::function<bool(const wal_entry&)>;

  segment_scan(segment_source source, uint64_t size)
    : source_(std::move(source)), size_(size) {}

  /// Shows the records of the next frame, if it is whole. @return whether to
  /// go on
  bool next(const visitor& visit);

  size_t frames() const { return frames_; }
  /// Length of the part that is whole.
  uint64_t whole_bytes() const { return whole_bytes_; }
  /// Whether a whole frame begins anywhere behind the part that is whole: the
  /// frames before were synced and have been damaged since. Otherwise it is the
  /// last write, which did not end. Bytes that only look like frames cannot
  /// make this long: when too many do, the answer is yes.
  bool frame_follows();

private:
  std::string_view look(uint64_t offset, size_t count);
  bool is_whole(uint64_t at, uint64_t& end);
  bool has_sum(uint64_t at, uint64_t end, uint32_t sum);
  bool walk(uint64_t at, uint64_t end, const visitor& visit);
  bool take(uint64_t& at, uint64_t end, wal_entry& entry);

  segment_source source_;
  uint64_t size_;
  uint64_t window_at_ = 0;
  std::string_view window_;
  size_t frames_ = 0;
  uint64_t whole_bytes_ = 0;
};

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
