#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bureau::guards {

/// One source file of ours, with comments and string contents blanked out so
/// that a guard looks at code only.
struct source_file {
  /// Relative to the source directory, with '/'.
  std::string path;
  std::string text;
  std::string code;
  std::vector<std::string> includes;

  bool is_header() const { return path.ends_with(".hpp"); }
  bool is_core() const {
    return path.ends_with("_core.hpp") || path.ends_with("_core.cpp");
  }
  bool in(std::string_view directory) const {
    return path.starts_with(directory);
  }
};

/// All .hpp and .cpp files below the source directory but those in build
/// directories.
const std::vector<source_file>& all_sources();

/// The room a path belongs to: its directory among the known ones, "" if none.
std::string room_of(std::string_view path);

/// Level of a room in the dependency order; -1 for tests.
int level_of(std::string_view room);

/// Every room directory that has a CMakeLists.txt.
std::vector<std::string> rooms();

/// Whole text of a file below the source directory; empty when absent.
std::string read(std::string_view relative);

/// Whether a path below the source directory exists.
bool exists(std::string_view relative);

} // namespace bureau::guards
