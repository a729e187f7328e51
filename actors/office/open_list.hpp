#pragma once

#include "messages/ports/file_system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// `<state-dir>/ledger-open.json`: keys of the offices with unfinished entries,
/// so that a restart need not look into every ledger (decision A3).
namespace bureau::offices {

inline constexpr std::string_view open_list_name = "ledger-open.json";

/// Text of the file, keys ascending.
std::string print_open_list(std::vector<std::string> keys);

/// Office keys of the file; nothing when it is damaged in any way.
std::optional<std::vector<std::string>> parse_open_list(std::string_view text);

struct open_list {
  std::vector<std::string> keys;
  /// One sentence when the file was damaged, else empty.
  std::string warning;
};

/// Reads the file at boot; absent is empty. Instead of a damaged one it names
/// every office that has a ledger: looking in vain costs time, not looking
/// would lose messages.
open_list load_open_list(file_system& fs, const std::string& state_dir);

/// Office keys among the state paths that a journal replay touched
/// (`conversations/<key>/…`).
std::vector<std::string>
keys_of_replayed(const std::vector<std::string>& state_paths);

} // namespace bureau::offices
