#pragma once

#include <cstddef>
#include <string_view>

/// Counting in code points. Bytes that continue a character never start one, so
/// a text that is no UTF-8 is cut somewhere, but never out of bounds.
namespace bureau::contracts {

/// Position `count` code points after `pos`, at most the end.
size_t forward_by(std::string_view text, size_t pos, size_t count);

/// Position `count` code points before the end, at least the beginning.
size_t back_from_end_by(std::string_view text, size_t count);

} // namespace bureau::contracts
