#pragma once

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

/// The context that a later turn of a finished run is built from.
namespace bureau::contracts {

inline constexpr size_t continuation_min_messages = 2;
inline constexpr size_t continuation_max_messages = 64;
inline constexpr size_t continuation_max_message_bytes = 65'536;
inline constexpr size_t continuation_max_bytes = 262'144;

/// What is wrong with an origin context.
enum class continuation_fault : uint8_t {
  none,
  /// The object around the messages, or their number.
  envelope,
  /// One of the messages.
  message,
  /// It does not end with the run's own question and answer.
  ending,
  /// All of it is too long as JSON.
  size,
};

std::string to_string(continuation_fault fault);

/// Checks an origin context that came from outside.
continuation_fault
check_continuation_origin_context(const boost::json::value& context);

} // namespace bureau::contracts
