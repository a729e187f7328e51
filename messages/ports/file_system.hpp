#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bureau {

/// Outcome of one file operation: a value, or the errno that stopped it.
template <class T>
struct io_result {
  T value{};
  int error = 0;
  explicit operator bool() const { return error == 0; }
};

/// Outcome of an operation without a value.
struct io_status {
  int error = 0;
  explicit operator bool() const { return error == 0; }
};

/// How a path is resolved below a directory descriptor.
enum class resolve_rule : uint8_t {
  /// No symbolic link anywhere and never above the directory.
  no_links,
  /// Links may be followed as long as they stay below the directory.
  beneath,
};

/// The disk as a port: one method per system call, so that a twin can fail,
/// shorten or forget any of them. Methods may block and must be called from
/// threads that may (the file pool, the journal, boot and tests). Thread safe.
class file_system {
public:
  virtual ~file_system() = default;

  // -- descriptors ------------------------------------------------------------

  /// open(2) with O_CLOEXEC added.
  virtual io_result<int> open(const std::string& path, int flags,
                              mode_t mode) = 0;
  /// openat2(2) below `dir`; `path` is relative.
  virtual io_result<int> open_below(int dir, const std::string& path, int flags,
                                    mode_t mode, resolve_rule rule) = 0;
  virtual io_status close(int fd) = 0;
  virtual io_result<size_t> read(int fd, char* data, size_t size) = 0;
  virtual io_result<size_t> read_at(int fd, char* data, size_t size,
                                    uint64_t offset) = 0;
  /// write(2): may be short.
  virtual io_result<size_t> write(int fd, const char* data, size_t size) = 0;
  virtual io_result<size_t> write_at(int fd, const char* data, size_t size,
                                     uint64_t offset) = 0;
  virtual io_status sync(int fd) = 0;
  virtual io_status sync_data(int fd) = 0;
  virtual io_status truncate(int fd, uint64_t size) = 0;
  virtual io_status change_mode(int fd, mode_t mode) = 0;
  virtual io_result<struct stat> stat(int fd) = 0;
  /// flock(LOCK_EX|LOCK_NB); EWOULDBLOCK when another process holds it.
  virtual io_status lock(int fd) = 0;

  // -- names ------------------------------------------------------------------

  /// lstat(2): never follows the last component.
  virtual io_result<struct stat> stat_name(const std::string& path) = 0;
  virtual io_status rename(const std::string& from, const std::string& to) = 0;
  /// renameat2(2) with RENAME_NOREPLACE: EEXIST when `to` is taken.
  virtual io_status rename_new(const std::string& from,
                               const std::string& to) = 0;
  /// renameat(2) inside one directory descriptor.
  virtual io_status rename_below(int dir, const std::string& from,
                                 const std::string& to) = 0;
  virtual io_status unlink(const std::string& path) = 0;
  virtual io_status unlink_below(int dir, const std::string& path) = 0;
  virtual io_status make_directory(const std::string& path, mode_t mode) = 0;
  virtual io_status make_directory_below(int dir, const std::string& path,
                                         mode_t mode) = 0;
  virtual io_status remove_directory(const std::string& path) = 0;
  /// Entry names without "." and "..", in no particular order.
  virtual io_result<std::vector<std::string>> list(const std::string& path) = 0;
  /// realpath(3).
  virtual io_result<std::string> canonical(const std::string& path) = 0;
};

} // namespace bureau
