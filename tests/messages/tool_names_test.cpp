#include "messages/contracts/tool_names.hpp"

#include <doctest/doctest.h>

using namespace bureau::contracts;

TEST_CASE("the name of a subagent's tool") {
  using parts = subagent_tool_name;
  CHECK(split_subagent_tool_name("researcher▸Read")
        == parts{"researcher", "Read"});
  CHECK(split_subagent_tool_name(" a ▸ b▸c ") == parts{"a", "b▸c"});
  CHECK(split_subagent_tool_name("researcher▸")
        == parts{std::nullopt, "researcher▸"});
  CHECK(split_subagent_tool_name("▸Read") == parts{std::nullopt, "Read"});
  CHECK(split_subagent_tool_name(" Read") == parts{std::nullopt, " Read"});
}

TEST_CASE("the leaf of a tool name") {
  CHECK(tool_name_leaf("mcp__srv__do.it") == "it");
  CHECK(tool_name_leaf("a/b:c") == "c");
  CHECK(tool_name_leaf("x.") == "Tool");
  CHECK(tool_name_leaf("") == "Tool");
  CHECK(tool_name_leaf("___x") == "_x");
  CHECK(normalized_tool_leaf("mcp__s__Web-Search_2") == "websearch2");
  CHECK(normalized_tool_leaf("日本語").empty());
}

TEST_CASE("tools that start a subagent") {
  for (auto name : {"Agent", "mcp__helper__task", " TASK ", "dispatch_agent"})
    CHECK(is_subagent_launch_tool_name(name));
  for (auto name : {"Agent(researcher)", "Read", "", "agents"})
    CHECK_FALSE(is_subagent_launch_tool_name(name));
}

TEST_CASE("a hint never shows a tool's name") {
  CHECK(tool_hint_for("Bash") == "Running a command…");
  CHECK(tool_hint_for("mcp__todoist__add_task") == "Checking your tasks…");
  CHECK(tool_hint_for("researcher▸WebSearch") == "Searching the web…");
  CHECK(tool_hint_for("SomethingWeird") == "Working…");
  CHECK(tool_hint_for("") == "Working…");
  // The earlier row wins.
  CHECK(tool_hint_for("get_event") == "Checking the calendar…");
}

TEST_CASE("a megabyte of a name is read in linear time") {
  for (auto c : {'_', '.', 'a', ' ', '\x96'}) {
    std::string name(1u << 20, c);
    CHECK_FALSE(tool_name_leaf(name).empty());
    CHECK_FALSE(tool_hint_for(name).empty());
    CHECK_FALSE(is_subagent_launch_tool_name(name));
  }
}
