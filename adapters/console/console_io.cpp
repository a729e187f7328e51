#include "adapters/console/console_io.hpp"

#include <editline/readline.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bureau::console {

namespace {

termios saved_terminal;
std::atomic<bool> terminal_saved = false;

/// Writes everything; answers the errno that stopped it, or 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    auto wrote = ::write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<size_t>(wrote));
    } else if (errno == EAGAIN) {
      // Somebody made the descriptor non-blocking; wait for it.
      pollfd entry{fd, POLLOUT, 0};
      ::poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

} // namespace

struct console_io::job {
  enum class kind : uint8_t { print, grant, stop } what = kind::print;
  stream where = stream::out;
  std::string text;
  uint64_t ticket = 0;
  int lines = 0;
};

/// Everything that only the console thread touches.
class console_io::worker {
public:
  worker(io_options options, io_handlers handlers, int jobs)
    : options_(options), handlers_(std::move(handlers)), jobs_(jobs),
      credits_(options.credits) {}

  void run() {
    if (options_.interactive)
      begin_editing();
    while (!stopping_) {
      auto reading = !ended_ && (options_.interactive || credits_ > 0);
      pollfd entries[] = {{jobs_, POLLIN, 0},
                          {reading ? options_.input : -1, POLLIN, 0}};
      if (::poll(entries, 2, -1) < 0)
        continue;
      if (entries[0].revents != 0)
        take_job();
      if (entries[1].revents != 0 && !stopping_) {
        if (options_.interactive)
          rl_callback_read_char();
        else
          read_pipe();
      }
    }
    if (options_.interactive)
      end_editing();
  }

private:
  // -- jobs -------------------------------------------------------------------

  void take_job() {
    job* raw = nullptr;
    if (::read(jobs_, &raw, sizeof raw) != static_cast<ssize_t>(sizeof raw))
      return;
    std::unique_ptr<job> work{raw};
    switch (work->what) {
    case job::kind::print:
      print(*work);
      break;
    case job::kind::grant:
      credits_ += work->lines;
      deliver_lines();
      break;
    case job::kind::stop:
      stopping_ = true;
      break;
    }
  }

  void print(const job& work) {
    auto fd = work.where == stream::out ? options_.output : options_.error;
    auto error = 0;
    if (editing_) {
      error = write_all(fd, "\r\x1b[K");
      error = error != 0 ? error : write_all(fd, work.text);
      rl_forced_update_display();
    } else {
      error = write_all(fd, work.text);
    }
    if (work.ticket != 0)
      handlers_.written(work.ticket, error);
  }

  // -- terminal ---------------------------------------------------------------

  void begin_editing() {
    if (::tcgetattr(options_.input, &saved_terminal) == 0)
      terminal_saved = true;
    current = this;
    rl_catch_signals = 0;
    rl_instream = ::fdopen(::dup(options_.input), "r");
    rl_outstream = ::fdopen(::dup(options_.output), "w");
    using_history();
    stifle_history(500);
    rl_callback_handler_install("> ", &worker::on_line);
    editing_ = true;
  }

  void end_editing() {
    if (editing_)
      rl_callback_handler_remove();
    editing_ = false;
    restore_terminal();
    write_all(options_.output, "\r\x1b[K");
  }

  static void on_line(char* text) {
    if (text == nullptr) {
      current->end_of_input();
      return;
    }
    std::string line{text};
    if (!line.empty())
      add_history(text);
    std::free(text);
    auto cut = line.size() > current->options_.line_limit;
    if (cut)
      line.resize(current->options_.line_limit);
    current->handlers_.line(std::move(line), cut);
  }

  // -- pipe -------------------------------------------------------------------

