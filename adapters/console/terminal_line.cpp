#include "adapters/console/terminal_line.hpp"

#include "messages/limits.hpp"

#include <editline/readline.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace bureau::console {

namespace {

/// The library's callbacks carry no context.
thread_local terminal_line* active_line = nullptr;

constexpr int interrupt_key = 3;
constexpr int end_key = 4;

FILE* stream_of(int fd, const char* mode) {
  auto copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return nullptr;
  auto* stream = fdopen(copy, mode);
  if (stream == nullptr)
    ::close(copy);
  return stream;
}

} // namespace

terminal_line::~terminal_line() {
  close();
}

bool terminal_line::open(int input_fd, int output_fd, handlers on) {
  if (active_line != nullptr || isatty(input_fd) == 0 || isatty(output_fd) == 0)
    return false;
  input_ = stream_of(input_fd, "r");
  output_ = stream_of(output_fd, "w");
  if (input_ == nullptr || output_ == nullptr) {
    close();
    return false;
  }
  on_ = std::move(on);
  active_line = this;
  open_ = true;
  rl_readline_name = "bureau";
  rl_instream = input_;
  rl_outstream = output_;
  rl_catch_signals = 0;
  rl_initialize();
  using_history();
  stifle_history(limits::console_history_lines);
  // ^C is a key here: it stops a turn instead of ending the program. The
  // library's own ^D is not told to a callback.
  rl_parse_and_bind("setty -d -isig");
  rl_add_defun("bureau-interrupt", &terminal_line::on_interrupt, interrupt_key);
  rl_add_defun("bureau-end", &terminal_line::on_end, end_key);
  begin_line();
  return true;
}

/// Puts the terminal into its editing mode and shows an empty line. The library
/// leaves that mode whenever a line is complete.
void terminal_line::begin_line() {
  installed_ = true;
  rl_callback_handler_install(prompt_.c_str(), &terminal_line::on_line);
}

void terminal_line::read_some() {
  if (!installed_)
    return;
  rl_callback_read_char();
  if (std::exchange(at_end_, false)) {
    installed_ = false;
    rl_callback_handler_remove();
    on_.end_of_input();
    return;
  }
  // The editing mode comes first: what is typed outside of it can get lost.
  if (std::exchange(interrupted_, false)) {
    // Leaving and entering the mode throws the typed text away.
    rl_callback_handler_remove();
    begin_line();
    on_.interrupt();
  }
  if (auto line = std::exchange(complete_, std::nullopt)) {
    begin_line();
    on_.line(std::move(*line));
  }
}

void terminal_line::on_line(char* text) {
  if (active_line != nullptr)
    active_line->line_done(text);
}

void terminal_line::line_done(char* text) {
  if (text == nullptr) {
    at_end_ = true;
    return;
  }
  complete_ = text;
  std::free(text);
  if (complete_->find_first_not_of(" \t") != std::string::npos)
    add_history(complete_->c_str());
}

int terminal_line::on_interrupt(int, int) {
  if (active_line != nullptr)
    active_line->interrupted_ = true;
  return 0;
}

int terminal_line::on_end(int, int) {
  // Within text the key does nothing.
  if (active_line != nullptr && rl_end == 0)
    active_line->at_end_ = true;
  return 0;
}

void terminal_line::set_prompt(std::string text) {
  prompt_ = std::move(text);
  if (!installed_)
    return;
  rl_set_prompt(prompt_.c_str());
  redraw();
}

std::string_view terminal_line::erase() const {
  return installed_ ? "\r\x1b[J" : "";
}

void terminal_line::redraw() {
  if (installed_)
    rl_forced_update_display();
}

void terminal_line::close() {
  if (std::exchange(installed_, false))
    rl_callback_handler_remove();
  if (std::exchange(open_, false)) {
    rl_deprep_terminal();
    active_line = nullptr;
  }
  // The library keeps the streams; it is told to forget them first.
  rl_instream = nullptr;
  rl_outstream = nullptr;
  if (auto* stream = std::exchange(input_, nullptr))
    std::fclose(stream);
  if (auto* stream = std::exchange(output_, nullptr))
    std::fclose(stream);
}

} // namespace bureau::console
