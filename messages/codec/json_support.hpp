#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// House rules for JSON: parse without exceptions, say where a fault is, read
/// members without throwing.
namespace bureau::json {

namespace bj = boost::json;

/// Where and why text is not JSON. Lines and columns count from 1, columns in
/// bytes.
struct parse_fault {
  size_t line = 1;
  size_t column = 1;
  std::string what;
};

/// A parsed value, or the fault.
struct parsed {
  bj::value value;
  std::optional<parse_fault> fault;
  explicit operator bool() const { return !fault; }
};

/// Parses one complete JSON text. Nesting deeper than 256 is a fault; invalid
/// UTF-8 is a fault; duplicate members: the last one wins.
parsed parse(std::string_view text);

/// Position of the value that a JSON pointer names in a text that parses; the
/// start of the text when it cannot be found.
parse_fault position_of(std::string_view text, std::string_view pointer);

/// Compact text.
std::string print(const bj::value& value);

/// Two-space indented text with no trailing newline.
std::string print_pretty(const bj::value& value);

/// Member of an object; null when `value` is no object or lacks it.
const bj::value* member(const bj::value& value, std::string_view name);
const bj::value* member(const bj::object& object, std::string_view name);

/// Typed members; nothing when absent or of another type.
std::optional<std::string> string_member(const bj::object& object,
                                         std::string_view name);
std::optional<bool> bool_member(const bj::object& object,
                                std::string_view name);
/// Integral numbers only, 3.0 included, within ±2^53.
std::optional<int64_t> int_member(const bj::object& object,
                                  std::string_view name);
std::optional<double> number_member(const bj::object& object,
                                    std::string_view name);

/// String member or "".
std::string text_or_empty(const bj::object& object, std::string_view name);

} // namespace bureau::json
