#include "messages/contracts/stream_frame.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/errc.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 7> kind_names = {
  "status", "append", "replace", "event", "finish", "error", "unknown"};

constexpr std::string_view cut_mark = "… [truncated]";
constexpr size_t original_type_units = 128;
constexpr size_t identity_units = 512;

caf::error invalid_frame(std::string_view what) {
  return make_failure(errc::bad_request, "invalid_frame: " + std::string{what});
}

bool has_text(const bj::object& fields, std::string_view name) {
  auto value = fields.if_contains(name);
  return value != nullptr && value->is_string();
}

bool has_filled_text(const bj::object& fields, std::string_view name) {
  auto value = fields.if_contains(name);
  return value != nullptr && value->is_string() && !value->get_string().empty();
}

bool is_event(const bj::value* value) {
  auto fields = value != nullptr ? value->if_object() : nullptr;
  return fields != nullptr && has_filled_text(*fields, "type");
}

bool is_part(const bj::value& value) {
  auto fields = value.if_object();
  return fields != nullptr && has_filled_text(*fields, "type")
         && has_filled_text(*fields, "id");
}

bool are_parts(const bj::value* value) {
  if (value == nullptr)
    return true;
  auto list = value->if_array();
  return list != nullptr && list->size() <= max_reply_parts
         && std::all_of(list->begin(), list->end(), is_part);
}

/// What is wrong with a frame; empty when nothing is.
std::string_view fault_of(const bj::object& frame) {
  if (!has_filled_text(frame, "kind"))
    return "a frame needs a kind";
  auto kind =
    find_in<frame_kind>(kind_names, json::text_or_empty(frame, "kind"))
      .value_or(frame_kind::unknown);
  switch (kind) {
  case frame_kind::status:
  case frame_kind::replace:
    return has_text(frame, "text") ? "" : "the frame needs a text";
  case frame_kind::append:
    return has_text(frame, "delta") ? "" : "the frame needs a delta";
  case frame_kind::event:
    return is_event(json::member(frame, "event"))
             ? ""
             : "the frame needs an event with a type";
  case frame_kind::finish:
    return are_parts(json::member(frame, "parts"))
             ? ""
             : "the parts of the frame are malformed";
  case frame_kind::error:
    return has_text(frame, "message") ? "" : "the frame needs a message";
  case frame_kind::unknown:
    break;
  }
  return "";
}

caf::optional<std::string> text_member(const bj::object& fields,
                                       std::string_view name) {
  if (auto text = json::string_member(fields, name))
    return std::move(*text);
  return caf::none;
}

const char* text_name(frame_kind kind) {
  switch (kind) {
  case frame_kind::append:
    return "delta";
  case frame_kind::finish:
    return "finalText";
  case frame_kind::error:
    return "message";
  default:
    return "text";
  }
}

/// Line of a frame, nothing when it is longer than a line may be.
std::optional<std::string> bounded_line(const bj::object& frame) {
  auto line = print_wire(frame, frame_line_bytes - 1);
  if (line)
    *line += '\n';
  return line;
}

/// Longest prefix whose characters take at most `room` bytes on the wire.
std::string_view fitting_prefix(std::string_view valid, size_t room) {
  size_t pos = 0;
  while (pos < valid.size()) {
    auto step = text::decode_at(valid, pos);
    auto width = wire_width(step.code_point);
    if (width > room)
      break;
    room -= width;
    pos += step.bytes;
  }
  return valid.substr(0, pos);
}

/// Replaces the string at `place`, which is in `frame`, by its longest prefix
/// that fits together with `suffix`. Nothing when the rest alone is too long.
std::optional<std::string> cut_to_fit(const bj::object& frame, bj::value& place,
                                      std::string_view text,
                                      std::string_view suffix) {
  auto valid = text::sanitize_utf8(text);
  place = bj::string(suffix);
  auto shortest = bounded_line(frame);
  if (!shortest)
    return std::nullopt;
  std::string kept{fitting_prefix(valid, frame_line_bytes - shortest->size())};
  kept += suffix;
  place = bj::string(kept);
  return bounded_line(frame);
}

std::vector<std::string> too_large() {
  return {serialize_frame(
    {{"kind", "error"},
     {"message", "A frame of this turn was too large to be sent."},
     {"code", "frame_too_large"}})};
}

std::vector<std::string> or_too_large(std::optional<std::string> line) {
  if (!line)
    return too_large();
  std::vector<std::string> result;
  result.push_back(std::move(*line));
  return result;
}

/// A status, a replacement or an error.
std::vector<std::string> text_lines(bj::object frame, const char* name) {
  if (auto line = bounded_line(frame))
    return or_too_large(std::move(line));
  auto& place = frame[name];
  auto text = json::text_or_empty(frame, name);
  return or_too_large(cut_to_fit(frame, place, text, cut_mark));
}

