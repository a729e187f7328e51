#pragma once

#include "messages/contracts/memory.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// The text of a MEMORY.md: what a run is shown, and how entries are added.
/// Pure.
namespace bureau::memory {

/// The store adds nothing to a file beyond this.
inline constexpr size_t file_bytes = 1u << 20;

/// What a run is shown.
/// @param bytes beginning of the file
/// @param size of the whole file
contracts::memory_block block_of(std::string_view bytes, uint64_t size);

/// An entry as it is written: trimmed, valid, no comment of its own, at most
/// limits::memory_entry_bytes.
std::string entry_text(std::string_view summary);

/// Whether an id can name a run in a ledger.
bool is_run_id(std::string_view run);

/// Whether a file has an entry as it would be written.
bool has_entry(std::string_view file, std::string_view entry);

/// The file with an entry at its end, below the heading of its day.
/// @param day 2026-01-31
std::string with_entry(std::string_view file, std::string_view day,
                       std::string_view entry);

} // namespace bureau::memory
