#include "actors/io/file_jobs.hpp"

#include "actors/io/file_place.hpp"
#include "actors/io/io_errors.hpp"
#include "messages/limits.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>

namespace bureau::io {

namespace {

using outcome = io_result<file_outcome>;

file_kind kind_of(mode_t mode) {
  if (S_ISREG(mode))
    return file_kind::regular;
  if (S_ISDIR(mode))
    return file_kind::directory;
  if (S_ISLNK(mode))
    return file_kind::symlink;
  return file_kind::other;
}

bool is_absent(int error) {
  return error == ENOENT || error == ENOTDIR;
}

/// One job at its place; every member is one operation.
class job_run {
public:
  job_run(file_system& fs, entropy& chance, const file_job& job)
    : fs_(fs), chance_(chance), job_(job), doing_(verb_of(job.op)) {}

  /// What was being done last, as a sentence names it.
  const std::string& doing() const { return doing_; }

  outcome run() {
    switch (job_.op) {
    case file_op::read:
      return read();
    case file_op::read_range:
      return read_range();
    case file_op::write_atomic:
      return write_atomic();
    case file_op::replace:
      return replace();
    case file_op::ensure_directory:
      return done(ensure_directory());
    case file_op::list:
      return list();
    case file_op::stat:
      return stat();
    case file_op::remove:
      return remove();
    case file_op::rename:
      return rename();
    case file_op::empty_directory:
      return empty_directory();
    case file_op::ensure_file:
      return ensure_file();
    }
    return {{}, EINVAL};
  }

private:
  static outcome done(io_status status) { return {{}, status.error}; }

  io_result<file_place> place() {
    return locate(fs_, job_.root, job_.rule, job_.path);
  }

  io_result<os::descriptor> open_for_reading(struct stat& facts) {
    auto at = place();
    if (!at)
      return {{}, at.error};
    auto file = open_regular(fs_, at.value, O_RDONLY);
    if (!file)
      return file;
    auto found = fs_.stat(file.value.get());
    facts = found.value;
    return {std::move(file.value), found.error};
  }

  outcome read() {
    struct stat facts {};
    auto file = open_for_reading(facts);
    if (!file)
      return {{}, file.error};
    auto limit = job_.length == 0
                   ? limits::file_job_bytes
                   : std::min<uint64_t>(job_.length, limits::file_job_bytes);
    // One byte more shows that the file is longer, also when it grows.
    auto bytes = read_up_to(fs_, file.value.get(), limit + 1, 0);
    if (!bytes)
      return {{}, bytes.error};
    if (bytes.value.size() > limit)
      return {{}, EFBIG};
    file_outcome result;
    result.bytes = std::move(bytes.value);
    result.end_of_file = true;
    return {std::move(result), 0};
  }

  /// Directories on the way are private, whatever the mode of the last one: one
  /// of them may be an office that somebody deleted.
  io_status ensure_directory() {
    auto slash = job_.path.rfind('/');
    auto open = (job_.mode & ~uint32_t{private_mode}) != 0;
    if (open && !job_.root.empty() && slash != std::string::npos && slash > 0) {
      auto above = job_.path.substr(0, slash);
      if (auto made =
            make_directories(fs_, job_.root, job_.rule, above, private_mode);
          !made)
        return made;
    }
    return make_directories(fs_, job_.root, job_.rule, job_.path, job_.mode);
  }

  outcome read_range() {
    struct stat facts {};
    auto file = open_for_reading(facts);
    if (!file)
      return {{}, file.error};
    if (job_.length > limits::file_job_bytes)
      return {{}, EFBIG};
    auto bytes = read_up_to(fs_, file.value.get(), job_.length, job_.offset);
    if (!bytes)
      return {{}, bytes.error};
    file_outcome result;
    result.bytes = std::move(bytes.value);
    result.size = static_cast<uint64_t>(facts.st_size);
    result.end_of_file = job_.offset + result.bytes.size() >= result.size;
    return {std::move(result), 0};
  }

  /// The mode an existing target has; refuses what must not be replaced.
  io_result<mode_t> mode_of_target(const file_place& at, mode_t otherwise) {
    auto facts = stat_leaf(fs_, at);
    if (!facts)
      return {otherwise, facts.error == ENOENT ? 0 : facts.error};
    switch (kind_of(facts.value.st_mode)) {
    case file_kind::regular:
      return {facts.value.st_mode & 07777, 0};
    case file_kind::directory:
      return {0, EISDIR};
    case file_kind::symlink:
      return {0, ELOOP};
    default:
      return {0, ENXIO};
    }
  }

  /// Writes a complete file beside the target. @return its name
  io_result<std::string> stage(const file_place& at, std::string name,
                               mode_t mode) {
    auto fd = fs_.open_below(at.parent.get(), name,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode,
                             resolve_rule::no_links);
    if (!fd)
      return {{}, fd.error};
    os::descriptor file{fs_, fd.value};
    // The mode given to open is cut by the umask.
    auto status = fs_.change_mode(file.get(), mode);
    if (status)
      status = os::write_all(fs_, file.get(), job_.bytes);
    if (status)
      status = fs_.sync(file.get());
    auto closed = file.close();
    if (status)
      status = closed;
    if (!status)
      fs_.unlink_below(at.parent.get(), name);
    return {std::move(name), status.error};
  }

