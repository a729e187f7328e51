#include "actors/harness/continuation_core.hpp"

#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::harness {

namespace {

using contracts::continuation_message;
using contracts::continuation_role;

bool is_answer(const transcript_message& message) {
  return message.role == message_role::assistant
         && (message.stop == stop_reason::stop
             || message.stop == stop_reason::length)
         && !text::is_blank(text_of(message));
}

/// Adds a paragraph.
void add(std::string& text, const std::string& more) {
  if (text::is_blank(more))
    return;
  if (!text.empty())
    text += "\n\n";
  text += more;
}

std::string bounded(std::string_view content) {
  auto valid = text::sanitize_utf8(content);
  return std::string{
    text::prefix_bytes(valid, contracts::continuation_max_message_bytes)};
}

continuation_message message_of(continuation_role role,
                                std::string_view content) {
  continuation_message result;
  result.role = role;
  result.content = bounded(content);
  return result;
}

std::optional<continuation_role> role_of(const transcript_message& message) {
  switch (message.role) {
  case message_role::user:
    return continuation_role::user;
  case message_role::assistant:
    return continuation_role::assistant;
  case message_role::compaction_summary:
  case message_role::branch_summary:
    return continuation_role::system;
  default:
    return std::nullopt;
  }
}

std::string content_of(const transcript_message& message) {
  auto result = text_of(message);
  if (result.empty() && !message.summary.empty())
    return message.summary;
  return result;
}

} // namespace

std::optional<contracts::continuation_context> continuation_of(
  std::string conversation_id, const std::string& run,
  std::string_view question, const std::vector<transcript_message>& transcript,
  int64_t captured_ms) {
  if (transcript.empty() || !is_answer(transcript.back()))
    return std::nullopt;
  auto begin = transcript.size();
  for (auto i = transcript.size(); i-- > 0 && begin == transcript.size();)
    if (transcript[i].role == message_role::user
        && text_of(transcript[i]) == question)
      begin = i;
  if (begin == transcript.size())
    return std::nullopt;
  contracts::continuation_context result;
  result.conversation_id = std::move(conversation_id);
  result.origin_run_id = run;
  result.history_boundary = run;
  result.captured_at = text::iso_utc(captured_ms);
  auto& messages = result.messages;
  for (size_t i = 0; i < begin; ++i) {
    auto role = role_of(transcript[i]);
    auto content = content_of(transcript[i]);
    if (role && !text::is_blank(content))
      messages.push_back(message_of(*role, content));
  }
  // What was read on the way belongs to the question.
  std::string asked;
  std::string answered;
  for (auto i = begin; i < transcript.size(); ++i) {
    if (transcript[i].role == message_role::user)
      add(asked, text_of(transcript[i]));
    else if (transcript[i].role == message_role::assistant)
      add(answered, text_of(transcript[i]));
  }
  for (auto [role, content] :
       {std::pair{continuation_role::user, &asked},
        std::pair{continuation_role::assistant, &answered}}) {
    auto own = message_of(role, *content);
    own.run_id = run;
    own.timestamp = result.captured_at;
    messages.push_back(std::move(own));
  }
  auto fault = [&result] {
    return contracts::check_continuation_origin_context(to_json(result));
  };
  while (messages.size() > contracts::continuation_max_messages)
    messages.erase(messages.begin());
  auto why = fault();
  while (why == contracts::continuation_fault::size && messages.size() > 2) {
    messages.erase(messages.begin());
    why = fault();
  }
  if (why != contracts::continuation_fault::none)
    return std::nullopt;
  return result;
}

void pin(session_context& session,
         const contracts::continuation_context& kept) {
  session.messages.clear();
  session.entry_ids.clear();
  for (const auto& message : kept.messages) {
    transcript_message next;
    if (message.role == continuation_role::assistant) {
      content_block block;
      block.kind = block_kind::text;
      block.text = message.content;
      next.role = message_role::assistant;
      next.content.push_back(std::move(block));
    } else {
      next = user_message(message.content, 0);
    }
    if (message.timestamp)
      next.timestamp_ms = text::parse_iso(*message.timestamp).value_or(0);
    session.messages.push_back(std::move(next));
  }
}

std::vector<transcript_message>
question_and_answer(std::vector<transcript_message> held) {
  if (held.size() < 2 || !is_answer(held.back()))
    return {};
  std::vector<transcript_message> result;
  result.push_back(std::move(held.front()));
  result.push_back(std::move(held.back()));
  return result;
}

} // namespace bureau::harness
