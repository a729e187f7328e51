#pragma once

#include "messages/inspect_support.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/expected.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A follow-up that is offered to the turn already running (agent contracts,
/// 2.3 and 3.9).
namespace bureau::contracts {

namespace bj = boost::json;

/// Longest text, in UTF-16 code units.
inline constexpr size_t live_input_max_characters = 8000;
/// Follow-ups that one run takes.
inline constexpr size_t live_input_max_messages = 100;
/// Longest delivery key, in UTF-16 code units.
inline constexpr size_t live_input_max_delivery_key = 1024;

struct live_input_request {
  std::string conversation_id;
  /// Stable id of the transport: the same id is the same follow-up.
  std::string id;
  std::string text;
  /// An instant as ISO text.
  std::string received_at;
  /// Durable identity of a wake.
  caf::optional<std::string> delivery_key;
  /// The only run that may take it.
  caf::optional<std::string> target_run_id;
  friend bool operator==(const live_input_request&,
                         const live_input_request&) = default;
};

BUREAU_INSPECT(live_input_request, x.conversation_id, x.id, x.text,
               x.received_at, x.delivery_key, x.target_run_id);

/// Why a follow-up is not taken; its own turn runs instead.
enum class live_input_refusal : uint8_t {
  inactive,
  unsupported,
  too_large,
  full,
  invalid,
};

std::string to_string(live_input_refusal refusal);
std::optional<live_input_refusal>
parse_live_input_refusal(std::string_view name);

/// The immediate answer: taken, or why not. What became of a follow-up that was
/// taken is told by its settlement, exactly once.
struct live_input_offer {
  caf::optional<live_input_refusal> unavailable;
  friend bool operator==(const live_input_offer&,
                         const live_input_offer&) = default;
};

BUREAU_INSPECT(live_input_offer, x.unavailable);

enum class live_input_outcome : uint8_t {
  /// The model has read it.
  applied,
  /// It must run as a turn of its own.
  requeue,
  /// The user has cancelled.
  discarded,
};

std::string to_string(live_input_outcome outcome);

/// Why a follow-up has to run as a turn of its own.
enum class live_input_requeue : uint8_t { unsupported, closed, failed };

std::string to_string(live_input_requeue reason);

struct live_input_settlement {
  live_input_outcome outcome = live_input_outcome::requeue;
  /// Of `applied`.
  std::string run_id;
  /// Of `requeue`.
  live_input_requeue reason = live_input_requeue::closed;
  friend bool operator==(const live_input_settlement&,
                         const live_input_settlement&) = default;
};

BUREAU_INSPECT(live_input_settlement, x.outcome, x.run_id, x.reason);

/// What stands against taking a follow-up by an open run that holds `taken`
/// others; nothing when it may be taken.
std::optional<live_input_refusal>
check_live_input(const live_input_request& request, size_t taken);

/// Reads the body of a follow-up over HTTP; the error is a bad_request.
caf::expected<live_input_request>
parse_live_input(const bj::value& body, std::string_view conversation_id);

bj::object to_json(const live_input_offer& offer);
bj::object to_json(const live_input_settlement& settlement);

} // namespace bureau::contracts
