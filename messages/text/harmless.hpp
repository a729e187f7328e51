#pragma once

#include <string>
#include <string_view>

namespace bureau::text {

/// A line that cannot steer a terminal: control characters, line breaks
/// included, become U+FFFD, and so does what is no UTF-8. Tabs stay.
std::string harmless(std::string_view line);

} // namespace bureau::text
