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

/// What of a record is put into its target at a time.
constexpr uint64_t piece_bytes = limits::journal_frame_bytes;

/// A segment that is read.
class segment_file {
public:
  segment_file(file_system& fs, const std::string& path) : fs_(fs) {
    // O_NONBLOCK: a FIFO in the place of the file must not hold us up.
    auto opened = fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    error_ = opened.error;
    if (!opened)
      return;
    file_ = os::descriptor{fs, opened.value};
    auto facts = fs.stat(file_.get());
    error_ = facts.error;
    if (!facts)
      return;
    if (!S_ISREG(facts.value.st_mode))
      error_ = S_ISDIR(facts.value.st_mode) ? EISDIR : EACCES;
    size_ = static_cast<uint64_t>(facts.value.st_size);
  }

  /// What went wrong first, if anything did.
  int error() const { return error_; }
  uint64_t size() const { return size_; }

  /// Fewer bytes than `count` are an error: nobody else changes the file.
  std::string_view read(uint64_t offset, size_t count) {
    auto found = read_up_to(fs_, file_.get(), count, offset);
    bytes_ = std::move(found.value);
    if (error_ == 0)
      error_ = found.error != 0 ? found.error : bytes_.size() < count ? EIO : 0;
    return bytes_;
  }

private:
  file_system& fs_;
  os::descriptor file_;
  uint64_t size_ = 0;
  std::string bytes_;
  int error_ = 0;
};

class replay_run {
public:
  replay_run(file_system& fs, const std::string& state_dir,
             const std::string& workspace_root, const replay_keeper& keep)
    : fs_(fs), keep_(keep),
      directory_(journal_directory(state_dir)), roots_{state_dir,
                                                       workspace_root} {}

  replay_report run() {
    auto numbers = segments();
    if (report_.failure || numbers.empty())
      return std::move(report_);
    for (auto number : numbers)
      if (!note_segment(number, number == numbers.back()))
        return std::move(report_);
    report_.touched = plan_.paths();
    for (auto number : numbers)
      if (!apply_segment(number))
        return std::move(report_);
    // Bytes that were promised and have no place are not thrown away.
    if (unplaced_)
      aside_.insert(numbers.begin(), numbers.end());
    if (sync_written() && is_kept() && clear(numbers))
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

  std::string path_of(uint64_t number) const {
    return directory_ + "/" + segment_name(number);
  }

  static segment_scan scan_of(segment_file& file, uint64_t size) {
    return {[&file](uint64_t offset, size_t count) {
              return file.read(offset, count);
            },
            size};
  }

  /// First reading: how far the segment is whole, and what its seals void.
  bool note_segment(uint64_t number, bool is_last) {
    auto path = path_of(number);
    segment_file file{fs_, path};
    if (file.error() != 0)
      return fail(file.error(), "read", path);
    auto scan = scan_of(file, file.size());
    while (scan.next([this](const wal_entry& entry) {
      plan_.note(entry);
      return true;
    }))
      ;
    ++report_.segments;
    report_.frames += scan.frames();
    whole_bytes_[number] = scan.whole_bytes();
    if (scan.whole_bytes() < file.size())
      note_end(number, path, scan, file.size(), is_last);
    return file.error() == 0 || fail(file.error(), "read", path);
  }

  /// Second reading: what is missing goes to the targets.
  bool apply_segment(uint64_t number) {
    auto path = path_of(number);
    segment_file file{fs_, path};
    auto scan = scan_of(file, whole_bytes_[number]);
    segment_file source{fs_, path};
    while (file.error() == 0 && source.error() == 0
           && scan.next([&](const wal_entry& entry) {
                return !plan_.counts(entry) || apply(entry, source);
              }))
      ;
    if (report_.failure)
      return false;
    auto error = file.error() != 0 ? file.error() : source.error();
    if (error == 0 && scan.whole_bytes() < whole_bytes_[number])
      error = EIO;
    return error == 0 || fail(error, "read", path);
  }

  /// A segment ends in the middle of a frame or is damaged. Only the last write
  /// of all may not have ended; what is older was synced as a whole.
  void note_end(uint64_t number, const std::string& path, segment_scan& scan,
                uint64_t size, bool is_last) {
    auto at = std::to_string(scan.whole_bytes());
    auto rest = std::to_string(size - scan.whole_bytes());
    if (is_last && !scan.frame_follows()) {
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
  io_result<journal_target*> target_of(const wal_entry& record,
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

  io_result<journal_target> open_target(const wal_entry& record) {
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

  bool apply(const wal_entry& record, segment_file& source) {
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
    for (uint64_t done = missing->skip; done < record.length;) {
      auto most = std::min<uint64_t>(piece_bytes, record.length - done);
      auto bytes = source.read(record.at + done, static_cast<size_t>(most));
      if (source.error() != 0)
        return false;
      auto written =
        write_all_at(fs_, target.file.get(), bytes, record.offset + done);
      if (!written)
        return fail(written.error, "write", shown);
      target.size += bytes.size();
      report_.bytes_written += bytes.size();
      done += bytes.size();
    }
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

  bool is_kept() {
    if (keep_)
      report_.failure = keep_(report_.touched);
    return !report_.failure;
  }

  bool clear(const std::vector<uint64_t>& numbers) {
    for (auto number : numbers) {
      auto path = path_of(number);
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
  const replay_keeper& keep_;
  std::string directory_;
  std::string roots_[2];
  replay_plan plan_;
  /// How far each segment is whole.
  std::map<uint64_t, uint64_t> whole_bytes_;
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
                             const std::string& workspace_root,
                             const replay_keeper& keep) {
  return replay_run{fs, state_dir, workspace_root, keep}.run();
}

} // namespace bureau::io
