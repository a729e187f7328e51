#include "actors/io/file_place.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace bureau::io {

namespace {

constexpr int directory_flags = O_PATH | O_DIRECTORY;

struct split_path {
  /// Relative to the root, or absolute without one; empty = the root itself.
  std::string directory;
  std::string leaf;
};

/// Normalised components; `.` and empty ones are gone.
io_result<std::vector<std::string_view>> components(std::string_view path) {
  std::vector<std::string_view> result;
  if (path.find('\0') != std::string_view::npos)
    return {{}, EINVAL};
  while (!path.empty()) {
    auto end = std::min(path.find('/'), path.size());
    auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!part.empty() && part != ".")
      result.push_back(part);
  }
  return {std::move(result), 0};
}

std::string joined(const std::vector<std::string_view>& parts, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0)
      result += '/';
    result += parts[i];
  }
  return result;
}

io_result<split_path> split(const std::string& root, std::string_view path) {
  if (root.empty() != path.starts_with('/'))
    return {{}, root.empty() ? EINVAL : EXDEV};
  if (!root.empty() && !root.starts_with('/'))
    return {{}, EINVAL};
  auto parts = components(path);
  if (!parts)
    return {{}, parts.error};
  if (parts.value.empty())
    return {{"", "."}, 0};
  // A name that stands for another directory cannot be opened as a leaf.
  if (parts.value.back() == "..")
    return {{}, EXDEV};
  return {{joined(parts.value, parts.value.size() - 1),
           std::string{parts.value.back()}},
          0};
}

io_result<os::descriptor> open_directory(file_system& fs,
                                         const std::string& root,
                                         resolve_rule rule,
                                         const std::string& relative) {
  auto base = root.empty() ? std::string{"/"} : root;
  if (root.empty() && !relative.empty())
    base += relative;
  auto fd = fs.open(base, directory_flags, 0);
  if (!fd)
    return {{}, fd.error};
  os::descriptor opened{fs, fd.value};
  if (root.empty() || relative.empty())
    return {std::move(opened), 0};
  auto below = fs.open_below(opened.get(), relative, directory_flags, 0, rule);
  if (!below)
    return {{}, below.error};
  return {os::descriptor{fs, below.value}, 0};
}

} // namespace

std::string proc_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

io_result<file_place> locate(file_system& fs, const std::string& root,
                             resolve_rule rule, std::string_view path) {
  auto parts = split(root, path);
  if (!parts)
    return {{}, parts.error};
  auto parent = open_directory(fs, root, rule, parts.value.directory);
  if (!parent)
    return {{}, parent.error};
  return {{std::move(parent.value), std::move(parts.value.leaf)}, 0};
}

namespace {

/// Makes one directory whose name outlives a power cut, or none.
io_status make_durable(file_system& fs, const file_place& place, mode_t mode) {
  auto made = fs.make_directory_below(place.parent.get(), place.leaf, mode);
  if (!made)
    return {made.error == EEXIST ? 0 : made.error};
  auto synced = sync_parent(fs, place);
  // Later it would be found and taken for a durable one.
  if (!synced)
    fs.remove_directory(proc_path(place.parent.get()) + "/" + place.leaf);
  return synced;
}

} // namespace

io_status make_directories(file_system& fs, const std::string& root,
                           resolve_rule rule, std::string_view path,
                           mode_t mode) {
  auto parts = components(path);
  if (!parts)
    return {parts.error};
  auto place = locate(fs, root, rule, path);
  if (place) {
    auto facts = stat_leaf(fs, place.value);
    if (facts)
      return {S_ISDIR(facts.value.st_mode) ? 0 : EEXIST};
    if (facts.error != ENOENT)
      return {facts.error};
  } else if (place.error != ENOENT) {
    return {place.error};
  }
  if (parts.value.empty())
    return {ENOENT};
  // Every prefix is resolved from the root again: a link that was legal for
  // the whole path would not be from one of its directories.
  for (size_t count = 1; count <= parts.value.size(); ++count) {
    auto prefix = (root.empty() ? "/" : "") + joined(parts.value, count);
    place = locate(fs, root, rule, prefix);
    if (!place)
      return {place.error};
    if (auto made = make_durable(fs, place.value, mode); !made)
      return made;
  }
  auto facts = stat_leaf(fs, place.value);
  if (!facts)
    return {facts.error};
  return {S_ISDIR(facts.value.st_mode) ? 0 : EEXIST};
}

