#include "messages/ports/entropy.hpp"

#include <cstddef>

namespace bureau {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

std::string uuid_text(uint64_t high, uint64_t low) {
  std::string result;
  result.reserve(36);
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20)
      result += '-';
    auto word = i < 16 ? high : low;
    auto shift = 60 - 4 * (i % 16);
    result += hex_digits[(word >> shift) & 0xf];
  }
  return result;
}

constexpr uint64_t variant_bits(uint64_t low) {
  return (low & 0x3fff'ffff'ffff'ffffull) | 0x8000'0000'0000'0000ull;
}

} // namespace

std::string random_hex(entropy& source, int digits) {
  auto bits = source.next();
  std::string result;
  for (int i = 0; i < digits && i < 16; ++i)
    result += hex_digits[(bits >> (60 - 4 * i)) & 0xf];
  return result;
}

std::string random_uuid(entropy& source) {
  auto high = (source.next() & 0xffff'ffff'ffff'0fffull) | 0x4000ull;
  return uuid_text(high, variant_bits(source.next()));
}

std::string timed_uuid(entropy& source, int64_t unix_ms) {
  auto stamp = static_cast<uint64_t>(unix_ms) & 0xffff'ffff'ffffull;
  auto high = (stamp << 16) | 0x7000ull | (source.next() & 0x0fffull);
  return uuid_text(high, variant_bits(source.next()));
}

} // namespace bureau
