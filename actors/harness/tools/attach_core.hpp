#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/harness.hpp"

#include <string>
#include <string_view>

/// Decisions of the attach tool.
namespace bureau::harness {

/// Media type of a file by its extension; application/octet-stream when that
/// tells nothing.
std::string media_type_of(std::string_view name);

/// The file that is named, absolute in the runtime; empty when it lies outside
/// the workspace.
std::string attachable_path(const path_context& paths, std::string_view named);

/// The last component of a path.
std::string_view leaf_of(std::string_view path);

/// What the model and the answer get for a file that was published.
tool_outcome attached_outcome(contracts::attachment_part part);

/// The same for one that was not: a sentence for the model, and a part of the
/// answer that says so.
/// @param call_id names the part
tool_outcome unattached_outcome(std::string_view call_id,
                                contracts::part_failure_code code,
                                std::string_view name, std::string sentence);

/// The sentence about a file above limits::artifact_bytes.
std::string too_large_sentence(std::string_view path);

} // namespace bureau::harness
