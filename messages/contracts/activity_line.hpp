#pragma once

#include "messages/contracts/preview.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

/// Lines that tell a user what a run is doing. They show no argument of a model
/// but short previews of a few known ones, redacted.
namespace bureau::contracts {

/// The line of a tool call that begins.
/// @param arguments the call's arguments; anything but an object counts as none
std::string format_tool_activity_line(std::string_view tool_name,
                                      const boost::json::value& arguments,
                                      const path_roots& roots);

/// The line of a message that reached the run while it was working.
std::string format_live_input_activity_line(std::string_view text,
                                            const path_roots& roots);

} // namespace bureau::contracts
