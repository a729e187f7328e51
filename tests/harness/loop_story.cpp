#include "tests/harness/loop_story.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace bureau::test {

namespace {

using namespace bureau::harness;

constexpr int64_t story_wall_ms = 1'767'225'600'000;

std::string flag(bool raised) {
  return raised ? "!" : "";
}

std::string line_of(const session_entry& entry) {
  if (entry.kind == entry_kind::custom)
    return "cause";
  const auto& message = entry.message;
  switch (message.role) {
  case message_role::assistant:
    return to_string(message.stop);
  case message_role::tool_result:
    return "result(" + message.tool_call_id + ")" + flag(message.is_error);
  default:
    return to_string(message.role);
  }
}

std::string line_of(const harness_event& event) {
  switch (event.kind) {
  case harness_event_kind::message_start:
  case harness_event_kind::message_end: {
    auto name = event.kind == harness_event_kind::message_start
                  ? std::string{"message_start "}
                  : std::string{"message_end "};
    return name + to_string(event.message.role);
  }
  case harness_event_kind::message_update:
    return "message_update";
  case harness_event_kind::tool_start:
    return "tool_start " + event.call_id;
  case harness_event_kind::tool_end:
    return "tool_end " + event.call_id + flag(event.outcome.is_error);
  case harness_event_kind::retry_start:
    return "retry_start " + std::to_string(event.attempt) + " in "
           + std::to_string(event.delay_ms);
  case harness_event_kind::retry_end:
    return std::string{"retry_end "} + (event.text.empty() ? "ok" : "failed")
           + " " + std::to_string(event.attempt);
  case harness_event_kind::budget_exceeded:
    return "budget " + event.text;
  default:
    return to_string(event.kind);
  }
}

struct line_maker {
  std::string operator()(const effect::open_store&) const { return "open"; }
  std::string operator()(const effect::append& what) const {
    std::string result = "append";
    for (const auto& entry : what.entries)
      result += " " + line_of(entry);
    return result;
  }
  std::string operator()(const effect::emit& what) const {
    return line_of(what.event);
  }
  std::string operator()(const effect::call_model&) const { return "call"; }
  std::string operator()(const effect::cancel_model&) const { return "cancel"; }
  std::string operator()(const effect::drop_model&) const { return "drop"; }
  std::string operator()(const effect::run_tool& what) const {
    return "run " + what.invocation.name + " " + what.invocation.call_id;
  }
  std::string operator()(const effect::abort_tool& what) const {
    return "abort_tool " + std::to_string(what.slot);
  }
  std::string operator()(const effect::sleep& what) const {
    return "sleep " + std::to_string(what.delay_ms);
  }
  std::string operator()(const effect::wake&) const { return "wake"; }
  std::string operator()(const effect::limit_duration& what) const {
    return "limit " + std::to_string(what.delay_ms);
  }
  std::string operator()(const effect::grant_grace& what) const {
    return "grace " + std::to_string(what.delay_ms);
  }
  std::string operator()(const effect::refuse& what) const {
    return "refuse " + to_string(what.code);
  }
  std::string operator()(const effect::apply_inputs& what) const {
    std::string result = "applied";
    for (const auto& id : what.ids)
      result += " " + id;
    return result;
  }
  std::string operator()(const effect::settle& what) const {
    return "settle " + to_string(what.outcome.stop);
  }
};

tool_definition text_tool(const char* name, bool sequential) {
  tool_definition result;
  result.name = name;
  result.label = name;
  result.parameters =
    json_text{R"({"type":"object","properties":{"text":{"type":"string"}},)"
              R"("required":["text"]})"};
  result.sequential = sequential;
  return result;
}

} // namespace

loop_setup loop_story::setup() {
  loop_setup result;
  result.run = "run-1";
  result.message_id = "m1";
  result.text = "hi";
  result.model.id = "faux-1";
  result.model.api = "faux";
  result.model.provider = "faux";
  result.tools = {text_tool("echo", false), text_tool("slow", false),
                  text_tool("seq", true)};
  return result;
}

loop_story::loop_story(loop_setup what)
  : loop(std::move(what)), now_{story_wall_ms, 1000} {
}

void loop_story::wait(int64_t ms) {
  now_.wall_ms += ms;
  now_.clock_ms += ms;
}

