#include "actors/io/journal_replay.hpp"

#include "actors/io/file_place.hpp"
#include "actors/io/io_errors.hpp"
#include "actors/io/journal_core.hpp"
#include "actors/io/journal_target.hpp"
#include "config/os/durable.hpp"
#include "messages/limits.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

namespace bureau::io {

namespace {

/// A segment ends with the frame that crosses the bound.
constexpr uint64_t longest_segment =
  limits::journal_segment_bytes + 8 * limits::journal_frame_bytes;

class replay_run {
public:
  replay_run(file_system& fs, const std::string& state_dir,
             const std::string& workspace_root)
    : fs_(fs),
      directory_(journal_directory(state_dir)), roots_{state_dir,
                                                       workspace_root} {}

  replay_report run() {
    auto numbers = segments();
    if (report_.failure || numbers.empty())
      return std::move(report_);
    std::vector<wal_record> records;
    for (auto number : numbers)
      if (!read_segment(number, number == numbers.back(), records))
        return std::move(report_);
    auto plan = plan_replay(std::move(records));
    report_.touched = std::move(plan.paths);
    for (const auto& record : plan.appends)
      if (!apply(record))
        return std::move(report_);
    // Bytes that were promised and have no place are not thrown away.
    if (unplaced_)
      aside_.insert(numbers.begin(), numbers.end());
    if (sync_written() && clear(numbers))
      forget_old_ones();
    return std::move(report_);
  }

private:
  bool fail(int error, std::string_view doing, const std::string& path) {
    report_.failure = io_failure(error, doing, path);
    return false;
  }

  const std::string& root_of(const journal_path& path) const {
    return roots_[static_cast<size_t>(path.root)];
  }

  std::vector<uint64_t> segments() {
    std::vector<uint64_t> result;
    auto facts = fs_.stat_name(directory_);
    if (facts.error == ENOENT)
      return result;
    // A link, also one that leads nowhere, would be refused by every append.
    auto error = facts.error;
    if (facts && !S_ISDIR(facts.value.st_mode))
      error = S_ISLNK(facts.value.st_mode) ? ELOOP : ENOTDIR;
    io_result<std::vector<std::string>> names{{}, error};
    if (error == 0)
      names = fs_.list(directory_);
    if (!names)
      fail(names.error, "use the journal directory", directory_);
    for (const auto& name : names.value)
      if (auto number = segment_number(name); number != 0)
        result.push_back(number);
    std::sort(result.begin(), result.end());
    return result;
  }

  bool read_segment(uint64_t number, bool is_last,
                    std::vector<wal_record>& records) {
    auto path = directory_ + "/" + segment_name(number);
    auto content =
      os::read_whole(fs_, path, static_cast<size_t>(longest_segment));
    if (!content)
      return fail(content.fault.error, "read", path);
    auto segment = decode_segment(content.value);
    ++report_.segments;
    report_.frames += segment.frames;
    if (segment.torn)
      note_end(number, path, segment, content.value.size(), is_last);
    for (auto& record : segment.records)
      records.push_back(std::move(record));
    return true;
  }

  /// A segment ends in the middle of a frame or is damaged. Only the last write
  /// of all may not have ended; what is older was synced as a whole.
  void note_end(uint64_t number, const std::string& path,
                const wal_segment& segment, size_t size, bool is_last) {
    auto at = std::to_string(segment.whole_bytes);
    auto rest = std::to_string(size - segment.whole_bytes);
    if (!segment.damaged && is_last) {
      report_.notes.push_back(path + ": the last write did not end; " + rest
                              + " bytes after " + at
                              + " were never confirmed and are dropped");
      return;
    }
    report_.notes.push_back(path + ": damaged at byte " + at + "; " + rest
                            + " bytes from there on, with messages that may "
                              "have been confirmed, are not restored");
    aside_.insert(number);
  }

  /// The open target of a record; only a record at the start may create it.
  io_result<journal_target*> target_of(const wal_record& record,
                                       const std::string& shown) {
    auto known = open_.find(record.target);
    if (known != open_.end())
      return {&known->second, 0};
    if (open_.size() >= limits::journal_open_targets)
      open_.clear();
    auto opened = open_target(record);
    if (opened.error == ENOENT && record.offset == 0) {
      if (auto made = make_directory_of(record.target); !made)
        return {nullptr, made.error};
      report_.notes.push_back(shown
                              + ": its directory was gone and is made "
                                "again");
      opened = open_target(record);
    }
    if (!opened)
      return {nullptr, opened.error};
    return {&(open_[record.target] = std::move(opened.value)), 0};
  }

