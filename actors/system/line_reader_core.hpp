#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bureau::system {

/// Finds the lines of a file that is read part by part, blank ones left out.
class line_reader {
public:
  /// Gets a line without its newline; "" for one that is longer than a line may
  /// be.
  using listener = std::function<void(std::string_view line)>;

  explicit line_reader(listener on_line) : on_line_(std::move(on_line)) {}

  void feed(std::string_view bytes);

  /// The file is over; a last line without newline counts as one, but is not
  /// told: it may be cut.
  void finish();

  uint64_t lines() const { return lines_; }

private:
  void end_line(std::string_view line);

  listener on_line_;
  /// Beginning of a line whose end is to come.
  std::string partial_;
  bool partial_too_long_ = false;
  uint64_t lines_ = 0;
};

} // namespace bureau::system
