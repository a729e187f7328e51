#include "messages/text/sha256.hpp"

#include <openssl/sha.h>

namespace bureau::text {

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  std::array<uint8_t, 32> digest{};
  // The one-shot form cannot fail: it allocates nothing and has no parameters
  // to get wrong.
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
           digest.data());
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  result.reserve(64);
  for (auto byte : sha256(bytes)) {
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

} // namespace bureau::text