io_result<file_place> locate_making(file_system& fs, const std::string& root,
                                    resolve_rule rule, std::string_view path,
                                    mode_t mode) {
  auto place = locate(fs, root, rule, path);
  if (place || place.error != ENOENT)
    return place;
  auto parts = split(root, path);
  if (!parts)
    return {{}, parts.error};
  auto directory = (root.empty() ? "/" : "") + parts.value.directory;
  // A link to a directory is fine on the way; whether it is allowed at all was
  // decided by the rule when the prefix was resolved.
  if (auto made = make_directories(fs, root, rule, directory, mode);
      !made && made.error != EEXIST)
    return {{}, made.error};
  return locate(fs, root, rule, path);
}

io_result<os::descriptor> open_leaf(file_system& fs, const file_place& place,
                                    int flags, mode_t mode) {
  auto fd =
    fs.open_below(place.parent.get(), place.leaf, flags | O_NOFOLLOW | O_NOCTTY,
                  mode, resolve_rule::no_links);
  if (!fd)
    return {{}, fd.error};
  return {os::descriptor{fs, fd.value}, 0};
}

io_result<os::descriptor> open_regular(file_system& fs, const file_place& place,
                                       int flags, mode_t mode) {
  auto file = open_leaf(fs, place, flags | O_NONBLOCK, mode);
  if (!file)
    return file;
  auto facts = fs.stat(file.value.get());
  if (!facts)
    return {{}, facts.error};
  if (S_ISDIR(facts.value.st_mode))
    return {{}, EISDIR};
  if (!S_ISREG(facts.value.st_mode))
    return {{}, ENXIO};
  return file;
}

io_result<struct stat> stat_leaf(file_system& fs, const file_place& place) {
  return fs.stat_name(proc_path(place.parent.get()) + "/" + place.leaf);
}

io_status sync_parent(file_system& fs, const file_place& place) {
  auto fd = fs.open_below(place.parent.get(), ".", O_RDONLY | O_DIRECTORY, 0,
                          resolve_rule::no_links);
  if (!fd)
    return {fd.error};
  os::descriptor directory{fs, fd.value};
  return fs.sync(directory.get());
}

io_status sync_parents(file_system& fs, const std::string& root,
                       resolve_rule rule, std::string_view path) {
  auto parts = components(path);
  if (!parts)
    return {parts.error};
  for (auto count = parts.value.size(); count > 0; --count) {
    auto place = locate(fs, root, rule, joined(parts.value, count));
    if (!place)
      return {place.error};
    if (auto synced = sync_parent(fs, place.value); !synced)
      return synced;
  }
  return {};
}

io_status write_all_at(file_system& fs, int fd, std::string_view bytes,
                       uint64_t offset) {
  while (!bytes.empty()) {
    auto written = fs.write_at(fd, bytes.data(), bytes.size(), offset);
    if (!written)
      return {written.error};
    if (written.value == 0)
      return {EIO};
    auto count = std::min(written.value, bytes.size());
    bytes.remove_prefix(count);
    offset += count;
  }
  return {0};
}

io_result<std::string> read_up_to(file_system& fs, int fd, uint64_t size,
                                  uint64_t offset) {
  constexpr size_t step = 256u << 10;
  std::string result;
  while (result.size() < size) {
    auto had = result.size();
    auto want = static_cast<size_t>(std::min<uint64_t>(size - had, step));
    result.resize(had + want);
    auto got = fs.read_at(fd, result.data() + had, want, offset + had);
    if (!got)
      return {{}, got.error};
    result.resize(had + got.value);
    if (got.value == 0)
      break;
  }
  return {std::move(result), 0};
}

} // namespace bureau::io
