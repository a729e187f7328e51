#pragma once

#include <cstddef>
#include <string_view>

/// The classes of characters that the text rules of the agent contracts speak
/// of. Words, letters and digits without further name are those of ASCII.
namespace bureau::contracts {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_letter(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z');
}

constexpr bool is_alnum(char c) {
  return is_letter(c) || is_digit(c);
}

constexpr bool is_word(char c) {
  return is_alnum(c) || c == '_';
}

constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Whether two texts are equal but for the case of their ASCII letters.
bool same_ignoring_case(std::string_view left, std::string_view right);

/// Whether one text begins or ends with another, ignoring the case of letters.
bool begins_ignoring_case(std::string_view text, std::string_view beginning);
bool ends_ignoring_case(std::string_view text, std::string_view end);

/// Whether a word begins or ends between `pos - 1` and `pos`.
bool is_word_boundary(std::string_view text, size_t pos);

constexpr bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

constexpr bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The two below where the character is not ASCII.
size_t wide_space_at(std::string_view text, size_t pos);
size_t wide_space_before(std::string_view text, size_t pos);

/// Bytes of the white space character at `pos`, or that ends before `pos`; 0
/// when there is none.
inline size_t space_at(std::string_view text, size_t pos) {
  if (pos >= text.size())
    return 0;
  if (is_ascii(text[pos]))
    return is_ascii_space(text[pos]) ? 1 : 0;
  return wide_space_at(text, pos);
}

inline size_t space_before(std::string_view text, size_t pos) {
  if (pos == 0)
    return 0;
  if (is_ascii(text[pos - 1]))
    return is_ascii_space(text[pos - 1]) ? 1 : 0;
  return wide_space_before(text, pos);
}

/// Position after all white space at `pos`.
size_t skip_spaces(std::string_view text, size_t pos);

/// Text without its trailing white space.
std::string_view trim_end(std::string_view text);

/// Unicode categories Cc and Cf.
bool is_control_or_format(char32_t c);

/// Letters and digits of all scripts.
bool is_any_letter_or_digit(char32_t c);

/// Upper-case form where it is one code point, else `c`.
char32_t to_any_upper(char32_t c);

} // namespace bureau::contracts
