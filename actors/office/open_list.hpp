#pragma once

#include "messages/codec/open_list.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"

#include <string>
#include <vector>

/// The list of unfinished work at boot (decision A3): a restart need not look
/// into every ledger.
namespace bureau::offices {

struct open_list {
  std::vector<std::string> keys;
  /// One sentence when the file was damaged, else empty.
  std::string warning;
};

/// Reads the file at boot; absent is empty. Instead of a damaged one it names
/// every office that has a ledger: looking in vain costs time, not looking
/// would lose messages.
open_list load_open_list(file_system& fs, const std::string& state_dir);

/// Reads the file, adds the offices whose state paths a replay of the journal
/// touched, and writes it when that made a difference: what the frames alone
/// knew must not go with them.
/// @param fault receives one sentence when it cannot be written
open_list extend_open_list(file_system& fs, entropy& chance,
                           const std::string& state_dir,
                           const std::vector<std::string>& state_paths,
                           std::string& fault);

/// Office keys among the state paths that a journal replay touched
/// (`conversations/<key>/…`).
std::vector<std::string>
keys_of_replayed(const std::vector<std::string>& state_paths);

} // namespace bureau::offices
