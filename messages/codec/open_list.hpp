#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// `<state-dir>/ledger-open.json`: keys of the offices with unfinished work,
/// which a restart opens without being asked (decision A3). The journal writes
/// it before it forgets a frame.
namespace bureau {

inline constexpr std::string_view open_list_name = "ledger-open.json";

/// The content of the file, the keys sorted and once each.
std::string print_open_list(std::vector<std::string> keys);

/// The keys in a file of this version; nothing when it is damaged.
std::optional<std::vector<std::string>> parse_open_list(std::string_view text);

} // namespace bureau
