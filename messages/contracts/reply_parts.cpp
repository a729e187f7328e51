#include "messages/contracts/reply_parts.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

using names_of_codes = std::array<std::string_view, 10>;
constexpr names_of_codes code_names = {
  "app_capability_mismatch",   "app_connection_closed",
  "app_resource_invalid",      "artifact_expired",
  "artifact_integrity_failed", "artifact_missing",
  "artifact_publish_failed",   "artifact_too_large",
  "reply_part_too_large",      "unsupported_destination",
};

constexpr std::array<std::string_view, 4> type_names = {"attachment", "mcp_app",
                                                        "failure", "unknown"};

constexpr std::array<std::string_view, 4> method_names = {
  "resources/read", "tools/call", "ui/open-link", "ui/update-model-context"};

constexpr std::array<std::string_view, 4> type_messages = {
  "Attachment reply parts are unsupported on this destination.",
  "MCP App reply parts are unsupported on this destination.",
  "Reply part failed before destination delivery.",
  "Unknown reply parts are unsupported on this destination.",
};

constexpr std::string_view aggregate_message =
  "Additional reply parts exceeded the bounded delivery outcome limit.";

constexpr size_t aggregate_index = max_delivery_outcomes - 1;

bool is_integrity_id(std::string_view text) {
  constexpr std::string_view prefix = "sha256:";
  return text.size() == prefix.size() + 64 && text.starts_with(prefix)
         && std::all_of(text.begin() + prefix.size(), text.end(), [](char c) {
              return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
            });
}

caf::optional<std::string> text_member(const bj::object& fields,
                                       std::string_view name) {
  if (auto text = json::string_member(fields, name))
    return std::move(*text);
  return caf::none;
}

/// Reads string members of a part; tells whether all that must be there are.
class part_reader {
public:
  explicit part_reader(const bj::object& fields) : fields_(fields) {}

  std::string text(std::string_view name) {
    auto text = json::string_member(fields_, name);
    complete_ = complete_ && text && !text->empty();
    return text.value_or(std::string{});
  }

  caf::optional<std::string> optional(std::string_view name) const {
    return text_member(fields_, name);
  }

  caf::optional<std::string> instant(std::string_view name) {
    auto text = text_member(fields_, name);
    complete_ = complete_ && (!text || is_instant(*text));
    return text;
  }

  void expect(bool condition) { complete_ = complete_ && condition; }

  bool complete() const { return complete_; }

private:
  const bj::object& fields_;
  bool complete_ = true;
};

std::optional<reply_part> attachment_of(const bj::object& fields) {
  part_reader reader{fields};
  attachment_part part;
  part.id = reader.text("id");
  auto reference = fields.if_contains("reference");
  auto target = reference != nullptr ? reference->if_object() : nullptr;
  if (target == nullptr
      || json::text_or_empty(*target, "scheme") != artifact_scheme)
    return std::nullopt;
  part.artifact_id = json::text_or_empty(*target, "id");
  part.name = reader.text("name");
  part.media_type = reader.text("mediaType");
  auto size = fields.if_contains("sizeBytes");
  auto bytes = size != nullptr ? safe_integer(*size) : std::nullopt;
  reader.expect(bytes && *bytes >= 0 && !part.artifact_id.empty());
  part.size_bytes = bytes.value_or(0);
  part.integrity_id = reader.text("integrityId");
  reader.expect(is_integrity_id(part.integrity_id));
  part.expires_at = reader.instant("expiresAt");
  if (!reader.complete())
    return std::nullopt;
  return reply_part{std::move(part)};
}

std::optional<reply_part> mcp_app_of(const bj::object& fields) {
  part_reader reader{fields};
  mcp_app_part part;
  part.id = reader.text("id");
  part.invocation_id = reader.text("invocationId");
  part.connection_id = reader.text("connectionId");
  part.server_name = reader.text("serverName");
  part.tool_name = reader.text("toolName");
  part.resource_uri = reader.text("resourceUri");
  part.protocol_version = reader.text("protocolVersion");
  reader.expect(reader.text("mediaType") == mcp_app_media_type);
  reader.expect(std::find(mcp_app_versions.begin(), mcp_app_versions.end(),
                          part.protocol_version)
                != mcp_app_versions.end());
  part.title = reader.optional("title");
  part.description = reader.optional("description");
  part.expires_at = reader.instant("expiresAt");
  if (!reader.complete())
    return std::nullopt;
  return reply_part{std::move(part)};
}

std::optional<reply_part> failure_of(const bj::object& fields) {
  part_reader reader{fields};
  failed_part part;
  part.id = reader.text("id");
  part.code = parse_part_failure_code(json::text_or_empty(fields, "code"))
                .value_or(part_failure_code::unsupported_destination);
  part.message = json::text_or_empty(fields, "message");
  part.related_part_id = reader.optional("relatedPartId");
  if (!reader.complete())
    return std::nullopt;
  return reply_part{std::move(part)};
}

