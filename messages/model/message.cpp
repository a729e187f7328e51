#include "messages/model/message.hpp"

namespace bureau {

usage& operator+=(usage& sum, const usage& addend) {
  sum.input += addend.input;
  sum.output += addend.output;
  sum.cache_read += addend.cache_read;
  sum.cache_write += addend.cache_write;
  sum.cache_write_1h += addend.cache_write_1h;
  sum.reasoning += addend.reasoning;
  sum.total_tokens += addend.total_tokens;
  sum.cost_input_micro += addend.cost_input_micro;
  sum.cost_output_micro += addend.cost_output_micro;
  sum.cost_cache_read_micro += addend.cost_cache_read_micro;
  sum.cost_cache_write_micro += addend.cost_cache_write_micro;
  sum.cost_total_micro += addend.cost_total_micro;
  return sum;
}

std::string to_string(message_role role) {
  switch (role) {
  case message_role::user:
    return "user";
  case message_role::assistant:
    return "assistant";
  case message_role::tool_result:
    return "toolResult";
  case message_role::custom:
    return "custom";
  case message_role::compaction_summary:
    return "compactionSummary";
  case message_role::branch_summary:
    return "branchSummary";
  }
  return "unknown";
}

std::string to_string(stop_reason reason) {
  switch (reason) {
  case stop_reason::stop:
    return "stop";
  case stop_reason::length:
    return "length";
  case stop_reason::tool_use:
    return "toolUse";
  case stop_reason::error:
    return "error";
  case stop_reason::aborted:
    return "aborted";
  }
  return "unknown";
}

transcript_message user_message(std::string text, int64_t timestamp_ms) {
  transcript_message result;
  result.content.push_back(text_block(std::move(text)));
  result.timestamp_ms = timestamp_ms;
  return result;
}

std::string text_of(const transcript_message& message) {
  std::string result;
  for (const auto& block : message.content)
    if (block.kind == block_kind::text)
      result += block.text;
  return result;
}

} // namespace bureau
