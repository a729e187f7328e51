#pragma once

#include "actors/io/owned_fd.hpp"

#include <sys/types.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace bureau::io {

/// Ends what a dead node has left running. bubblewrap's processes ask to die
/// with their parent, but a moment after they begin: a node that is killed in
/// that moment would leave a sandbox behind. So a tiny process, forked before
/// the node has threads, holds the reading end of a pipe and a list of the
/// process groups that live. When the pipe ends, however the node ended, it
/// kills the groups that are still listed and what carries their tags.
///
/// Kept by main, used by the process loop's thread alone. A reaper that is gone
/// is a warning, never a failure.
class process_reaper {
public:
  /// Forks it. Call it while this process has one thread.
  /// @return nothing when the system gives no pipe or process
  static std::unique_ptr<process_reaper> start();
  process_reaper(const process_reaper&) = delete;
  process_reaper& operator=(const process_reaper&) = delete;
  /// Ends it: what is still listed is killed. Waits for at most a second.
  ~process_reaper();

  pid_t pid() const { return pid_; }

  /// Where a child that is being born writes its begin_notice itself, so that
  /// no moment passes between its birth and the notice: the pipe does not end
  /// before the child has let go of it, which its program does (close-on-exec).
  /// -1: the notice is to be given by begun().
  int notice_fd();

  /// A group whose leader could not say so itself.
  void begun(pid_t group, std::string_view tag);

  /// A group that is over. Say it while its leader is not reaped, so that its
  /// number cannot have passed to anybody else.
  void ended(pid_t group);

private:
  process_reaper(pid_t pid, owned_fd handle, owned_fd notices);
  void say(std::string notice);
  void flush();
  void give_up();

  pid_t pid_;
  owned_fd handle_;
  owned_fd notices_;
  /// What a full pipe did not take; order is kept.
  std::deque<std::string> unsaid_;
};

} // namespace bureau::io
