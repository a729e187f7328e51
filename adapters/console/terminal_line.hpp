#pragma once

#include <histedit.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace bureau::console {

/// One edited line at the bottom of a terminal, with history (libedit). Only
/// the thread that opened it may use it.
class terminal_line {
public:
  /// Called by read_some.
  struct handlers {
    std::function<void(std::string)> line;
    std::function<void()> end_of_input;
    std::function<void()> interrupt;
  };

  terminal_line() = default;
  terminal_line(const terminal_line&) = delete;
  terminal_line& operator=(const terminal_line&) = delete;
  ~terminal_line();

  /// @returns false when the descriptors are no terminal
  bool open(int input_fd, int output_fd, handlers on);

  /// Reads what the user typed next. Call it when the input is readable.
  void read_some();

  /// @param text ASCII
  void set_prompt(std::string text);

  /// Text that removes the line from the screen, all rows of it, to print
  /// something instead.
  std::string erase() const;
  /// Draws the line again below what was printed.
  void redraw();

  /// Gives the terminal back as it was. Idempotent.
  void close();

private:
  void bind_keys();
  void begin_line();
  void leave_line();
  void end_input();
  size_t columns() const;
  static terminal_line& self_of(EditLine* line);
  static char* prompt_of(EditLine* line);
  static unsigned char on_interrupt(EditLine* line, wint_t key);
  static unsigned char on_end(EditLine* line, wint_t key);

  handlers on_;
  std::string prompt_;
  FILE* input_ = nullptr;
  FILE* output_ = nullptr;
  EditLine* line_ = nullptr;
  History* history_ = nullptr;
  /// The terminal is in its editing mode and shows the line.
  bool editing_ = false;
  // -- told by the keys, acted upon when the library has returned -------------
  bool interrupted_ = false;
  bool at_end_ = false;
};

} // namespace bureau::console
