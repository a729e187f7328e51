#pragma once

#include "messages/codec/json_support.hpp"

#include <string>
#include <string_view>

/// The result of `status` for people (`bureau status`). Pure.
namespace bureau::control {

/// Lines, with their newlines; members that are absent leave theirs out.
std::string status_text(const json::bj::object& result);

/// What became of a notification, as one sentence.
std::string notify_text(const json::bj::object& result);

/// Where notifications can go: one conversation a line.
std::string destinations_text(const json::bj::object& result);

/// A duration as a person says it: "45 s", "3 min", "2 h 05 min", "4 d 3 h".
std::string duration_text(int64_t milliseconds);

/// Text for a terminal: control characters become spaces.
std::string terminal_text(std::string_view text);

} // namespace bureau::control
