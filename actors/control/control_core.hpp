#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/interfaces/control.hpp"
#include "messages/interfaces/office.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// JSON-RPC 2.0 between an operator and the node (decision S6): a line in, a
/// call or a refusal out; results in, a line out. Pure.
namespace bureau::control {

/// Codes of JSON-RPC 2.0, and the one for failures of the node's services.
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int unknown_method = -32601;
inline constexpr int bad_params = -32602;
inline constexpr int service_failed = -32000;

/// Calls that may be open at one time, whoever made them.
inline constexpr size_t open_calls = 64;
/// A part of the node says how it is within this: the offices ask the registry
/// and then every office, each of which may take limits::mailbox_timeout.
inline constexpr auto part_timeout = std::chrono::seconds{11};
/// The files of one office are read within this.
inline constexpr auto show_timeout = std::chrono::seconds{25};
/// Longest deadline that a shutdown may ask for.
inline constexpr int64_t deadline_ms_max = 86'400'000;
/// Sessions of one `status` and offices of one `office.list`; there is also how
/// many there are.
inline constexpr size_t sessions_shown = 200;
inline constexpr size_t offices_shown = 1000;
/// Longest id of a call, as JSON text: it comes back in the answer.
inline constexpr size_t id_bytes = 256;

struct status_call {
  friend bool operator==(const status_call&, const status_call&) = default;
};
struct shutdown_call {
  /// Absent: the configured one.
  std::optional<int64_t> deadline_ms;
  friend bool operator==(const shutdown_call&, const shutdown_call&) = default;
};
struct office_list_call {
  friend bool operator==(const office_list_call&,
                         const office_list_call&) = default;
};
struct office_show_call {
  office_address address;
  friend bool operator==(const office_show_call&,
                         const office_show_call&) = default;
};
struct log_level_call {
  /// debug, info, warning, error.
  std::string level;
  friend bool operator==(const log_level_call&,
                         const log_level_call&) = default;
};
using method_call = std::variant<status_call, shutdown_call, office_list_call,
                                 office_show_call, log_level_call>;

/// A line taken apart.
struct incoming {
  /// JSON text of the id; empty: a notification, which is never answered.
  std::string id;
  /// What to do; absent: nothing but to answer `refusal`.
  std::optional<method_call> call;
  /// The line that refuses the call; empty for a notification.
  std::string refusal;
};

/// Reads one line without its newline. One call a line: batches are refused.
incoming parse_call(std::string_view line);

/// The answer of a call that succeeded.
/// @param result JSON text
std::string result_line(std::string_view id, std::string_view result);

/// The answer of a call that a service could not carry out; its data name the
/// code of the failure.
std::string failure_line(std::string_view id, errc code,
                         std::string_view sentence);

// -- the other end ------------------------------------------------------------

/// A call as a line without its newline.
/// @param params left out when empty
std::string call_line(std::string_view method, const json::bj::object& params);

/// What came back for one's only call.
struct reply {
  std::optional<json::bj::object> result;
  /// Code of the error; 0 with a result.
  int64_t code = 0;
  std::string sentence;
};

/// Reads the line of an answer; one that cannot be understood is an error with
/// the code parse_error.
reply parse_reply(std::string_view line);

// -- results ------------------------------------------------------------------

/// What the process knows about itself at its start.
struct node_facts {
  std::string version;
  int64_t pid = 0;
  /// ISO-8601.
  std::string started_at;
};

/// A part that did not say how it is.
struct silent_part {
  std::string part;
  errc code = errc::none;
  std::string sentence;
};

/// Everything that `status` gathers.
struct status_parts {
  node_facts facts;
  int64_t uptime_ms = 0;
  std::string log_level;
  std::optional<node_report> node;
  std::optional<runtime_snapshot> runtime;
  std::vector<silent_part> silent;
};

json::bj::object status_result(const status_parts& parts);

/// Result of `shutdown`: the deadline in force.
json::bj::object shutdown_result(int64_t deadline_ms);

json::bj::object office_list_result(const office_inventory& inventory);

json::bj::object log_level_result(std::string_view level,
                                  std::string_view before);

} // namespace bureau::control
