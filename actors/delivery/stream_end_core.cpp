#include "actors/delivery/stream_end_core.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/text_split.hpp"

namespace bureau::delivery {

std::string final_text_of(const stream_end& end, const std::string& streamed) {
  // Parts without a text must not cost what was streamed already.
  auto base = end.text ? *end.text : streamed;
  auto whole = contracts::append_reply_part_fallback(base, end.options.parts,
                                                     end.options.fallback);
  return whole ? *whole : base;
}

std::string answer_text(const stream_end& end) {
  return contracts::normalize_trailing(final_text_of(end, {}), empty_answer);
}

std::string_view trimmed(std::string_view text) {
  return contracts::trim_end(text.substr(contracts::skip_spaces(text, 0)));
}

} // namespace bureau::delivery
