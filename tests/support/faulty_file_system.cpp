#include "tests/support/faulty_file_system.hpp"

#include <algorithm>

namespace bureau::test {

void faulty_file_system::plan(size_t n, int error, bool to_the_end) {
  operations_.clear();
  fail_at_ = n;
  error_ = error;
  to_the_end_ = to_the_end;
}

void faulty_file_system::fail_at(size_t n, int error) {
  plan(n, error, false);
}

void faulty_file_system::fail_from(size_t n, int error) {
  plan(n, error, true);
}

void faulty_file_system::fail_named(std::string name, int error) {
  plan(0, error, false);
  failing_name_ = std::move(name);
}

void faulty_file_system::heal() {
  plan(0, 0, false);
  failing_name_.clear();
  write_limit_ = std::numeric_limits<size_t>::max();
}

int faulty_file_system::next(const char* name) {
  operations_.emplace_back(name);
  auto n = operations_.size();
  auto planned = fail_at_ > 0 && (to_the_end_ ? n >= fail_at_ : n == fail_at_);
  return planned || failing_name_ == name ? error_ : 0;
}

io_result<int> faulty_file_system::open(const std::string& path, int flags,
                                        mode_t mode) {
  if (auto error = next("open"))
    return {-1, error};
  return inner_->open(path, flags, mode);
}

io_result<int> faulty_file_system::open_below(int dir, const std::string& path,
                                              int flags, mode_t mode,
                                              resolve_rule rule) {
  if (auto error = next("open_below"))
    return {-1, error};
  return inner_->open_below(dir, path, flags, mode, rule);
}

io_status faulty_file_system::close(int fd) {
  auto error = next("close");
  auto done = inner_->close(fd);
  return error != 0 ? io_status{error} : done;
}

io_result<size_t> faulty_file_system::read(int fd, char* data, size_t size) {
  if (auto error = next("read"))
    return {{}, error};
  return inner_->read(fd, data, size);
}

io_result<size_t> faulty_file_system::read_at(int fd, char* data, size_t size,
                                              uint64_t offset) {
  if (auto error = next("read_at"))
    return {{}, error};
  return inner_->read_at(fd, data, size, offset);
}

io_result<size_t> faulty_file_system::write(int fd, const char* data,
                                            size_t size) {
  if (auto error = next("write"))
    return {{}, error};
  return inner_->write(fd, data, std::min(size, write_limit_));
}

io_result<size_t> faulty_file_system::write_at(int fd, const char* data,
                                               size_t size, uint64_t offset) {
  if (auto error = next("write_at"))
    return {{}, error};
  return inner_->write_at(fd, data, std::min(size, write_limit_), offset);
}

io_status faulty_file_system::sync(int fd) {
  if (auto error = next("sync"))
    return {error};
  return inner_->sync(fd);
}

io_status faulty_file_system::sync_data(int fd) {
  if (auto error = next("sync_data"))
    return {error};
  return inner_->sync_data(fd);
}

io_status faulty_file_system::truncate(int fd, uint64_t size) {
  if (auto error = next("truncate"))
    return {error};
  return inner_->truncate(fd, size);
}

io_status faulty_file_system::change_mode(int fd, mode_t mode) {
  if (auto error = next("change_mode"))
    return {error};
  return inner_->change_mode(fd, mode);
}

io_result<struct stat> faulty_file_system::stat(int fd) {
  if (auto error = next("stat"))
    return {{}, error};
  return inner_->stat(fd);
}

io_status faulty_file_system::lock(int fd) {
  if (auto error = next("lock"))
    return {error};
  return inner_->lock(fd);
}

io_result<struct stat> faulty_file_system::stat_name(const std::string& path) {
  if (auto error = next("stat_name"))
    return {{}, error};
  return inner_->stat_name(path);
}

io_status faulty_file_system::rename(const std::string& from,
                                     const std::string& to) {
  if (auto error = next("rename"))
    return {error};
  return inner_->rename(from, to);
}

io_status faulty_file_system::rename_new(const std::string& from,
                                         const std::string& to) {
  if (auto error = next("rename_new"))
    return {error};
  return inner_->rename_new(from, to);
}

io_status faulty_file_system::rename_below(int dir, const std::string& from,
                                           const std::string& to) {
  if (auto error = next("rename_below"))
    return {error};
  return inner_->rename_below(dir, from, to);
}

io_status faulty_file_system::unlink(const std::string& path) {
  if (auto error = next("unlink"))
    return {error};
  return inner_->unlink(path);
}

io_status faulty_file_system::unlink_below(int dir, const std::string& path) {
  if (auto error = next("unlink_below"))
    return {error};
  return inner_->unlink_below(dir, path);
}

io_status faulty_file_system::make_directory(const std::string& path,
                                             mode_t mode) {
  if (auto error = next("make_directory"))
    return {error};
  return inner_->make_directory(path, mode);
}

io_status faulty_file_system::make_directory_below(int dir,
                                                   const std::string& path,
                                                   mode_t mode) {
  if (auto error = next("make_directory_below"))
    return {error};
  return inner_->make_directory_below(dir, path, mode);
}

io_status faulty_file_system::remove_directory(const std::string& path) {
  if (auto error = next("remove_directory"))
    return {error};
  return inner_->remove_directory(path);
}

io_result<std::vector<std::string>>
faulty_file_system::list(const std::string& path) {
  if (auto error = next("list"))
    return {{}, error};
  return inner_->list(path);
}

io_result<std::string> faulty_file_system::canonical(const std::string& path) {
  if (auto error = next("canonical"))
    return {{}, error};
  return inner_->canonical(path);
}

} // namespace bureau::test
