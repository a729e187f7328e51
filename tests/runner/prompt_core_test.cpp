#include "actors/runner/prompt_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;

namespace {

prompt_inputs plain() {
  prompt_inputs result;
  result.place.address = {platform_id::telegram, "-5"};
  result.place.key = "v1-telegram-5-0123456789abcdef";
  result.paths = {"/host/ws", "/workspace",
                  "/workspace/v1-telegram-5-0123456789abcdef", true};
  result.executor.summary = "A bubblewrap sandbox.";
  result.executor.network = "none";
  tool_definition tool;
  tool.name = "bash";
  tool.description = "Runs a command. It is slow.";
  result.tools.push_back(tool);
  return result;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t place_of(const std::string& text, const std::string& part) {
  auto result = text.find(part);
  CHECK(result != std::string::npos);
  return result;
}

} // namespace

TEST_CASE("the same inputs give the same bytes") {
  CHECK(system_prompt(plain()) == system_prompt(plain()));
}

TEST_CASE("the sections come in their order") {
  auto text = system_prompt(plain());
  size_t before = 0;
  for (const auto* heading :
       {"## Context", "## Platform IDs", "## Environment",
        "## Workspace Layout", "## Memory", "### Current Memory", "## Tools"}) {
    CAPTURE(heading);
    auto at = place_of(text, heading);
    CHECK(at > before);
    before = at;
  }
  CHECK(text.starts_with("You are an assistant"));
  CHECK(has(text, "Telegram"));
  CHECK(has(text, "- A bubblewrap sandbox.\n"));
  CHECK(has(text, "`/workspace/v1-telegram-5-0123456789abcdef/scratch`"));
  CHECK(has(text, "- `bash`: Runs a command.\n"));
  CHECK_FALSE(has(text, "It is slow"));
  CHECK_FALSE(has(text, "/host/ws"));
}

TEST_CASE("the network is said in one line") {
  for (const auto& [network, line] :
       {std::pair{"none", "- Network: none;"},
        std::pair{"host", "- Network: shared with the host machine."},
        std::pair{"internet", "- Network: internet access,"}}) {
    auto inputs = plain();
    inputs.executor.network = network;
    CHECK(has(system_prompt(inputs), line));
  }
}

TEST_CASE("memory: shared first, then the conversation's") {
  auto inputs = plain();
  CHECK(has(system_prompt(inputs), "Nothing has been noted yet."));
  inputs.conversation_memory = "\nlikes tea\n";
  inputs.global_memory = "we speak German \n";
  CHECK(has(system_prompt(inputs),
            "### Current Memory\n### Global Workspace Memory\nwe speak German"
            "\n\n### Conversation-Specific Memory\nlikes tea\n"));
}

TEST_CASE("the layout follows the door") {
  auto inputs = plain();
  inputs.layout = "full";
  CHECK(has(system_prompt(inputs), "You see your own office only."));
  CHECK_FALSE(has(system_prompt(inputs), "events/"));
  inputs.door_policy = "trusted";
  CHECK(has(system_prompt(inputs), "You see the whole workspace."));
  // Whatever else is set, the mounts are those of shared-support.
  for (auto layout : {"shared-support", "conversation", ""}) {
    inputs.layout = layout;
    CHECK(has(system_prompt(inputs), "what all conversations share"));
    CHECK(has(system_prompt(inputs), "events/"));
  }
  inputs.executor.global_memory_path = "/host/ws/MEMORY.md";
  CHECK(has(system_prompt(inputs), "`/workspace/MEMORY.md`"));
}

TEST_CASE("no tools are said plainly") {
  auto inputs = plain();
  inputs.tools.clear();
  CHECK(has(system_prompt(inputs), "There are no tools"));
}