std::vector<std::string> append_lines(const bj::object& frame) {
  auto delta = text::sanitize_utf8(json::text_or_empty(frame, "delta"));
  auto line = frame;
  line["delta"] = "";
  auto shortest = bounded_line(line);
  std::vector<std::string> result;
  std::string_view rest = delta;
  do {
    auto room = shortest ? frame_line_bytes - shortest->size() : 0;
    auto piece = fitting_prefix(rest, room);
    // Not even one character has room beside what the line is about.
    if (piece.empty() && !rest.empty())
      return too_large();
    rest.remove_prefix(piece.size());
    line["delta"] = piece;
    result.push_back(serialize_frame(line));
  } while (!rest.empty());
  return result;
}

/// Members of an event that may be cut.
std::vector<std::string_view> payloads_of(std::string_view type) {
  switch (parse_stream_event_kind(type).value_or(stream_event_kind::unknown)) {
  case stream_event_kind::assistant_thought:
    return {"text"};
  case stream_event_kind::tool_call_started:
    return {"arguments"};
  case stream_event_kind::tool_call_completed:
    return {"arguments", "content", "structuredContent"};
  case stream_event_kind::tool_call_progress:
    return {"partialResult"};
  default:
    return {};
  }
}

/// A payload as the text that is cut.
std::string text_of_payload(const bj::value& value) {
  if (auto text = value.if_string())
    return std::string{*text};
  return print_wire(value, frame_line_bytes * 64).value_or(std::string{});
}

/// @param frame what the marker takes the place of
bj::object oversized_event_marker(const bj::object& frame,
                                  std::string_view type) {
  auto valid = text::sanitize_utf8(type);
  auto name = text::prefix_utf16(valid, original_type_units);
  bj::object result{{"kind", "event"},
                    {"event",
                     {{"type", "runtime_telemetry"},
                      {"kind", "oversized_event"},
                      {"data", {{"originalType", name}}},
                      {"metadata", {{"truncated", true}}}}}};
  if (auto about = frame.if_contains("metadata"))
    result["metadata"] = *about;
  return result;
}

std::vector<std::string> event_lines(bj::object frame) {
  // An event that was too large to be kept has no type any more.
  if (!is_event(json::member(frame, "event")))
    return or_too_large(bounded_line(oversized_event_marker(frame, "unknown")));
  if (auto line = bounded_line(frame))
    return or_too_large(std::move(line));
  auto event = frame["event"].if_object();
  auto type = json::text_or_empty(*event, "type");
  auto& metadata = (*event)["metadata"];
  if (!metadata.is_object())
    metadata = bj::object{};
  metadata.get_object()["truncated"] = true;
  // The largest payload is cut first; the others suffer only if that is not
  // enough.
  std::vector<std::pair<std::string, std::string_view>> payloads;
  for (auto name : payloads_of(type))
    if (auto value = event->if_contains(name))
      payloads.emplace_back(text_of_payload(*value), name);
  std::stable_sort(payloads.begin(), payloads.end(),
                   [](const auto& left, const auto& right) {
                     return left.first.size() > right.first.size();
                   });
  for (const auto& [text, name] : payloads) {
    // A machine's result that was cut would be no result.
    if (name == "structuredContent") {
      event->stable_erase(event->find(name));
      if (auto line = bounded_line(frame))
        return or_too_large(std::move(line));
      continue;
    }
    auto suffix = type == "assistant_thought" ? std::string_view{} : cut_mark;
    if (auto line = cut_to_fit(frame, *event->if_contains(name), text, suffix))
      return or_too_large(std::move(line));
  }
  return or_too_large(bounded_line(oversized_event_marker(frame, type)));
}

bj::object failure_part(const char* id, const char* message) {
  return {{"type", "failure"},
          {"id", id},
          {"code", to_string(part_failure_code::reply_part_too_large)},
          {"message", message}};
}

/// What remains of the metadata of an answer that is too large.
bj::object reduced_metadata(const bj::object& frame) {
  bj::object result{{"truncated", true}};
  auto metadata = json::member(frame, "metadata");
  auto fields = metadata != nullptr ? metadata->if_object() : nullptr;
  if (fields == nullptr)
    return result;
  for (auto name : {"runId", "conversationId", "requestId", "messageId"})
    if (auto text = json::string_member(*fields, name))
      result[name] =
        text::prefix_utf16(text::sanitize_utf8(*text), identity_units);
  return result;
}

/// Adds parts to a list as long as the line holds them.
std::string add_fitting_parts(bj::object& frame, const bj::array& parts,
                              std::string line) {
  auto& list = frame["parts"].get_array();
  auto room = frame_line_bytes - line.size();
  for (const auto& part : parts) {
    auto text = print_wire(part, room);
    if (!text || text->size() + 1 > room || list.size() >= max_reply_parts)
      break;
    room -= text->size() + 1;
    list.push_back(part);
  }
  return bounded_line(frame).value_or(std::move(line));
}

