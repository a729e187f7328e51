#include "messages/contracts/stream_event.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/limits.hpp"

#include <cmath>
#include <limits>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 10> kind_names = {
  "assistant_thought",   "tool_call_started",
  "tool_call_completed", "tool_call_progress",
  "usage_update",        "provider_status",
  "memory_recalled",     "runtime_telemetry",
  "runtime_warning",     "unknown",
};

constexpr std::array<std::string_view, 5> phase_names = {
  "request_started", "request_completed", "failover_started",
  "failover_completed", "retry_started"};

constexpr std::array<std::string_view, 8> terminal_names = {
  "success", "rejected", "error",     "exit_nonzero",
  "timeout", "signal",   "cancelled", "interrupted"};

constexpr std::array<std::string_view, 2> persistence_names = {"persisted",
                                                               "failed"};

enum class persistence : uint8_t { persisted, failed };

std::optional<persistence> parse_persistence(std::string_view name) {
  return find_in<persistence>(persistence_names, name);
}

/// Strings inside an event have no limit of their own; the event has.
constexpr byte_limits any_length{std::numeric_limits<size_t>::max()};

/// A millionth of a number's unit, of a number from 0 up.
caf::optional<int64_t> scaled(caf::optional<double> number, double scale) {
  if (!number)
    return caf::none;
  auto value = std::round(*number * scale);
  return value < static_cast<double>(max_safe_integer)
           ? static_cast<int64_t>(value)
           : max_safe_integer;
}

constexpr double us_per_ms = 1e3;
constexpr double micro_per_dollar = 1e6;

bj::value unscaled(int64_t value, double scale) {
  auto unit = static_cast<int64_t>(scale);
  if (value % unit == 0)
    return value / unit;
  return static_cast<double>(value) / scale;
}

/// Reads an event, member by member. The same code decides what is in the
/// schema and where it goes, so that neither can forget a member.
class event_reader {
public:
  /// @param strict every member must be known; else nested JSON is kept, too
  event_reader(const bj::value& value, bool strict)
    : members_(value), strict_(strict) {}

  bool read(stream_event& event) {
    auto kind = members_.word("type", parse_known_kind);
    event.kind = kind;
    switch (kind) {
    case stream_event_kind::assistant_thought:
      event.text = text("text");
      break;
    case stream_event_kind::tool_call_started:
      event.id = text("id");
      event.name = text("name");
      event.arguments = nested("arguments");
      event.history = history();
      break;
    case stream_event_kind::tool_call_completed:
      event.id = text("id");
      event.name = optional_text("name");
      event.arguments = nested("arguments");
      event.content = nested("content");
      event.structured_content = nested("structuredContent");
      event.is_error = members_.optional_boolean("isError");
      event.duration_us =
        scaled(members_.optional_amount("executionMs"), us_per_ms);
      event.history = history();
      break;
    case stream_event_kind::tool_call_progress:
      event.id = text("id");
      event.name = optional_text("name");
      event.partial_result = nested("partialResult");
      break;
    case stream_event_kind::usage_update:
      event.model = optional_text("model");
      event.cumulative_micro_usd =
        scaled(members_.optional_amount("cumulativeUsd"), micro_per_dollar);
      event.tokens = tokens();
      break;
    case stream_event_kind::provider_status:
      event.phase = members_.word("kind", parse_provider_phase);
      event.model = optional_text("model");
      event.from = optional_text("from");
      event.to = optional_text("to");
      event.attempt_index = count("attemptIndex");
      event.retry_index = count("retryIndex");
      event.reason = optional_text("reason");
      event.duration_us =
        scaled(members_.optional_amount("durationMs"), us_per_ms);
      event.cancelled = members_.optional_boolean("cancelled");
      break;
    case stream_event_kind::memory_recalled:
      event.source = optional_text("source");
      event.bytes = count("bytes");
      break;
    case stream_event_kind::runtime_telemetry:
      event.telemetry_kind = text("kind");
      event.data = record("data");
      break;
    case stream_event_kind::runtime_warning:
      event.text = text("message");
      event.warning_kind = optional_text("warningKind");
      break;
    case stream_event_kind::unknown:
      break;
    }
    event.metadata = record("metadata");
    return accepts(members_);
  }

private:
  static std::optional<stream_event_kind>
  parse_known_kind(std::string_view name) {
    auto kind = parse_stream_event_kind(name);
    return kind == stream_event_kind::unknown ? std::nullopt : kind;
  }

