#pragma once

#include "messages/interfaces/session.hpp"

#include <optional>
#include <string>

/// The command that tells or changes what messages do while a turn runs
/// (decision A8): /queue, /pi-queue, each perhaps with a mention and a mode.
namespace bureau::offices {

struct queue_command {
  /// Mode to change to; nothing: the one in force is asked for.
  std::optional<queue_mode> mode;
  /// What follows the command is a mode that may be chosen in chat, or nothing.
  bool understood = true;
  friend bool operator==(const queue_command&, const queue_command&) = default;
};

/// The command that a message is, if it is one.
std::optional<queue_command> queue_command_of(const conversation_event& event);

/// Change of a conversation's settings that chooses a mode.
json_text queue_patch(queue_mode mode);

/// What is said about the mode in force, and about one that was chosen.
std::string queue_mode_told(queue_mode mode);
std::string queue_mode_changed(queue_mode mode);

namespace wording {

inline constexpr const char* queue_not_understood =
  "I do not know this queue mode. Choose one of `/queue follow-up`, `/queue "
  "steer`, `/queue collect` and `/queue interrupt`.";
inline constexpr const char* queue_unavailable =
  "The queue mode cannot be changed here: this node has no settings.";

} // namespace wording

} // namespace bureau::offices
