#include "tests/io/power_cut.hpp"

#include "tests/support/scratch_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace bureau::test {

namespace {

/// Where an open descriptor is in the tree.
std::string path_of(int fd) {
  std::array<char, 4096> buffer;
  auto link = "/proc/self/fd/" + std::to_string(fd);
  auto size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return size > 0 ? std::string{buffer.data(), static_cast<size_t>(size)} : "";
}

bool lies_in(const std::string& path, const std::string& directory) {
  return path.substr(0, path.rfind('/')) == directory;
}

} // namespace

void power_cut_file_system::cut() {
  for (auto& [path, state] : files_) {
    if (!state.name_is_durable)
      ::unlink(path.c_str());
    else
      put_file(path, state.bytes.value_or(""));
  }
  files_.clear();
}

io_result<int> power_cut_file_system::note(io_result<int> opened, int flags) {
  if (opened && (flags & O_CREAT) != 0) {
    auto& state = files_[path_of(opened.value)];
    state.exists = true;
  }
  return opened;
}

io_result<int> power_cut_file_system::open(const std::string& path, int flags,
                                           mode_t mode) {
  return note(disk_.open(path, flags, mode), flags);
}

io_result<int> power_cut_file_system::open_below(int dir,
                                                 const std::string& path,
                                                 int flags, mode_t mode,
                                                 resolve_rule rule) {
  return note(disk_.open_below(dir, path, flags, mode, rule), flags);
}

io_status power_cut_file_system::sync(int fd) {
  auto path = path_of(fd);
  auto facts = disk_.stat(fd);
  if (S_ISDIR(facts.value.st_mode)) {
    for (auto entry = files_.begin(); entry != files_.end();) {
      if (!lies_in(entry->first, path)) {
        ++entry;
        continue;
      }
      entry->second.name_is_durable = entry->second.exists;
      entry = entry->second.exists ? std::next(entry) : files_.erase(entry);
    }
    return {};
  }
  files_[path].bytes = get_file(path);
  return {};
}

io_status power_cut_file_system::unlink_below(int dir,
                                              const std::string& path) {
  auto gone = disk_.unlink_below(dir, path);
  if (gone)
    files_[path_of(dir) + "/" + path].exists = false;
  return gone;
}

} // namespace bureau::test