  bool accepts(const closed_object& fields) const {
    return strict_ ? fields.done() : fields.valid();
  }

  std::string text(std::string_view name) {
    return members_.text(name, any_length);
  }

  caf::optional<std::string> optional_text(std::string_view name) {
    return members_.optional_text(name, any_length);
  }

  caf::optional<int64_t> count(std::string_view name) {
    return members_.optional_integer(name, 0, max_safe_integer);
  }

  json_text kept(const bj::value& value) {
    if (strict_)
      return {};
    auto text = print_wire(value, limits::json_text_bytes);
    members_.expect(text.has_value());
    return json_text{text.value_or(std::string{})};
  }

  json_text nested(std::string_view name) {
    auto value = members_.take(name);
    return value != nullptr ? kept(*value) : json_text{};
  }

  json_text record(std::string_view name) {
    auto fields = members_.optional_record(name);
    return fields != nullptr && !strict_ ? kept(*fields) : json_text{};
  }

  caf::optional<token_counts> tokens() {
    auto value = members_.take("tokens");
    if (value == nullptr)
      return caf::none;
    closed_object fields{*value};
    token_counts result;
    result.input = fields.integer("input", 0, max_safe_integer);
    result.output = fields.integer("output", 0, max_safe_integer);
    result.cache_read = fields.integer("cacheRead", 0, max_safe_integer);
    result.cache_creation =
      fields.integer("cacheCreation", 0, max_safe_integer);
    members_.expect(accepts(fields));
    return result;
  }

  caf::optional<tool_history> history() {
    auto value = members_.take("history");
    if (value == nullptr)
      return caf::none;
    closed_object fields{*value};
    tool_history result;
    result.record_id = fields.optional_text("recordId", any_length);
    result.sequence = fields.optional_integer("sequence", 0, max_safe_integer);
    result.persisted =
      fields.word("persistence", parse_persistence) == persistence::persisted;
    result.terminal_state =
      fields.optional_word("terminalState", parse_tool_terminal_state);
    result.truncated = fields.optional_boolean("truncated");
    result.original_bytes =
      fields.optional_integer("originalBytes", 0, max_safe_integer);
    result.retained_bytes =
      fields.optional_integer("retainedBytes", 0, max_safe_integer);
    if (auto list = fields.take("artifactReferences"))
      result.artifacts = artifacts(*list);
    result.error_code = fields.optional_text("errorCode", any_length);
    fields.require("untrusted");
    auto untrusted = json::member(*value, "untrusted");
    fields.expect(untrusted != nullptr && untrusted->is_bool()
                  && untrusted->get_bool());
    members_.expect(accepts(fields));
    return result;
  }

  std::vector<tool_artifact> artifacts(const bj::value& value) {
    std::vector<tool_artifact> result;
    auto list = value.if_array();
    members_.expect(list != nullptr);
    if (list == nullptr)
      return result;
    for (const auto& element : *list) {
      closed_object fields{element};
      tool_artifact artifact;
      artifact.id = fields.text("id", any_length);
      artifact.available = fields.boolean("available");
      members_.expect(accepts(fields));
      if (!fields.valid())
        return result;
      result.push_back(std::move(artifact));
    }
    return result;
  }

  closed_object members_;
  bool strict_;
};

/// Adds members to the JSON form of an event.
class event_writer {
public:
  explicit event_writer(const stream_event& event) : event_(event) {
    result_["type"] = to_string(event.kind);
  }

