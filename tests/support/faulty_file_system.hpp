#pragma once

#include "messages/ports/file_system.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// A file system that passes everything on to another one, except for the
/// faults that a test planned. Operations are counted from 1; a failing one is
/// not done, but a failing close still closes. For tests of one thread.
class faulty_file_system final : public file_system {
public:
  explicit faulty_file_system(std::shared_ptr<file_system> inner)
    : inner_(std::move(inner)) {}

  /// The n-th operation from now fails with this errno, the others work.
  void fail_at(size_t n, int error);
  /// The n-th operation from now and all after it fail, as if the process had
  /// been killed or the disk had gone.
  void fail_from(size_t n, int error);
  /// Fails every operation of one name ("sync", "rename", …).
  void fail_named(std::string name, int error);
  /// Writes take at most so many bytes at a time.
  void shorten_writes(size_t max) { write_limit_ = max; }
  /// No fault any more; the count starts again.
  void heal();
  /// Names of the operations since the last plan, in order.
  const std::vector<std::string>& operations() const { return operations_; }

  io_result<int> open(const std::string& path, int flags, mode_t mode) override;
  io_result<int> open_below(int dir, const std::string& path, int flags,
                            mode_t mode, resolve_rule rule) override;
  io_status close(int fd) override;
  io_result<size_t> read(int fd, char* data, size_t size) override;
  io_result<size_t> read_at(int fd, char* data, size_t size,
                            uint64_t offset) override;
  io_result<size_t> write(int fd, const char* data, size_t size) override;
  io_result<size_t> write_at(int fd, const char* data, size_t size,
                             uint64_t offset) override;
  io_status sync(int fd) override;
  io_status sync_data(int fd) override;
  io_status truncate(int fd, uint64_t size) override;
  io_status change_mode(int fd, mode_t mode) override;
  io_result<struct stat> stat(int fd) override;
  io_status lock(int fd) override;
  io_result<struct stat> stat_name(const std::string& path) override;
  io_status rename(const std::string& from, const std::string& to) override;
  io_status rename_new(const std::string& from, const std::string& to) override;
  io_status rename_below(int dir, const std::string& from,
                         const std::string& to) override;
  io_status unlink(const std::string& path) override;
  io_status unlink_below(int dir, const std::string& path) override;
  io_status make_directory(const std::string& path, mode_t mode) override;
  io_status make_directory_below(int dir, const std::string& path,
                                 mode_t mode) override;
  io_status remove_directory(const std::string& path) override;
  io_result<std::vector<std::string>> list(const std::string& path) override;
  io_result<std::string> canonical(const std::string& path) override;

private:
  /// Counts an operation; answers the errno it is to fail with, or 0.
  int next(const char* name);
  void plan(size_t n, int error, bool to_the_end);

  std::shared_ptr<file_system> inner_;
  std::vector<std::string> operations_;
  size_t fail_at_ = 0;
  int error_ = 0;
  bool to_the_end_ = false;
  std::string failing_name_;
  size_t write_limit_ = std::numeric_limits<size_t>::max();
};

} // namespace bureau::test
