#pragma once

#include "actors/office/registry_store.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// A wall clock that stands until it is set.
struct set_clock final : wall_clock {
  int64_t now = start_ms;
  int64_t now_ms() const override { return now; }
  int offset_minutes(int64_t) const override { return 0; }
};

/// A state directory and a workspace on a real disk, for what runs before there
/// are actors.
struct office_disk {
  scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> real =
    std::make_shared<os::posix_file_system>();
  faulty_file_system fs{real};
  seeded_entropy chance;
  set_clock wall;
  offices::lease_ports lease;
  int pauses = 0;
  std::string state = scratch / "s";
  std::string root = scratch / "w";

  office_disk() {
    std::filesystem::create_directories(root);
    lease.pid = 4242;
    lease.process_alive = [](int64_t pid) {
      return pid == 4242 || pid == 4243;
    };
    lease.pause = [this](std::chrono::milliseconds) {
      ++pauses;
    };
  }

  offices::registry_ports ports() { return {fs, chance, wall, lease}; }

  std::string registry_path() const { return state + "/office-registry.json"; }

  /// A registry that is open.
  std::unique_ptr<offices::registry_store> store() {
    auto result = std::make_unique<offices::registry_store>(ports(), state);
    auto fault = result->open();
    if (!fault.empty())
      throw std::runtime_error{fault};
    return result;
  }

  /// A directory of a conversation as old versions made it.
  void legacy(const std::string& name) const {
    std::filesystem::create_directories(root + "/" + name);
    put_file(root + "/" + name + "/log.jsonl", name + "\n");
  }

  static bool exists(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
  }

  static mode_t mode_of(const std::string& path) {
    struct stat facts {};
    ::lstat(path.c_str(), &facts);
    return facts.st_mode & 07777u;
  }

  static std::vector<std::string> names(const std::string& dir) {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator{dir})
      result.push_back(entry.path().filename());
    std::sort(result.begin(), result.end());
    return result;
  }
};

} // namespace bureau::test
