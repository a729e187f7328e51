#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bureau {

/// The chat platforms. Persisted by name; never reorder for storage reasons,
/// the numbers do not leave the process.
enum class platform_id : uint8_t { slack, discord, telegram, github, console };

/// Whether a conversation belongs to one person or to several.
enum class conversation_kind : uint8_t { direct, shared };

/// Lower-case name, as stored in files and keys.
std::string to_string(platform_id platform);
std::string to_string(conversation_kind kind);

/// Inverse of to_string; exact and case-sensitive, nothing for other text.
std::optional<platform_id> parse_platform(std::string_view name);
std::optional<conversation_kind> parse_conversation_kind(std::string_view name);

} // namespace bureau
