#include "actors/io/process_birth.hpp"

#include "actors/io/process_reaper.hpp"
#include "actors/io/process_roster_core.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>

#ifdef __SANITIZE_THREAD__
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
#endif

namespace bureau::io {

namespace {

#ifdef __SANITIZE_THREAD__
/// The sanitizer's own clone takes the child for one with memory of its own and
/// spoils its picture of the parent; this is the C library's second name.
constexpr auto start_child = &::__clone;
#else
constexpr auto start_child = &::clone;
#endif

constexpr size_t stack_bytes = 64u << 10;
constexpr size_t stack_alignment = 16;
constexpr int highest_signal = 64;
/// Size of a signal mask of the kernel.
constexpr size_t mask_bytes = highest_signal / 8;

/// Shared between the waiting parent and the child on borrowed memory.
struct first_steps {
  const birth_plan& plan;
  int notice_fd = -1;
  int error = 0;
  bool announced = false;
};

/// The kernel's own view of the calls below: what libraries put around them (a
/// sanitizer does) would speak of the parent.
template <class... Args>
long call(long number, Args... arguments) {
  return ::syscall(number, arguments...);
}

void announce(first_steps& child) {
  if (child.notice_fd < 0)
    return;
  char notice[notice_bytes];
  auto size = write_begin_notice(notice, static_cast<pid_t>(call(SYS_getpid)),
                                 child.plan.tag);
  child.announced = call(SYS_write, child.notice_fd, notice, size) >= 0;
}

/// Handlers are the child's own already; its program starts without them. To
/// ignore a signal for a moment takes away one that waits: a notice to a reaper
/// that is gone leaves a SIGPIPE.
void forget_handlers() {
  // Larger than the kernel's structure, which begins with the handler.
  std::array<unsigned long, 8> action{};
  for (auto handler : {SIG_IGN, SIG_DFL}) {
    action[0] = reinterpret_cast<unsigned long>(handler);
    for (auto number = 1; number <= highest_signal; ++number)
      call(SYS_rt_sigaction, number, action.data(), nullptr, mask_bytes);
  }
}

bool arrange_descriptors(const birth_plan& plan) {
  auto next = 3;
  for (const auto& [number, fd] : plan.descriptors) {
    // Whatever the node itself was started with stays with the node.
    for (; next < number; ++next)
      call(SYS_close, next);
    if (call(SYS_dup3, fd, number, 0) < 0)
      return false;
    next = number < 3 ? 3 : number + 1;
  }
  return call(SYS_close_range, next, ~0u, 0) == 0;
}

/// Runs in the child while the memory is still the parent's: system calls only,
/// no allocation, no lock, nothing that throws.
[[gnu::no_sanitize("address", "thread", "undefined")]] int
take_first_steps(void* argument) {
  auto& child = *static_cast<first_steps*>(argument);
  const auto& plan = child.plan;
  auto leads =
    plan.new_session ? call(SYS_setsid) >= 0 : call(SYS_setpgid, 0, 0) == 0;
  if (leads) {
    announce(child);
    forget_handlers();
    if (call(SYS_chdir, plan.directory.c_str()) == 0
        && arrange_descriptors(plan)) {
      uint64_t none = 0;
      call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, mask_bytes);
      call(SYS_execve, plan.arguments.front(), plan.arguments.data(),
           plan.environment.data());
    }
  }
  child.error = errno;
  call(SYS_exit_group, 127);
  return 127;
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
    result.pid = start_child(take_first_steps, reinterpret_cast<void*>(top),
                             CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                             &child, &handle);
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
