#include "messages/text/length_unit.hpp"

#include "messages/text/utf8.hpp"

namespace bureau::text {

size_t byte_length(std::string_view valid) {
  return valid.size();
}

length_function length_function_of(std::string_view unit) {
  if (unit == "utf16")
    return utf16_length;
  if (unit == "code_points")
    return code_point_length;
  return byte_length;
}

} // namespace bureau::text
