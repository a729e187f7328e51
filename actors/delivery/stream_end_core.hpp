#pragma once

#include "messages/contracts/reply_parts.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The end of a stream of answer text (agent contracts, rules 32 and 47).
namespace bureau::delivery {

/// How a producer ends a stream.
struct stream_end {
  /// Takes the place of the text so far; absent = that text stands.
  caf::optional<std::string> text;
  std::vector<contracts::reply_part> parts;
  contracts::unsupported_part_fallback policy =
    contracts::unsupported_part_fallback::human;
};

/// The final text, with a line for every part that cannot be shown.
/// @param streamed the text so far
std::string final_text_of(const stream_end& end, const std::string& streamed);

/// Text without white space around it.
std::string_view trimmed(std::string_view text);

} // namespace bureau::delivery
