#include "config/os/posix_file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace bureau::os {

namespace {

/// Repeats a call that a signal interrupted.
template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR)
    result = call();
  return result;
}

template <class Call>
io_status status_of(Call call) {
  return {retried(call) < 0 ? errno : 0};
}

template <class T, class Call>
io_result<T> result_of(Call call) {
  auto result = retried(call);
  if (result < 0)
    return {T{}, errno};
  return {static_cast<T>(result), 0};
}

constexpr int access_bits = O_ACCMODE | O_PATH;

bool creates(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

io_result<int> open_kernel(int dir, const std::string& path, int flags,
                           mode_t mode, resolve_rule rule) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  // The kernel refuses a mode that nothing would use.
  how.mode = creates(flags) ? mode & 07777u : 0u;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (rule == resolve_rule::no_links)
    how.resolve |= RESOLVE_NO_SYMLINKS;
  auto call = [&] {
    return syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how);
  };
  auto result = result_of<int>(call);
  // EAGAIN: a rename elsewhere raced with the walk; a few more looks settle it.
  for (auto tries = 0; tries < 16 && result.error == EAGAIN; ++tries)
    result = result_of<int>(call);
  return result;
}

/// Walks the path without openat2. Each directory is opened by itself and no
/// link is followed, so nothing can lead out of `dir`.
io_result<int> open_walking(int dir, std::string_view path, int flags,
                            mode_t mode) {
  if (path.empty())
    return {-1, ENOENT};
  if (path.front() == '/')
    return {-1, EXDEV};
  auto held = -1;
  auto leave = [&held](int error) {
    if (held >= 0)
      ::close(held);
    return io_result<int>{-1, error};
  };
  auto current = dir;
  for (;;) {
    auto slash = path.find('/');
    auto name = std::string{path.substr(0, slash)};
    auto rest = slash == std::string_view::npos ? std::string_view{}
                                                : path.substr(slash + 1);
    while (!rest.empty() && rest.front() == '/')
      rest.remove_prefix(1);
    if (name == "..")
      return leave(EXDEV);
    auto last = rest.empty();
    auto must_be_directory = last && slash != std::string_view::npos;
    auto step = last ? flags | O_NOFOLLOW | O_CLOEXEC
                     : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (must_be_directory)
      step |= O_DIRECTORY;
    auto next = retried(
      [&] { return ::openat(current, name.c_str(), step, last ? mode : 0u); });
    if (next < 0) {
      auto error = errno;
      // O_DIRECTORY on a link says ENOTDIR; openat2 would say ELOOP.
      struct stat seen {};
      if (error == ENOTDIR
          && ::fstatat(current, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0
          && S_ISLNK(seen.st_mode))
        error = ELOOP;
      return leave(error);
    }
    // O_PATH opens the link itself; openat2 would refuse that too.
    if ((step & access_bits & O_PATH) != 0) {
      struct stat seen {};
      if (::fstat(next, &seen) == 0 && S_ISLNK(seen.st_mode)) {
        ::close(next);
        return leave(ELOOP);
      }
    }
    if (held >= 0)
      ::close(held);
    if (last)
      return {next, 0};
    held = next;
    current = next;
    path = rest;
  }
}

} // namespace

