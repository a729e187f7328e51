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
#include <vector>

/// The context that a later turn of a finished run is built from (agent
/// contracts, 2.4).
namespace bureau::contracts {

namespace bj = boost::json;

inline constexpr size_t continuation_min_messages = 2;
inline constexpr size_t continuation_max_messages = 64;
inline constexpr size_t continuation_max_message_bytes = 65'536;
inline constexpr size_t continuation_max_bytes = 262'144;

/// What is wrong with an origin context.
enum class continuation_fault : uint8_t {
  none,
  /// The object around the messages, or their number.
  envelope,
  /// One of the messages.
  message,
  /// It does not end with the run's own question and answer.
  ending,
  /// All of it is too long as JSON.
  size,
};

std::string to_string(continuation_fault fault);

/// Checks an origin context that came from outside.
continuation_fault check_continuation_origin_context(const bj::value& context);

enum class continuation_role : uint8_t { system, user, assistant, tool };

std::string to_string(continuation_role role);
std::optional<continuation_role> parse_continuation_role(std::string_view name);

struct continuation_message {
  continuation_role role = continuation_role::user;
  std::string content;
  caf::optional<std::string> name;
  /// ISO text.
  caf::optional<std::string> timestamp;
  caf::optional<std::string> run_id;
  caf::optional<std::string> idempotency_key;
  friend bool operator==(const continuation_message&,
                         const continuation_message&) = default;
};

BUREAU_INSPECT(continuation_message, x.role, x.content, x.name, x.timestamp,
               x.run_id, x.idempotency_key);

/// What the model saw at the end of a run.
struct continuation_context {
  std::string conversation_id;
  std::string origin_run_id;
  std::string history_boundary;
  /// ISO text.
  std::string captured_at;
  std::vector<continuation_message> messages;
  friend bool operator==(const continuation_context&,
                         const continuation_context&) = default;
};

BUREAU_INSPECT(continuation_context, x.conversation_id, x.origin_run_id,
               x.history_boundary, x.captured_at, x.messages);

/// Reads a context; the error is a bad_request and names the fault alone.
caf::expected<continuation_context>
parse_continuation_context(const bj::value& value);

bj::object to_json(const continuation_context& context);

/// A turn that goes on where a run has ended: without tools, and in the history
/// only once its answer has arrived.
struct continuation_turn {
  std::string continuation_id;
  std::string origin_run_id;
  /// Present: the turn is built from exactly this. Absent: from the history as
  /// it is.
  caf::optional<continuation_context> pinned;
  friend bool operator==(const continuation_turn&,
                         const continuation_turn&) = default;
};

BUREAU_INSPECT(continuation_turn, x.continuation_id, x.origin_run_id, x.pinned);

} // namespace bureau::contracts
