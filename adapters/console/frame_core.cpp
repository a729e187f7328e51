#include "adapters/console/frame_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::console {

namespace {

namespace bj = boost::json;

using contracts::frame_kind;

constexpr std::string_view cut_mark = "… [truncated]";
/// Text of a frame that must not be cut; a byte takes at most six in JSON.
constexpr size_t piece_bytes = 32'768;
/// Arguments of a tool that are told whole.
constexpr size_t arguments_bytes = 65'536;

const char* text_name(frame_kind kind) {
  switch (kind) {
  case frame_kind::finish:
    return "finalText";
  case frame_kind::error:
    return "message";
  default:
    return "text";
  }
}

bj::object oversized_event(const contracts::stream_event& event) {
  return {{"type", "runtime_telemetry"},
          {"kind", "oversized_event"},
          {"data", {{"originalType", to_string(event.kind)}}},
          {"metadata", {{"truncated", true}}}};
}

/// Cuts the arguments of a tool that would make a line too long.
void shorten(contracts::stream_event& event) {
  auto& arguments = event.arguments.text;
  if (arguments.size() <= arguments_bytes)
    return;
  std::string kept{text::prefix_bytes(arguments, piece_bytes)};
  arguments = json::print(bj::value(kept + std::string{cut_mark}));
  auto metadata = json::parse(event.metadata.text);
  bj::object fields;
  if (metadata && metadata.value.is_object())
    fields = std::move(metadata.value.get_object());
  fields["truncated"] = true;
  event.metadata = json_text{json::print(fields)};
}

/// Text without the marks of its emphasis.
std::string plain(std::string_view text) {
  text = text::trim(text);
  if (text.size() > 2 && text.front() == '_' && text.back() == '_')
    text = text.substr(1, text.size() - 2);
  return std::string{text};
}

/// Whether a turn that closed so came to no answer because somebody wanted it.
bool is_cancelled(std::string_view outcome) {
  return outcome == "stopped" || outcome == "superseded";
}

bool is_fine(std::string_view outcome) {
  for (auto word : {"sent", "silent", "command", "steered", "collected",
                    "not_triggered", "logged", "duplicate"})
    if (outcome == word)
      return true;
  return false;
}

std::string sentence_of_outcome(const std::string& outcome) {
  if (outcome == "stopped")
    return "Stopped.";
  if (outcome == "superseded")
    return "A later message took the place of this one.";
  return "This message was not answered: " + outcome + ".";
}

} // namespace

void frame_core::begin(const std::string& id, const std::string& conversation,
                       uint64_t line) {
  auto& entry = remember(id);
  entry.conversation = conversation;
  entry.line = line;
}

frame_core::turn& frame_core::remember(const std::string& id) {
  auto found = turns_.find(id);
  if (found != turns_.end())
    return found->second;
  // Ids grow with time.
  if (turns_.size() >= frame_turns)
    turns_.erase(turns_.begin());
  return turns_[id];
}

frame_core::turn& frame_core::turn_of(const outbound& what) {
  auto& entry = remember(what.message_id);
  if (entry.conversation.empty())
    entry.conversation = what.conversation.conversation_id;
  return entry;
}

// -- lines --------------------------------------------------------------------

std::string frame_core::line_of(const contracts::stream_frame& frame,
                                const std::string& id, const turn& of,
                                std::string_view outcome) const {
  auto whole = to_json(frame);
  bj::object metadata{{"messageId", id}};
  if (!of.conversation.empty())
    metadata["conversationId"] = contracts::contract_id(
      {platform_id::console, of.conversation}, of.conversation);
  if (!of.run.empty())
    metadata["runId"] = of.run;
  if (of.line > 0)
    metadata["line"] = of.line;
  if (!outcome.empty())
    metadata["outcome"] = outcome;
  whole["metadata"] = std::move(metadata);
  auto line = contracts::serialize_frame(whole);
  if (line.size() <= contracts::frame_line_bytes)
    return line;
  if (frame.kind == frame_kind::event) {
    whole["event"] = oversized_event(frame.event);
    return contracts::serialize_frame(whole);
  }
  auto name = text_name(frame.kind);
  auto text = text::sanitize_utf8(json::text_or_empty(whole, name));
  std::string_view kept = text;
  while (line.size() > contracts::frame_line_bytes) {
    // How much of the line a byte takes depends on the text.
    constexpr size_t spare = 512;
    auto room = kept.size() * (contracts::frame_line_bytes - spare);
    kept = text::prefix_bytes(kept, room / line.size());
    whole[name] = std::string{kept} + std::string{cut_mark};
    line = contracts::serialize_frame(whole);
  }
  return line;
}

std::string frame_core::text_frame(frame_kind kind, const outbound& what,
                                   const turn& of,
                                   std::string_view text) const {
  contracts::stream_frame frame;
  frame.kind = kind;
  frame.text = std::string{text};
  return line_of(frame, what.message_id, of);
}

// -- a run under way ----------------------------------------------------------

