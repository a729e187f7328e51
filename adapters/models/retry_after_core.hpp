#pragma once

#include "messages/model/model_descriptor.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bureau::models {

/// Milliseconds to wait stated by Retry-After-Ms or Retry-After, as a number of
/// seconds or a date of any of the three HTTP forms; 0 when there is none or it
/// is past; at most a day.
int64_t retry_after_ms(const std::vector<header_field>& headers,
                       int64_t now_ms);

/// An HTTP date as Unix milliseconds.
std::optional<int64_t> parse_http_date(std::string_view text);

} // namespace bureau::models
