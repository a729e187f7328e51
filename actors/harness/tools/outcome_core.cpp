#include "actors/harness/tools/outcome_core.hpp"

#include "messages/codec/json_support.hpp"

#include <algorithm>
#include <cmath>

namespace bureau::harness {

namespace {

/// Doubles hold every integer up to here.
constexpr double exact_integers = 9007199254740992.0;

} // namespace

tool_outcome text_outcome(std::string text) {
  tool_outcome result;
  result.content.push_back(text_block(std::move(text)));
  return result;
}

tool_outcome failed_outcome(std::string text) {
  auto result = text_outcome(std::move(text));
  result.is_error = true;
  result.details = json_text{"{}"};
  return result;
}

int64_t integer_argument(const boost::json::object& arguments,
                         std::string_view name, int64_t fallback) {
  auto number = json::number_member(arguments, name);
  if (!number || std::isnan(*number))
    return fallback;
  if (*number >= exact_integers)
    return static_cast<int64_t>(exact_integers);
  if (*number <= -exact_integers)
    return -static_cast<int64_t>(exact_integers);
  return static_cast<int64_t>(*number);
}

int64_t seconds_argument(const boost::json::object& arguments,
                         std::string_view name, int64_t max_ms) {
  auto number = json::number_member(arguments, name);
  if (!number || !(*number > 0))
    return 0;
  auto ms = *number * 1000.0;
  if (ms >= static_cast<double>(max_ms))
    return max_ms;
  // A timeout that is asked for is never "no timeout".
  return std::max<int64_t>(1, static_cast<int64_t>(ms));
}

} // namespace bureau::harness
