#include "adapters/console/row_core.hpp"

#include <wchar.h>
#include <wctype.h>

namespace bureau::console {

namespace {

constexpr size_t tab_stop = 8;
/// Control characters are shown as ^X, others without a shape as \U+1234.
constexpr size_t control_width = 2;
constexpr size_t escaped_width = 7;
constexpr size_t long_escaped_width = 8;
constexpr wchar_t last_short = 0xFFFF;

size_t width_of(wchar_t c) {
  if (iswcntrl(static_cast<wint_t>(c)) != 0)
    return control_width;
  auto width = wcwidth(c);
  if (width >= 0)
    return static_cast<size_t>(width);
  return c > last_short ? long_escaped_width : escaped_width;
}

} // namespace

size_t cursor_row(std::wstring_view shown, size_t columns) {
  if (columns == 0)
    return 0;
  size_t row = 0;
  size_t column = 0;
  auto advance = [&](size_t width) {
    column += width;
    if (column < columns)
      return;
    ++row;
    column = 0;
  };
  for (auto c : shown) {
    if (c == L'\t') {
      do
        advance(1);
      while (column % tab_stop != 0);
      continue;
    }
    auto width = width_of(c);
    if (iswprint(static_cast<wint_t>(c)) == 0) {
      // Written out letter by letter, it may be split.
      for (size_t i = 0; i < width; ++i)
        advance(1);
      continue;
    }
    // A wide character is not split: it goes to the next row.
    if (column + width > columns)
      advance(columns - column);
    advance(width);
  }
  return row;
}

} // namespace bureau::console
