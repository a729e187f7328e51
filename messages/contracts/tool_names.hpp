#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names of tools as models and servers write them.
namespace bureau::contracts {

/// Stands between the profile of a subagent and its tool.
inline constexpr std::string_view subagent_tool_separator = "\u25B8";

/// A tool name taken apart.
struct subagent_tool_name {
  std::optional<std::string> profile;
  std::string tool;
  friend bool operator==(const subagent_tool_name&,
                         const subagent_tool_name&) = default;
};

/// Splits a name at its first separator. A name without a tool half stays as it
/// is.
subagent_tool_name split_subagent_tool_name(std::string_view name);

/// The part of a name behind its server and its namespaces; "Tool" when nothing
/// is left.
std::string tool_name_leaf(std::string_view name);

/// The leaf of a name in lower case, letters and digits alone.
std::string normalized_tool_leaf(std::string_view name);

/// Whether a tool starts a subagent.
bool is_subagent_launch_tool_name(std::string_view name);

/// What a tool is doing, in a few words; never its name.
std::string_view tool_hint_for(std::string_view name);

} // namespace bureau::contracts
