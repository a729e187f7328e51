#pragma once

#include "messages/contracts/ask.hpp"

#include <string>
#include <string_view>

/// Questions of an agent at the console: numbered options, and lines that
/// answer. Pure.
namespace bureau::console {

/// The first open question as it is printed; "" when none is open.
/// @param with_message also what the agent says before its questions
std::string question_text(const contracts::ask_snapshot& ask,
                          bool with_message);

/// A line as the answer to the first open question, or one sentence why it is
/// none.
struct line_answer {
  contracts::ask_answer answer;
  std::string fault;
};

/// A number takes an option, several take several where that may be; anything
/// else is the user's own words.
/// @pre a question is open
line_answer read_answer(const contracts::ask_snapshot& ask,
                        std::string_view line);

/// How an ask ended, in one sentence.
std::string end_text(contracts::ask_status status);

/// Whether a line is a message even while a question is open: commands and the
/// magic word.
bool overrides_question(std::string_view line);

} // namespace bureau::console
