#pragma once

#include "adapters/console/console_core.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace bureau::console {

/// Descriptors and manners of the console.
struct io_options {
  int input = 0;
  int output = 1;
  int error = 2;
  /// Line editing, prompt, output above the prompt.
  bool interactive = false;
  /// Lines that may be read before more are granted.
  int credits = 20;
  /// Longest line in bytes; the rest of a longer one is dropped.
  size_t line_limit = 256u << 10;
};

/// Called on the console thread.
struct io_handlers {
  std::function<void(std::string line, bool cut)> line;
  /// End of input, once.
  std::function<void()> end;
  /// A print with this ticket is done; error is an errno or 0.
  std::function<void(uint64_t ticket, int error)> written;
};

/// The one thread that may block on the terminal: it reads lines while it has
/// credit and prints what it is given, above the prompt where there is one.
/// Jobs reach it through a pipe, so nobody waits for it and nothing is locked.
class console_io {
public:
  console_io(io_options options, io_handlers handlers);
  console_io(const console_io&) = delete;
  console_io& operator=(const console_io&) = delete;
  /// Stops and joins; never destroy it on a scheduler thread.
  ~console_io();

  /// Prints whole lines; `written` is called when ticket is not 0.
  void print(stream where, std::string text, uint64_t ticket);
  /// Allows more lines to be read.
  void grant(int lines);
  /// Asks the thread to end: what was given before is printed first.
  void stop();
  /// Columns of the terminal, 80 when unknown.
  size_t width() const;

private:
  struct job;
  class worker;
  void post(job* work);

  io_options options_;
  int jobs_in_ = -1;
  int jobs_out_ = -1;
  std::thread thread_;
};

/// Puts the terminal back as it was before the first console_io; for exits that
/// skip the orderly end.
void restore_terminal();

} // namespace bureau::console
