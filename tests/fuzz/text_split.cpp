#include "messages/contracts/text_split.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/contracts/preview.hpp"
#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;
using namespace bureau::contracts;

namespace {

std::string without_spaces(std::string_view text) {
  std::string result;
  for (size_t pos = 0; pos < text.size();) {
    auto space = space_at(text, pos);
    if (space == 0)
      result += text[pos];
    pos += std::max<size_t>(1, space);
  }
  return result;
}

bool fits(std::string_view piece, size_t max_chars) {
  return forward_by(piece, 0, max_chars) == piece.size();
}

void check_pieces(std::string_view text, size_t max_chars) {
  auto plain = *split_text_by_code_points(text, max_chars);
  std::string joined;
  for (size_t i = 0; i < plain.size(); ++i) {
    fuzz::require(fits(plain[i], max_chars), "a piece has a bound");
    fuzz::require(i + 1 == plain.size() || !fits(plain[i], max_chars - 1),
                  "all pieces but the last are full");
    joined += plain[i];
  }
  fuzz::require(joined == text, "pieces are lossless");

  auto chat = *split_text_for_chat(text, max_chars);
  fuzz::require(!chat.empty(), "there is a piece");
  fuzz::require(chat.size() <= text.size() + 1, "every piece is progress");
  joined.clear();
  for (const auto& piece : chat) {
    fuzz::require(chat.size() == 1 || fits(piece, max_chars),
                  "a piece has a bound");
    fuzz::require(text.empty() || !piece.empty(), "no piece is empty");
    joined += piece;
  }
  fuzz::require(without_spaces(joined) == without_spaces(text),
                "only white space is lost");
}

} // namespace

void fuzz::try_input(std::string_view input) {
  reader in{input};
  auto max_chars = 1 + in.below(300);
  // Pieces are cut between characters, so the text has to be some.
  auto text = text::sanitize_utf8(in.rest());
  check_pieces(text, max_chars);
  auto end = build_streaming_tail_preview(text, max_chars, "…\n");
  require(fits(end, std::max<size_t>(max_chars, 3)), "a preview has a bound");
  require(text::is_valid_utf8(end), "a preview is text");
  auto kept = normalize_trailing(text, "nothing");
  require(normalize_trailing(kept, "x") == kept, "trimming settles");
  for (auto shape : {cut_shape::head, cut_shape::middle, cut_shape::balanced}) {
    auto cut = cut_to(text, max_chars, shape);
    require(fits(cut, max_chars) && text::is_valid_utf8(cut),
            "an excerpt has a bound");
  }
  // Other bytes are cut somewhere, but never out of bounds.
  split_text_for_chat(in.rest(), max_chars);
  split_text_by_code_points(in.rest(), max_chars);
  build_streaming_tail_preview(in.rest(), max_chars);
}
