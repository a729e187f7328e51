#include "adapters/console/terminal_line.hpp"

#include "adapters/console/row_core.hpp"
#include "messages/limits.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

namespace bureau::console {

namespace {

constexpr size_t usual_columns = 80;

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
  if (line_ != nullptr || isatty(input_fd) == 0 || isatty(output_fd) == 0)
    return false;
  input_ = stream_of(input_fd, "r");
  output_ = stream_of(output_fd, "w");
  if (input_ != nullptr && output_ != nullptr)
    line_ = el_init("bureau", input_, output_, output_);
  history_ = history_init();
  if (line_ == nullptr || history_ == nullptr) {
    close();
    return false;
  }
  on_ = std::move(on);
  HistEvent event;
  history(history_, &event, H_SETSIZE, limits::console_history_lines);
  el_set(line_, EL_CLIENTDATA, this);
  el_set(line_, EL_PROMPT, &terminal_line::prompt_of);
  el_set(line_, EL_HIST, history, history_);
  el_set(line_, EL_EDITOR, "emacs");
  el_source(line_, nullptr);
  bind_keys();
  begin_line();
  return true;
}

void terminal_line::bind_keys() {
  auto bind = [this](const char* key, const char* function) {
    el_set(line_, EL_BIND, key, function, nullptr);
  };
  bind("^I", "ed-insert");
  bind("^R", "em-inc-search-prev");
  for (auto home : {"\\e[1~", "\\e[7~", "\\e[H", "\\eOH"})
    bind(home, "ed-move-to-beg");
  for (auto end : {"\\e[4~", "\\e[8~", "\\e[F", "\\eOF"})
    bind(end, "ed-move-to-end");
  bind("\\e[3~", "ed-delete-next-char");
  bind("\\e[1;5C", "em-next-word");
  bind("\\e[1;5D", "ed-prev-word");
  // ^C is a key here: it stops a turn instead of ending the program.
  el_set(line_, EL_SETTY, "-d", "-isig", nullptr);
  el_set(line_, EL_ADDFN, "bureau-interrupt", "end the running turn",
         &terminal_line::on_interrupt);
  el_set(line_, EL_ADDFN, "bureau-end", "delete forward, or end",
         &terminal_line::on_end);
  bind("^C", "bureau-interrupt");
  bind("^D", "bureau-end");
}

/// Puts the terminal into its editing mode and shows an empty line.
void terminal_line::begin_line() {
  editing_ = true;
  el_set(line_, EL_UNBUFFERED, 1);
}

void terminal_line::leave_line() {
  editing_ = false;
  el_set(line_, EL_UNBUFFERED, 0);
}

void terminal_line::end_input() {
  leave_line();
  on_.end_of_input();
}

void terminal_line::read_some() {
  if (!editing_)
    return;
  // Readable without anything to read: the terminal is gone.
  int waiting = 0;
  if (ioctl(fileno(input_), FIONREAD, &waiting) != 0 || waiting == 0) {
    end_input();
    return;
  }
  int count = 0;
  const auto* text = el_gets(line_, &count);
  if (std::exchange(at_end_, false)) {
    end_input();
    return;
  }
  // The editing mode comes first: what is typed outside of it can get lost.
  if (std::exchange(interrupted_, false)) {
    // Leaving and entering the mode throws the typed text away.
    auto gone = erase();
    std::fwrite(gone.data(), 1, gone.size(), output_);
    std::fflush(output_);
    leave_line();
    begin_line();
    on_.interrupt();
    return;
  }
  if (text == nullptr || count <= 0
      || (text[count - 1] != '\n' && text[count - 1] != '\r'))
    return;
  std::string complete{text, static_cast<size_t>(count - 1)};
  if (complete.find_first_not_of(" \t") != std::string::npos) {
    HistEvent event;
    history(history_, &event, H_ENTER, complete.c_str());
  }
  leave_line();
  begin_line();
  on_.line(std::move(complete));
}

terminal_line& terminal_line::self_of(EditLine* line) {
  void* self = nullptr;
  el_get(line, EL_CLIENTDATA, &self);
  return *static_cast<terminal_line*>(self);
}

char* terminal_line::prompt_of(EditLine* line) {
  return self_of(line).prompt_.data();
}

unsigned char terminal_line::on_interrupt(EditLine* line, wint_t) {
  self_of(line).interrupted_ = true;
  return CC_NORM;
}

unsigned char terminal_line::on_end(EditLine* line, wint_t) {
  const auto* now = el_wline(line);
  if (now->lastchar == now->buffer) {
    self_of(line).at_end_ = true;
    return CC_NORM;
  }
  if (now->cursor == now->lastchar)
    return CC_ERROR;
  el_cursor(line, 1);
  el_deletestr(line, 1);
  return CC_REFRESH;
}

void terminal_line::set_prompt(std::string text) {
  auto gone = erase();
  prompt_ = std::move(text);
  if (!editing_)
    return;
  std::fwrite(gone.data(), 1, gone.size(), output_);
  redraw();
}

size_t terminal_line::columns() const {
  winsize size{};
  if (ioctl(fileno(output_), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return usual_columns;
  return size.ws_col;
}

std::string terminal_line::erase() const {
  if (!editing_)
    return {};
  const auto* now = el_wline(line_);
  std::wstring shown{prompt_.begin(), prompt_.end()};
  shown.append(now->buffer, now->cursor);
  std::string result = "\r";
  if (auto rows = cursor_row(shown, columns()); rows > 0)
    result += "\x1b[" + std::to_string(rows) + "A";
  return result + "\x1b[J";
}

void terminal_line::redraw() {
  if (!editing_)
    return;
  // The window may have another width by now.
  el_resize(line_);
  el_set(line_, EL_REFRESH);
}

void terminal_line::close() {
  if (std::exchange(editing_, false))
    leave_line();
  if (auto* line = std::exchange(line_, nullptr))
    el_end(line);
  if (auto* entries = std::exchange(history_, nullptr))
    history_end(entries);
  if (auto* stream = std::exchange(input_, nullptr))
    std::fclose(stream);
  if (auto* stream = std::exchange(output_, nullptr))
    std::fclose(stream);
}

} // namespace bureau::console
