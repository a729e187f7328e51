#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// UTF-8 helpers. All of them run in linear time and never read out of bounds.
namespace bureau::text {

/// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool is_valid_utf8(std::string_view bytes);

/// Replaces every maximal ill-formed part by U+FFFD, as WHATWG decoders do.
std::string sanitize_utf8(std::string_view bytes);

/// Length in UTF-16 code units of valid UTF-8 (ill-formed bytes count 1 each).
size_t utf16_length(std::string_view valid);

/// Number of code points of valid UTF-8.
size_t code_point_length(std::string_view valid);

/// Longest prefix of at most `max_bytes` bytes that ends on a code point.
std::string_view prefix_bytes(std::string_view valid, size_t max_bytes);

/// Longest suffix of at most `max_bytes` bytes that starts on a code point.
std::string_view suffix_bytes(std::string_view valid, size_t max_bytes);

/// Longest prefix of at most `max_units` UTF-16 code units.
std::string_view prefix_utf16(std::string_view valid, size_t max_units);

/// Code point starting at `pos` and the number of its bytes; U+FFFD and 1 for
/// an ill-formed byte.
struct decoded {
  char32_t code_point = 0;
  size_t bytes = 1;
};
decoded decode_at(std::string_view bytes, size_t pos);

/// Appends a code point in UTF-8.
void append_code_point(std::string& out, char32_t code_point);

/// Removes leading and trailing Unicode white space.
std::string_view trim(std::string_view valid);

/// Whether nothing but Unicode white space is there.
bool is_blank(std::string_view valid);

/// Decodes a byte stream whose characters may be cut between chunks.
class utf8_stream {
public:
  /// Feeds a chunk; answers the well-formed text that is complete so far.
  std::string feed(std::string_view chunk);
  /// Ends the stream: a cut character becomes U+FFFD.
  std::string finish();

private:
  std::string pending_;
};

} // namespace bureau::text
