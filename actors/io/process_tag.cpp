#include "actors/io/process_tag.hpp"

#include "actors/io/owned_fd.hpp"
#include "actors/io/pidfd.hpp"
#include "actors/io/process_core.hpp"
#include "config/os/durable.hpp"
#include "config/os/posix_file_system.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>

namespace bureau::io {

namespace {

constexpr int most_passes = 8;
/// Larger environments than the kernel's usual argument limit do not occur.
constexpr size_t environment_bytes = 4u << 20;

/// The environment of a process as it was started, or nothing.
std::string environment_of(file_system& disk, pid_t pid) {
  auto fd = disk.open("/proc/" + std::to_string(pid) + "/environ", O_RDONLY, 0);
  if (!fd)
    return {};
  os::descriptor file{disk, fd.value};
  auto block = os::read_to_end(disk, file.get(), environment_bytes);
  return block ? std::move(block.value) : std::string{};
}

bool carries_any(const std::string& block, const std::set<std::string>& tags) {
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return carries_tag(block, tag);
  });
}

} // namespace

size_t kill_tagged(const std::set<std::string>& tags) {
  if (tags.empty())
    return 0;
  os::posix_file_system disk;
  std::set<pid_t> killed;
  for (auto pass = 0; pass < most_passes; ++pass) {
    auto before = killed.size();
    auto names = disk.list("/proc");
    for (const auto& name : names.value) {
      auto is_pid = std::all_of(name.begin(), name.end(),
                                [](char c) { return c >= '0' && c <= '9'; });
      auto pid = is_pid ? static_cast<pid_t>(std::atol(name.c_str())) : 0;
      if (pid <= 1 || pid == ::getpid() || killed.count(pid) > 0)
        continue;
      // The pidfd comes first: the number may pass to another process before
      // the signal, the descriptor cannot.
      owned_fd handle{open_pidfd(pid)};
      if (!handle || !carries_any(environment_of(disk, pid), tags))
        continue;
      if (signal_pidfd(handle.get(), SIGKILL))
        killed.insert(pid);
    }
    if (killed.size() == before)
      break;
  }
  return killed.size();
}

} // namespace bureau::io
