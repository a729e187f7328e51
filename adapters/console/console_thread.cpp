#include "adapters/console/console_thread.hpp"

#include "adapters/console/input_core.hpp"
#include "adapters/console/terminal_line.hpp"
#include "messages/limits.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <clocale>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

namespace bureau::console {

namespace {

constexpr size_t read_bytes = 65'536;
/// A stopping thread waits this often, for this long, for a slow reader.
constexpr int stop_polls = 20;
constexpr std::chrono::milliseconds poll_time{100};

struct command {
  enum class verb : uint8_t { write, allow, prompt, hurry, stop };
  verb what = verb::stop;
  uint64_t token = 0;
  size_t bytes = 0;
  std::string out;
  std::string err;
  command* next = nullptr;
};

using command_ptr = std::unique_ptr<command>;

/// Hands commands from any thread to one; the reader takes all at once.
class command_stack {
public:
  ~command_stack() { take(); }

  void push(command_ptr item) {
    auto* raw = item.release();
    raw->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(
      raw->next, raw, std::memory_order_release, std::memory_order_relaxed))
      ;
  }

  /// Everything pushed so far, oldest first.
  std::deque<command_ptr> take() {
    std::deque<command_ptr> result;
    auto* item = head_.exchange(nullptr, std::memory_order_acquire);
    while (item != nullptr) {
      auto* next = item->next;
      result.emplace_front(item);
      item = next;
    }
    return result;
  }

private:
  std::atomic<command*> head_{nullptr};
};

class console_thread final : public console_port {
public:
  explicit console_thread(console_streams streams)
    : streams_(streams), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~console_thread() override {
    stop();
    if (thread_.joinable())
      thread_.join();
    if (wake_ >= 0)
      close(wake_);
  }

  std::optional<std::string> start(console_events events) override {
    if (wake_ < 0)
      return "The console could not be opened: no descriptor is free.";
    if (streams_.interactive
        && (isatty(streams_.input_fd) == 0 || isatty(streams_.output_fd) == 0))
      return "The console is no terminal; run it without a terminal's options.";
    events_ = std::move(events);
    // The editor counts characters in the encoding of the locale.
    if (streams_.interactive
        && std::string_view{std::setlocale(LC_CTYPE, nullptr)} == "C"
        && std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr)
      std::setlocale(LC_CTYPE, "");
    // Signals belong to the thread of main.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread{[this] {
      run();
    }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }

  void write(uint64_t token, std::string out, std::string err) override {
    auto item = std::make_unique<command>();
    item->what = command::verb::write;
    item->token = token;
    item->out = std::move(out);
    item->err = std::move(err);
    push(std::move(item));
  }

  void allow(size_t bytes) override {
    auto item = std::make_unique<command>();
    item->what = command::verb::allow;
    item->bytes = bytes;
    push(std::move(item));
  }

  void prompt(std::string text) override {
    auto item = std::make_unique<command>();
    item->what = command::verb::prompt;
    item->out = std::move(text);
    push(std::move(item));
  }

  void hurry() override {
    auto item = std::make_unique<command>();
    item->what = command::verb::hurry;
    push(std::move(item));
  }

