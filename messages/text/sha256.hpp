#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bureau::text {

/// SHA-256 of some bytes.
std::array<uint8_t, 32> sha256(std::string_view bytes);

/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

} // namespace bureau::text