  void read_pipe() {
    char buffer[16384];
    auto got = ::read(options_.input, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    if (got <= 0) {
      if (cut_)
        pending_ += '\0';
      if (!pending_.empty() && pending_.back() != '\n')
        pending_ += '\n';
      closed_ = true;
    } else {
      append({buffer, static_cast<size_t>(got)});
    }
    deliver_lines();
  }

  /// Keeps at most the limit of the line that is being read; whole lines behind
  /// it stay as they are.
  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      auto end = bytes.find('\n');
      auto piece = bytes.substr(0, end);
      auto last = pending_.rfind('\n');
      auto begin = last == std::string::npos ? 0 : last + 1;
      auto room = options_.line_limit
                  - std::min(options_.line_limit, pending_.size() - begin);
      if (piece.size() > room)
        cut_ = true;
      pending_ += piece.substr(0, room);
      if (end == std::string_view::npos)
        return;
      // A marker that no text can hold says that the line was cut.
      if (cut_)
        pending_ += '\0';
      cut_ = false;
      pending_ += '\n';
      bytes.remove_prefix(end + 1);
    }
  }

  void deliver_lines() {
    if (options_.interactive)
      return;
    while (credits_ > 0) {
      auto end = pending_.find('\n');
      if (end == std::string::npos)
        break;
      auto line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      auto cut = !line.empty() && line.back() == '\0' && marked(line);
      if (cut)
        line.pop_back();
      --credits_;
      handlers_.line(std::move(line), cut);
    }
    if (closed_ && pending_.empty())
      end_of_input();
  }

  bool marked(const std::string& line) const {
    return line.size() == options_.line_limit + 1;
  }

  void end_of_input() {
    if (ended_)
      return;
    ended_ = true;
    if (editing_) {
      rl_callback_handler_remove();
      editing_ = false;
      write_all(options_.output, "\n");
    }
    handlers_.end();
  }

  static thread_local worker* current;

  io_options options_;
  io_handlers handlers_;
  int jobs_;
  int credits_;
  std::string pending_;
  bool cut_ = false;
  bool closed_ = false;
  bool ended_ = false;
  bool editing_ = false;
  bool stopping_ = false;
};

thread_local console_io::worker* console_io::worker::current = nullptr;

console_io::console_io(io_options options, io_handlers handlers)
  : options_(options) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    std::abort();
  jobs_out_ = ends[0];
  jobs_in_ = ends[1];
  ::fcntl(jobs_in_, F_SETFL, O_NONBLOCK);
  thread_ = std::thread{
    [options, jobs = jobs_out_, handlers = std::move(handlers)]() mutable {
      worker{options, std::move(handlers), jobs}.run();
    }};
}

console_io::~console_io() {
  stop();
  if (thread_.joinable())
    thread_.join();
  ::close(jobs_in_);
  // Jobs that came after the stop are nobody's any more.
  ::fcntl(jobs_out_, F_SETFL, O_NONBLOCK);
  job* left = nullptr;
  while (::read(jobs_out_, &left, sizeof left)
         == static_cast<ssize_t>(sizeof left))
    delete left;
  ::close(jobs_out_);
}

void console_io::post(job* work) {
  // The pipe holds some thousand jobs, far more than may be outstanding; a job
  // that does not fit (a flood of log lines before a stuck terminal) is lost.
  if (::write(jobs_in_, &work, sizeof work)
      != static_cast<ssize_t>(sizeof work))
    delete work;
}

void console_io::print(stream where, std::string text, uint64_t ticket) {
  auto work = std::make_unique<job>();
  work->where = where;
  work->text = std::move(text);
  work->ticket = ticket;
  post(work.release());
}

void console_io::grant(int lines) {
  auto work = std::make_unique<job>();
  work->what = job::kind::grant;
  work->lines = lines;
  post(work.release());
}

void console_io::stop() {
  auto work = std::make_unique<job>();
  work->what = job::kind::stop;
  post(work.release());
}

size_t console_io::width() const {
  winsize size{};
  if (::ioctl(options_.output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

void restore_terminal() {
  if (terminal_saved)
    ::tcsetattr(0, TCSADRAIN, &saved_terminal);
}

} // namespace bureau::console