  void stop() override { push(std::make_unique<command>()); }

private:
  void push(command_ptr item) {
    inbox_.push(std::move(item));
    uint64_t one = 1;
    // A full counter wakes the thread just as well.
    [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
  }

  // -- the thread -------------------------------------------------------------

  void run() {
    pthread_setname_np(pthread_self(), "console-input");
    if (streams_.interactive)
      open_terminal();
    while (step())
      wait();
    terminal_.close();
    events_.ended();
  }

  void open_terminal() {
    terminal_line::handlers on;
    on.line = [this](std::string line) {
      deliver_typed(std::move(line));
    };
    on.end_of_input = [this] {
      input_ended_ = true;
      events_.end_of_input();
    };
    on.interrupt = [this] {
      events_.interrupt();
    };
    if (terminal_.open(streams_.input_fd, streams_.output_fd, std::move(on)))
      return;
    input_ended_ = true;
    events_.end_of_input();
  }

  void deliver_typed(std::string line) {
    line_splitter splitter;
    for (auto& item : splitter.feed(line + "\n"))
      events_.line(std::move(item.bytes), item.cut);
  }

  /// Does what can be done now; false at the end.
  bool step() {
    collect();
    while (!todo_.empty()) {
      auto item = std::move(todo_.front());
      todo_.pop_front();
      carry_out(*item);
    }
    if (stopping_)
      return false;
    deliver_lines();
    return true;
  }

  void collect() {
    uint64_t count = 0;
    [[maybe_unused]] auto got = ::read(wake_, &count, sizeof count);
    for (auto& item : inbox_.take()) {
      stop_seen_ = stop_seen_ || item->what == command::verb::stop;
      hurried_ = hurried_ || item->what == command::verb::hurry;
      // Room for lines waits for no write either.
      if (item->what == command::verb::allow)
        credit_ += static_cast<int64_t>(item->bytes);
      else
        todo_.push_back(std::move(item));
    }
  }

  void carry_out(command& item) {
    switch (item.what) {
    case command::verb::write:
      print(item);
      break;
    case command::verb::allow:
      break;
    case command::verb::prompt:
      terminal_.set_prompt(std::move(item.out));
      break;
    case command::verb::hurry:
      break;
    case command::verb::stop:
      stopping_ = true;
      break;
    }
  }

  void print(command& item) {
    auto fine = true;
    if (!item.out.empty()) {
      auto text = terminal_.erase() + item.out;
      fine = !output_lost_ && write_all(streams_.output_fd, text);
      // Behind half a line nothing may follow.
      output_lost_ = !fine;
      terminal_.redraw();
    }
    // Whether anybody reads the error stream makes no difference to an answer.
    if (!item.err.empty() && !errors_lost_)
      errors_lost_ = !write_all(streams_.error_fd, item.err);
    if (item.token > 0 || !fine)
      events_.written(item.token, fine);
  }

  bool write_all(int fd, std::string_view text) {
    auto idle = 0;
    while (!text.empty()) {
      std::array<pollfd, 3> fds{};
      fds[0] = {fd, POLLOUT, 0};
      fds[1] = {wake_, POLLIN, 0};
      fds[2] = {streams_.input_fd, POLLIN, 0};
      // Near the end time counts, not what comes meanwhile. Before it a reader
      // that is slow does not keep a pipe from being read.
      auto counted = hurried_ || stop_seen_;
      // What was read before this write began does not wait for its end.
      if (!counted)
        deliver_lines();
      auto reading = !streams_.interactive && wants_input();
      auto watch = counted ? nfds_t{1} : nfds_t{reading ? 3u : 2u};
      auto ready = poll(fds.data(), watch,
                        counted ? static_cast<int>(poll_time.count()) : -1);
      if (ready < 0 && errno != EINTR)
        return false;
      if (ready == 0 && stop_seen_ && --patience_ <= 0)
        return false;
      if (ready == 0 && ++idle >= streams_.patience / poll_time)
        return false;
      if (fds[1].revents != 0 || (counted && !stop_seen_))
        collect();
      if (ready > 0 && fds[2].revents != 0) {
        read_pipe();
        deliver_lines();
      }
      if (ready <= 0 || fds[0].revents == 0)
        continue;
      // No more than a pipe surely takes, so that the call cannot block.
      auto size = std::min<size_t>(text.size(), PIPE_BUF);
      auto done = ::write(fd, text.data(), size);
      if (done >= 0) {
        text.remove_prefix(static_cast<size_t>(done));
        idle = 0;
      } else if (errno != EINTR && errno != EAGAIN) {
        return false;
      }
    }
    return true;
  }

  void deliver_lines() {
    while (credit_ > 0 && !lines_.empty()) {
      auto item = std::move(lines_.front());
      credit_ -=
        static_cast<int64_t>(item.bytes.size() + limits::console_line_cost);
      lines_.pop_front();
      events_.line(std::move(item.bytes), item.cut);
    }
    if (at_end_ && lines_.empty() && !std::exchange(input_ended_, true))
      events_.end_of_input();
  }

  bool wants_input() const {
    if (input_ended_ || at_end_)
      return false;
    // One chunk is read ahead, so that the end of the input is seen in time.
    return streams_.interactive || lines_.empty();
  }

  void wait() {
    std::array<pollfd, 2> fds{};
    fds[0] = {wake_, POLLIN, 0};
    fds[1] = {streams_.input_fd, POLLIN, 0};
    auto watch = wants_input() ? nfds_t{2} : nfds_t{1};
    if (poll(fds.data(), watch, -1) <= 0 || fds[1].revents == 0)
      return;
    if (!streams_.interactive) {
      read_pipe();
      return;
    }
    // A terminal that hung up reports no bytes to read.
    if ((fds[1].revents & POLLIN) == 0) {
      input_ended_ = true;
      events_.end_of_input();
      return;
    }
    terminal_.read_some();
  }

  void read_pipe() {
    std::string chunk(read_bytes, '\0');
    auto got = ::read(streams_.input_fd, chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    if (got <= 0) {
      at_end_ = true;
      add_lines(splitter_.finish());
      return;
    }
    add_lines(splitter_.feed(
      std::string_view{chunk}.substr(0, static_cast<size_t>(got))));
  }

  void add_lines(std::vector<raw_line> lines) {
    for (auto& item : lines)
      lines_.push_back(std::move(item));
  }

  console_streams streams_;
  int wake_;
  command_stack inbox_;
  console_events events_;
  std::thread thread_;
  // -- owned by the thread ----------------------------------------------------
  std::deque<command_ptr> todo_;
  bool hurried_ = false;
  bool stop_seen_ = false;
  int patience_ = stop_polls;
  bool stopping_ = false;
  terminal_line terminal_;
  line_splitter splitter_;
  std::deque<raw_line> lines_;
  int64_t credit_ = 0;
  bool output_lost_ = false;
  bool errors_lost_ = false;
  /// The input has no more bytes.
  bool at_end_ = false;
  /// Its end was told.
  bool input_ended_ = false;
};

} // namespace

std::shared_ptr<console_port> make_console_thread(console_streams streams) {
  return std::make_shared<console_thread>(streams);
}

} // namespace bureau::console
