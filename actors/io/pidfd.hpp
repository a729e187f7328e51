#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>

/// Process descriptors. The C library of Debian 12 declares its own wrappers
/// without C linkage, so that C++ cannot call them.
namespace bureau::io {

/// A descriptor of a process, close-on-exec, readable once it has ended; -1 and
/// errno on failure.
inline int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// Sends a signal to exactly that process. @return whether it was sent
inline bool signal_pidfd(int pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0;
}

} // namespace bureau::io
