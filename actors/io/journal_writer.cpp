#include "actors/io/journal_writer.hpp"

#include "actors/io/file_place.hpp"
#include "actors/io/io_errors.hpp"
#include "messages/codec/open_list.hpp"
#include "messages/limits.hpp"
#include "messages/ports/entropy.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace bureau::io {

namespace {

/// As much as a frame of many records needs.
constexpr size_t probe_bytes = 64u << 10;

journal_path path_of(const journal_append& append) {
  return {append.record.root, append.record.path};
}

journal_path_view view_of(const journal_append& append) {
  return {append.record.root, append.record.path};
}

/// How many targets the process may keep open: the rest of its descriptors is
/// for connections and children.
size_t affordable_targets() {
  rlimit files{};
  size_t most = limits::journal_open_targets;
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
    most = std::max<size_t>(most, files.rlim_cur / 4);
  return std::min(most, most_open_targets);
}

/// Tells the names of temporary files apart; nobody need guess them.
class numbers final : public entropy {
public:
  uint64_t next() override { return ++last_; }

private:
  uint64_t last_ = 0;
};

/// Where a target is cut off, and why.
struct cut {
  uint64_t end = 0;
  caf::error reason;
};

/// After failed writes: what befell one append of a group befalls all of it,
/// and nothing stays in a file behind what is taken back. Marks the appends.
std::map<journal_path, cut>
spread_failures(std::vector<journal_append>& batch,
                const std::map<journal_path, int>& failed) {
  std::map<journal_path, cut> cuts;
  std::map<uint64_t, caf::error> groups;
  auto reason_for = [&](const journal_append& append) -> caf::error {
    auto path = path_of(append);
    if (auto found = failed.find(path); found != failed.end())
      return journal_failure(found->second, path.path);
    if (auto found = groups.find(append.group); found != groups.end())
      return found->second;
    if (auto found = cuts.find(path);
        found != cuts.end() && append.offset >= found->second.end)
      return found->second.reason;
    return {};
  };
  auto refuse = [&](journal_append& append, caf::error reason) {
    auto found = cuts.try_emplace(path_of(append), cut{append.offset, reason});
    if (append.offset < found.first->second.end)
      found.first->second = {append.offset, reason};
    if (append.group != 0)
      groups.emplace(append.group, reason);
    append.failure = std::move(reason);
  };
  for (auto changed = true; changed;) {
    changed = false;
    for (auto& append : batch) {
      if (append.failure)
        continue;
      if (auto reason = reason_for(append)) {
        refuse(append, std::move(reason));
        changed = true;
      }
    }
  }
  return cuts;
}

/// What befell one append of a group befalls all of it.
void share_failures(std::vector<journal_append>& batch) {
  std::map<uint64_t, caf::error> failures;
  for (const auto& append : batch)
    if (append.group != 0 && append.failure)
      failures.emplace(append.group, append.failure);
  for (auto& append : batch)
    if (auto found = failures.find(append.group);
        !append.failure && found != failures.end())
      append.failure = found->second;
}

} // namespace

journal_writer::journal_writer(std::shared_ptr<file_system> fs,
                               std::string state_dir,
                               std::string workspace_root)
  : fs_(std::move(fs)),
    directory_(journal_directory(state_dir)), roots_{std::move(state_dir),
                                                     std::move(workspace_root)},
    kept_targets_(affordable_targets()) {
  // Numbers only ever grow, also past segments that a boot has kept.
  for (const auto& name : fs_->list(directory_).value)
    last_number_ =
      std::max({last_number_, segment_number(name), kept_segment_number(name)});
}

const std::string& journal_writer::root_of(journal_path_view path) const {
  return roots_[static_cast<size_t>(path.root)];
}

// -- appends ------------------------------------------------------------------

size_t journal_writer::path_hash::operator()(journal_path_view path) const {
  return std::hash<std::string_view>{}(path.path)
         + static_cast<size_t>(path.root);
}

bool journal_writer::path_equal::operator()(journal_path_view left,
                                            journal_path_view right) const {
  return left.root == right.root && left.path == right.path;
}

void journal_writer::commit(std::vector<journal_append>& batch) {
  ++batch_;
  touched_.clear();
  plan(batch);
  if (needs_frame(batch)) {
    if (auto failure = write_frame(batch)) {
      for (auto& append : batch)
        if (!append.failure)
          append.failure = failure;
      trim_targets();
      return;
    }
  } else {
    for (const auto& append : batch)
      if (!append.failure)
        riders_.add(view_of(append), append.offset, append.record.bytes);
  }
  apply(batch);
  trim_targets();
}

