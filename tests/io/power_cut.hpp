#pragma once

#include "config/os/posix_file_system.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace bureau::test {

/// A real file system below one directory that remembers what is durable: the
/// bytes of a file at its last sync, the name of a file or a directory at the
/// last sync of the directory it is in. cut() leaves exactly that behind, as a
/// power failure may: a directory without a durable name takes everything in it
/// along. What was there before is durable; files are neither renamed nor
/// linked.
class power_cut_file_system final : public file_system {
public:
  /// Takes back everything that was not synced.
  void cut();

  io_result<int> open(const std::string& path, int flags, mode_t mode) override;
  io_result<int> open_below(int dir, const std::string& path, int flags,
                            mode_t mode, resolve_rule rule) override;
  io_status close(int fd) override { return disk_.close(fd); }
  io_result<size_t> read(int fd, char* data, size_t size) override {
    return disk_.read(fd, data, size);
  }
  io_result<size_t> read_at(int fd, char* data, size_t size,
                            uint64_t offset) override {
    return disk_.read_at(fd, data, size, offset);
  }
  io_result<size_t> write(int fd, const char* data, size_t size) override {
    return disk_.write(fd, data, size);
  }
  io_result<size_t> write_at(int fd, const char* data, size_t size,
                             uint64_t offset) override {
    return disk_.write_at(fd, data, size, offset);
  }
  io_status sync(int fd) override;
  io_status sync_data(int fd) override { return sync(fd); }
  io_status truncate(int fd, uint64_t size) override {
    return disk_.truncate(fd, size);
  }
  io_status change_mode(int fd, mode_t mode) override {
    return disk_.change_mode(fd, mode);
  }
  io_result<struct stat> stat(int fd) override { return disk_.stat(fd); }
  io_status lock(int fd) override { return disk_.lock(fd); }
  io_result<struct stat> stat_name(const std::string& path) override {
    return disk_.stat_name(path);
  }
  io_status rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  io_status rename_new(const std::string& from,
                       const std::string& to) override {
    return disk_.rename_new(from, to);
  }
  io_status rename_below(int dir, const std::string& from,
                         const std::string& to) override {
    return disk_.rename_below(dir, from, to);
  }
  io_status unlink(const std::string& path) override {
    return disk_.unlink(path);
  }
  io_status unlink_below(int dir, const std::string& path) override;
  io_status make_directory(const std::string& path, mode_t mode) override;
  io_status make_directory_below(int dir, const std::string& path,
                                 mode_t mode) override;
  io_status remove_directory(const std::string& path) override;
  io_result<std::vector<std::string>> list(const std::string& path) override {
    return disk_.list(path);
  }
  io_result<std::string> canonical(const std::string& path) override {
    return disk_.canonical(path);
  }

private:
  struct file {
    /// What a cut leaves; nothing before the first sync.
    std::optional<std::string> bytes;
    bool name_is_durable = false;
    bool exists = true;
  };

  io_result<int> note(io_result<int> opened, int flags);

  os::posix_file_system disk_;
  std::map<std::string, file> files_;
  /// Directories whose names a cut forgets.
  std::set<std::string> fresh_directories_;
};

} // namespace bureau::test
