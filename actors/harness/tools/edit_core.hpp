#pragma once

#include "messages/interfaces/harness.hpp"

#include <string>
#include <string_view>

/// Decisions of the edit and write tools (note on the harness, section 3.15).
namespace bureau::harness {

/// A file with one passage replaced, or why not.
struct edited_text {
  std::string content;
  /// One sentence for the model; empty on success.
  std::string fault;
};

/// Replaces the only occurrence of `old_text`. Refused: an empty `old_text`,
/// none or several occurrences, a replacement that changes nothing.
edited_text apply_edit(std::string_view path, std::string_view content,
                       std::string_view old_text, std::string_view new_text);

/// The change as numbered lines: prefix ' ', '+' or '-', line numbers aligned
/// right, four lines of context, "..." for what is left out. Cut to
/// limits::tool_output_bytes. Numbers of added lines count in the new text, all
/// others in the old one.
std::string edit_diff(std::string_view before, std::string_view after);

/// The result of an edit that was written.
tool_outcome edit_outcome(std::string_view path, std::string_view before,
                          std::string_view after, std::string_view old_text,
                          std::string_view new_text);

/// The result of a write.
tool_outcome write_outcome(std::string_view path, uint64_t bytes);

} // namespace bureau::harness