/// Opens the targets and gives every append its place.
void journal_writer::plan(std::vector<journal_append>& batch) {
  places_.assign(batch.size(), nullptr);
  followers_.assign(batch.size(), none);
  for (size_t i = 0; i < batch.size(); ++i) {
    auto found = acquire(view_of(batch[i]));
    places_[i] = found.value;
    if (!found)
      batch[i].failure = journal_failure(found.error, batch[i].record.path);
  }
  share_failures(batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].failure)
      continue;
    auto& known = *places_[i];
    batch[i].offset = known.planned_end;
    known.planned_end += batch[i].record.bytes.size();
    if (known.first == none)
      known.first = i;
    else
      followers_[known.last] = i;
    known.last = i;
  }
}

io_result<journal_writer::target*>
journal_writer::acquire(journal_path_view path) {
  auto found = targets_.find(path);
  auto* known = found != targets_.end() ? &found->second : nullptr;
  if (known == nullptr) {
    auto opened = open_anew({path.root, std::string{path.path}});
    if (!opened)
      return opened;
    known = opened.value;
  } else if (known->batch != batch_) {
    ages_.splice(ages_.end(), ages_, known->age);
    if (auto same = refresh(*known); !same) {
      drop_target(path);
      return {nullptr, same.error};
    }
  }
  if (known->batch != batch_) {
    known->batch = batch_;
    known->planned_end = known->open.size;
    known->first = known->last = none;
    touched_.push_back(known);
  }
  return {known, 0};
}

io_result<journal_writer::target*>
journal_writer::open_anew(const journal_path& path) {
  auto opened = open_journal_target(*fs_, root_of(path), path.path);
  if (!opened)
    return {nullptr, opened.error};
  if (auto cut = cut_overlong(path, opened.value); !cut)
    return {nullptr, cut.error};
  if (opened.value.created)
    created_.insert(path);
  auto found = targets_.emplace(path, target{}).first;
  auto& known = found->second;
  known.open = std::move(opened.value);
  known.path = &found->first;
  known.age = ages_.insert(ages_.end(), &known);
  return {&known, 0};
}

/// Cuts off what a failed write left behind, if it could not be cut then.
io_status journal_writer::cut_overlong(const journal_path& path,
                                       journal_target& opened) {
  auto found = overlong_.find(path);
  if (found == overlong_.end())
    return {};
  if (opened.size > found->second) {
    if (auto cut = fs_->truncate(opened.file.get(), found->second); !cut)
      return cut;
    opened.size = found->second;
    dirty_.insert(path);
  }
  overlong_.erase(found);
  return {};
}

/// The same for all, before anything forgets the frames that tell what belongs
/// to the bytes in question.
io_status journal_writer::cut_all_overlong() {
  while (!overlong_.empty()) {
    auto path = overlong_.begin()->first;
    auto opened = open_journal_target(*fs_, root_of(path), path.path, false);
    if (!opened && code_for(opened.error) == errc::disk)
      return {opened.error};
    if (!opened)
      overlong_.erase(path); // Nobody's file any more.
    else if (auto cut = cut_overlong(path, opened.value); !cut)
      return cut;
  }
  return {};
}

/// Looks whether the file still ends where we left it.
io_status journal_writer::refresh(target& known) {
  auto facts = fs_->stat(known.open.file.get());
  if (!facts)
    return {facts.error};
  auto size = static_cast<uint64_t>(facts.value.st_size);
  auto is_named = facts.value.st_nlink > 0;
  if (size == known.open.size && facts.value.st_nlink == 1)
    return {};
  // A foreign writer, or another file under the name: begin anew at its end.
  const auto& path = *known.path;
  auto opened = open_journal_target(*fs_, root_of(path), path.path);
  if (!opened)
    return {opened.error};
  if (opened.value.created)
    created_.insert(path);
  // Frames that speak of bytes which are gone must not come back.
  if (!is_named || size < known.open.size)
    unsure_.insert(path);
  known.open = std::move(opened.value);
  return {};
}

bool journal_writer::needs_frame(
  const std::vector<journal_append>& batch) const {
  size_t bytes = riders_.size();
  for (const auto& append : batch) {
    if (append.failure)
      continue;
    // What stands or falls together needs the frame for it; and what was taken
    // back must not wait for a later one.
    if (append.record.level == durability::sync || append.group != 0
        || !unsure_.empty()
        || (!sealed_.empty() && sealed_.count(path_of(append)) > 0))
      return true;
    bytes += encoded_size(view_of(append), append.record.bytes);
  }
  return bytes > limits::journal_frame_bytes;
}

