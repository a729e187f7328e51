#include "adapters/console/frame_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/frame_feed.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::console {

namespace {

namespace bj = boost::json;

using contracts::frame_kind;

/// The beginning of a text that takes another one's place; what is longer goes
/// on as deltas, so that nothing is lost. A byte takes at most six in JSON.
constexpr size_t piece_bytes = 32'768;

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

json_text frame_core::about(const std::string& id, const turn& of,
                            std::string_view outcome) {
  bj::object metadata{{"messageId", text::sanitize_utf8(id)}};
  if (!of.conversation.empty())
    metadata["conversationId"] = contracts::contract_id(
      {platform_id::console, of.conversation}, of.conversation);
  if (!of.run.empty())
    metadata["runId"] = of.run;
  if (of.line > 0)
    metadata["line"] = of.line;
  if (!outcome.empty())
    metadata["outcome"] = outcome;
  if (!of.outcomes.empty())
    metadata["replyPartOutcomes"] = contracts::to_json(of.outcomes);
  return json_text{json::print(metadata)};
}

std::string frame_core::lines_of(const contracts::stream_frame& frame) {
  std::string result;
  for (const auto& line : contracts::frame_lines(frame))
    result += line;
  return result;
}

std::string frame_core::text_frame(frame_kind kind, const outbound& what,
                                   const turn& of, std::string_view text) {
  contracts::stream_frame frame;
  frame.kind = kind;
  frame.text = text::sanitize_utf8(text);
  frame.metadata = about(what.message_id, of);
  return lines_of(frame);
}

// -- a run under way ----------------------------------------------------------

std::string frame_core::status(const outbound& what) {
  auto& entry = turn_of(what);
  if (entry.ended)
    return {};
  entry.run = what.run;
  return text_frame(frame_kind::status, what, entry, what.text);
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
  return text_frame(frame_kind::append, what, entry, what.text);
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
  contracts::stream_frame frame;
  frame.kind = frame_kind::event;
  frame.event = std::move(event);
  frame.metadata = about(what.message_id, entry);
  return lines_of(frame);
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
  entry.parts = part.attached;
  entry.outcomes = part.outcomes;
  return end(part.message_id, {}, std::move(entry.text));
}

std::optional<std::string> frame_core::notice(const outbound& what) {
  auto found = turns_.find(what.message_id);
  if (found == turns_.end() || found->second.ended)
    return std::nullopt;
  auto& entry = found->second;
  entry.notice = plain(what.text);
  return text_frame(frame_kind::status, what, entry, entry.notice);
}

// -- ends ---------------------------------------------------------------------

std::string frame_core::end(const std::string& id, const std::string& outcome,
                            caf::optional<std::string> text) {
  auto& entry = turns_[id];
  entry.ended = true;
  contracts::turn_response response;
  response.text = std::move(text);
  response.metadata = about(id, entry, outcome);
  response.parts = entry.parts;
  return lines_of(contracts::finish_frame(response));
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
  frame.metadata = about(id, entry);
  return lines_of(frame);
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