void loop_story::follow(loop_effects effects) {
  for (auto& what : effects) {
    lines_.push_back(std::visit(line_maker{}, what));
    if (auto* append = std::get_if<effect::append>(&what))
      entries_ = append->entries;
    else if (auto* emit = std::get_if<effect::emit>(&what))
      events_.push_back(emit->event);
    else if (auto* run = std::get_if<effect::run_tool>(&what))
      invocations_.push_back(run->invocation);
    else if (auto* settle = std::get_if<effect::settle>(&what)) {
      outcome_ = settle->outcome;
      input_end_ = settle->inputs;
    }
  }
}

void loop_story::begin() {
  follow(loop.begin(now_));
}

void loop_story::open_ok(session_context context) {
  if (context.session_id.empty())
    context.session_id = "session-1";
  follow(loop.opened(std::move(context), now_));
}

void loop_story::open_fails(errc code) {
  follow(loop.open_failed(code, "it cannot be opened"));
}

void loop_story::append_ok() {
  for (const auto& entry : entries_)
    if (entry.kind == entry_kind::message)
      stored_.push_back(entry.message);
  follow(loop.appended(now_));
}

void loop_story::append_fails(errc code) {
  follow(loop.append_failed(code, "the disk is full", now_));
}

void loop_story::delta(stream_kind kind, std::string delta,
                       content_block block) {
  follow(loop.model_delta({kind, 0, std::move(delta), std::move(block)}, now_));
}

void loop_story::reply(transcript_message message, model_error failure,
                       uint64_t chance) {
  follow(
    loop.model_done({std::move(message), std::move(failure)}, now_, chance));
}

void loop_story::model_dies() {
  follow(loop.model_lost(now_));
}

void loop_story::tool(size_t slot, std::string text, bool is_error,
                      bool terminate) {
  tool_outcome outcome;
  if (!text.empty())
    outcome.content.push_back(text_block(std::move(text)));
  outcome.is_error = is_error;
  outcome.terminate = terminate;
  tool(slot, std::move(outcome));
}

void loop_story::tool(size_t slot, tool_outcome outcome) {
  follow(loop.tool_done(slot, std::move(outcome), now_));
}

void loop_story::retry_due() {
  follow(loop.retry_due(now_));
}

void loop_story::duration_over() {
  follow(loop.duration_over(now_));
}

void loop_story::abort() {
  follow(loop.abort(now_));
}

void loop_story::offer(const std::string& id, std::string text) {
  live_input input;
  input.id = id;
  input.typed = text;
  input.text = "[now] [ada]: " + std::move(text);
  input.received_ms = now_.wall_ms;
  loop.offer(std::move(input));
}

void loop_story::grace_over() {
  follow(loop.grace_over(now_));
}

void loop_story::reach_call() {
  begin();
  open_ok();
  append_ok();
  take();
}

std::vector<std::string> loop_story::take() {
  return std::exchange(lines_, {});
}

void loop_story::expect(const std::vector<std::string>& lines) {
  CHECK(take() == lines);
}

const prompt_outcome& loop_story::outcome() const {
  static const prompt_outcome none;
  REQUIRE(outcome_.has_value());
  return outcome_ ? *outcome_ : none;
}

std::string loop_story::last_stored_text() const {
  return entries_.empty() ? std::string{} : text_of(entries_.back().message);
}

std::string loop_story::stored_roles() const {
  std::string result;
  for (const auto& message : stored_)
    result += (result.empty() ? "" : " ") + to_string(message.role);
  return result;
}

transcript_message answer(std::string text, stop_reason stop) {
  transcript_message result;
  result.role = message_role::assistant;
  result.content.push_back(text_block(std::move(text)));
  result.stop = stop;
  result.spent.total_tokens = 10;
  return result;
}

transcript_message calling(const std::vector<std::string>& tools,
                           stop_reason stop) {
  transcript_message result;
  result.role = message_role::assistant;
  result.stop = stop;
  result.spent.total_tokens = 10;
  for (const auto& tool : tools) {
    content_block block;
    block.kind = block_kind::tool_call;
    block.id = "c" + std::to_string(result.content.size() + 1);
    block.name = tool;
    block.arguments = json_text{R"({"text":"x"})"};
    result.content.push_back(std::move(block));
  }
  return result;
}

transcript_message failing(std::string error_message) {
  transcript_message result;
  result.role = message_role::assistant;
  result.stop = stop_reason::error;
  result.error_message = std::move(error_message);
  return result;
}

model_error failure_of(model_error_class error, int64_t retry_after_ms) {
  model_error result;
  result.error = error;
  result.retry_after_ms = retry_after_ms;
  return result;
}

} // namespace bureau::test
