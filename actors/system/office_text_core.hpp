#pragma once

#include "messages/codec/json_support.hpp"

#include <string>

namespace bureau::system {

/// The result of an office_study for people (`bureau office show`): lines with
/// their newlines.
std::string office_text(const json::bj::object& result);

} // namespace bureau::system
