#pragma once

#include <string>
#include <string_view>

namespace bureau::runner {

/// What TZ must be for a program to keep the time of this host.
/// @param variable TZ of the node itself; empty = unset
/// @param localtime the file that /etc/localtime stands for; empty = none
/// @returns empty = UTC
std::string host_time_zone(std::string_view variable,
                           std::string_view localtime);

} // namespace bureau::runner
