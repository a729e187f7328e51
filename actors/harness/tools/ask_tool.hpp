#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/interaction.hpp"

namespace bureau::harness {

tool_definition ask_definition();

/// The tool with which the model asks the user of its conversation and waits
/// for the answer (decision A30). Where nobody can be asked it says so at once;
/// an abort cancels the ask.
tool_pack_factory make_ask_tool(interaction_actor hub);

} // namespace bureau::harness
