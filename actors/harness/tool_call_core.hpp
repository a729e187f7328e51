#pragma once

#include "messages/interfaces/harness.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Tool calls of one assistant message (note on the harness, section 3.4).
namespace bureau::harness {

/// A call on its way to its result.
struct tool_slot {
  enum class progress : uint8_t { waiting, running, done };
  content_block call;
  progress state = progress::waiting;
  /// Index into the tools of the run; meaningful while running.
  size_t tool = 0;
  tool_outcome outcome;
  /// Clock of the actor, milliseconds.
  int64_t started_ms = 0;
};

/// The calls in a message, in the order the model wrote them.
std::vector<tool_slot> slots_of(const transcript_message& message);

bool has_tool_calls(const transcript_message& message);

/// Whether the calls must run one after the other: one of them targets a tool
/// that is declared sequential.
bool is_sequential(const std::vector<tool_slot>& slots,
                   const std::vector<tool_definition>& tools);

/// A call that may run, or the outcome that answers it without running.
struct prepared_call {
  size_t tool = 0;
  tool_invocation invocation;
  std::optional<tool_outcome> refusal;
};

/// Looks the tool up and checks the arguments.
prepared_call prepare_call(const content_block& call,
                           const std::vector<tool_definition>& tools);

/// Outcomes of calls that did not run, or not to their end.
tool_outcome aborted_outcome();
tool_outcome unanswered_outcome();
tool_outcome cut_reply_outcome();

/// Brings an outcome into the form that is stored: valid UTF-8 of at most
/// limits::tool_result_bytes, an object for the details of an error.
void normalise(tool_outcome& outcome);

/// Whether two rounds asked the same and got the same, byte for byte: names and
/// arguments of the calls, what the model was shown of the results. Ids differ
/// from round to round and do not count.
bool is_same_round(const std::vector<tool_slot>& left,
                   const std::vector<tool_slot>& right);

/// The transcript message of a finished slot.
transcript_message result_message(const tool_slot& slot, int64_t now_ms);

} // namespace bureau::harness
