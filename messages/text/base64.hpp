#pragma once

#include <string>
#include <string_view>

namespace bureau::text {

/// Standard base64 with padding.
std::string base64(std::string_view bytes);

} // namespace bureau::text
