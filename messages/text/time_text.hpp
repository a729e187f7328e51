#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Instants as text. Instants are Unix milliseconds.
namespace bureau::text {

/// ISO-8601 UTC with milliseconds and Z: 2026-05-01T09:00:00.000Z.
std::string iso_utc(int64_t unix_ms);

/// ISO-8601 with `Z` or `±HH:MM` (fraction optional) or a bare date (UTC
/// midnight); nothing for all else.
std::optional<int64_t> parse_iso(std::string_view text);

/// `YYYY-MM-DD HH:MM:SS±HH:MM` in a zone given by its offset.
std::string local_stamp(int64_t unix_ms, int offset_minutes);

} // namespace bureau::text
