#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/interfaces/control.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/interfaces/turn_service.hpp"

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
/// A notification is delivered, or kept, within this.
inline constexpr auto notify_timeout = std::chrono::seconds{25};
/// A turn is waited for so long; one that takes longer goes on, and the same
/// call again waits for it.
inline constexpr auto turn_timeout = std::chrono::seconds{25};
/// Longest deadline that a shutdown may ask for.
inline constexpr int64_t deadline_ms_max = 86'400'000;
/// Sessions of one `status` and offices of one `office.list`; there is also how
/// many there are.
inline constexpr size_t sessions_shown = 200;
inline constexpr size_t offices_shown = 1000;
/// Jobs of one `jobs.list`, the newest.
inline constexpr size_t jobs_shown = 200;
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
struct office_claim_call {
  /// Platform and, as its id, the directory.
  office_address claimed;
  /// Workspace that is meant; empty: the node's.
  std::string workspace;
  friend bool operator==(const office_claim_call&,
                         const office_claim_call&) = default;
};
struct log_level_call {
  /// debug, info, warning, error.
  std::string level;
  friend bool operator==(const log_level_call&,
                         const log_level_call&) = default;
};
struct notify_call {
  contracts::notify_request request;
  friend bool operator==(const notify_call&, const notify_call&) = default;
};
struct destinations_call {
  friend bool operator==(const destinations_call&,
                         const destinations_call&) = default;
};
/// Runs a turn and answers with what it came to.
struct turn_call {
  contracts::turn_request request;
  friend bool operator==(const turn_call&, const turn_call&) = default;
};
/// Offers a follow-up to the running turn.
struct offer_call {
  contracts::live_input_request request;
  friend bool operator==(const offer_call&, const offer_call&) = default;
};
struct cancel_call {
  turn_cancel request;
  friend bool operator==(const cancel_call&, const cancel_call&) = default;
};
/// Jobs of all conversations.
struct jobs_list_call {
  /// Only those in this state.
  std::optional<contracts::process_job_state> state;
  friend bool operator==(const jobs_list_call&,
                         const jobs_list_call&) = default;
};
struct jobs_show_call {
  std::string job_id;
  friend bool operator==(const jobs_show_call&,
                         const jobs_show_call&) = default;
};
struct jobs_cancel_call {
  std::string job_id;
  friend bool operator==(const jobs_cancel_call&,
                         const jobs_cancel_call&) = default;
};
/// Schedules of all conversations, and what is wrong with their files.
struct events_list_call {
  friend bool operator==(const events_list_call&,
                         const events_list_call&) = default;
};
/// Runs of a schedule, or one of them.
struct events_show_call {
  event_run_query query;
  friend bool operator==(const events_show_call&,
                         const events_show_call&) = default;
};
struct events_delete_call {
  std::string filename;
  friend bool operator==(const events_delete_call&,
                         const events_delete_call&) = default;
};
using method_call =
  std::variant<status_call, shutdown_call, office_list_call, office_show_call,
               office_claim_call, log_level_call, notify_call,
               destinations_call, turn_call, offer_call, cancel_call,
               jobs_list_call, jobs_show_call, jobs_cancel_call,
               events_list_call, events_show_call, events_delete_call>;

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
/// code of the failure, and whether a turn was cancelled.
std::string failure_line(std::string_view id, errc code,
                         std::string_view sentence);

/// The answer of a call about a job that was refused; its data name the code.
std::string refusal_line(std::string_view id,
                         contracts::process_job_error_code code);

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

json::bj::object office_claim_result(const office_address& claimed);

json::bj::object office_list_result(const office_inventory& inventory);

/// @param state only jobs in this state; absent: all
json::bj::object jobs_result(const job_list& list,
                             std::optional<contracts::process_job_state> state);
json::bj::object job_result(const job_answer& answer);

json::bj::object log_level_result(std::string_view level,
                                  std::string_view before);

/// The overview of the contracts, and the files as the node knows them.
json::bj::object events_result(const contracts::cron_overview& overview,
                               const event_list& files);
json::bj::object event_runs_result(const contracts::cron_run_page& page);
json::bj::object event_run_result(const contracts::cron_run& run);
json::bj::object event_deleted_result(bool was_there);

json::bj::object destinations_result(const notify_destinations& found);

/// Text, parts and metadata of a response.
json::bj::object turn_result(const contracts::turn_response& response);

json::bj::object cancel_result(const turn_cancelled& what);

} // namespace bureau::control
