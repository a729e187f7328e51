#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/model.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The system prompt (note on the harness, 3.11).
namespace bureau::runner {

/// Everything the prompt depends on. Nothing here belongs to one turn: for the
/// same office, sandbox, tools and memory the text is the same byte for byte.
struct prompt_inputs {
  office place;
  path_context paths;
  executor_info executor;
  /// Who sits at the other end; the same for the life of a conversation.
  contracts::turn_surface surface{};
  /// isolated | trusted, and conversation | shared-support | full.
  std::string door_policy = "isolated";
  std::string layout = "conversation";
  /// Content of the MEMORY.md files; blank = none. The shared one only when
  /// the executor lets it into the prompt.
  std::string global_memory;
  std::string conversation_memory;
  std::vector<tool_definition> tools;
};

std::string system_prompt(const prompt_inputs& inputs);

} // namespace bureau::runner
