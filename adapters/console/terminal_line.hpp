#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bureau::console {

/// One edited line at the bottom of a terminal, with history (libedit). The
/// library keeps one state per process: at most one instance is open, and only
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

  void set_prompt(std::string text);

  /// Text that removes the line from the screen, to print something instead.
  std::string_view erase() const;
  /// Draws the line again below what was printed.
  void redraw();

  /// Gives the terminal back as it was. Idempotent.
  void close();

private:
  void begin_line();
  void line_done(char* text);
  static void on_line(char* text);
  static int on_interrupt(int count, int key);
  static int on_end(int count, int key);

  handlers on_;
  std::string prompt_;
  FILE* input_ = nullptr;
  FILE* output_ = nullptr;
  bool open_ = false;
  /// The library waits for input with its handler in place.
  bool installed_ = false;
  // -- told by the callbacks, acted upon when the library has returned --------
  std::optional<std::string> complete_;
  bool interrupted_ = false;
  bool at_end_ = false;
};

} // namespace bureau::console
