#pragma once

#include "messages/contracts/stream_event.hpp"

#include <string>

/// What the router of models does between the calls of a run.
namespace bureau::contracts {

/// The activity line of a retry or of another model; empty for every other
/// event. Names and reason are the router's own and shown as they are.
std::string format_provider_status_line(const stream_event& event);

} // namespace bureau::contracts
