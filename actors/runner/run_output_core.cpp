#include "actors/runner/run_output_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <cctype>

namespace bureau::runner {

namespace {

constexpr std::string_view silence_mark = "[SILENT]";
constexpr std::string_view nothing_mark = "NOTHING_TO_REPORT";
constexpr const char* empty_answer = "No response text was returned.";
constexpr const char* failed_answer =
  "The model call failed. Send the message again to retry.";
constexpr const char* blocked_answer = "This request was blocked.";

bool same_ignoring_case(std::string_view left, std::string_view right) {
  auto lower = [](char c) {
    return std::tolower(static_cast<unsigned char>(c));
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

std::string_view without_leading_space(std::string_view text) {
  auto trimmed = text::trim(text);
  if (trimmed.empty())
    return trimmed;
  return text.substr(static_cast<size_t>(trimmed.data() - text.data()));
}

/// Whether more text could still make this begin with [SILENT].
bool may_become_silent(std::string_view text) {
  auto begin = without_leading_space(text);
  return begin.size() < silence_mark.size() ? silence_mark.starts_with(begin)
                                            : begin.starts_with(silence_mark);
}

/// One line for the eye: white space folded, bounded.
std::string folded(std::string_view label) {
  std::string line;
  for (auto c : label) {
    auto space = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    if (!space)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  auto clean = text::sanitize_utf8(line);
  auto kept = std::string{text::trim(clean)};
  if (text::code_point_length(kept) <= limits::activity_label_chars)
    return kept;
  size_t bytes = 0;
  for (size_t i = 0; i + 1 < limits::activity_label_chars; ++i)
    bytes += text::decode_at(kept, bytes).bytes;
  return kept.substr(0, bytes) + "…";
}

/// What the model calls this step; the tool's name when it does not say.
std::string label_of(const harness_event& event) {
  auto parsed = json::parse(event.arguments.text);
  if (parsed && parsed.value.is_object()) {
    auto label = folded(json::text_or_empty(parsed.value.as_object(), "label"));
    if (!label.empty())
      return label;
  }
  return folded(event.tool_name);
}

output_call call(output_call::verb what, std::string text) {
  return {what, std::move(text)};
}

} // namespace

bool suppresses_notification(std::string_view text) {
  auto trimmed = text::trim(text);
  if (trimmed.empty() || same_ignoring_case(trimmed, nothing_mark))
    return true;
  auto line = trimmed.rfind('\n');
  return line != std::string_view::npos
         && same_ignoring_case(text::trim(trimmed.substr(line + 1)),
                               nothing_mark);
}

bool asks_for_silence(std::string_view text) {
  return without_leading_space(text).starts_with(silence_mark);
}

final_answer final_answer_of(const prompt_outcome& outcome,
                             turn_origin origin) {
  final_answer result;
  if (!outcome.error_sentence.empty()) {
    result.text = outcome.error_sentence;
    return result;
  }
  if (outcome.blocked || outcome.stop == stop_reason::error) {
    result.text = outcome.blocked ? blocked_answer : failed_answer;
    return result;
  }
  if (!outcome.stats.budget_reason.empty()
      && outcome.stop != stop_reason::stop) {
    result.text = "I stopped because this run reached its budget ("
                  + outcome.stats.budget_reason
                  + "). Ask again with a smaller task.";
    return result;
  }
  if (asks_for_silence(outcome.final_text)) {
    result.suppressed = true;
    return result;
  }
  if (origin == turn_origin::event
      && suppresses_notification(outcome.final_text)) {
    result.suppressed = true;
    return result;
  }
  result.text =
    text::is_blank(outcome.final_text) ? empty_answer : outcome.final_text;
  return result;
}

output_calls run_output_core::event(const harness_event& event) {
  output_calls out;
  using verb = output_call::verb;
  switch (event.kind) {
  case harness_event_kind::message_start:
    if (event.message.role == message_role::assistant) {
      fresh_ = true;
      holding_ = true;
      held_.clear();
    }
    break;
  case harness_event_kind::message_update:
    if (event.update.kind == stream_kind::text_delta)
      text_delta(out, event.update.delta);
    break;
  case harness_event_kind::message_end:
    if (event.message.role == message_role::assistant
        && !asks_for_silence(held_))
      flush(out);
    break;
  case harness_event_kind::tool_start:
    tool_started(out, event);
    break;
  case harness_event_kind::tool_end:
    tool_ended(out, event);
    break;
  case harness_event_kind::retry_start:
    out.push_back(
      call(verb::activity, "_Retrying (" + std::to_string(event.attempt) + "/"
                             + std::to_string(limits::model_retries) + ")…_"));
    break;
  case harness_event_kind::budget_exceeded:
    out.push_back(
      call(verb::activity,
           "_Budget reached: "
             + (event.text.empty() ? std::string{"limit"} : folded(event.text))
             + "_"));
    break;
  case harness_event_kind::agent_start:
  case harness_event_kind::agent_end:
  case harness_event_kind::turn_start:
  case harness_event_kind::turn_end:
  case harness_event_kind::retry_end:
    break;
  }
  return out;
}

void run_output_core::text_delta(output_calls& out, const std::string& delta) {
  if (origin_ == turn_origin::event)
    return;
  held_ += delta;
  if (holding_ && may_become_silent(held_))
    return;
  flush(out);
}

void run_output_core::flush(output_calls& out) {
  if (held_.empty())
    return;
  holding_ = false;
  auto what =
    fresh_ && shown_ ? output_call::verb::replace : output_call::verb::append;
  fresh_ = false;
  shown_ = true;
  out.push_back(call(what, std::exchange(held_, {})));
}

void run_output_core::tool_started(output_calls& out,
                                   const harness_event& event) {
  auto label = label_of(event);
  labels_[event.call_id] = label;
  out.push_back(call(output_call::verb::activity, "• " + label));
}

void run_output_core::tool_ended(output_calls& out,
                                 const harness_event& event) {
  auto entry = labels_.extract(event.call_id);
  auto label = entry.empty() ? folded(event.tool_name) : entry.mapped();
  auto mark = event.outcome.is_error ? "✗ " : "✓ ";
  out.push_back(call(output_call::verb::activity, mark + label));
}

} // namespace bureau::runner
