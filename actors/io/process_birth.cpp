#include "actors/io/process_birth.hpp"

#include "actors/io/process_reaper.hpp"
#include "actors/io/process_roster_core.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace bureau::io {

namespace {

constexpr size_t stack_bytes = 64u << 10;
constexpr size_t stack_alignment = 16;

/// Shared between the waiting parent and the child on borrowed memory.
struct first_steps {
  const birth_plan& plan;
  int notice_fd = -1;
  int error = 0;
  bool announced = false;
};

void announce(first_steps& child) {
  if (child.notice_fd < 0)
    return;
  char notice[notice_bytes];
  auto size = write_begin_notice(notice, ::getpid(), child.plan.tag);
  child.announced = ::write(child.notice_fd, notice, size) >= 0;
  // Without a reaper there is a SIGPIPE waiting now, which this takes away.
  if (!child.announced)
    ::signal(SIGPIPE, SIG_IGN);
}

/// Handlers are the child's own already; its program starts without them.
void forget_handlers() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (auto number = 1; number < NSIG; ++number)
    ::sigaction(number, &plain, nullptr);
}

bool arrange_descriptors(const birth_plan& plan) {
  auto next = 3;
  for (const auto& [number, fd] : plan.descriptors) {
    // Whatever the node itself was started with stays with the node.
    for (; next < number; ++next)
      ::close(next);
    if (::dup2(fd, number) < 0)
      return false;
    next = number < 3 ? 3 : number + 1;
  }
  ::closefrom(next);
  return true;
}

/// Runs in the child while the memory is still the parent's: system calls only,
/// no allocation, no lock, nothing that throws.
[[gnu::no_sanitize("address", "thread", "undefined")]] int
take_first_steps(void* argument) {
  auto& child = *static_cast<first_steps*>(argument);
  const auto& plan = child.plan;
  auto leads = plan.new_session ? ::setsid() >= 0 : ::setpgid(0, 0) == 0;
  if (leads) {
    announce(child);
    forget_handlers();
    if (::chdir(plan.directory.c_str()) == 0 && arrange_descriptors(plan)) {
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      ::execve(plan.arguments.front(), plan.arguments.data(),
               plan.environment.data());
    }
  }
  child.error = errno;
  ::_exit(127);
}

/// No handler of the node may run in a child on its memory.
class blocked_signals {
public:
  blocked_signals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace

birth give_birth(const birth_plan& plan, process_reaper* reaper) {
  first_steps child{plan};
  if (reaper != nullptr)
    child.notice_fd = reaper->notice_fd();
  birth result;
  auto stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  auto top = reinterpret_cast<uintptr_t>(stack.get() + stack_bytes);
  top -= top % stack_alignment;
  int handle = -1;
  {
    blocked_signals quiet;
    result.pid =
      ::clone(take_first_steps, reinterpret_cast<void*>(top),
              CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child, &handle);
    if (result.pid < 0) {
      result.error = errno;
      return result;
    }
  }
  result.pidfd = owned_fd{handle};
  result.error = child.error;
  if (reaper != nullptr && !child.announced)
    reaper->begun(result.pid, plan.tag);
  if (result.error == 0)
    return result;
  if (reaper != nullptr)
    reaper->ended(result.pid);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(result.pid), &info, WEXITED);
  return result;
}

} // namespace bureau::io
