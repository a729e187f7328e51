#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading one value from text that an operator typed (agent contracts,
/// configuration readers). The caller words the sentence of a fault.
namespace bureau::config {

/// The text without white space around it; nothing when that is empty.
std::optional<std::string> normalize_optional(std::string_view raw);

/// ASCII digits only after trimming, then inclusive bounds; nothing otherwise.
std::optional<int64_t> read_integer(std::string_view raw, int64_t min,
                                    int64_t max);

/// Exactly `true` or `false` after trimming; nothing otherwise.
std::optional<bool> read_boolean(std::string_view raw);

/// Comma separated, each entry trimmed, blank entries dropped.
std::vector<std::string> read_csv(std::string_view raw);

/// Dollars as millionths, rounded up: a cap above 0 stays one.
/// @param dollars above 0, at most a billion
int64_t micro_of(double dollars);

} // namespace bureau::config
