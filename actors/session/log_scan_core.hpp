#pragma once

#include "messages/codec/history.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a session needs of the chat log, gathered from the end of the file
/// backwards, part by part, as far as it is needed: memory holds the records
/// that matter, not the log. Pure: the bytes come in.
namespace bureau::session {

/// Bytes of the log that are read at a time.
inline constexpr uint64_t log_part_bytes = 1u << 20;
/// A line that is longer is passed over.
inline constexpr size_t log_line_bytes = 8u << 20;

/// Why the log is read, and what decides how far back.
struct scan_wish {
  enum class purpose : uint8_t {
    /// A session begins from the log.
    bootstrap,
    /// A session learns what it missed.
    sync,
    /// The marker of a reset names the last message before it.
    reset,
  };
  purpose why = purpose::sync;
  history_scope scope;
  history_options reach;
  int64_t now_ms = 0;
  /// Sync: the last message that was taken over, and the last reset.
  std::optional<std::string> watermark;
  std::optional<int64_t> reset_ms;
  /// Sync: messages that are in the session with their runs.
  std::vector<std::string> handled;
  /// The text that began the thread is looked for, too.
  bool root = false;
  /// What follows the message that causes the run is kept when that is in so
  /// many bytes at the end; the message itself is looked for in the whole log.
  uint64_t later_within = 0;
};

/// Reads a part of the log as read_log does. Numbers count from the part;
/// warnings name the place in the file by bytes.
/// @param offset of the part, which begins with a line
log_contents parse_log_part(std::string_view part, uint64_t offset,
                            std::string_view file);

/// One reading of the log. Records are in the order of time up to a part: one
/// that has nothing young enough ends what only looks for young ones.
class log_scan {
public:
  /// @param file name for the warnings
  log_scan(scan_wish wish, std::string file);

  /// Takes the bytes that end where the part before began, or the file ends.
  void take(uint64_t offset, std::string_view part);

  /// What lies further back does not matter.
  bool enough() const;

  /// What matters of the log, in its order: for history.hpp the same as all of
  /// it. The current message and what of the scope follows it come last.
  log_contents result() const;

  /// Whether the result lacks what follows the current message, which is too
  /// far back.
  bool lacks_later() const { return current_seen_ && later_cut_; }

  /// The text that began the thread, when it was found.
  const std::optional<std::string>& root_text() const { return root_; }

private:
  using list = std::vector<log_entry>;

  std::string_view cut(uint64_t& offset);
  bool matters(std::string_view body) const;
  bool only_marked_lines() const;
  bool seeks_current() const;
  bool only_current_missing() const;
  bool is_settled() const;
  void take_entry(log_entry entry);
  void pass_current(log_entry entry);
  void take_root(const log_record& record);
  bool is_passed_over(const log_record& record) const;
  void tidy();
  bool is_recent(const log_entry& entry) const;
  bool is_full(const list& kept, size_t cap) const;
  bool is_over(const list& kept, size_t cap) const;
  bool root_is_settled() const;
  size_t seed_cap() const;

  scan_wish wish_;
  std::string file_;
  /// Beginning of what was read and not looked at yet: its first line may have
  /// begun before, and lines of a bot may go on from there.
  std::string carry_;
  uint64_t carry_offset_ = 0;
  uint64_t bytes_ = 0;
  bool at_begin_ = false;
  /// Numbers count down.
  size_t next_ = size_t{1} << 62;
  /// Records of the scope, and what seeds a thread's session.
  list scoped_;
  list seeds_;
  /// The current message and what follows it.
  list later_;
  /// What will be `later_` once the current message is found.
  list pending_;
  bool current_seen_ = false;
  /// It is so far back that what follows it is not kept.
  bool later_cut_ = false;
  bool watermark_seen_ = false;
  std::optional<int64_t> watermark_ms_;
  std::optional<std::string> root_;
  std::optional<int64_t> root_ms_;
  /// Seeds are taken from the root back.
  bool seeds_below_root_ = false;
  /// Youngest record of the last part.
  std::optional<int64_t> newest_;
  std::vector<std::string> warnings_;
  size_t skipped_ = 0;
};

} // namespace bureau::session
