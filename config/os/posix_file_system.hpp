#pragma once

#include "messages/ports/file_system.hpp"

namespace bureau::os {

/// The file_system port on Linux: every method is one system call, with
/// O_CLOEXEC always and EINTR retried where the call may be interrupted (close
/// is never retried: the descriptor is gone either way).
///
/// `open_below` uses openat2(2). Where the kernel or a seccomp filter lacks it,
/// the path is walked component by component without following any link, which
/// refuses more than resolve_rule::beneath asks, never less.
///
/// `list` follows a link at the last component, so that /proc/self/fd/N works.
class posix_file_system final : public file_system {
public:
  /// @param use_openat2 false only in the test of the fallback
  explicit posix_file_system(bool use_openat2 = true)
    : use_openat2_(use_openat2) {}

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
  bool use_openat2_;
};

} // namespace bureau::os