caf::error
journal_writer::write_frame(const std::vector<journal_append>& batch) {
  // A segment that broke is put right first: that may sync and seal.
  if (auto ready = ensure_segment(); !ready)
    return segment_failure(ready.error);
  frame_.clear();
  frame_.add_all(riders_);
  if (auto settled = settle(batch); !settled)
    return segment_failure(settled.error);
  for (const auto& path : unsure_)
    frame_.add_seal(path);
  auto bytes = frame_.size();
  for (const auto& append : batch)
    if (!append.failure)
      bytes += encoded_size(view_of(append), append.record.bytes);
  // What is large has a frame of its own, behind that of the others.
  if (bytes > limits::journal_frame_bytes)
    frame_.end_frame();
  for (const auto& append : batch)
    if (!append.failure)
      frame_.refer(view_of(append), append.offset, append.record.bytes);
  if (frame_.empty())
    return {};
  if (auto failure = write_segment())
    return failure;
  unsure_.clear();
  return {};
}

/// Makes the targets such that the next frame may be the first that is replayed
/// for those whose frames so far are void. All of them at once: a group that
/// was taken back must not come back in one file alone.
io_status journal_writer::settle(const std::vector<journal_append>& batch) {
  if (auto cut = cut_all_overlong(); !cut)
    return cut;
  for (const auto& path : unsure_)
    if (auto synced = sync_target(path); !synced)
      return synced;
  for (const auto& append : batch) {
    if (sealed_.empty())
      break;
    auto path = path_of(append);
    if (append.failure || sealed_.count(path) == 0)
      continue;
    // Since the seal another file may have got the name, or not for good.
    created_.insert(path);
    if (auto synced = sync_target(path); !synced)
      return synced;
    sealed_.erase(path);
  }
  return {};
}

/// Writes the frames that were put together, with one sync.
caf::error journal_writer::write_segment() {
  if (auto ready = ensure_segment(); !ready)
    return segment_failure(ready.error);
  auto end = segment_size_;
  io_status done;
  for (auto piece : frame_.pieces()) {
    done = write_all_at(*fs_, segment_.get(), piece, end);
    if (!done)
      break;
    end += piece.size();
  }
  if (done)
    done = fs_->sync_data(segment_.get());
  frame_.clear();
  if (!done)
    return segment_failure(done.error);
  segment_size_ = end;
  riders_.clear();
  ++frames_;
  trouble_.clear();
  return {};
}

/// Puts the bytes into the targets.
void journal_writer::apply(std::vector<journal_append>& batch) {
  std::map<journal_path, int> failed;
  for (auto* known : touched_) {
    if (known->first == none)
      continue;
    auto done = write_target(batch, *known);
    mark_dirty(*known);
    if (!done) {
      failed[*known->path] = done.error;
      continue;
    }
    known->open.size = known->planned_end;
    if (!target_trouble_.empty() && *known->path == troubled_target_)
      target_trouble_.clear();
  }
  if (!failed.empty())
    take_back(batch, failed);
}

/// One write for a target, unless that would copy a lot.
io_status journal_writer::write_target(const std::vector<journal_append>& batch,
                                       const target& known) {
  auto fd = known.open.file.get();
  auto end = known.open.size;
  auto copies = known.first != known.last
                && known.planned_end - end <= limits::journal_frame_bytes;
  std::string joined;
  for (auto i = known.first; i != none; i = followers_[i]) {
    const auto& bytes = batch[i].record.bytes;
    if (copies) {
      joined += bytes;
      continue;
    }
    if (auto done = write_all_at(*fs_, fd, bytes, end); !done)
      return done;
    end += bytes.size();
  }
  return copies ? write_all_at(*fs_, fd, joined, end) : io_status{};
}

void journal_writer::mark_dirty(target& known) {
  if (std::exchange(known.dirty_round, dirty_round_) != dirty_round_)
    dirty_.insert(*known.path);
}

/// Leaves of a batch in no target what is not in all of them.
void journal_writer::take_back(std::vector<journal_append>& batch,
                               const std::map<journal_path, int>& failed) {
  for (const auto& [path, cut] : spread_failures(batch, failed)) {
    auto& known = targets_.find(path)->second;
    // What a failed write left behind would tear the next line, too.
    if (!fs_->truncate(known.open.file.get(), cut.end))
      overlong_[path] = cut.end;
    unsure_.insert(path);
    drop_target(path);
  }
  const auto& [path, error] = *failed.begin();
  troubled_target_ = path;
  target_trouble_ = "cannot write " + root_of(path) + "/" + path.path + ": "
                    + os::errno_text(error);
}