void put(bj::object& into, const char* name,
         const caf::optional<std::string>& text) {
  if (text)
    into[name] = *text;
}

struct json_of_part {
  bj::value operator()(const unknown_part& part) const {
    auto parsed = json::parse(part.raw.text);
    return parsed ? std::move(parsed.value) : bj::value{};
  }

  bj::value operator()(const attachment_part& part) const {
    bj::object result{
      {"type", "attachment"},
      {"id", part.id},
      {"reference", {{"scheme", artifact_scheme}, {"id", part.artifact_id}}},
      {"name", part.name},
      {"mediaType", part.media_type},
      {"sizeBytes", part.size_bytes},
      {"integrityId", part.integrity_id}};
    put(result, "expiresAt", part.expires_at);
    return result;
  }

  bj::value operator()(const mcp_app_part& part) const {
    bj::object result{{"type", "mcp_app"},
                      {"id", part.id},
                      {"invocationId", part.invocation_id},
                      {"connectionId", part.connection_id},
                      {"serverName", part.server_name},
                      {"toolName", part.tool_name},
                      {"resourceUri", part.resource_uri},
                      {"mediaType", mcp_app_media_type},
                      {"protocolVersion", part.protocol_version}};
    put(result, "title", part.title);
    put(result, "description", part.description);
    put(result, "expiresAt", part.expires_at);
    return result;
  }

  bj::value operator()(const failed_part& part) const {
    bj::object result{{"type", "failure"},
                      {"id", part.id},
                      {"code", to_string(part.code)},
                      {"message", part.message}};
    put(result, "relatedPartId", part.related_part_id);
    return result;
  }
};

struct line_of_part {
  std::string operator()(const unknown_part&) const {
    return "⚠️ A part of this reply cannot be shown on this destination.";
  }

  std::string operator()(const attachment_part& part) const {
    return "⚠️ Attachment not delivered on this destination: " + part.name
           + " (" + part.media_type + ", " + std::to_string(part.size_bytes)
           + " bytes).";
  }

  std::string operator()(const mcp_app_part& part) const {
    auto title = part.title ? text::trim(*part.title) : std::string_view{};
    auto name = std::string{title.empty() ? part.tool_name : title};
    return "⚠️ Interactive app “" + name
           + "” is available only in a compatible web console.";
  }

  std::string operator()(const failed_part& part) const {
    return "⚠️ Reply part failed (" + to_string(part.code)
           + "): " + part.message;
  }
};

struct outcome_of_part {
  delivery_outcome operator()(const unknown_part&) const { return {}; }

  delivery_outcome operator()(const attachment_part&) const {
    return {delivery_part_type::attachment};
  }

  delivery_outcome operator()(const mcp_app_part&) const {
    return {delivery_part_type::mcp_app};
  }

  delivery_outcome operator()(const failed_part& part) const {
    return {delivery_part_type::failure, part.code};
  }
};

/// Outcome of a part that was not read: its type and its code decide.
delivery_outcome outcome_of_raw(const bj::value& part) {
  auto fields = part.if_object();
  if (fields == nullptr)
    return {};
  auto type = json::text_or_empty(*fields, "type");
  if (type == "attachment")
    return {delivery_part_type::attachment};
  if (type == "mcp_app")
    return {delivery_part_type::mcp_app};
  if (type != "failure")
    return {};
  auto code = parse_part_failure_code(json::text_or_empty(*fields, "code"));
  return {delivery_part_type::failure,
          code.value_or(part_failure_code::unsupported_destination)};
}

delivery_outcome aggregate_of(int64_t parts) {
  return {delivery_part_type::unknown, part_failure_code::reply_part_too_large,
          parts};
}

/// One outcome each, or 19 and one for the rest. `outcome_at` is asked for at
/// most 20 positions.
template <class OutcomeAt>
std::vector<delivery_outcome> bounded_outcomes(size_t count,
                                               OutcomeAt outcome_at) {
  std::vector<delivery_outcome> result;
  auto overflow = count > max_delivery_outcomes;
  auto single = overflow ? aggregate_index : count;
  result.reserve(single + 1);
  for (size_t i = 0; i < single; ++i)
    result.push_back(outcome_at(i));
  if (overflow)
    result.push_back(aggregate_of(static_cast<int64_t>(count - single)));
  return result;
}

/// Number of parts that an entry stands for, if it is fit for the last place.
std::optional<int64_t> aggregate_count(const bj::object& fields) {
  auto count = fields.if_contains("affectedPartCount");
  auto number = count != nullptr ? safe_integer(*count) : std::nullopt;
  if (number && *number >= 2
      && json::text_or_empty(fields, "partType") == "unknown"
      && json::text_or_empty(fields, "code") == "reply_part_too_large")
    return number;
  return std::nullopt;
}

