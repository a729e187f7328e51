#pragma once

#include <boost/json/value.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// JSON text exactly as the peers of the agent contracts print it: shortest
/// decimal numbers without an exponent up to 1e21, short escapes, everything
/// else raw. Limits count bytes of this text, so both sides must agree on it.
namespace bureau::contracts {

namespace bj = boost::json;

/// Deepest nesting that is printed; the parser accepts no more.
inline constexpr size_t wire_depth = 256;

/// Appends a string literal; ill-formed UTF-8 becomes U+FFFD.
void append_wire_text(std::string& out, std::string_view text);

/// Number of bytes that a code point takes inside a string literal.
size_t wire_width(char32_t code_point);

/// A number as text: 0.5, 1500, 1e+21; "null" for what is not finite.
std::string wire_number(double number);

/// Compact text; nothing when it would be longer than `max_bytes` or nested
/// deeper than wire_depth. Never does more work than `max_bytes` asks for.
std::optional<std::string> print_wire(const bj::value& value, size_t max_bytes);

/// Text with an indent of two spaces, no line end after it; nothing as above.
std::optional<std::string> print_wire_pretty(const bj::value& value,
                                             size_t max_bytes);

} // namespace bureau::contracts
