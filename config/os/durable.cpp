#include "config/os/durable.hpp"

#include "messages/product.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace bureau::os {

namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY;

std::string parent_of(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

io_fault make_one(file_system& fs, const std::string& path, mode_t mode) {
  auto made = fs.make_directory(path, mode);
  // Somebody else may have made it meanwhile; what it is gets checked next.
  if (!made && made.error != EEXIST)
    return {made.error, path, "create the directory"};
  auto seen = fs.stat_name(path);
  if (!seen)
    return {seen.error, path, "look at"};
  if (!S_ISDIR(seen.value.st_mode))
    return {S_ISLNK(seen.value.st_mode) ? ELOOP : ENOTDIR, path,
            "use as a directory"};
  auto fault = sync_directory(fs, parent_of(path));
  // Later it would be found and taken for a durable one.
  if (fault && made)
    fs.remove_directory(path);
  return fault;
}

/// Makes the levels above the directory in question.
io_fault ensure_ancestors(file_system& fs, const std::string& path,
                          mode_t mode) {
  std::vector<std::string> missing;
  for (auto level = parent_of(path);; level = parent_of(level)) {
    auto seen = fs.stat_name(level);
    if (seen && S_ISDIR(seen.value.st_mode))
      break;
    if (seen && S_ISLNK(seen.value.st_mode)) {
      auto real = fs.canonical(level);
      auto target = real ? fs.stat_name(real.value)
                         : io_result<struct stat>{{}, real.error};
      if (!target)
        return {target.error, level, "follow"};
      if (S_ISDIR(target.value.st_mode))
        break;
      return {ENOTDIR, level, "use as a directory"};
    }
    if (seen)
      return {ENOTDIR, level, "use as a directory"};
    if (seen.error != ENOENT || level == "/" || level == ".")
      return {seen.error, level, "look at"};
    missing.push_back(level);
  }
  for (auto level = missing.rbegin(); level != missing.rend(); ++level)
    if (auto fault = make_one(fs, *level, mode))
      return fault;
  return {};
}

} // namespace

errc errc_of_errno(int error) {
  switch (error) {
  case 0:
    return errc::none;
  case ENOENT:
    return errc::not_found;
  case EISDIR:
    return errc::is_directory;
  case EACCES:
  case EPERM:
  case ELOOP:
  case ENOTDIR:
  case EROFS:
  case EXDEV:
    return errc::denied;
  case EFBIG:
    return errc::too_large;
  case EEXIST:
  case ENOTEMPTY:
    return errc::conflict;
  case EWOULDBLOCK:
  case EBUSY:
  case ETXTBSY:
    return errc::busy;
  case EINVAL:
  case ENAMETOOLONG:
    return errc::bad_request;
  default:
    return errc::disk;
  }
}

std::string errno_text(int error) {
  auto text = ::strerrordesc_np(error);
  return text != nullptr ? text : "error " + std::to_string(error);
}

std::string describe(const io_fault& fault) {
  return "cannot " + fault.step + ' ' + fault.path + ": "
         + errno_text(fault.error);
}

caf::error to_failure(const io_fault& fault) {
  return make_failure(errc_of_errno(fault.error), describe(fault));
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fs_ = other.fs_;
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

io_status descriptor::close() {
  if (fd_ < 0)
    return {};
  return fs_->close(std::exchange(fd_, -1));
}

io_status write_all(file_system& fs, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto done = fs.write(fd, bytes.data(), bytes.size());
    if (!done)
      return {done.error};
    if (done.value == 0)
      return {EIO}; // A device that takes nothing would keep us here forever.
    bytes.remove_prefix(done.value);
  }
  return {};
}

io_result<std::string> read_to_end(file_system& fs, int fd, size_t max) {
  io_result<std::string> result;
  char buffer[64 * 1024];
  for (;;) {
    auto got = fs.read(fd, buffer, sizeof buffer);
    if (!got)
      return {{}, got.error};
    if (got.value == 0)
      return result;
    if (got.value > max - result.value.size())
      return {{}, EFBIG};
    result.value.append(buffer, got.value);
  }
}

io_outcome<std::string> read_whole(file_system& fs, const std::string& path,
                                   size_t max) {
  // O_NONBLOCK: a FIFO in the place of the file must not hold us up.
  auto opened = fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (!opened)
    return {{}, {opened.error, path, "open"}};
  descriptor file{fs, opened.value};
  auto seen = fs.stat(file.get());
  if (!seen)
    return {{}, {seen.error, path, "look at"}};
  if (S_ISDIR(seen.value.st_mode))
    return {{}, {EISDIR, path, "read"}};
  if (!S_ISREG(seen.value.st_mode))
    return {{}, {EACCES, path, "read"}};
  auto bytes = read_to_end(fs, file.get(), max);
  if (!bytes)
    return {{}, {bytes.error, path, "read"}};
  return {std::move(bytes.value), {}};
}

io_fault sync_directory(file_system& fs, const std::string& path) {
  auto opened = fs.open(path, directory_flags, 0);
  if (!opened)
    return {opened.error, path, "open"};
  descriptor dir{fs, opened.value};
  auto synced = fs.sync(dir.get());
  return synced ? io_fault{} : io_fault{synced.error, path, "sync"};
}

