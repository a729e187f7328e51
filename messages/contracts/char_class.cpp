#include "messages/contracts/char_class.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <clocale>
#include <cwctype>
#include <iterator>
#include <locale.h>

namespace bureau::contracts {

namespace {

/// The character data of the C library; null where it has no UTF-8 locale.
locale_t unicode() {
  static const locale_t data = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  return data;
}

struct code_range {
  char32_t first;
  char32_t last;
};

/// Category Cf of Unicode 15, ascending.
constexpr code_range format_ranges[] = {
  {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},
  {0x06DD, 0x06DD},   {0x070F, 0x070F},   {0x0890, 0x0891},
  {0x08E2, 0x08E2},   {0x180E, 0x180E},   {0x200B, 0x200F},
  {0x202A, 0x202E},   {0x2060, 0x2064},   {0x2066, 0x206F},
  {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD},
  {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
  {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F},
};

bool is_format(char32_t c) {
  auto range = std::lower_bound(
    std::begin(format_ranges), std::end(format_ranges), c,
    [](const code_range& r, char32_t value) { return r.last < value; });
  return range != std::end(format_ranges) && c >= range->first;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

} // namespace

bool same_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

bool begins_ignoring_case(std::string_view text, std::string_view beginning) {
  return same_ignoring_case(text.substr(0, beginning.size()), beginning);
}

bool ends_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size()
         && same_ignoring_case(text.substr(text.size() - end.size()), end);
}

bool is_word_boundary(std::string_view text, size_t pos) {
  auto before = pos > 0 && is_word(text[pos - 1]);
  auto after = pos < text.size() && is_word(text[pos]);
  return before != after;
}

size_t wide_space_at(std::string_view text, size_t pos) {
  // Other lead bytes begin no white space.
  constexpr std::string_view leads = "\xC2\xE1\xE2\xE3\xEF";
  if (leads.find(text[pos]) == std::string_view::npos)
    return 0;
  auto bytes = text::decode_at(text, pos).bytes;
  return text::is_blank(text.substr(pos, bytes)) ? bytes : 0;
}

size_t wide_space_before(std::string_view text, size_t pos) {
  auto start = pos;
  // No white space character has more than three bytes.
  while (start > 0 && pos - start < 3 && is_continuation(text[start - 1]))
    --start;
  if (start == 0)
    return 0;
  --start;
  return space_at(text, start) == pos - start ? pos - start : 0;
}

size_t skip_spaces(std::string_view text, size_t pos) {
  while (auto bytes = space_at(text, pos))
    pos += bytes;
  return pos;
}

std::string_view trim_end(std::string_view text) {
  while (auto bytes = space_before(text, text.size()))
    text.remove_suffix(bytes);
  return text;
}

bool is_control_or_format(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || is_format(c);
}

bool is_any_letter_or_digit(char32_t c) {
  if (c < 0x80)
    return is_alnum(static_cast<char>(c));
  auto data = unicode();
  return data != locale_t{} && iswalnum_l(static_cast<wint_t>(c), data) != 0;
}

char32_t to_any_upper(char32_t c) {
  auto data = unicode();
  return data == locale_t{}
           ? c
           : static_cast<char32_t>(towupper_l(static_cast<wint_t>(c), data));
}

} // namespace bureau::contracts
