#include "actors/harness/tool_call_core.hpp"

#include "actors/harness/argument_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::harness {

namespace {

const tool_definition* find_tool(const std::vector<tool_definition>& tools,
                                 const std::string& name) {
  auto found = std::find_if(tools.begin(), tools.end(), [&](const auto& tool) {
    return tool.name == name;
  });
  return found == tools.end() ? nullptr : &*found;
}

std::string unknown_tool(const std::string& name,
                         const std::vector<tool_definition>& tools) {
  auto text = "There is no tool named \"" + text::sanitize_utf8(name) + "\".";
  if (tools.empty())
    return text + " No tools are available.";
  text += " Available tools: ";
  for (size_t i = 0; i < tools.size(); ++i)
    text += (i == 0 ? "" : ", ") + tools[i].name;
  return text + ".";
}

} // namespace

std::vector<tool_slot> slots_of(const transcript_message& message) {
  std::vector<tool_slot> result;
  for (const auto& block : message.content) {
    if (block.kind != block_kind::tool_call)
      continue;
    tool_slot slot;
    slot.call = block;
    result.push_back(std::move(slot));
  }
  return result;
}

bool has_tool_calls(const transcript_message& message) {
  return std::any_of(
    message.content.begin(), message.content.end(),
    [](const auto& block) { return block.kind == block_kind::tool_call; });
}

bool is_sequential(const std::vector<tool_slot>& slots,
                   const std::vector<tool_definition>& tools) {
  return std::any_of(slots.begin(), slots.end(), [&](const auto& slot) {
    const auto* tool = find_tool(tools, slot.call.name);
    return tool != nullptr && tool->sequential;
  });
}

prepared_call prepare_call(const content_block& call,
                           const std::vector<tool_definition>& tools) {
  prepared_call result;
  const auto* tool = find_tool(tools, call.name);
  if (tool == nullptr) {
    result.refusal = failed_outcome(unknown_tool(call.name, tools));
    return result;
  }
  auto checked = check_arguments(tool->parameters, call.arguments);
  if (!checked.faults.empty()) {
    result.refusal = failed_outcome(
      argument_report(tool->name, checked.faults, call.arguments));
    return result;
  }
  result.tool = static_cast<size_t>(tool - tools.data());
  result.invocation.call_id = call.id;
  result.invocation.name = call.name;
  result.invocation.arguments = std::move(checked.arguments);
  return result;
}

tool_outcome aborted_outcome() {
  return failed_outcome("Operation aborted: the run was stopped before this "
                        "call began.");
}

tool_outcome unanswered_outcome() {
  return failed_outcome("Operation aborted: the tool did not end in time after "
                        "the run was stopped, so its effect is unknown.");
}

tool_outcome cut_reply_outcome() {
  return failed_outcome("Not run: the reply reached its output limit, so these "
                        "arguments may be incomplete. Issue the call again in "
                        "full, in smaller parts if need be.");
}

void normalise(tool_outcome& outcome) {
  auto left = limits::tool_result_bytes;
  for (auto& block : outcome.content) {
    if (block.kind != block_kind::text)
      continue;
    if (!text::is_valid_utf8(block.text))
      block.text = text::sanitize_utf8(block.text);
    if (block.text.size() > left)
      block.text = std::string{text::prefix_bytes(block.text, left)}
                   + "\n[The rest of this result was too long and is cut.]";
    left -= std::min(left, block.text.size());
  }
  if (outcome.is_error && outcome.details.empty())
    outcome.details = json_text{"{}"};
}

bool is_same_round(const std::vector<tool_slot>& left,
                   const std::vector<tool_slot>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const tool_slot& a, const tool_slot& b) {
                      return a.call.name == b.call.name
                             && a.call.arguments == b.call.arguments
                             && a.outcome.is_error == b.outcome.is_error
                             && a.outcome.content == b.outcome.content;
                    });
}

transcript_message result_message(const tool_slot& slot, int64_t now_ms) {
  transcript_message result;
  result.role = message_role::tool_result;
  result.content = slot.outcome.content;
  result.timestamp_ms = now_ms;
  result.tool_call_id = slot.call.id;
  result.tool_name = slot.call.name;
  result.is_error = slot.outcome.is_error;
  result.details = slot.outcome.details;
  return result;
}

} // namespace bureau::harness
