#include "messages/contracts/tool_names.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace bureau::contracts {

namespace {

constexpr std::string_view nameless = "Tool";
constexpr std::string_view unknown_hint = "Working…";

struct hint {
  std::string_view name;
  std::string_view text;
};

constexpr hint exact_hints[] = {
  {"agent", "Delegating to a subagent…"},
  {"websearch", "Searching the web…"},
  {"webfetch", "Reading a page…"},
  {"bash", "Running a command…"},
  {"read", "Reading files…"},
  {"write", "Writing a file…"},
  {"edit", "Editing a file…"},
  {"glob", "Looking through files…"},
  {"grep", "Searching the workspace…"},
};

struct keyword_hint {
  /// Unused places are empty.
  std::array<std::string_view, 5> keywords;
  std::string_view text;
};

/// The first row with a word that the name contains counts.
constexpr keyword_hint keyword_hints[] = {
  {{"calendar", "event", "gcal"}, "Checking the calendar…"},
  {{"mail", "gmail", "email"}, "Checking email…"},
  {{"search", "find", "query", "lookup"}, "Searching…"},
  {{"todo", "task", "reminder"}, "Checking your tasks…"},
  {{"note", "draft", "doc"}, "Looking through notes…"},
  {{"slack", "message", "chat", "send"}, "Checking messages…"},
  {{"file", "read", "fetch", "get", "list"}, "Looking something up…"},
  {{"web", "browse", "http", "url"}, "Browsing the web…"},
};

constexpr std::string_view launch_tools[] = {"agent", "task", "subagent",
                                             "dispatchagent"};

/// The text behind the last `__`, counted from the left: "___x" ends in "_x".
std::string_view behind_server(std::string_view name) {
  constexpr std::string_view mark = "__";
  size_t start = 0;
  for (auto at = name.find(mark); at != std::string_view::npos;
       at = name.find(mark, start))
    start = at + mark.size();
  return name.substr(start);
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

} // namespace

subagent_tool_name split_subagent_tool_name(std::string_view name) {
  auto at = name.find(subagent_tool_separator);
  if (at == std::string_view::npos)
    return {std::nullopt, std::string{name}};
  auto profile = text::trim(name.substr(0, at));
  auto tool = text::trim(name.substr(at + subagent_tool_separator.size()));
  if (tool.empty())
    return {std::nullopt, std::string{name}};
  if (profile.empty())
    return {std::nullopt, std::string{tool}};
  return {std::string{profile}, std::string{tool}};
}

std::string tool_name_leaf(std::string_view name) {
  auto leaf = behind_server(name);
  auto at = leaf.find_last_of("./:");
  if (at != std::string_view::npos)
    leaf.remove_prefix(at + 1);
  return std::string{leaf.empty() ? nameless : leaf};
}

std::string normalized_tool_leaf(std::string_view name) {
  auto result = lower(tool_name_leaf(name));
  std::erase_if(result, [](char c) { return !is_alnum(c); });
  return result;
}

bool is_subagent_launch_tool_name(std::string_view name) {
  auto leaf = normalized_tool_leaf(text::trim(name));
  return std::find(std::begin(launch_tools), std::end(launch_tools), leaf)
         != std::end(launch_tools);
}

std::string_view tool_hint_for(std::string_view name) {
  auto tool = split_subagent_tool_name(text::trim(name)).tool;
  auto segment = lower(tool.starts_with("mcp__") ? behind_server(tool) : tool);
  for (const auto& row : exact_hints)
    if (segment == row.name)
      return row.text;
  for (const auto& row : keyword_hints)
    for (auto keyword : row.keywords)
      if (!keyword.empty() && segment.find(keyword) != std::string::npos)
        return row.text;
  return unknown_hint;
}

} // namespace bureau::contracts
