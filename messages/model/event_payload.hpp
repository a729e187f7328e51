#pragma once

#include "messages/identity/platform.hpp"
#include "messages/inspect_support.hpp"

#include <caf/optional.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bureau {

/// When an event file fires.
enum class event_type : uint8_t { immediate, one_shot, periodic };

std::string to_string(event_type type);
std::optional<event_type> parse_event_type(std::string_view name);

/// What an event file says, in its canonical form (core interface seed, section
/// 11).
struct event_payload {
  event_type type = event_type::immediate;
  caf::optional<std::string> platform;
  /// Raw id of the platform, no office key.
  std::string conversation_id;
  caf::optional<conversation_kind> kind;
  /// Who asked for it.
  caf::optional<std::string> user_id;
  /// Its run may make schedules; counts only when an operator wrote the file
  /// (decision B34).
  bool allow_schedules = false;
  /// The task, complete in itself.
  std::string text;
  /// one_shot: an instant with its offset.
  std::string at;
  /// periodic: a cron pattern and an IANA zone.
  std::string schedule;
  std::string timezone;
  friend bool operator==(const event_payload&, const event_payload&) = default;
};

BUREAU_INSPECT(event_payload, x.type, x.platform, x.conversation_id, x.kind,
               x.user_id, x.allow_schedules, x.text, x.at, x.schedule,
               x.timezone);

} // namespace bureau
