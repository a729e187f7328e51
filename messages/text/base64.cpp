#include "messages/text/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace bureau::text {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  auto byte = [&](size_t i) -> uint32_t {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    result += digits[group >> 18 & 63];
    result += digits[group >> 12 & 63];
    result += i + 1 < bytes.size() ? digits[group >> 6 & 63] : '=';
    result += i + 2 < bytes.size() ? digits[group & 63] : '=';
  }
  return result;
}

} // namespace bureau::text