io_fault write_private_atomically(file_system& fs, entropy& chance,
                                  const std::string& path,
                                  std::string_view bytes, mode_t mode) {
  auto dir = parent_of(path);
  std::string temporary;
  io_result<int> opened{-1, EEXIST};
  // A leftover of a dead process with our number may hold the name.
  for (auto tries = 0; tries < 4 && opened.error == EEXIST; ++tries) {
    temporary = (dir == "/" ? "" : dir) + "/." + base_of(path) + '.'
                + std::to_string(::getpid()) + '.' + random_hex(chance, 16)
                + ".tmp";
    opened = fs.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }
  if (!opened)
    return {opened.error, temporary, "create"};
  descriptor file{fs, opened.value};
  auto abandon = [&](int error, std::string step) {
    file.close();
    fs.unlink(temporary);
    return io_fault{error, path, std::move(step)};
  };
  if (auto written = write_all(fs, file.get(), bytes); !written)
    return abandon(written.error, "write");
  if (auto synced = fs.sync(file.get()); !synced)
    return abandon(synced.error, "sync");
  if (auto closed = file.close(); !closed)
    return abandon(closed.error, "close");
  if (auto renamed = fs.rename(temporary, path); !renamed)
    return abandon(renamed.error, "replace");
  auto fault = sync_directory(fs, dir);
  fault.replaced = static_cast<bool>(fault);
  return fault;
}

io_fault ensure_directory(file_system& fs, const std::string& raw_path,
                          mode_t mode) {
  auto path = without_trailing_slashes(raw_path);
  auto seen = fs.stat_name(path);
  if (seen && S_ISDIR(seen.value.st_mode))
    return {};
  if (seen)
    return {S_ISLNK(seen.value.st_mode) ? ELOOP : ENOTDIR, path,
            "use as a directory"};
  if (seen.error != ENOENT)
    return {seen.error, path, "look at"};
  if (auto fault = ensure_ancestors(fs, path, mode))
    return fault;
  return make_one(fs, path, mode);
}

io_fault ensure_directory_below(file_system& fs, int dir,
                                const std::string& relative, mode_t mode) {
  descriptor held;
  auto current = dir;
  std::string_view rest = relative;
  while (!rest.empty()) {
    auto slash = rest.find('/');
    std::string name{rest.substr(0, slash)};
    rest = slash == std::string_view::npos ? std::string_view{}
                                           : rest.substr(slash + 1);
    if (name.empty() || name == ".")
      continue;
    auto opened = fs.open_below(current, name, directory_flags | O_NOFOLLOW, 0,
                                resolve_rule::no_links);
    if (opened.error == ENOENT) {
      auto made = fs.make_directory_below(current, name, mode);
      if (!made && made.error != EEXIST)
        return {made.error, relative, "create the directory"};
      if (auto synced = fs.sync(current); made && !synced) {
        fs.remove_directory("/proc/self/fd/" + std::to_string(current) + "/"
                            + name);
        return {synced.error, relative, "sync"};
      }
      opened = fs.open_below(current, name, directory_flags | O_NOFOLLOW, 0,
                             resolve_rule::no_links);
    }
    if (!opened)
      return {opened.error, relative, "use as a directory"};
    held = descriptor{fs, opened.value};
    current = held.get();
  }
  return {};
}

bool is_temporary_name(std::string_view name, std::string_view base) {
  auto is_digit = [](char c) {
    return c >= '0' && c <= '9';
  };
  auto is_hex = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
  };
  constexpr std::string_view suffix = ".tmp";
  if (name.size() < 2 || name.front() != '.' || !name.ends_with(suffix))
    return false;
  name.remove_prefix(1);
  name.remove_suffix(suffix.size());
  auto dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return false;
  auto hex = name.substr(dot + 1);
  name = name.substr(0, dot);
  dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0)
    return false;
  auto pid = name.substr(dot + 1);
  return hex.size() == 16 && std::all_of(hex.begin(), hex.end(), is_hex)
         && !pid.empty() && std::all_of(pid.begin(), pid.end(), is_digit)
         && (base.empty() || name.substr(0, dot) == base);
}

size_t sweep_stale_temporaries(file_system& fs, const std::string& dir,
                               std::string_view base) {
  size_t removed = 0;
  for (const auto& name : fs.list(dir).value)
    if (is_temporary_name(name, base) && fs.unlink(dir + '/' + name))
      ++removed;
  return removed;
}

std::string check_state_dir(file_system& fs, const std::string& path,
                            uid_t euid) {
  auto seen = fs.stat_name(path);
  if (seen.error == ENOENT)
    return {};
  if (!seen)
    return "The state directory " + path
           + " cannot be used: " + errno_text(seen.error) + '.';
  const auto& facts = seen.value;
  if (S_ISLNK(facts.st_mode))
    return "The state directory " + path
           + " is a symbolic link; pass the directory it leads to with "
             "--state-dir.";
  if (!S_ISDIR(facts.st_mode))
    return "The state directory " + path
           + " is not a directory; move that file away or choose another "
             "directory with --state-dir.";
  if ((facts.st_mode & S_IWOTH) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o",
                  static_cast<unsigned>(facts.st_mode & 07777u));
    return "The state directory " + path + " has mode " + mode
           + ", so every user of this machine can write to it; run: chmod 700 "
           + path;
  }
  if (facts.st_uid != euid)
    return "The state directory " + path + " belongs to user "
           + std::to_string(facts.st_uid) + ", but " + product::name
           + " runs as user " + std::to_string(euid)
           + "; start it as the owner or choose another directory with "
             "--state-dir.";
  return {};
}

std::string secure_state_dir(file_system& fs, const std::string& path,
                             uid_t euid) {
  if (fs.stat_name(path).error == ENOENT)
    if (auto fault = ensure_directory(fs, path, 0700))
      return "The state directory cannot be made: " + describe(fault) + '.';
  return check_state_dir(fs, path, euid);
}

} // namespace bureau::os