// -- targets ------------------------------------------------------------------

void journal_writer::drop_target(journal_path_view path) {
  auto found = targets_.find(path);
  if (found == targets_.end())
    return;
  ages_.erase(found->second.age);
  targets_.erase(found);
}

void journal_writer::trim_targets() {
  while (targets_.size() > kept_targets_)
    drop_target(*ages_.front()->path);
}

io_status journal_writer::sync_target(const journal_path& path) {
  auto is_new = created_.count(path) > 0;
  auto found = targets_.find(path);
  auto done = found != targets_.end() && !is_new
                ? fs_->sync_data(found->second.open.file.get())
                : sync_journal_target(*fs_, root_of(path), path.path, is_new);
  if (done && is_new)
    forget_created(path);
  return done;
}

/// With the directory of a file all names in it are durable.
void journal_writer::forget_created(const journal_path& path) {
  auto length = path.path.rfind('/') + 1;
  journal_path directory{path.root, path.path.substr(0, length)};
  auto next = created_.lower_bound(directory);
  while (next != created_.end() && next->root == path.root
         && next->path.starts_with(directory.path)) {
    auto is_beside = next->path.find('/', length) == std::string::npos;
    next = is_beside ? created_.erase(next) : std::next(next);
  }
}

caf::error journal_writer::seal(const journal_path& path) {
  if (auto synced = sync_target(path); !synced)
    return journal_failure(synced.error, path.path);
  // Without a segment and a rider nothing of the path can be replayed.
  if (!segments_.empty() || !riders_.empty()) {
    if (broken_)
      if (auto recovered = recover(); !recovered)
        return segment_failure(recovered.error);
    if (auto settled = settle({}); !settled)
      return segment_failure(settled.error);
    frame_.clear();
    frame_.add_all(riders_);
    unsure_.insert(path);
    for (const auto& other : unsure_)
      frame_.add_seal(other);
    if (auto failure = write_segment())
      return failure;
    unsure_.clear();
  }
  dirty_.erase(path);
  retiring_dirty_.erase(path);
  sealed_.insert(path);
  drop_target(path);
  return {};
}

// -- segments -----------------------------------------------------------------

