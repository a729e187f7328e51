#pragma once

#include "actors/io/owned_fd.hpp"
#include "messages/interfaces/process.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace bureau::io {

class process_reaper;

/// A child that has just been started, with our ends of its pipes; all of them
/// are close-on-exec and non-blocking.
struct spawned_child {
  pid_t pid = 0;
  owned_fd pidfd;
  /// Set for stdin_kind::pipe and bytes.
  owned_fd input;
  owned_fd output;
  owned_fd error_output;
  /// Reading ends of the pipe_out descriptors, in the order of the spec.
  std::vector<owned_fd> extra;
  /// Not empty: nothing was started; one sentence for the person who asked.
  std::string failure;
};

/// Starts a child in the calling thread, which must outlive it and be the only
/// one that reaps (process_birth.hpp). Right after the start the soft limit of
/// open files is set to limits::process_open_files, unless argv[0] is the
/// `prlimit` program, which sets its own.
/// @param spec checked by spec_fault
/// @param reaper is told of the child; may be null
spawned_child spawn_child(const proc_spec& spec, process_reaper* reaper);

} // namespace bureau::io
