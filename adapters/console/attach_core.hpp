#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Files that are sent from the console: where they are, whether they can be
/// sent, and how a reference to one survives a restart. Pure.
namespace bureau::console {

/// The absolute path that was meant; "" when it cannot be found out.
/// @param home what `~` stands for
/// @param working_dir what a relative path begins in
std::string resolve_path(std::string_view path, const std::string& home,
                         const std::string& working_dir);

/// Last component of a path, as UTF-8.
std::string file_name_of(const std::string& path);

/// Why a file is not sent wherever it leads to, as one sentence: it is the
/// node's own, or what the kernel tells of its process. Empty: it may be.
std::string private_place(const std::string& path, const workspace& ws);

/// Why a file cannot be sent, as one sentence; empty: it can.
std::string refusal_of(const std::string& path, const file_outcome& found);

/// A reference to a file of this machine, for the ledger: UTF-8.
std::string make_file_ref(const std::string& path);

/// The path of a reference; nothing when the console did not make it.
std::optional<std::string> path_of_ref(std::string_view ref);

} // namespace bureau::console
