#pragma once

#include "messages/codec/json_support.hpp"

#include <string>

/// The results of `events.list` and `events.show` for people (`bureau
/// events`). Pure.
namespace bureau::control {

/// One schedule a line, then what is wrong; a result that is none is said to be
/// so.
std::string events_text(const json::bj::object& result);

/// One run a line, the newest first.
std::string event_runs_text(const json::bj::object& result);

/// A run with its answer.
std::string event_run_text(const json::bj::object& result);

} // namespace bureau::control