  io_result<journal_target> open_target(const wal_record& record) {
    return open_journal_target(fs_, root_of(record.target), record.target.path,
                               record.offset == 0);
  }

  io_status make_directory_of(const journal_path& path) {
    auto slash = path.path.rfind('/');
    if (slash == std::string::npos)
      return {ENOENT};
    return make_directories(fs_, root_of(path), resolve_rule::no_links,
                            path.path.substr(0, slash), directory_mode);
  }

  bool apply(const wal_record& record) {
    auto shown = root_of(record.target) + "/" + record.target.path;
    auto found = target_of(record, shown);
    if (!found) {
      // Replaced by something that is no file of the journal: there is nowhere
      // to put the bytes.
      if (code_for(found.error) == errc::disk)
        return fail(found.error, "open", shown);
      report_.notes.push_back(shown
                              + ": not restored: " + reason_for(found.error));
      unplaced_ = true;
      return true;
    }
    auto& target = *found.value;
    bool is_gap = false;
    auto missing = missing_of(record, target.size, is_gap);
    if (is_gap) {
      report_.notes.push_back(shown + ": is shorter than the journal says ("
                              + std::to_string(target.size) + " of "
                              + std::to_string(record.offset)
                              + " bytes); left alone");
      unplaced_ = true;
      return true;
    }
    written_.insert(record.target);
    if (!missing)
      return true;
    auto rest = std::string_view{record.bytes}.substr(missing->skip);
    auto done = write_all_at(fs_, target.file.get(), rest, missing->offset);
    if (!done)
      return fail(done.error, "write", shown);
    target.size += rest.size();
    report_.bytes_written += rest.size();
    return true;
  }

  /// Also what was there already: it may never have left the page cache.
  bool sync_written() {
    for (const auto& path : written_) {
      auto done = sync_journal_target(fs_, root_of(path), path.path, true);
      if (!done)
        return fail(done.error, "sync", root_of(path) + "/" + path.path);
    }
    return true;
  }

  bool clear(const std::vector<uint64_t>& numbers) {
    for (auto number : numbers) {
      auto path = directory_ + "/" + segment_name(number);
      auto is_kept = aside_.count(number) > 0;
      auto gone = is_kept ? fs_.rename(path, path + std::string{kept_ending})
                          : fs_.unlink(path);
      if (!gone && gone.error != ENOENT)
        return fail(gone.error, is_kept ? "put aside" : "remove", path);
      if (is_kept)
        report_.notes.push_back(path + ": kept as " + path
                                + std::string{kept_ending}
                                + ", because not all of it could be restored");
      // Oldest first, and for good: a seal must not go before what it voids.
      if (auto fault = os::sync_directory(fs_, directory_))
        return fail(fault.error, "sync", directory_);
    }
    return true;
  }

  /// What is kept for the operator must not fill the disk.
  void forget_old_ones() {
    if (aside_.empty())
      return;
    auto names = fs_.list(directory_).value;
    std::erase_if(
      names, [](const auto& name) { return kept_segment_number(name) == 0; });
    std::sort(names.begin(), names.end());
    for (size_t i = 0; i + most_kept_segments < names.size(); ++i)
      fs_.unlink(directory_ + "/" + names[i]);
  }

  /// Of directories that are made again: those of offices and their state.
  static constexpr mode_t directory_mode = 0700;

  file_system& fs_;
  std::string directory_;
  std::string roots_[2];
  std::map<journal_path, journal_target> open_;
  std::set<journal_path> written_;
  /// Segments that are kept for the operator.
  std::set<uint64_t> aside_;
  /// Whether some record found no place.
  bool unplaced_ = false;
  replay_report report_;
};

} // namespace

replay_report replay_journal(file_system& fs, const std::string& state_dir,
                             const std::string& workspace_root) {
  return replay_run{fs, state_dir, workspace_root}.run();
}

} // namespace bureau::io
