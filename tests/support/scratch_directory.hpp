#pragma once

#include <string>

namespace bureau::test {

/// A directory of one test, below TMPDIR, removed with everything in it.
class scratch_directory {
public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  const std::string& path() const { return path_; }
  /// Path of an entry.
  std::string operator/(const std::string& name) const {
    return path_ + '/' + name;
  }

private:
  std::string path_;
};

/// Writes a whole file, or throws.
void put_file(const std::string& path, const std::string& bytes);

/// Reads a whole file; "" when it is absent.
std::string get_file(const std::string& path);

} // namespace bureau::test
