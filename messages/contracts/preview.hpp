#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Short, harmless excerpts of text that models and strangers wrote.
namespace bureau::contracts {

/// Code points of a preview, of the detail of a subagent, and of the beginning
/// of a text that is looked at for either.
inline constexpr size_t preview_chars = 40;
inline constexpr size_t detail_chars = 120;
inline constexpr size_t preview_scan_chars = 4096;

/// Directories of one agent that a preview shortens: what is below the first
/// loses it, what is below the second begins with `~`. Empty = none.
struct path_roots {
  std::string workspace;
  std::string home;
};

/// Which part of a text too long gives way: the end; the middle, with most of
/// the end kept; the middle, evenly.
enum class cut_shape : uint8_t { head, middle, balanced };

/// How a text is shown.
struct preview_style {
  cut_shape shape = cut_shape::head;
  /// A shell command loses its leading change to the agent's own directory.
  bool shell = false;
  size_t max_chars = preview_chars;
};

/// End of the word that is under way at `pos`, unless it is longer than any
/// token: half a secret would not be known as one.
size_t word_end(std::string_view text, size_t pos);

/// A text of at most `max_chars` code points, the part left out shown as `…`.
std::string cut_to(std::string_view text, size_t max_chars, cut_shape shape);

/// One line: runs of white space, control and format characters are one space.
std::string folded_line(std::string_view text);

/// A preview: folded, with short paths, redacted, then cut; empty when nothing
/// is worth showing.
std::string preview_of(std::string_view text, preview_style style,
                       const path_roots& roots);

} // namespace bureau::contracts
