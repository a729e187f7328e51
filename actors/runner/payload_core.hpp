#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/interfaces/session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The user message of a run (note on the harness, 3.11 and 3.12): everything
/// that changes from turn to turn travels here, so that the system prompt stays
/// the same byte for byte.
namespace bureau::runner {

/// The time line is shown in.
struct payload_clock {
  int64_t time_ms = 0;
  int offset_minutes = 0;
};

/// Whether a workspace-relative path stays inside the workspace.
bool is_safe_relative(std::string_view path);

/// Text of the user message. Files of the event that could not be saved are
/// named with the reason.
/// @param listed runtime paths of the files that are not shown as images
std::string user_payload(const conversation_event& event, payload_clock clock,
                         const std::vector<std::string>& listed);

/// The texts of documents that came with a message, each fenced and under its
/// name: what is in them was written by others.
std::string
shown_documents(const std::vector<contracts::request_attachment>& attachments);

/// Instructions for one turn, or nothing; they precede the payload.
std::string turn_instructions(const conversation_event& event);

} // namespace bureau::runner
