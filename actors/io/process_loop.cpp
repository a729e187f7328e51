#include "actors/io/process_loop.hpp"

#include "actors/io/process_children.hpp"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace bureau::io {

/// Everything the thread owns: the commands, the signals, and the children.
class process_loop::body {
public:
  body(std::shared_ptr<process_queue> queue, process_reaper* reaper)
    : queue_(std::move(queue)), children_(events_, reaper), watches_(events_) {
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    signals_ =
      owned_fd{::signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals_ || ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
      throw std::system_error(errno, std::generic_category(), "process loop");
  }

  void run() {
    events_.watch(queue_->wake_fd(), EPOLLIN,
                  [this](uint32_t) { take_commands(); });
    events_.watch(signals_.get(), EPOLLIN, [this](uint32_t) { child_ended(); });
    while (!children_.finished())
      events_.turn();
    watches_.end_all();
    queue_->close();
    children_.say_farewell();
  }

private:
  void take_commands() {
    for (auto& command : queue_->take())
      std::visit([this](auto& value) { handle(value); }, command);
  }

  void handle(process_attach& command) {
    children_.attach(std::move(command.owner));
  }
  void handle(process_begin& command) {
    children_.add(std::move(command.spec), std::move(command.sink));
  }
  void handle(proc_input& input) { children_.feed(std::move(input)); }
  void handle(proc_ack& ack) { children_.acknowledge(ack); }
  void handle(proc_kill& request) { children_.kill(request); }
  void handle(process_abandon& command) { children_.abandon(command.id); }
  void handle(process_stop&) { children_.stop(); }
  void handle(watch_begin& command) { watches_.begin(std::move(command)); }
  void handle(watch_end& command) { watches_.end(command.id); }

  void child_ended() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) > 0)
      ;
    children_.reap_orphans();
  }

  std::shared_ptr<process_queue> queue_;
  event_loop events_;
  owned_fd signals_;
  process_children children_;
  directory_watches watches_;
};

process_loop::process_loop(process_reaper* reaper)
  : queue_(std::make_shared<process_queue>()) {
  auto owned = std::make_shared<body>(queue_, reaper);
  thread_ = start_loop_thread("proc-loop",
                              [owned = std::move(owned)] { owned->run(); });
}

process_loop::~process_loop() {
  queue_->push(process_stop{});
  join();
}

void process_loop::join() {
  if (thread_.joinable())
    thread_.join();
}

} // namespace bureau::io
