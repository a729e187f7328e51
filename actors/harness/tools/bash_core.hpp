#pragma once

#include "actors/harness/tools/truncate_core.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/harness.hpp"

#include <optional>
#include <string>

/// Decisions of the bash tool (note on the harness, section 3.15).
namespace bureau::harness {

/// The output of a command as one text: stdout, then stderr on a new line.
std::string combined_output(const exec_result& result);

/// Where the whole output of a command goes when it is too long to show.
/// @param cwd runtime directory of the office
/// @param hex 16 hexadecimal digits
std::string spill_path(const std::string& cwd, const std::string& hex);

/// What the model is to see of a command.
struct command_view {
  /// Output cut from the top, valid UTF-8.
  truncation shown;
  /// The output itself, byte for byte; empty when nothing was cut.
  std::string spill;
};

/// Cuts the output; decides whether the whole of it is worth a file.
command_view view_output(std::string output);

/// How a command ended.
struct command_end {
  /// Exit code; nothing when the command was ended from outside.
  std::optional<int32_t> code;
  /// The environment dropped output beyond its own bound.
  bool capture_cut = false;
};

/// The result for the model.
/// @param spilled runtime path of the whole output; empty: it is not kept
tool_outcome command_outcome(const command_view& view, const command_end& end,
                             const std::string& spilled);

} // namespace bureau::harness
