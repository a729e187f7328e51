#pragma once

#include "actors/io/owned_fd.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bureau::io {

class process_reaper;

/// What a child does between its birth and its program.
struct birth_plan {
  /// argv and envp as execve wants them, null at the end; argv[0] is the path.
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string directory;
  /// The child's number and our descriptor, by rising number. Ours lie above
  /// all numbers of the child.
  std::vector<std::pair<int, int>> descriptors;
  /// setsid instead of a new process group.
  bool new_session = false;
  /// For the reaper; may be empty.
  std::string_view tag;
};

/// A child that runs its program, or why it does not.
struct birth {
  pid_t pid = 0;
  owned_fd pidfd;
  /// errno of the step that failed; the child is gone then. 0 = it runs.
  int error = 0;
};

/// Starts a child: the leader of its own group (or session), default signals,
/// an empty mask, the given directory and environment, exactly the listed
/// descriptors and nothing else. The calling thread waits until the program
/// runs. posix_spawn would do, but for the process descriptor and for the news
/// to the reaper, which must both not come later than the child.
/// @param reaper may be null
birth give_birth(const birth_plan& plan, process_reaper* reaper);

} // namespace bureau::io
