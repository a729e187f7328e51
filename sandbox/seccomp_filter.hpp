#pragma once

#include <caf/expected.hpp>

#include <string>

namespace bureau::sandbox {

/// Compiles the system call filter of the sandbox (decision S1) into the bytes
/// that bubblewrap loads. What it denies fails with EPERM: kernel key rings,
/// bpf, perf, userfaultfd, io_uring, kexec, modules, everything that mounts,
/// new namespaces, and pushing input into a terminal. clone3 fails with ENOSYS,
/// because its flags are out of a filter's sight and libraries then fall back
/// to clone. ptrace stays: debuggers are ordinary tools.
///
/// Call it once at boot; it allocates a memory file for the export.
/// @return the program, or spawn_failed with the library's reason
caf::expected<std::string> build_seccomp_filter();

} // namespace bureau::sandbox
