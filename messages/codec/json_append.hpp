#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Writing JSON text piece by piece, for lines that are stored by the thousand.
namespace bureau::json {

/// Appends a JSON string. Ill-formed UTF-8 becomes U+FFFD, control characters
/// are escaped, so a line break can never enter a line of JSONL.
void append_quoted(std::string& out, std::string_view text);

/// Appends `"name":`, with a comma before it unless an object just began.
void append_name(std::string& out, std::string_view name);

/// Appends a member with a string value.
void append_member(std::string& out, std::string_view name,
                   std::string_view value);
/// Appends a member with an integer value.
void append_member(std::string& out, std::string_view name, int64_t value);
/// Appends a member with a truth value.
void append_flag(std::string& out, std::string_view name, bool value);

/// Appends a member with a string value unless it is empty.
void append_optional(std::string& out, std::string_view name,
                     std::string_view value);

/// Appends a JSON text in compact form. Text that is no JSON is appended as a
/// string, so that the line around it always stays readable.
void append_json(std::string& out, std::string_view text);

/// Appends millionths of a dollar as a decimal number of dollars: 1500 becomes
/// 0.0015. micro_of reads the same value back from the number.
void append_dollars(std::string& out, int64_t micro);

/// Dollars as the nearest millionth; values beyond ±2^53 are clamped.
int64_t micro_of(double dollars);

} // namespace bureau::json
