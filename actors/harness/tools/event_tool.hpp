#pragma once

#include "messages/interfaces/events.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/ports/wall_clock.hpp"

#include <memory>
#include <string>

namespace bureau::harness {

tool_definition event_definition();

/// The tool with which the model makes, reads and removes the schedules of its
/// own conversation.
/// @param time_zone IANA zone of a schedule that names none; empty: UTC
tool_pack_factory make_event_tool(events_actor events,
                                  std::shared_ptr<const wall_clock> wall,
                                  std::string time_zone);

} // namespace bureau::harness