  outcome write_atomic() {
    auto at = place();
    if (!at)
      return {{}, at.error};
    if (auto target = mode_of_target(at.value, job_.mode); !target)
      return {{}, target.error};
    auto staged = stage(at.value, private_name(at.value.leaf), job_.mode);
    if (!staged)
      return {{}, staged.error};
    auto moved =
      fs_.rename_below(at.value.parent.get(), staged.value, at.value.leaf);
    if (!moved) {
      fs_.unlink_below(at.value.parent.get(), staged.value);
      return done(moved);
    }
    return done(settle(at.value));
  }

  /// After a rename: makes it last.
  io_status settle(const file_place& at) {
    doing_ = "make durable";
    return sync_parent(fs_, at);
  }

  outcome replace() {
    auto at =
      locate_making(fs_, job_.root, job_.rule, job_.path, directory_mode);
    if (!at)
      return {{}, at.error};
    auto mode = mode_of_target(at.value, job_.mode);
    if (!mode)
      return {{}, mode.error};
    auto staged = stage(at.value, stage_name(at.value.leaf), mode.value);
    if (!staged)
      return {{}, staged.error};
    auto moved =
      fs_.rename_below(at.value.parent.get(), staged.value, at.value.leaf);
    if (moved)
      return {};
    fs_.unlink_below(at.value.parent.get(), staged.value);
    if (moved.error != EBUSY)
      return done(moved);
    return done(write_in_place(at.value));
  }

  /// A file that something is mounted on cannot be renamed over.
  io_status write_in_place(const file_place& at) {
    auto file = open_regular(fs_, at, O_WRONLY);
    if (!file)
      return {file.error};
    auto status = fs_.truncate(file.value.get(), 0);
    if (status)
      status = os::write_all(fs_, file.value.get(), job_.bytes);
    if (status)
      status = fs_.sync(file.value.get());
    return status;
  }

  /// Staging names must fit where the target's own name fits.
  static std::string shortened(const std::string& leaf, size_t extra) {
    constexpr size_t longest_name = 255;
    return leaf.substr(0, longest_name - extra);
  }

  std::string private_name(const std::string& leaf) {
    auto suffix =
      "." + std::to_string(::getpid()) + "." + random_hex(chance_, 16);
    return "." + shortened(leaf, suffix.size() + 5) + suffix + ".tmp";
  }

  std::string stage_name(const std::string& leaf) {
    auto suffix = ".bureau-stage." + random_hex(chance_, 8);
    return "." + shortened(leaf, suffix.size() + 1) + suffix;
  }

  outcome list() {
    auto at = place();
    if (!at)
      return {{}, at.error};
    auto directory = open_leaf(fs_, at.value, O_RDONLY | O_DIRECTORY);
    if (!directory)
      return {{}, directory.error};
    auto names = fs_.list(proc_path(directory.value.get()));
    if (!names)
      return {{}, names.error};
    std::sort(names.value.begin(), names.value.end());
    file_outcome result;
    result.names = std::move(names.value);
    return {std::move(result), 0};
  }

  outcome stat() {
    auto at = place();
    if (!at)
      return {{}, is_absent(at.error) ? 0 : at.error};
    auto facts = stat_leaf(fs_, at.value);
    if (!facts)
      return {{}, is_absent(facts.error) ? 0 : facts.error};
    const auto& found = facts.value;
    file_outcome result;
    result.kind = kind_of(found.st_mode);
    result.size = static_cast<uint64_t>(found.st_size);
    result.device = static_cast<uint64_t>(found.st_dev);
    result.inode = static_cast<uint64_t>(found.st_ino);
    result.modified_ns =
      int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
    result.mode = static_cast<uint32_t>(found.st_mode & 07777);
    result.links = static_cast<uint64_t>(found.st_nlink);
    return {std::move(result), 0};
  }

  outcome remove() {
    auto at = place();
    if (!at)
      return {{}, is_absent(at.error) ? 0 : at.error};
    auto gone = fs_.unlink_below(at.value.parent.get(), at.value.leaf);
    return {{}, is_absent(gone.error) ? 0 : gone.error};
  }

  outcome rename() {
    auto from = place();
    if (!from)
      return {{}, from.error};
    auto to = locate(fs_, job_.root, job_.rule, job_.to);
    if (!to)
      return {{}, to.error};
    auto source = stat_leaf(fs_, from.value);
    if (!source)
      return {{}, source.error};
    auto target = stat_leaf(fs_, to.value);
    if (S_ISLNK(source.value.st_mode)
        || (target && S_ISLNK(target.value.st_mode)))
      return {{}, ELOOP};
    // A name that lasts must not outlive the content.
    if (S_ISREG(source.value.st_mode))
      if (auto kept = sync_content(from.value); !kept)
        return done(kept);
    auto moved =
      fs_.rename_new(proc_path(from.value.parent.get()) + "/" + from.value.leaf,
                     proc_path(to.value.parent.get()) + "/" + to.value.leaf);
    if (!moved)
      return done(moved);
    auto settled = settle(to.value);
    if (settled)
      settled = settle(from.value);
    return done(settled);
  }

