#include "tests/io/power_cut.hpp"

#include "tests/support/scratch_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace bureau::test {

namespace {

/// Where an open descriptor is in the tree.
std::string path_of(int fd) {
  std::array<char, 4096> buffer;
  auto link = "/proc/self/fd/" + std::to_string(fd);
  auto size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return size > 0 ? std::string{buffer.data(), static_cast<size_t>(size)} : "";
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool lies_in(const std::string& path, const std::string& directory) {
  return parent_of(path) == directory;
}

/// The one name of an entry whose directory exists.
std::string canonical_name(const std::string& path) {
  return std::filesystem::canonical(parent_of(path)).string()
         + path.substr(path.rfind('/'));
}

} // namespace

void power_cut_file_system::cut() {
  for (const auto& path : fresh_directories_)
    std::filesystem::remove_all(path);
  fresh_directories_.clear();
  for (auto& [path, state] : files_) {
    if (!std::filesystem::exists(parent_of(path)))
      continue;
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
    std::erase_if(fresh_directories_,
                  [&](const auto& entry) { return lies_in(entry, path); });
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

io_status power_cut_file_system::make_directory(const std::string& path,
                                                mode_t mode) {
  auto made = disk_.make_directory(path, mode);
  if (made)
    fresh_directories_.insert(canonical_name(path));
  return made;
}

io_status power_cut_file_system::make_directory_below(int dir,
                                                      const std::string& path,
                                                      mode_t mode) {
  auto made = disk_.make_directory_below(dir, path, mode);
  if (made)
    fresh_directories_.insert(path_of(dir) + "/" + path);
  return made;
}

io_status power_cut_file_system::remove_directory(const std::string& path) {
  auto gone = disk_.remove_directory(path);
  if (gone)
    fresh_directories_.erase(canonical_name(path));
  return gone;
}

} // namespace bureau::test
