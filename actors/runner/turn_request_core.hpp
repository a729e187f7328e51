#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/interfaces/session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A ticket as the turn that it asks for (agent contracts, 2.1): what of it a
/// model may see, and what only processes do. Pure.
namespace bureau::runner {

/// Names of the variables that processes of a run find.
namespace run_variable {

inline constexpr const char* conversation = "AGENT_CONVERSATION_ID";
inline constexpr const char* run = "AGENT_RUN_ID";
inline constexpr const char* message = "AGENT_MESSAGE_ID";

} // namespace run_variable

/// Who wrote a message, as its platform tells it.
contracts::message_sender sender_of(const conversation_event& event);

/// Where a message was written. Nothing of a thread is in it.
contracts::turn_surface surface_of(const conversation_event& event);

/// The turn of a run, without its files.
contracts::turn_request turn_request_of(
  const run_request& request,
  const caf::optional<contracts::continuation_turn>& continuation = caf::none);

// -- files --------------------------------------------------------------------

/// Longest text of a document that is shown with its message, and how many.
inline constexpr size_t shown_text_bytes = 8u << 10;
inline constexpr size_t shown_texts = 4;

/// Media type that the name of a file promises; nothing for a name that tells
/// none, or a type that is not taken.
std::optional<std::string> mime_type_of(std::string_view name);

/// How many bytes of a file of this type are looked at; 0: it is only named.
/// @param images the model takes pictures
/// @param shown attachments of the turn so far
size_t wanted_bytes(std::string_view mime_type, bool images,
                    const std::vector<contracts::request_attachment>& shown);

} // namespace bureau::runner
