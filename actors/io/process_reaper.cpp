#include "actors/io/process_reaper.hpp"

#include "actors/io/pidfd.hpp"
#include "actors/io/process_roster_core.hpp"
#include "actors/io/process_tag.hpp"
#include "actors/kit/log.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace bureau::io {

namespace {

/// A reaper that does not read is given up at this many notices.
constexpr size_t most_unsaid = 4096;
/// How long the node waits for its end.
constexpr int patience_ms = 1000;
/// The reading end in the reaper.
constexpr int input = 3;

/// Lets go of everything of the node but the pipe: nobody must wait for the
/// reaper, and no signal meant for the node's group may reach it.
void detach(int notices) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "bureau-reaper", 0, 0, 0);
  [[maybe_unused]] auto moved = ::chdir("/");
  auto safe = ::fcntl(notices, F_DUPFD, input + 1);
  auto null = ::open("/dev/null", O_RDWR);
  for (auto standard : {0, 1, 2})
    ::dup2(null, standard);
  ::dup2(safe, input);
  ::closefrom(input + 1);
}

[[noreturn]] void watch_over(int notices) {
  detach(notices);
  group_roster roster;
  std::array<char, 4096> buffer;
  for (;;) {
    auto got = ::read(input, buffer.data(), buffer.size());
    if (got == 0)
      break;
    if (got > 0)
      roster.take({buffer.data(), static_cast<size_t>(got)});
    else if (errno != EINTR)
      ::_exit(1);
  }
  std::set<std::string> tags;
  for (const auto& [group, tag] : roster.groups()) {
    ::kill(-group, SIGKILL);
    if (!tag.empty())
      tags.insert(tag);
  }
  kill_tagged(tags);
  ::_exit(0);
}

} // namespace

std::unique_ptr<process_reaper> process_reaper::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  owned_fd reading{ends[0]};
  owned_fd writing{ends[1]};
  if (!set_nonblocking(writing.get()))
    return nullptr;
  auto pid = ::fork();
  if (pid == 0)
    watch_over(reading.get());
  if (pid < 0)
    return nullptr;
  return std::unique_ptr<process_reaper>{
    new process_reaper{pid, owned_fd{open_pidfd(pid)}, std::move(writing)}};
}

process_reaper::process_reaper(pid_t pid, owned_fd handle, owned_fd notices)
  : pid_(pid), handle_(std::move(handle)), notices_(std::move(notices)) {
}

process_reaper::~process_reaper() {
  flush();
  if (!unsaid_.empty() && handle_)
    signal_pidfd(handle_.get(), SIGKILL);
  notices_.reset();
  pollfd end{handle_.get(), POLLIN, 0};
  if (!handle_ || ::poll(&end, 1, patience_ms) != 1)
    return;
  // The process loop may have done so: it reaps whatever ends below the node.
  siginfo_t info{};
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(handle_.get()),
           &info, WEXITED | WNOHANG);
}

int process_reaper::notice_fd() {
  flush();
  // What waits was said earlier and must be heard earlier.
  return unsaid_.empty() ? notices_.get() : -1;
}

void process_reaper::begun(pid_t group, std::string_view tag) {
  say(begin_notice(group, tag));
}

void process_reaper::ended(pid_t group) {
  say(end_notice(group));
}

void process_reaper::say(std::string notice) {
  if (!notices_)
    return;
  unsaid_.push_back(std::move(notice));
  flush();
}

void process_reaper::flush() {
  while (notices_ && !unsaid_.empty()) {
    const auto& first = unsaid_.front();
    // Shorter than PIPE_BUF: all of it or nothing.
    if (::write(notices_.get(), first.data(), first.size()) >= 0)
      unsaid_.pop_front();
    else if (errno == EAGAIN && unsaid_.size() < most_unsaid)
      return;
    else if (errno != EINTR)
      give_up();
  }
}

void process_reaper::give_up() {
  kit::log::warning("process", "the reaper of this node is gone: sandboxes may "
                               "outlive a node that is killed from now on");
  // One that lives but does not listen would go by a list that is not true any
  // more.
  if (handle_)
    signal_pidfd(handle_.get(), SIGKILL);
  notices_.reset();
  unsaid_.clear();
}

} // namespace bureau::io
