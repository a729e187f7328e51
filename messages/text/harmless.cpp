#include "messages/text/harmless.hpp"

#include "messages/text/utf8.hpp"

namespace bureau::text {

namespace {

bool is_control(char32_t c) {
  return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0);
}

} // namespace

std::string harmless(std::string_view line) {
  auto clean = sanitize_utf8(line);
  std::string result;
  result.reserve(clean.size());
  for (size_t at = 0; at < clean.size();) {
    auto next = decode_at(clean, at);
    if (is_control(next.code_point))
      append_code_point(result, 0xFFFD);
    else
      result.append(clean, at, next.bytes);
    at += next.bytes;
  }
  return result;
}

} // namespace bureau::text