std::string frame_core::status(const outbound& what) {
  auto& entry = turn_of(what);
  if (entry.ended)
    return {};
  entry.run = what.run;
  auto text = text::sanitize_utf8(what.text);
  return text_frame(frame_kind::status, what, entry,
                    text::prefix_bytes(text, piece_bytes));
}

std::string frame_core::append(const outbound& what) {
  auto& entry = turn_of(what);
  if (entry.ended || what.text.empty())
    return {};
  // Another run begins anew what an earlier one had said.
  if (entry.told && entry.run != what.run)
    return replace(what);
  entry.run = what.run;
  entry.told = true;
  auto text = text::sanitize_utf8(what.text);
  std::string_view rest = text;
  std::string lines;
  while (!rest.empty()) {
    auto piece = text::prefix_bytes(rest, piece_bytes);
    rest.remove_prefix(piece.size());
    lines += text_frame(frame_kind::append, what, entry, piece);
  }
  return lines;
}

std::string frame_core::replace(const outbound& what) {
  auto& entry = turn_of(what);
  if (entry.ended)
    return {};
  entry.run = what.run;
  entry.told = true;
  auto text = text::sanitize_utf8(what.text);
  auto first = text::prefix_bytes(text, piece_bytes);
  auto rest = what;
  rest.text = text.substr(first.size());
  return text_frame(frame_kind::replace, what, entry, first) + append(rest);
}

std::string frame_core::event(const outbound& what,
                              contracts::stream_event event) {
  auto& entry = turn_of(what);
  if (entry.ended)
    return {};
  entry.run = what.run;
  shorten(event);
  contracts::stream_frame frame;
  frame.kind = frame_kind::event;
  frame.event = std::move(event);
  return line_of(frame, what.message_id, entry);
}

std::string frame_core::warning(const outbound& what,
                                std::string_view sentence) {
  contracts::stream_event told;
  told.kind = contracts::stream_event_kind::runtime_warning;
  told.text = std::string{sentence};
  return event(what, std::move(told));
}

// -- the outbox ---------------------------------------------------------------

std::string frame_core::answer(const outbound& part) {
  auto& entry = turn_of(part);
  if (entry.ended)
    return {};
  entry.run = part.run;
  if (part.part > 0 && !entry.text.empty())
    entry.text += '\n';
  entry.text += part.text;
  if (part.part + 1 < part.parts)
    return {};
  return end(part.message_id, {}, std::move(entry.text));
}

std::optional<std::string> frame_core::notice(const outbound& what) {
  auto found = turns_.find(what.message_id);
  if (found == turns_.end() || found->second.ended)
    return std::nullopt;
  auto& entry = found->second;
  entry.notice = plain(what.text);
  auto text = text::sanitize_utf8(entry.notice);
  return text_frame(frame_kind::status, what, entry,
                    text::prefix_bytes(text, piece_bytes));
}

// -- ends ---------------------------------------------------------------------

std::string frame_core::end(const std::string& id, const std::string& outcome,
                            caf::optional<std::string> text) {
  auto& entry = turns_[id];
  entry.ended = true;
  contracts::stream_frame frame;
  frame.kind = frame_kind::finish;
  frame.text = std::move(text);
  return line_of(frame, id, entry, outcome);
}

std::string frame_core::end_badly(const std::string& id,
                                  const std::string& code,
                                  const std::string& sentence, bool cancelled) {
  auto& entry = turns_[id];
  entry.ended = true;
  contracts::stream_frame frame;
  frame.kind = frame_kind::error;
  frame.text = sentence;
  frame.code = code;
  frame.cancelled = cancelled;
  return line_of(frame, id, entry);
}

std::string frame_core::closed(const closed_entry& entry) {
  auto& open = remember(entry.message_id);
  if (open.conversation.empty())
    open.conversation = entry.conversation.conversation_id;
  std::string lines;
  if (!open.ended) {
    const auto& outcome = entry.outcome;
    auto told = open.notice.empty() ? open.text : open.notice;
    if (!is_fine(outcome))
      lines = end_badly(entry.message_id, outcome,
                        open.notice.empty() || is_cancelled(outcome)
                          ? sentence_of_outcome(outcome)
                          : open.notice,
                        is_cancelled(outcome));
    else if (outcome == "command" && !told.empty())
      lines = end(entry.message_id, outcome, std::move(told));
    else
      lines = end(entry.message_id, outcome, caf::none);
  }
  turns_.erase(entry.message_id);
  return lines;
}

std::string frame_core::settled(const std::string& id,
                                const std::string& outcome,
                                const std::string& fault) {
  auto& open = remember(id);
  std::string lines;
  if (!open.ended) {
    caf::optional<std::string> text;
    if (!open.notice.empty())
      text = open.notice;
    lines = fault.empty() ? end(id, outcome, std::move(text))
                          : end_badly(id, outcome, fault, false);
  }
  turns_.erase(id);
  return lines;
}

} // namespace bureau::console
