#include "actors/runner/run_output_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/activity_line.hpp"
#include "messages/contracts/notify_suppression.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::runner {

namespace {

constexpr std::string_view silence_mark = "[SILENT]";
constexpr const char* thinking = "Thinking…";
constexpr const char* empty_answer = "No response text was returned.";
constexpr const char* failed_answer =
  "The model call failed. Send the message again to retry.";
constexpr const char* blocked_answer = "This request was blocked.";

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

/// A text within the bound of an answer; a longer one says where it was cut.
std::string bounded(const std::string& text) {
  if (text.size() <= limits::final_answer_bytes)
    return text;
  auto note = "\n\n(cut here: the answer was " + std::to_string(text.size())
              + " bytes long)";
  auto kept =
    text::prefix_bytes(text, limits::final_answer_bytes - note.size());
  return std::string{kept} + note;
}

contracts::stream_event tool_started(const harness_event& event) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_started;
  result.id = event.call_id;
  result.name = event.tool_name;
  result.arguments = event.arguments;
  return result;
}

/// As much of what a tool answered as its outcome is judged by.
json_text told_content(const tool_outcome& outcome) {
  constexpr size_t room = 4 * contracts::preview_scan_chars;
  std::string text;
  for (const auto& block : outcome.content) {
    if (block.kind != block_kind::text || text.size() >= room)
      continue;
    if (!text.empty())
      text += '\n';
    text += text::prefix_bytes(block.text, room);
  }
  if (text.empty())
    return {};
  return json_text{json::print(json::bj::value(text))};
}

contracts::stream_event tool_completed(const harness_event& event) {
  constexpr int64_t us_per_ms = 1000;
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_completed;
  result.id = event.call_id;
  result.name = event.tool_name;
  result.content = told_content(event.outcome);
  result.is_error = event.outcome.is_error;
  result.duration_us = event.duration_ms * us_per_ms;
  return result;
}

contracts::stream_event retry_started(const std::string& model,
                                      int32_t attempt) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::provider_status;
  result.phase = contracts::provider_phase::retry_started;
  result.model = model;
  result.retry_index = attempt;
  return result;
}

/// The call that stands for a message which reached the run at work.
contracts::stream_event steered(const harness_event& event,
                                const contracts::path_roots& roots) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_started;
  result.id = "live-input:" + event.call_id;
  result.name = contracts::format_live_input_activity_line(event.text, roots);
  result.metadata = json_text{json::print(json::bj::object{
    {"liveInput", true}, {"synthetic", true}, {"inputId", event.call_id}})};
  return result;
}

/// Its end, which comes at once; what was typed is in neither of them.
contracts::stream_event steering_done(contracts::stream_event started) {
  started.kind = contracts::stream_event_kind::tool_call_completed;
  started.content = json_text{R"("applied")"};
  started.is_error = false;
  return started;
}

output_call call(output_call::verb what, std::string text) {
  return {what, std::move(text), {}};
}

output_call call(contracts::stream_event event) {
  return {output_call::verb::event, {}, std::move(event)};
}

} // namespace

contracts::path_roots output_roots(const executor_info& executor,
                                   const path_context& paths) {
  // The home of the sandbox is the same in every office; on the host it is the
  // user's own, and no secret.
  auto sandboxed = executor.backend == "bwrap";
  return {paths.cwd, sandboxed ? "/root" : ""};
}

bool asks_for_silence(std::string_view text) {
  return without_leading_space(text).starts_with(silence_mark);
}

final_answer final_answer_of(const prompt_outcome& outcome,
                             turn_origin origin) {
  final_answer result;
  result.parts = outcome.parts;
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
  if (asks_for_silence(outcome.final_text)
      || (origin == turn_origin::event
          && contracts::suppresses_notification(outcome.final_text))) {
    result.suppressed = true;
    result.parts.clear();
    return result;
  }
  if (!text::is_blank(outcome.final_text))
    result.text = bounded(outcome.final_text);
  else if (result.parts.empty())
    result.text = empty_answer;
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
  case harness_event_kind::agent_start:
    // Nobody waits for a scheduled turn.
    if (style_.origin != turn_origin::event)
      out.push_back(call(verb::status, thinking));
    break;
  case harness_event_kind::tool_start:
    out.push_back(call(tool_started(event)));
    break;
  case harness_event_kind::tool_end:
    out.push_back(call(tool_completed(event)));
    break;
  case harness_event_kind::retry_start:
    out.push_back(call(retry_started(style_.model, event.attempt)));
    break;
  case harness_event_kind::input_applied:
    out.push_back(call(steered(event, style_.roots)));
    out.push_back(call(steering_done(out.back().event)));
    break;
  // A budget is told by the answer.
  case harness_event_kind::budget_exceeded:
  case harness_event_kind::agent_end:
  case harness_event_kind::turn_start:
  case harness_event_kind::turn_end:
  case harness_event_kind::retry_end:
    break;
  }
  return out;
}

void run_output_core::text_delta(output_calls& out, const std::string& delta) {
  if (style_.origin == turn_origin::event)
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

} // namespace bureau::runner