  bj::object write() {
    switch (event_.kind) {
    case stream_event_kind::assistant_thought:
      result_["text"] = event_.text;
      break;
    case stream_event_kind::tool_call_started:
      result_["id"] = event_.id;
      result_["name"] = event_.name.value_or(std::string{});
      nested("arguments", event_.arguments);
      history();
      break;
    case stream_event_kind::tool_call_completed:
      result_["id"] = event_.id;
      put("name", event_.name);
      nested("arguments", event_.arguments);
      nested("content", event_.content);
      nested("structuredContent", event_.structured_content);
      put("isError", event_.is_error);
      amount("executionMs", event_.duration_us, us_per_ms);
      history();
      break;
    case stream_event_kind::tool_call_progress:
      result_["id"] = event_.id;
      put("name", event_.name);
      nested("partialResult", event_.partial_result);
      break;
    case stream_event_kind::usage_update:
      put("model", event_.model);
      amount("cumulativeUsd", event_.cumulative_micro_usd, micro_per_dollar);
      if (event_.tokens)
        result_["tokens"] = {{"input", event_.tokens->input},
                             {"output", event_.tokens->output},
                             {"cacheRead", event_.tokens->cache_read},
                             {"cacheCreation", event_.tokens->cache_creation}};
      break;
    case stream_event_kind::provider_status:
      result_["kind"] = to_string(event_.phase);
      put("model", event_.model);
      put("from", event_.from);
      put("to", event_.to);
      put("attemptIndex", event_.attempt_index);
      put("retryIndex", event_.retry_index);
      put("reason", event_.reason);
      amount("durationMs", event_.duration_us, us_per_ms);
      put("cancelled", event_.cancelled);
      break;
    case stream_event_kind::memory_recalled:
      put("source", event_.source);
      put("bytes", event_.bytes);
      break;
    case stream_event_kind::runtime_telemetry:
      result_["kind"] = event_.telemetry_kind;
      nested("data", event_.data);
      break;
    case stream_event_kind::runtime_warning:
      result_["message"] = event_.text;
      put("warningKind", event_.warning_kind);
      break;
    case stream_event_kind::unknown:
      break;
    }
    nested("metadata", event_.metadata);
    return std::move(result_);
  }

private:
  template <class T>
  void put(const char* name, const caf::optional<T>& value) {
    put_into(result_, name, value);
  }

  template <class T>
  static void put_into(bj::object& into, const char* name,
                       const caf::optional<T>& value) {
    if (value)
      into[name] = *value;
  }

  void amount(const char* name, const caf::optional<int64_t>& value,
              double scale) {
    if (value)
      result_[name] = unscaled(*value, scale);
  }

  void nested(const char* name, const json_text& text) {
    if (text.empty())
      return;
    auto parsed = json::parse(text.text);
    if (parsed)
      result_[name] = std::move(parsed.value);
  }

  void history() {
    if (!event_.history)
      return;
    const auto& history = *event_.history;
    bj::object fields;
    put_into(fields, "recordId", history.record_id);
    put_into(fields, "sequence", history.sequence);
    fields["persistence"] = history.persisted ? "persisted" : "failed";
    if (history.terminal_state)
      fields["terminalState"] = to_string(*history.terminal_state);
    put_into(fields, "truncated", history.truncated);
    put_into(fields, "originalBytes", history.original_bytes);
    put_into(fields, "retainedBytes", history.retained_bytes);
    if (history.artifacts) {
      bj::array list;
      for (const auto& artifact : *history.artifacts)
        list.push_back(
          {{"id", artifact.id}, {"available", artifact.available}});
      fields["artifactReferences"] = std::move(list);
    }
    put_into(fields, "errorCode", history.error_code);
    fields["untrusted"] = true;
    result_["history"] = std::move(fields);
  }

  const stream_event& event_;
  bj::object result_;
};

} // namespace

std::string to_string(stream_event_kind kind) {
  return name_in(kind_names, kind);
}

std::optional<stream_event_kind>
parse_stream_event_kind(std::string_view name) {
  return find_in<stream_event_kind>(kind_names, name);
}

std::string to_string(provider_phase phase) {
  return name_in(phase_names, phase);
}

std::optional<provider_phase> parse_provider_phase(std::string_view name) {
  return find_in<provider_phase>(phase_names, name);
}

std::string to_string(tool_terminal_state state) {
  return name_in(terminal_names, state);
}

std::optional<tool_terminal_state>
parse_tool_terminal_state(std::string_view name) {
  return find_in<tool_terminal_state>(terminal_names, name);
}

bool is_stream_event(const bj::value& value) {
  stream_event ignored;
  return event_reader{value, true}.read(ignored);
}

stream_event parse_stream_event(const bj::value& value) {
  stream_event event;
  if (event_reader{value, false}.read(event))
    return event;
  stream_event unknown;
  auto raw = print_wire(value, limits::json_text_bytes);
  unknown.raw = json_text{raw.value_or("null")};
  return unknown;
}

bj::value to_json(const stream_event& event) {
  if (event.kind != stream_event_kind::unknown)
    return event_writer{event}.write();
  auto parsed = json::parse(event.raw.text);
  return parsed ? std::move(parsed.value) : bj::value{};
}

} // namespace bureau::contracts
