#pragma once

#include <cstddef>
#include <string_view>

namespace bureau::console {

/// How many rows below its first one an edited line has its cursor, as libedit
/// lays it out on a terminal. Widths are those of the locale.
/// @param shown prompt and text in front of the cursor
size_t cursor_row(std::wstring_view shown, size_t columns);

} // namespace bureau::console
