#include "actors/system/main_events.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace bureau::system {

main_events::main_events() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGINT);
  sigaddset(&mask, SIGTERM);
  // A terminal that closes, and ^\\: ends like any other.
  sigaddset(&mask, SIGHUP);
  sigaddset(&mask, SIGQUIT);
  // Without a meaning here; they must not end the node.
  sigaddset(&mask, SIGUSR1);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = ::signalfd(-1, &mask, SFD_CLOEXEC);
  int ends[2] = {-1, -1};
  if (signals_ < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    std::abort();
  pipe_read_ = ends[0];
  pipe_write_ = ends[1];
}

main_events::~main_events() {
  ::close(signals_);
  ::close(pipe_read_);
  ::close(pipe_write_);
}

void main_events::post(main_event event) {
  // One byte is written whole or not at all; the pipe never fills, since the
  // node posts three events in its life.
  auto byte = static_cast<char>(event);
  while (::write(pipe_write_, &byte, 1) < 0 && errno == EINTR)
    ;
}

main_event main_events::wait() {
  for (;;) {
    pollfd entries[] = {{pipe_read_, POLLIN, 0}, {signals_, POLLIN, 0}};
    if (::poll(entries, 2, -1) < 0)
      continue;
    if ((entries[0].revents & POLLIN) != 0) {
      char byte = 0;
      if (::read(pipe_read_, &byte, 1) == 1)
        return static_cast<main_event>(byte);
    }
    if ((entries[1].revents & POLLIN) != 0) {
      signalfd_siginfo info{};
      if (::read(signals_, &info, sizeof info)
          != static_cast<ssize_t>(sizeof info))
        continue;
      switch (static_cast<int>(info.ssi_signo)) {
      case SIGINT:
        return main_event::interrupt;
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
        return main_event::terminate;
      default:
        break;
      }
    }
  }
}

} // namespace bureau::system
