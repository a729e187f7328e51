#include "config/os/process_figures.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace bureau::os {

process_figures read_process_figures() {
  process_figures result;
  if (auto file = std::fopen("/proc/self/statm", "re")) {
    long long total = 0;
    long long resident = 0;
    if (std::fscanf(file, "%lld %lld", &total, &resident) == 2) {
      auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
      result.virtual_bytes = total * page;
      result.resident_bytes = resident * page;
    }
    std::fclose(file);
  }
  rusage spent{};
  if (::getrusage(RUSAGE_SELF, &spent) == 0)
    result.cpu_micros =
      (spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) * int64_t{1'000'000}
      + spent.ru_utime.tv_usec + spent.ru_stime.tv_usec;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    result.max_fds = static_cast<int64_t>(limit.rlim_cur);
  if (auto directory = ::opendir("/proc/self/fd")) {
    while (::readdir(directory) != nullptr)
      ++result.open_fds;
    ::closedir(directory);
    // ".", ".." and the descriptor that lists.
    result.open_fds -= 3;
  }
  return result;
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void occupy_standard_streams() {
  for (auto fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    // The lowest free number is taken, which is this one.
    if (::fcntl(fd, F_GETFD) < 0)
      ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

} // namespace bureau::os
