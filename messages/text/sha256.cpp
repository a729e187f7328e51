#include "messages/text/sha256.hpp"

// The functions of SHA-256 itself, which OpenSSL 3 would rather see reached
// through its providers: the first hash of a process then loads 2 MB of them,
// and each one looks its algorithm up.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace bureau::text {

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  std::array<uint8_t, 32> digest{};
  // None of them can fail: the state is on the stack and has no parameters.
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &state);
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
