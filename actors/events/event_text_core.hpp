#pragma once

#include "messages/identity/office_address.hpp"
#include "messages/model/event_payload.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a scheduled turn says, and where it goes. Pure.
namespace bureau::events {

/// Where turns of a file go.
struct event_target {
  office_address conversation;
  conversation_kind kind = conversation_kind::direct;
  friend bool operator==(const event_target&, const event_target&) = default;
};

/// The conversation that a payload names, among the platforms that the node
/// speaks. The error is a bad_request.
caf::expected<event_target> target_of(
  const event_payload& payload, const std::vector<platform_id>& platforms);

/// How an occurrence came about.
struct event_cause {
  /// Earlier occurrences that did not fire.
  int64_t skipped = 0;
  /// It should have fired at another time.
  bool late = false;
};

/// The prompt of a scheduled turn.
std::string prompt_of(const event_payload& payload, const event_cause& cause);

/// Session of a schedule: its own, beside the one of the conversation.
std::string session_key_of(const office_address& conversation,
                           std::string_view file);

} // namespace bureau::events
