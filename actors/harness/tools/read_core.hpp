#pragma once

#include "actors/harness/tools/truncate_core.hpp"
#include "messages/interfaces/harness.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// Decisions of the read tool (note on the harness, section 3.15).
namespace bureau::harness {

/// MIME type of an image file by its extension; empty for other files.
std::string image_mime_type(std::string_view path);

/// The image as the model gets it: one line of text and the picture.
/// @param bytes at most limits::tool_image_bytes
tool_outcome image_outcome(std::string_view path, const std::string& mime_type,
                           std::string_view bytes);

/// Which part of a text file is asked for. Values below 1 mean "not given".
struct read_window {
  /// First line, counted from 1.
  int64_t offset = 0;
  /// Number of lines.
  int64_t limit = 0;
  /// Where to begin inside a first line that is too long to show.
  int64_t byte_offset = 0;
};

/// Reads a text file piece by piece and keeps only what is shown of it, so that
/// a huge file costs no more memory than a small one.
class text_scan {
public:
  explicit text_scan(const read_window& window, const cut_limits& bounds = {});

  /// Takes the next piece; pieces may cut lines and characters.
  void feed(std::string_view bytes);

  /// Ends the file and answers its view; call it once, last.
  tool_outcome finish();

private:
  void piece_of_line(std::string_view bytes);
  void end_line();
  tool_outcome slice_outcome() const;
  bool selected() const;
  bool is_first() const { return line_ == start_; }

  cut_limits bounds_;
  size_t start_ = 1;
  /// Number of lines asked for; 0 = all.
  size_t wanted_ = 0;
  size_t byte_offset_ = 0;
  /// Current line and its bytes so far.
  size_t line_ = 1;
  size_t line_bytes_ = 0;
  /// Complete lines that are shown.
  std::string kept_;
  size_t kept_lines_ = 0;
  /// The current line, as long as it may still be shown.
  std::string current_;
  cut_by closed_ = cut_by::nothing;
  size_t selected_lines_ = 0;
  size_t selected_bytes_ = 0;
  /// Part of the first line from byte_offset_ on.
  std::string slice_;
  size_t first_line_bytes_ = 0;
  bool has_nul_ = false;
};

} // namespace bureau::harness
