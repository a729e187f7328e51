#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/json_text.hpp"

#include <string>
#include <string_view>

/// JSON as models write it (note on the harness, section 4.7). Every function
/// runs in linear time and bounds its nesting to 256.
namespace bureau::models {

/// Repairs string literals only: raw control characters are escaped, a
/// backslash before an invalid escape, an invalid \u and a trailing lone
/// backslash are doubled, a half of a surrogate pair becomes U+FFFD.
std::string repair_json_strings(std::string_view text);

/// Strict JSON, else strict JSON after repair; the fault of the strict attempt
/// when both fail.
json::parsed parse_repaired(std::string_view text);

/// The arguments of a tool call as JSON text of one complete value: the text
/// itself when it is JSON, else repaired, else completed as a prefix of JSON,
/// else completed after repair, else `{}`. Empty text is `{}`. A prefix is
/// completed by closing what is open; an incomplete trailing key is dropped and
/// a cut literal or number completed. The value may be something else than an
/// object: validation says so to the model.
json_text lenient_arguments(std::string_view text);

} // namespace bureau::models
