#include "messages/codec/session_record.hpp"

#include "messages/codec/json_append.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/message_json.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <array>

namespace bureau {

namespace {

constexpr std::array<std::string_view, 4> reserved = {"type", "id", "parentId",
                                                      "timestamp"};

bool is_reserved(std::string_view name) {
  for (auto other : reserved)
    if (name == other)
      return true;
  return false;
}

std::string_view type_name(entry_kind kind) {
  switch (kind) {
  case entry_kind::message:
    return "message";
  case entry_kind::custom:
    return "custom";
  case entry_kind::custom_message:
    return "custom_message";
  case entry_kind::model_change:
    return "model_change";
  case entry_kind::thinking_level_change:
    return "thinking_level_change";
  case entry_kind::active_tools_change:
    return "active_tools_change";
  case entry_kind::compaction:
    return "compaction";
  case entry_kind::branch_summary:
    return "branch_summary";
  case entry_kind::label:
    return "label";
  case entry_kind::session_info:
    return "session_info";
  }
  return "custom";
}

/// Appends the members of a JSON object but those that every entry has.
void append_fields(std::string& out, const json_text& fields) {
  auto parsed = json::parse(fields.text);
  auto object = parsed ? parsed.value.if_object() : nullptr;
  if (object == nullptr)
    return;
  for (const auto& entry : *object) {
    auto name = std::string_view{entry.key().data(), entry.key().size()};
    if (is_reserved(name))
      continue;
    json::append_name(out, name);
    out += json::print(entry.value());
  }
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  auto end = text.find_last_not_of(space);
  return text.substr(begin, end - begin + 1);
}

/// A name on one line: a run of line breaks becomes one space.
std::string one_line(std::string_view text) {
  std::string result;
  auto in_break = false;
  for (auto c : text::trim(text)) {
    auto line_break = c == '\r' || c == '\n';
    if (!line_break || !in_break)
      result += line_break ? ' ' : c;
    in_break = line_break;
  }
  return result;
}

void append_session_info(std::string& out, const json_text& fields) {
  auto parsed = json::parse(fields.text);
  auto object = parsed ? parsed.value.if_object() : nullptr;
  if (object == nullptr)
    return;
  if (auto name = json::string_member(*object, "name"))
    (*object)["name"] = one_line(*name);
  append_fields(out, json_text{json::print(parsed.value)});
}

void append_base(std::string& out, std::string_view id,
                 std::string_view parent_id, int64_t now_ms) {
  json::append_member(out, "id", id);
  json::append_name(out, "parentId");
  if (parent_id.empty())
    out += "null";
  else
    json::append_quoted(out, parent_id);
  json::append_member(out, "timestamp", text::iso_utc(now_ms));
  out += '}';
}

} // namespace

std::string print_session_header(const session_header& header) {
  std::string out = "{";
  json::append_member(out, "type", "session");
  json::append_member(out, "version", header.version);
  json::append_member(out, "id", header.id);
  json::append_member(out, "timestamp", header.timestamp);
  json::append_member(out, "cwd", header.cwd);
  json::append_optional(out, "parentSession", header.parent_session);
  json::append_optional(out, "parentSessionId", header.parent_session_id);
  out += '}';
  return out;
}

std::optional<session_header> parse_session_header(std::string_view line) {
  auto parsed = json::parse(line);
  auto object = parsed ? parsed.value.if_object() : nullptr;
  if (object == nullptr || json::text_or_empty(*object, "type") != "session")
    return std::nullopt;
  auto id = json::string_member(*object, "id");
  if (!id || id->empty())
    return std::nullopt;
  session_header result;
  result.version = json::int_member(*object, "version").value_or(1);
  result.id = std::move(*id);
  result.timestamp = json::text_or_empty(*object, "timestamp");
  result.cwd = json::text_or_empty(*object, "cwd");
  result.parent_session = json::text_or_empty(*object, "parentSession");
  result.parent_session_id = json::text_or_empty(*object, "parentSessionId");
  if (auto source = json::member(*object, "source"))
    if (auto fields = source->if_object())
      result.source_kind = json::text_or_empty(*fields, "kind");
  return result;
}

std::optional<std::string_view> first_line(std::string_view text) {
  while (!text.empty()) {
    auto end = text.find('\n');
    if (end == std::string_view::npos)
      return std::nullopt;
    auto line = without_space(text.substr(0, end));
    if (!line.empty())
      return line;
    text = text.substr(end + 1);
  }
  return std::nullopt;
}

std::string print_session_entry(const session_entry& entry, std::string_view id,
                                std::string_view parent_id, int64_t now_ms) {
  std::string out = "{";
  json::append_member(out, "type", type_name(entry.kind));
  switch (entry.kind) {
  case entry_kind::message:
    json::append_name(out, "message");
    append_message(out, entry.message);
    break;
  case entry_kind::custom:
    json::append_member(out, "customType", entry.custom_type);
    if (!entry.fields.empty()) {
      json::append_name(out, "data");
      json::append_json(out, entry.fields.text);
    }
    break;
  case entry_kind::custom_message:
    json::append_member(out, "customType",
                        entry.custom_type.empty() ? *entry.message.custom_type
                                                  : entry.custom_type);
    json::append_name(out, "content");
    append_content(out, entry.message.content);
    json::append_flag(out, "display", entry.message.display);
    if (!entry.message.details.empty()) {
      json::append_name(out, "details");
      json::append_json(out, entry.message.details->text);
    }
    break;
  case entry_kind::session_info:
    append_session_info(out, entry.fields);
    break;
  default:
    append_fields(out, entry.fields);
  }
  append_base(out, id, parent_id, now_ms);
  return out;
}

std::string print_leaf(std::string_view target_id, std::string_view id,
                       std::string_view parent_id, int64_t now_ms) {
  std::string out = "{";
  json::append_member(out, "type", "leaf");
  json::append_name(out, "targetId");
  if (target_id.empty())
    out += "null";
  else
    json::append_quoted(out, target_id);
  append_base(out, id, parent_id, now_ms);
  return out;
}

session_entry custom_entry(std::string_view custom_type, std::string data) {
  session_entry result;
  result.kind = entry_kind::custom;
  result.custom_type = custom_type;
  result.fields.text = std::move(data);
  return result;
}

session_entry run_cause_entry(std::string_view message_id) {
  std::string data = "{";
  json::append_member(data, "messageId", message_id);
  data += '}';
  return custom_entry(run_cause_type, std::move(data));
}

} // namespace bureau