io_result<int> posix_file_system::open(const std::string& path, int flags,
                                       mode_t mode) {
  return result_of<int>(
    [&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}

io_result<int> posix_file_system::open_below(int dir, const std::string& path,
                                             int flags, mode_t mode,
                                             resolve_rule rule) {
  if (use_openat2_) {
    auto result = open_kernel(dir, path, flags | O_CLOEXEC, mode, rule);
    // EPERM: how older container runtimes answer system calls they do not know.
    if (result.error != ENOSYS && result.error != EPERM)
      return result;
  }
  return open_walking(dir, path, flags, mode);
}

io_status posix_file_system::close(int fd) {
  if (::close(fd) == 0 || errno == EINTR)
    return {};
  return {errno};
}

io_result<size_t> posix_file_system::read(int fd, char* data, size_t size) {
  return result_of<size_t>([&] { return ::read(fd, data, size); });
}

io_result<size_t> posix_file_system::read_at(int fd, char* data, size_t size,
                                             uint64_t offset) {
  return result_of<size_t>(
    [&] { return ::pread(fd, data, size, static_cast<off_t>(offset)); });
}

io_result<size_t> posix_file_system::write(int fd, const char* data,
                                           size_t size) {
  return result_of<size_t>([&] { return ::write(fd, data, size); });
}

io_result<size_t> posix_file_system::write_at(int fd, const char* data,
                                              size_t size, uint64_t offset) {
  return result_of<size_t>(
    [&] { return ::pwrite(fd, data, size, static_cast<off_t>(offset)); });
}

io_status posix_file_system::sync(int fd) {
  return status_of([&] { return ::fsync(fd); });
}

io_status posix_file_system::sync_data(int fd) {
  return status_of([&] { return ::fdatasync(fd); });
}

io_status posix_file_system::truncate(int fd, uint64_t size) {
  return status_of([&] { return ::ftruncate(fd, static_cast<off_t>(size)); });
}

io_status posix_file_system::change_mode(int fd, mode_t mode) {
  return status_of([&] { return ::fchmod(fd, mode); });
}

io_result<struct stat> posix_file_system::stat(int fd) {
  io_result<struct stat> result;
  result.error = status_of([&] { return ::fstat(fd, &result.value); }).error;
  return result;
}

io_status posix_file_system::lock(int fd) {
  return status_of([&] { return ::flock(fd, LOCK_EX | LOCK_NB); });
}

io_result<struct stat> posix_file_system::stat_name(const std::string& path) {
  io_result<struct stat> result;
  result.error =
    status_of([&] { return ::lstat(path.c_str(), &result.value); }).error;
  return result;
}

io_status posix_file_system::rename(const std::string& from,
                                    const std::string& to) {
  return status_of([&] { return ::rename(from.c_str(), to.c_str()); });
}

io_status posix_file_system::rename_new(const std::string& from,
                                        const std::string& to) {
  auto moved = status_of([&] {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                       RENAME_NOREPLACE);
  });
  if (moved.error != EINVAL)
    return moved;
  // A file system that cannot be asked for it: look, then rename.
  if (auto there = stat_name(to); there.error != ENOENT)
    return {there ? EEXIST : there.error};
  return rename(from, to);
}

io_status posix_file_system::rename_below(int dir, const std::string& from,
                                          const std::string& to) {
  return status_of(
    [&] { return ::renameat(dir, from.c_str(), dir, to.c_str()); });
}

io_status posix_file_system::unlink(const std::string& path) {
  return status_of([&] { return ::unlink(path.c_str()); });
}

io_status posix_file_system::unlink_below(int dir, const std::string& path) {
  return status_of([&] { return ::unlinkat(dir, path.c_str(), 0); });
}

io_status posix_file_system::make_directory(const std::string& path,
                                            mode_t mode) {
  return status_of([&] { return ::mkdir(path.c_str(), mode); });
}

io_status posix_file_system::make_directory_below(int dir,
                                                  const std::string& path,
                                                  mode_t mode) {
  return status_of([&] { return ::mkdirat(dir, path.c_str(), mode); });
}

io_status posix_file_system::remove_directory(const std::string& path) {
  return status_of([&] { return ::rmdir(path.c_str()); });
}

io_result<std::vector<std::string>>
posix_file_system::list(const std::string& path) {
  io_result<std::vector<std::string>> result;
  auto fd = open(path, O_RDONLY | O_DIRECTORY, 0);
  if (!fd)
    return {{}, fd.error};
  std::unique_ptr<DIR, int (*)(DIR*)> dir{::fdopendir(fd.value), ::closedir};
  if (!dir) {
    result.error = errno;
    ::close(fd.value);
    return result;
  }
  for (;;) {
    errno = 0;
    auto entry = ::readdir(dir.get());
    if (entry == nullptr)
      break;
    std::string name{entry->d_name};
    if (name != "." && name != "..")
      result.value.push_back(std::move(name));
  }
  result.error = errno;
  return result;
}

io_result<std::string> posix_file_system::canonical(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> real{::realpath(path.c_str(), nullptr),
                                              std::free};
  if (!real)
    return {{}, errno};
  return {std::string{real.get()}, 0};
}

} // namespace bureau::os
