#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Texts in pieces that a chat takes. Lengths are Unicode code points; all of
/// it runs in linear time.
namespace bureau::contracts {

/// Text without trailing white space, or `fallback` when nothing remains.
std::string normalize_trailing(std::string_view text,
                               std::string_view fallback);

/// Consecutive pieces of exactly `max_chars` code points, the last one may be
/// shorter. At least one; nothing for a bound of 0, which cannot be met.
std::optional<std::vector<std::string>>
split_text_by_code_points(std::string_view text, size_t max_chars);

/// Pieces of at most `max_chars` code points that end at a paragraph, a line or
/// a word where one ends in the second half of the piece. Only white space at
/// the ends of pieces is lost. At least one; nothing for a bound of 0.
std::optional<std::vector<std::string>>
split_text_for_chat(std::string_view text, size_t max_chars);

/// The end of a text that grows: the text itself when it fits, else the prefix
/// and as many last code points as fit behind it, at least one.
std::string build_streaming_tail_preview(std::string_view text,
                                         size_t max_chars,
                                         std::string_view prefix = "...\n");

} // namespace bureau::contracts
