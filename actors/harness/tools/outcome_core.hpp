#pragma once

#include "messages/interfaces/harness.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Small makers that all tools share.
namespace bureau::harness {

/// A success with one text block.
tool_outcome text_outcome(std::string text);

/// A failure with one text block; details are an empty object.
tool_outcome failed_outcome(std::string text);

/// An integer argument: fractions are cut off, values beyond the range are
/// clamped to it; `fallback` when the member is absent or no number.
int64_t integer_argument(const boost::json::object& arguments,
                         std::string_view name, int64_t fallback);

/// A duration argument in seconds, as milliseconds between 0 and `max_ms`.
int64_t seconds_argument(const boost::json::object& arguments,
                         std::string_view name, int64_t max_ms);

} // namespace bureau::harness
