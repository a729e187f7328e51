#pragma once

#include "messages/contracts/process_job.hpp"
#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/object.hpp>
#include <caf/optional.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a host and its channels tell each other (agent contracts, 2.5 and
/// 3.11).
namespace bureau::contracts {

namespace bj = boost::json;

enum class channel_state : uint8_t {
  disabled,
  waiting_for_config,
  running,
  degraded,
  failed,
};

std::string to_string(channel_state state);

/// How a channel is.
struct channel_status {
  channel_state state = channel_state::disabled;
  /// Of every state but `running`.
  std::string reason;
  /// Of `running`: an open record.
  json_text summary;
  friend bool operator==(const channel_status&,
                         const channel_status&) = default;
};

BUREAU_INSPECT(channel_status, x.state, x.reason, x.summary);

bj::object to_json(const channel_status& status);

/// Where the value of a setting comes from.
enum class config_source : uint8_t { env, json, fallback };

/// `env`, `json`, `default`.
std::string to_string(config_source source);

/// A setting for display; of a secret only whether it is set.
struct config_view_field {
  /// Dotted path in the settings file.
  std::string id;
  std::string label;
  std::string value;
  config_source source = config_source::fallback;
  bool redacted = false;
  caf::optional<std::string> env_key;
  friend bool operator==(const config_view_field&,
                         const config_view_field&) = default;
};

BUREAU_INSPECT(config_view_field, x.id, x.label, x.value, x.source, x.redacted,
               x.env_key);

struct config_view_section {
  std::string id;
  std::string label;
  bool active = false;
  std::vector<config_view_field> fields;
  friend bool operator==(const config_view_section&,
                         const config_view_section&) = default;
};

BUREAU_INSPECT(config_view_section, x.id, x.label, x.active, x.fields);

bj::object to_json(const config_view_section& section);

/// Where a notification can go.
struct notify_destination {
  std::string conversation_id;
  std::string channel_id;
  caf::optional<std::string> last_seen;
  bool from_allowlist = false;
  friend bool operator==(const notify_destination&,
                         const notify_destination&) = default;
};

BUREAU_INSPECT(notify_destination, x.conversation_id, x.channel_id, x.last_seen,
               x.from_allowlist);

/// The scheduled run that a notification comes from.
struct notify_context {
  std::string job_id;
  std::string run_id;
  friend bool operator==(const notify_context&,
                         const notify_context&) = default;
};

BUREAU_INSPECT(notify_context, x.job_id, x.run_id);

struct notify_request {
  std::string conversation_id;
  std::string text;
  /// Posted as it is, without a turn of the model.
  bool verbatim = false;
  caf::optional<std::string> delivery_key;
  caf::optional<notify_context> context;
  friend bool operator==(const notify_request&,
                         const notify_request&) = default;
};

BUREAU_INSPECT(notify_request, x.conversation_id, x.text, x.verbatim,
               x.delivery_key, x.context);

/// Who entered the conversation at a job's end.
enum class wake_disposition : uint8_t {
  /// The run that was going on.
  steered,
  /// A turn of its own.
  follow_up,
};

std::string to_string(wake_disposition disposition);

/// What became of a notification or a wake. An unknown delivery is never
/// repeated by itself.
struct notify_delivery_result {
  bool delivered = false;
  caf::optional<std::string> reason;
  caf::optional<std::string> code;
  caf::optional<bool> retryable;
  caf::optional<bool> ambiguous;
  caf::optional<std::string> delivery_id;
  caf::optional<std::string> channel_id;
  caf::optional<bool> history_recorded;
  caf::optional<std::string> history_error_code;
  /// Of a wake.
  caf::optional<wake_disposition> disposition;
  friend bool operator==(const notify_delivery_result&,
                         const notify_delivery_result&) = default;
};

BUREAU_INSPECT(notify_delivery_result, x.delivered, x.reason, x.code,
               x.retryable, x.ambiguous, x.delivery_id, x.channel_id,
               x.history_recorded, x.history_error_code, x.disposition);

bj::object to_json(const notify_delivery_result& result);

/// News of a job for its channel; without a text it is an update, which never
/// calls the model.
struct process_job_delivery {
  std::string conversation_id;
  caf::optional<std::string> text;
  std::string delivery_key;
  process_job_projection job;
  friend bool operator==(const process_job_delivery&,
                         const process_job_delivery&) = default;
};

BUREAU_INSPECT(process_job_delivery, x.conversation_id, x.text, x.delivery_key,
               x.job);

/// Whether a driver may declare this as the scheme of its conversations: a
/// lower-case letter, then up to 63 of a-z, 0-9 and '-'.
bool is_conversation_scheme(std::string_view scheme);

/// The refusal of news that does not belong to the conversation it names;
/// nothing when it may go to the owner of the scheme.
std::optional<notify_delivery_result>
check_job_route(const process_job_delivery& delivery);

/// The other refusals on the way to a channel.
notify_delivery_result no_job_channel();
notify_delivery_result job_channel_not_running();
notify_delivery_result job_wake_failed();

/// State of something that a tool tells its user about.
enum class posted_state : uint8_t { working, done, failed };

std::string to_string(posted_state state);

} // namespace bureau::contracts
