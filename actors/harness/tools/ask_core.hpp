#pragma once

#include "messages/contracts/ask.hpp"
#include "messages/interfaces/harness.hpp"

#include <caf/error.hpp>

/// What the tool ask tells the model. Pure.
namespace bureau::harness {

/// What became of an ask, for the model.
tool_outcome asked_outcome(const contracts::ask_snapshot& ask);

/// Why nobody was asked.
tool_outcome unasked_outcome(const caf::error& reason);

} // namespace bureau::harness
