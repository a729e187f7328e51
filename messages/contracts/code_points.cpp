#include "messages/contracts/code_points.hpp"

namespace bureau::contracts {

namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

} // namespace

size_t forward_by(std::string_view text, size_t pos, size_t count) {
  while (count-- > 0 && pos < text.size()) {
    ++pos;
    while (pos < text.size() && is_continuation(text[pos]))
      ++pos;
  }
  return pos;
}

size_t back_from_end_by(std::string_view text, size_t count) {
  auto pos = text.size();
  while (count-- > 0 && pos > 0) {
    --pos;
    while (pos > 0 && is_continuation(text[pos]))
      --pos;
  }
  return pos;
}

} // namespace bureau::contracts