delivery_outcome sanitized(const bj::value& entry, size_t index) {
  auto fields = entry.if_object();
  if (fields == nullptr || json::text_or_empty(*fields, "status") != "failed")
    return {};
  if (index == aggregate_index)
    if (auto count = aggregate_count(*fields))
      return aggregate_of(*count);
  auto type = json::text_or_empty(*fields, "partType");
  if (type == "attachment")
    return {delivery_part_type::attachment};
  if (type == "mcp_app")
    return {delivery_part_type::mcp_app};
  if (type == "failure")
    if (auto code =
          parse_part_failure_code(json::text_or_empty(*fields, "code")))
      return {delivery_part_type::failure, *code};
  return {};
}

bj::object record_of(const delivery_outcome& outcome, size_t index) {
  bj::object result{{"partIndex", static_cast<int64_t>(index)},
                    {"partType", to_string(outcome.type)},
                    {"status", "failed"},
                    {"code", to_string(outcome.code)},
                    {"message", message_of(outcome)}};
  if (outcome.affected_parts != 0)
    result["affectedPartCount"] = outcome.affected_parts;
  return result;
}

bool is_exact_record(const bj::value& entry, size_t index) {
  auto fields = entry.if_object();
  if (fields == nullptr)
    return false;
  auto expected = record_of(sanitized(entry, index), index);
  if (fields->size() != expected.size())
    return false;
  for (const auto& member : expected) {
    auto found = fields->if_contains(member.key());
    if (found == nullptr)
      return false;
    auto wanted = safe_integer(member.value());
    if (wanted ? safe_integer(*found) != wanted : *found != member.value())
      return false;
  }
  return true;
}

} // namespace

std::string to_string(part_failure_code code) {
  return name_in(code_names, code);
}

std::optional<part_failure_code>
parse_part_failure_code(std::string_view name) {
  return find_in<part_failure_code>(code_names, name);
}

std::string to_string(delivery_part_type type) {
  return name_in(type_names, type);
}

std::optional<delivery_part_type>
parse_delivery_part_type(std::string_view name) {
  return find_in<delivery_part_type>(type_names, name);
}

std::string to_string(mcp_app_method method) {
  return name_in(method_names, method);
}

std::optional<mcp_app_method> parse_mcp_app_method(std::string_view name) {
  return find_in<mcp_app_method>(method_names, name);
}

reply_part parse_reply_part(const bj::value& value) {
  std::optional<reply_part> result;
  if (auto fields = value.if_object()) {
    auto type = json::text_or_empty(*fields, "type");
    if (type == "attachment")
      result = attachment_of(*fields);
    else if (type == "mcp_app")
      result = mcp_app_of(*fields);
    else if (type == "failure")
      result = failure_of(*fields);
  }
  if (result)
    return std::move(*result);
  // What is too large to be kept loses its content, not its place.
  auto raw = print_wire(value, limits::json_text_bytes);
  return unknown_part{json_text{raw.value_or("null")}};
}

bj::value to_json(const reply_part& part) {
  return caf::visit(json_of_part{}, part);
}

caf::optional<std::string> append_reply_part_fallback(
  const caf::optional<std::string>& text, const std::vector<reply_part>& parts,
  unsupported_part_fallback policy) {
  if (policy == unsupported_part_fallback::none || parts.empty())
    return text;
  auto result = text && !text->empty() ? *text + "\n" : std::string{};
  for (const auto& part : parts) {
    if (!result.empty())
      result += '\n';
    result += caf::visit(line_of_part{}, part);
  }
  return result;
}

std::string_view message_of(const delivery_outcome& outcome) {
  if (outcome.affected_parts != 0)
    return aggregate_message;
  return type_messages[static_cast<size_t>(outcome.type)];
}

std::vector<delivery_outcome>
unsupported_outcomes(const std::vector<reply_part>& parts) {
  return bounded_outcomes(parts.size(), [&parts](size_t i) {
    return caf::visit(outcome_of_part{}, parts[i]);
  });
}

std::vector<delivery_outcome> unsupported_outcomes(const bj::value& parts) {
  auto list = parts.if_array();
  if (list == nullptr)
    return {};
  return bounded_outcomes(
    list->size(), [list](size_t i) { return outcome_of_raw((*list)[i]); });
}

std::vector<delivery_outcome> sanitize_outcomes(const bj::value& value) {
  auto list = value.if_array();
  if (list == nullptr)
    return {};
  return bounded_outcomes(
    list->size(), [list](size_t i) { return sanitized((*list)[i], i); });
}

bool is_outcomes(const bj::value& value) {
  auto list = value.if_array();
  if (list == nullptr || list->empty() || list->size() > max_delivery_outcomes)
    return false;
  for (size_t i = 0; i < list->size(); ++i)
    if (!is_exact_record((*list)[i], i))
      return false;
  return true;
}

bj::array to_json(const std::vector<delivery_outcome>& outcomes) {
  bj::array result;
  result.reserve(outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i)
    result.push_back(record_of(outcomes[i], i));
  return result;
}

bj::object outcome_envelope(const std::vector<delivery_outcome>& outcomes) {
  return {{"schemaVersion", 1}, {"replyPartOutcomes", to_json(outcomes)}};
}

} // namespace bureau::contracts