  io_status sync_content(const file_place& at) {
    auto file = open_regular(fs_, at, O_RDONLY);
    if (!file)
      return {file.error};
    return fs_.sync(file.value.get());
  }

  outcome empty_directory() {
    auto at = place();
    if (!at)
      return {{}, at.error};
    auto top = open_leaf(fs_, at.value, O_RDONLY | O_DIRECTORY);
    if (!top)
      return {{}, top.error};
    auto names = fs_.list(proc_path(top.value.get()));
    if (!names)
      return {{}, names.error};
    std::deque<std::string> waiting{names.value.begin(), names.value.end()};
    int first_error = 0;
    while (!waiting.empty()) {
      auto gone = discard(top.value, waiting.front(), waiting);
      if (!gone && first_error == 0)
        first_error = gone.error;
      waiting.pop_front();
    }
    return {{}, first_error};
  }

  outcome ensure_file() {
    auto at = place();
    if (!at)
      return {{}, at.error};
    const auto& parent = at.value.parent;
    auto fd = fs_.open_below(parent.get(), at.value.leaf,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                             job_.mode, resolve_rule::no_links);
    if (fd) {
      os::descriptor file{fs_, fd.value};
      auto status = fs_.change_mode(file.get(), job_.mode);
      if (status)
        status = sync_parent(fs_, at.value);
      // Later it would be found and taken for one that is as it should be.
      if (!status)
        fs_.unlink_below(parent.get(), at.value.leaf);
      return done(status);
    }
    if (fd.error != EEXIST)
      return {{}, fd.error};
    auto facts = stat_leaf(fs_, at.value);
    if (!facts)
      return {{}, facts.error};
    return {{}, S_ISREG(facts.value.st_mode) ? 0 : EEXIST};
  }

  /// Removes one entry of `top`. The directories inside it are moved up into
  /// `top` and removed later, so that depth costs neither stack nor
  /// descriptors.
  io_status discard(const os::descriptor& top, const std::string& name,
                    std::deque<std::string>& waiting) {
    auto gone = fs_.unlink_below(top.get(), name);
    if (gone || gone.error == ENOENT)
      return {0};
    if (gone.error != EISDIR && gone.error != EPERM)
      return gone;
    auto inside = proc_path(top.get()) + "/" + name;
    auto removed = fs_.remove_directory(inside);
    if (removed || (removed.error != ENOTEMPTY && removed.error != EEXIST))
      return removed;
    auto fd =
      fs_.open_below(top.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
                     resolve_rule::no_links);
    if (!fd)
      return {fd.error};
    os::descriptor directory{fs_, fd.value};
    auto names = fs_.list(proc_path(directory.get()));
    if (!names)
      return {names.error};
    io_status first{0};
    for (const auto& entry : names.value) {
      auto unlinked = fs_.unlink_below(directory.get(), entry);
      if (unlinked || unlinked.error == ENOENT)
        continue;
      auto lifted = ".bureau-sweep." + random_hex(chance_, 16);
      auto moved = fs_.rename(proc_path(directory.get()) + "/" + entry,
                              proc_path(top.get()) + "/" + lifted);
      if (moved)
        waiting.push_back(std::move(lifted));
      else if (first)
        first = moved;
    }
    removed = fs_.remove_directory(inside);
    return first ? removed : first;
  }

  static constexpr mode_t directory_mode = 0755;
  static constexpr mode_t private_mode = 0700;

  file_system& fs_;
  entropy& chance_;
  const file_job& job_;
  std::string doing_;
};

std::string shown_path(const file_job& job) {
  if (job.root.empty())
    return job.path;
  return job.path.empty() ? job.root : job.root + "/" + job.path;
}

} // namespace

std::string verb_of(file_op op) {
  switch (op) {
  case file_op::read:
    return "read";
  case file_op::read_range:
    return "read";
  case file_op::write_atomic:
    return "write";
  case file_op::replace:
    return "replace";
  case file_op::ensure_directory:
    return "create the directory";
  case file_op::list:
    return "list";
  case file_op::stat:
    return "examine";
  case file_op::remove:
    return "remove";
  case file_op::rename:
    return "rename";
  case file_op::empty_directory:
    return "empty";
  case file_op::ensure_file:
    return "create";
  }
  return "touch";
}

caf::error expired_failure(const file_job& job) {
  return make_failure(errc::timeout,
                      "cannot " + verb_of(job.op) + " '" + shown_path(job)
                        + "': the disk was busy with other jobs for "
                        + std::to_string(limits::disk_timeout.count())
                        + " seconds; nothing was done");
}

caf::expected<file_outcome> run_file_job(file_system& fs, entropy& chance,
                                         const file_job& job) {
  job_run run{fs, chance, job};
  auto result = run.run();
  if (!result)
    return io_failure(result.error, run.doing(), shown_path(job));
  return std::move(result.value);
}

} // namespace bureau::io
