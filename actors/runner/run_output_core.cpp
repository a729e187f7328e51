#include "actors/runner/run_output_core.hpp"

#include "actors/delivery/stream_end_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/activity_line.hpp"
#include "messages/contracts/notify_suppression.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::runner {

namespace {

constexpr std::string_view silence_mark = "[SILENT]";
constexpr const char* thinking = "Thinking…";
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

/// What a tool answered, as text; the first of it when it is long.
struct told_text {
  json_text text;
  bool cut = false;
};

told_text told_content(const tool_outcome& outcome) {
  // Tools keep what they show a model well within it.
  constexpr size_t room = 2 * limits::tool_output_bytes;
  std::string text;
  auto cut = false;
  for (const auto& block : outcome.content) {
    if (block.kind != block_kind::text)
      continue;
    if (text.size() >= room) {
      cut = true;
      break;
    }
    if (!text.empty())
      text += '\n';
    auto piece = text::prefix_bytes(block.text, room);
    cut = cut || piece.size() < block.text.size();
    text += piece;
  }
  if (text.empty())
    return {};
  return {json_text{json::print(json::bj::value(text))}, cut};
}

/// What the session's writer makes of a call.
contracts::tool_history history_of(const harness_event& event) {
  contracts::tool_history result;
  result.terminal_state = event.outcome.is_error
                            ? contracts::tool_terminal_state::error
                            : contracts::tool_terminal_state::success;
  auto details = json::parse(event.outcome.details.text);
  auto fields = details ? details.value.if_object() : nullptr;
  auto record =
    fields != nullptr ? json::member(*fields, "truncation") : nullptr;
  if (auto cut = record != nullptr ? record->if_object() : nullptr) {
    if (auto told = json::bool_member(*cut, "truncated"))
      result.truncated = *told;
    if (auto bytes = json::int_member(*cut, "totalBytes"))
      result.original_bytes = *bytes;
    if (auto bytes = json::int_member(*cut, "outputBytes"))
      result.retained_bytes = *bytes;
  }
  return result;
}

contracts::stream_event tool_completed(const harness_event& event) {
  constexpr int64_t us_per_ms = 1000;
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_completed;
  result.id = event.call_id;
  result.name = event.tool_name;
  auto content = told_content(event.outcome);
  result.content = std::move(content.text);
  if (content.cut)
    result.metadata = json_text{R"({"truncated":true})"};
  if (event.outcome.details.text != "{}")
    result.structured_content = event.outcome.details;
  result.is_error = event.outcome.is_error;
  result.duration_us = event.duration_ms * us_per_ms;
  result.history = history_of(event);
  return result;
}

contracts::stream_event request_event(contracts::provider_phase phase,
                                      const std::string& model) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::provider_status;
  result.phase = phase;
  result.model = model;
  return result;
}

contracts::stream_event usage_so_far(const usage& spent,
                                     const std::string& model) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::usage_update;
  result.model = model;
  result.cumulative_micro_usd = spent.cost_total_micro;
  result.tokens = contracts::token_counts{spent.input, spent.output,
                                          spent.cache_read, spent.cache_write};
  return result;
}

contracts::stream_event budget_warning(const harness_event& event) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::runtime_warning;
  result.text = "The run reached its budget: " + event.text;
  result.warning_kind = "budget";
  return result;
}

contracts::stream_event retry_started(const std::string& model,
                                      const harness_event& event) {
  auto result = request_event(contracts::provider_phase::retry_started, model);
  result.retry_index = event.attempt;
  if (!event.text.empty())
    result.reason = event.text;
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
  // Files without a word are something to report.
  auto nothing = text::is_blank(outcome.final_text)
                   ? result.parts.empty()
                   : contracts::suppresses_notification(outcome.final_text);
  if (asks_for_silence(outcome.final_text)
      || (origin == turn_origin::event && nothing)) {
    result.suppressed = true;
    result.parts.clear();
    return result;
  }
  if (!text::is_blank(outcome.final_text))
    result.text = bounded(outcome.final_text);
  else if (result.parts.empty())
    result.text = std::string{delivery::empty_answer};
  return result;
}

contracts::stream_event run_ended(const prompt_outcome& outcome) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::runtime_telemetry;
  result.telemetry_kind = "run_ended";
  result.data = json_text{
    json::print(json::bj::object{{"stop", to_string(outcome.stop)},
                                 {"llmCalls", outcome.stats.llm_calls},
                                 {"toolCalls", outcome.stats.tool_calls},
                                 {"durationMs", outcome.stats.duration_ms}})};
  return result;
}

contracts::stream_event memory_recalled(std::string source, size_t bytes) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::memory_recalled;
  result.source = std::move(source);
  result.bytes = static_cast<int64_t>(bytes);
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
    if (event.message.role == message_role::assistant)
      reply_ended(out, event.message);
    else if (event.message.role == message_role::tool_result)
      call_ended(out, event.message.tool_call_id, true);
    break;
  case harness_event_kind::agent_start:
    // Nobody waits for a scheduled turn.
    if (style_.origin != turn_origin::event)
      out.push_back(call(verb::status, thinking));
    break;
  case harness_event_kind::turn_start:
    out.push_back(call(
      request_event(contracts::provider_phase::request_started, style_.model)));
    break;
  case harness_event_kind::tool_start:
    arguments_[event.call_id] = event.arguments;
    out.push_back(call(tool_started(event)));
    break;
  case harness_event_kind::tool_end: {
    auto told = tool_completed(event);
    if (auto begun = arguments_.extract(event.call_id))
      told.arguments = std::move(begun.mapped());
    ended_.push_back(std::move(told));
    break;
  }
  case harness_event_kind::retry_start:
    out.push_back(call(retry_started(style_.model, event)));
    break;
  case harness_event_kind::input_applied:
    out.push_back(call(steered(event, style_.roots)));
    out.push_back(call(steering_done(out.back().event)));
    break;
  case harness_event_kind::budget_exceeded:
    out.push_back(call(budget_warning(event)));
    break;
  case harness_event_kind::agent_end:
    lose_open_calls(out);
    break;
  case harness_event_kind::turn_end:
  case harness_event_kind::retry_end:
    break;
  }
  return out;
}

void run_output_core::reply_ended(output_calls& out,
                                  const transcript_message& reply) {
  if (!asks_for_silence(held_))
    flush(out);
  auto done =
    request_event(contracts::provider_phase::request_completed, style_.model);
  if (reply.stop == stop_reason::aborted)
    done.cancelled = true;
  out.push_back(call(std::move(done)));
  if (reply.spent == usage{})
    return;
  spent_ += reply.spent;
  out.push_back(call(usage_so_far(spent_, style_.model)));
}

void run_output_core::call_ended(output_calls& out, const std::string& id,
                                 bool persisted) {
  auto found = std::find_if(ended_.begin(), ended_.end(),
                            [&](const auto& item) { return item.id == id; });
  if (found == ended_.end())
    return;
  found->history->persisted = persisted;
  out.push_back(call(std::move(*found)));
  ended_.erase(found);
}

void run_output_core::lose_open_calls(output_calls& out) {
  while (!ended_.empty()) {
    auto id = ended_.front().id;
    call_ended(out, id, false);
  }
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
