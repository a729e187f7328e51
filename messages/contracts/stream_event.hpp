#pragma once

#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/optional.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a running turn tells besides its text (agent contracts, 2.1).
namespace bureau::contracts {

namespace bj = boost::json;

enum class stream_event_kind : uint8_t {
  assistant_thought,
  tool_call_started,
  tool_call_completed,
  tool_call_progress,
  usage_update,
  provider_status,
  memory_recalled,
  runtime_telemetry,
  runtime_warning,
  /// An event of a later version, or one that cannot be read.
  unknown,
};

std::string to_string(stream_event_kind kind);
std::optional<stream_event_kind> parse_stream_event_kind(std::string_view name);

/// What the router does with a provider.
enum class provider_phase : uint8_t {
  request_started,
  request_completed,
  failover_started,
  failover_completed,
  retry_started,
};

std::string to_string(provider_phase phase);
std::optional<provider_phase> parse_provider_phase(std::string_view name);

/// How a tool call ended, for the history.
enum class tool_terminal_state : uint8_t {
  success,
  rejected,
  error,
  exit_nonzero,
  timeout,
  signal,
  cancelled,
  interrupted,
};

std::string to_string(tool_terminal_state state);
std::optional<tool_terminal_state>
parse_tool_terminal_state(std::string_view name);

/// Output of a tool that was stored apart.
struct tool_artifact {
  std::string id;
  bool available = false;
  friend bool operator==(const tool_artifact&, const tool_artifact&) = default;
};

BUREAU_INSPECT(tool_artifact, x.id, x.available);

/// What the history's writer says about a tool call. Never evidence for the
/// call itself: it is always marked untrusted.
struct tool_history {
  caf::optional<std::string> record_id;
  caf::optional<int64_t> sequence;
  /// False: the history could not be written; the outcome stands.
  bool persisted = false;
  caf::optional<tool_terminal_state> terminal_state;
  caf::optional<bool> truncated;
  caf::optional<int64_t> original_bytes;
  caf::optional<int64_t> retained_bytes;
  caf::optional<std::vector<tool_artifact>> artifacts;
  caf::optional<std::string> error_code;
  friend bool operator==(const tool_history&, const tool_history&) = default;
};

BUREAU_INSPECT(tool_history, x.record_id, x.sequence, x.persisted,
               x.terminal_state, x.truncated, x.original_bytes,
               x.retained_bytes, x.artifacts, x.error_code);

struct token_counts {
  int64_t input = 0;
  int64_t output = 0;
  int64_t cache_read = 0;
  int64_t cache_creation = 0;
  friend bool operator==(const token_counts&, const token_counts&) = default;
};

BUREAU_INSPECT(token_counts, x.input, x.output, x.cache_read, x.cache_creation);

/// One event. Only the members of its kind mean anything; JSON members are
/// absent when empty.
struct stream_event {
  stream_event_kind kind = stream_event_kind::unknown;
  /// A thought, or the message of a warning.
  std::string text;
  /// A tool call.
  std::string id;
  caf::optional<std::string> name;
  json_text arguments;
  json_text content;
  json_text structured_content;
  json_text partial_result;
  caf::optional<bool> is_error;
  caf::optional<tool_history> history;
  /// How long the call or the request took, in microseconds.
  caf::optional<int64_t> duration_us;
  /// Usage and provider.
  caf::optional<std::string> model;
  caf::optional<int64_t> cumulative_micro_usd;
  caf::optional<token_counts> tokens;
  provider_phase phase = provider_phase::request_started;
  caf::optional<std::string> from;
  caf::optional<std::string> to;
  caf::optional<int64_t> attempt_index;
  /// 1 = the first retry.
  caf::optional<int64_t> retry_index;
  caf::optional<std::string> reason;
  caf::optional<bool> cancelled;
  /// A recalled memory.
  caf::optional<std::string> source;
  caf::optional<int64_t> bytes;
  /// Telemetry.
  std::string telemetry_kind;
  json_text data;
  caf::optional<std::string> warning_kind;
  /// Open record of every kind.
  json_text metadata;
  /// The whole event, of kind unknown only.
  json_text raw;
  friend bool operator==(const stream_event&, const stream_event&) = default;
};

BUREAU_INSPECT(stream_event, x.kind, x.text, x.id, x.name, x.arguments,
               x.content, x.structured_content, x.partial_result, x.is_error,
               x.history, x.duration_us, x.model, x.cumulative_micro_usd,
               x.tokens, x.phase, x.from, x.to, x.attempt_index, x.retry_index,
               x.reason, x.cancelled, x.source, x.bytes, x.telemetry_kind,
               x.data, x.warning_kind, x.metadata, x.raw);

/// Whether a value is an event of the closed schema: a known type, all members
/// that it must have, none besides, each of its type.
bool is_stream_event(const bj::value& value);

/// Reads an event; members of later versions are passed over. An unknown type
/// or a member of a wrong type makes it kind unknown with its text in `raw`
/// (null when that is too large to be kept).
stream_event parse_stream_event(const bj::value& value);

/// The event as it goes over the wire.
bj::value to_json(const stream_event& event);

} // namespace bureau::contracts
