#pragma once

#include "messages/contracts/continuation.hpp"
#include "messages/interfaces/session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a run knew at its end, for a turn that goes on from there (agent
/// contracts, 2.4 and rules 116 and 117). Pure.
namespace bureau::harness {

/// What was said until the end of a run, its own question and answer last. The
/// oldest go until the rest keeps to the bounds of the contract; what tools
/// brought is in the answer, as far as the model told it.
/// @param question text of the prompt
/// @param transcript to its end, which is the answer
/// @returns nothing when the run has no answer, or the contract takes none of
/// it
std::optional<contracts::continuation_context> continuation_of(
  std::string conversation_id, const std::string& run,
  std::string_view question, const std::vector<transcript_message>& transcript,
  int64_t captured_ms);

/// Puts exactly what was kept in the place of the session's own messages.
void pin(session_context& session, const contracts::continuation_context& kept);

/// The first message and the answer of a run whose messages were held back;
/// none when it has no answer.
std::vector<transcript_message>
question_and_answer(std::vector<transcript_message> held);

} // namespace bureau::harness