os::descriptor journal_writer::open_directory(int& error) {
  auto fd = fs_->open(directory_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (!fd && fd.error == ENOENT) {
    auto fault = os::ensure_directory(*fs_, directory_, 0700);
    error = fault.error;
    if (fault)
      return {};
    fd = fs_->open(directory_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  }
  error = fd.error;
  return fd ? os::descriptor{*fs_, fd.value} : os::descriptor{};
}

io_status journal_writer::ensure_segment() {
  if (broken_)
    if (auto recovered = recover(); !recovered)
      return recovered;
  if (segment_)
    return {};
  int error = 0;
  auto directory = open_directory(error);
  if (!directory)
    return {error};
  auto number = ++last_number_;
  auto fd =
    fs_->open_below(directory.get(), segment_name(number),
                    O_RDWR | O_CREAT | O_EXCL, 0600, resolve_rule::no_links);
  if (!fd)
    return {fd.error};
  os::descriptor file{*fs_, fd.value};
  segments_.push_back(number);
  // A segment whose name is lost would take its frames along.
  if (auto synced = fs_->sync(directory.get()); !synced) {
    broken_ = true;
    return synced;
  }
  segment_ = std::move(file);
  segment_size_ = 0;
  return {};
}

caf::error journal_writer::segment_failure(int error) {
  broken_ = true;
  // The end of the file is unknown now; nothing may follow it.
  segment_ = {};
  trouble_ =
    "cannot write the journal in " + directory_ + ": " + os::errno_text(error);
  return make_failure(errc::disk, trouble_ + "; free space or check the disk");
}

/// After a failure: all that was acknowledged goes to its targets for good,
/// then no segment is left that could contradict what comes next.
io_status journal_writer::recover() {
  segment_ = {};
  if (auto cut = cut_all_overlong(); !cut)
    return cut;
  retire_dirty();
  while (!retiring_dirty_.empty()) {
    auto path = *retiring_dirty_.begin();
    if (auto synced = sync_target(path); !synced)
      return synced;
    retiring_dirty_.erase(retiring_dirty_.begin());
  }
  retiring_ = segments_.size();
  if (auto removed = remove_old_segments(); !removed)
    return removed;
  riders_.clear();
  unsure_.clear();
  segment_size_ = 0;
  broken_ = false;
  checkpoint_trouble_.clear();
  return {};
}

void journal_writer::retry() {
  if (auto recovered = recover(); !recovered) {
    segment_failure(recovered.error);
    return;
  }
  for (const auto& root : roots_)
    if (auto written = probe(root); !written) {
      trouble_ =
        "cannot write below " + root + ": " + os::errno_text(written.error);
      return;
    }
  trouble_.clear();
  target_trouble_.clear();
}

/// A file without a name leaves nothing behind, whatever happens.
io_status journal_writer::probe(const std::string& directory) {
  auto fd = fs_->open(directory, O_TMPFILE | O_WRONLY, 0600);
  if (!fd) {
    // Not every file system has such files.
    auto cannot_tell =
      fd.error == EOPNOTSUPP || fd.error == EISDIR || fd.error == EINVAL;
    return {cannot_tell ? 0 : fd.error};
  }
  os::descriptor file{*fs_, fd.value};
  auto done = os::write_all(*fs_, file.get(), std::string(probe_bytes, '\0'));
  return done ? fs_->sync_data(file.get()) : done;
}

const std::string& journal_writer::trouble() const {
  if (!trouble_.empty())
    return trouble_;
  return checkpoint_trouble_.empty() ? target_trouble_ : checkpoint_trouble_;
}

// -- checkpoints --------------------------------------------------------------

bool journal_writer::segment_full() const {
  return segment_size_ >= limits::journal_segment_bytes;
}

bool journal_writer::has_unsynced() const {
  return !segments_.empty() || !dirty_.empty() || !retiring_dirty_.empty();
}

void journal_writer::begin_checkpoint() {
  segment_ = {};
  segment_size_ = 0;
  retiring_ = segments_.size();
  retire_dirty();
}

void journal_writer::retire_dirty() {
  retiring_dirty_.merge(dirty_);
  dirty_.clear();
  ++dirty_round_;
}

bool journal_writer::checkpoint_step(size_t targets) {
  if (auto cut = cut_all_overlong(); !cut) {
    checkpoint_trouble_ =
      "cannot cut off what a failed write left: " + os::errno_text(cut.error);
    return false;
  }
  for (size_t count = 0; count < targets && !retiring_dirty_.empty(); ++count) {
    auto path = *retiring_dirty_.begin();
    if (auto synced = sync_target(path); !synced) {
      checkpoint_trouble_ =
        "cannot sync " + path.path + ": " + os::errno_text(synced.error);
      return false;
    }
    retiring_dirty_.erase(retiring_dirty_.begin());
  }
  if (!retiring_dirty_.empty())
    return true;
  checkpoint_trouble_.clear();
  if (auto removed = remove_old_segments(); !removed)
    checkpoint_trouble_ = "cannot remove old segments in " + directory_ + ": "
                          + os::errno_text(removed.error);
  return false;
}

void journal_writer::mark(const std::string& key, bool unfinished) {
  if (!marks_)
    marks_.emplace();
  auto changed =
    unfinished ? marks_->insert(key).second : marks_->erase(key) > 0;
  if (changed)
    marks_kept_ = false;
}

/// What a restart would learn from the frames of old segments, it has to learn
/// from the list when they are gone.
io_status journal_writer::keep_marks() {
  if (!marks_ || marks_kept_)
    return {};
  numbers names;
  auto path =
    root_of({journal_root::state, {}}) + "/" + std::string{open_list_name};
  auto fault = os::write_private_atomically(
    *fs_, names, path, print_open_list({marks_->begin(), marks_->end()}));
  marks_kept_ = !fault;
  return {fault.error};
}

io_status journal_writer::remove_old_segments() {
  if (auto kept = keep_marks(); !kept)
    return kept;
  if (retiring_ == 0)
    return {};
  int error = 0;
  auto directory = open_directory(error);
  if (!directory)
    return {error};
  while (retiring_ > 0) {
    auto gone =
      fs_->unlink_below(directory.get(), segment_name(segments_.front()));
    if (!gone && gone.error != ENOENT)
      return gone;
    // Oldest first, and for good: a seal must not go before what it voids.
    if (auto synced = fs_->sync(directory.get()); !synced)
      return synced;
    segments_.erase(segments_.begin());
    --retiring_;
  }
  return {};
}

caf::error journal_writer::close() {
  if (auto done = recover(); !done)
    return segment_failure(done.error);
  targets_.clear();
  ages_.clear();
  return {};
}

} // namespace bureau::io