std::vector<std::string> finish_lines(bj::object frame) {
  if (auto parts = frame.if_contains("parts")) {
    auto& list = parts->get_array();
    // One part that no consumer could read would cost the whole answer.
    for (auto& part : list)
      if (!is_part(part))
        part = failure_part("wire-part-unreadable",
                            "A part of this reply could not be sent.");
    if (list.size() > max_reply_parts) {
      list.resize(max_reply_parts - 1);
      list.push_back(
        failure_part("wire-rich-parts-over-limit",
                     "Further parts of this reply were left out."));
    }
  }
  if (auto line = bounded_line(frame))
    return or_too_large(std::move(line));
  frame["metadata"] = reduced_metadata(frame);
  if (auto line = bounded_line(frame))
    return or_too_large(std::move(line));
  auto cut = [&frame, text = json::text_or_empty(frame, "finalText")] {
    auto place = frame.if_contains("finalText");
    return place != nullptr ? cut_to_fit(frame, *place, text, cut_mark)
                            : bounded_line(frame);
  };
  if (auto line = cut())
    return or_too_large(std::move(line));
  bj::array parts;
  if (auto all = frame.if_contains("parts"))
    parts = std::move(all->get_array());
  frame["parts"] =
    bj::array{failure_part("wire-rich-parts-truncated",
                           "Parts of this reply were too large to be sent.")};
  if (auto line = cut())
    return or_too_large(add_fitting_parts(frame, parts, std::move(*line)));
  return {
    serialize_frame({{"kind", "finish"}, {"metadata", {{"truncated", true}}}})};
}

} // namespace

std::string to_string(frame_kind kind) {
  return name_in(kind_names, kind);
}

std::string serialize_frame(const bj::object& frame) {
  constexpr auto unlimited = std::numeric_limits<size_t>::max();
  return print_wire(frame, unlimited).value_or("null") + '\n';
}

caf::expected<parsed_object> parse_frame(std::string_view line) {
  if (line.size() > frame_read_bytes)
    return invalid_frame("the line is too long");
  auto parsed = json::parse(line);
  if (!parsed)
    return invalid_frame("the line is no JSON");
  if (!parsed.value.is_object())
    return invalid_frame("a frame is an object");
  auto& frame = parsed.value.get_object();
  if (auto fault = fault_of(frame); !fault.empty())
    return invalid_frame(fault);
  return parsed_object{std::move(frame)};
}

stream_frame read_frame(const bj::object& frame) {
  stream_frame result;
  result.kind =
    find_in<frame_kind>(kind_names, json::text_or_empty(frame, "kind"))
      .value_or(frame_kind::unknown);
  result.text = text_member(frame, text_name(result.kind));
  auto metadata = json::member(frame, "metadata");
  if (metadata != nullptr && metadata->is_object())
    if (auto text = print_wire(*metadata, limits::json_text_bytes))
      result.metadata = json_text{std::move(*text)};
  if (result.kind == frame_kind::event) {
    if (auto event = json::member(frame, "event"))
      result.event = parse_stream_event(*event);
  } else if (result.kind == frame_kind::finish) {
    auto parts = json::member(frame, "parts");
    if (auto list = parts != nullptr ? parts->if_array() : nullptr)
      for (size_t i = 0; i < std::min(list->size(), max_reply_parts); ++i)
        result.parts.push_back(parse_reply_part((*list)[i]));
  } else if (result.kind == frame_kind::error) {
    result.code = text_member(frame, "code");
    if (auto cancelled = json::bool_member(frame, "cancelled"))
      result.cancelled = *cancelled;
  }
  return result;
}

bj::object to_json(const stream_frame& frame) {
  bj::object result{{"kind", to_string(frame.kind)}};
  if (frame.kind == frame_kind::event)
    result["event"] = to_json(frame.event);
  else if (frame.text || frame.kind != frame_kind::finish)
    result[text_name(frame.kind)] = frame.text.value_or(std::string{});
  auto metadata = json::parse(frame.metadata.text);
  if (metadata)
    result["metadata"] = std::move(metadata.value);
  if (frame.kind == frame_kind::finish && !frame.parts.empty()) {
    bj::array parts;
    for (const auto& part : frame.parts)
      parts.push_back(to_json(part));
    result["parts"] = std::move(parts);
  } else if (frame.kind == frame_kind::error) {
    if (frame.code)
      result["code"] = *frame.code;
    if (frame.cancelled)
      result["cancelled"] = *frame.cancelled;
  }
  return result;
}

std::vector<std::string> frame_lines(const stream_frame& frame) {
  switch (frame.kind) {
  case frame_kind::append:
    return append_lines(to_json(frame));
  case frame_kind::event:
    return event_lines(to_json(frame));
  case frame_kind::finish:
    return finish_lines(to_json(frame));
  case frame_kind::status:
  case frame_kind::replace:
  case frame_kind::error:
    return text_lines(to_json(frame), text_name(frame.kind));
  case frame_kind::unknown:
    break;
  }
  return {};
}

} // namespace bureau::contracts
