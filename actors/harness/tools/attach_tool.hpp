#pragma once

#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/factories.hpp"

namespace bureau::harness {

tool_definition attach_definition();

/// The tool that lets a file of the workspace go with the answer: read through
/// the execution environment, published, and named in tool_outcome.parts. A
/// file that cannot be found or read is an error for the model alone; one that
/// is too large or cannot be kept is told to the reader of the answer as well.
tool_pack_factory make_attach_tool(artifacts_actor artifacts);

/// The tools of several packs, in this order.
tool_pack_factory join_packs(std::vector<tool_pack_factory> packs);

} // namespace bureau::harness
