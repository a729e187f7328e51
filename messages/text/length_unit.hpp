#pragma once

#include <cstddef>
#include <string_view>

/// What platforms count when they limit a text (decision A22).
namespace bureau::text {

/// Length of valid UTF-8 in the unit of a platform.
using length_function = size_t (*)(std::string_view valid);

/// Length in bytes.
size_t byte_length(std::string_view valid);

/// The function of a unit: "utf16", "bytes" or "code_points". An unknown name
/// counts bytes, which no other unit exceeds.
length_function length_function_of(std::string_view unit);

} // namespace bureau::text
