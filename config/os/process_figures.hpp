#pragma once

#include <cstdint>

namespace bureau::os {

/// What the kernel knows about this process. Read from /proc/self, which never
/// touches a disk; figures that cannot be read are 0.
struct process_figures {
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t cpu_micros = 0;
  int64_t open_fds = 0;
  int64_t max_fds = 0;
};

process_figures read_process_figures();

/// Raises the soft limit of open descriptors to the hard one: thousands of
/// streams need it. Children get a small limit of their own.
void raise_descriptor_limit();

/// Takes the numbers of standard streams that are closed, so that no file of
/// ours gets one of them and is written to as if it were the output: reading
/// and writing fail. To be called before anything is opened.
void occupy_standard_streams();

/// Ignores SIGPIPE for the process; writes report EPIPE instead.
void ignore_broken_pipes();

} // namespace bureau::os
