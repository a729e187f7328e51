#pragma once

#include "messages/contracts/turn.hpp"

#include <string>
#include <string_view>

/// The end of a stream of answer text (agent contracts, rules 32 and 47).
namespace bureau::delivery {

/// Said in the place of an answer without text.
inline constexpr std::string_view empty_answer =
  "No response text was returned.";

/// How a producer ends a stream.
struct stream_end {
  /// Takes the place of the text so far; absent = that text stands.
  caf::optional<std::string> text;
  contracts::finish_options options;
};

/// The final text, with a line for every part that cannot be shown.
/// @param streamed the text so far
std::string final_text_of(const stream_end& end, const std::string& streamed);

/// What its reader is shown at the end: the final text, or a sentence when
/// there is none.
std::string answer_text(const stream_end& end);

/// Text without white space around it.
std::string_view trimmed(std::string_view text);

} // namespace bureau::delivery
