#include "actors/harness/tools/ask_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <algorithm>

namespace bureau::harness {

namespace {

/// `Colour (Which one?): red; blue; in their own words: green`
std::string answer_line(const contracts::ask_question& question,
                        const contracts::ask_answer& answer) {
  auto line = question.header + " (" + question.question + "):";
  auto separator = " ";
  for (const auto& option : question.options) {
    const auto& chosen = answer.selected_option_ids;
    if (std::find(chosen.begin(), chosen.end(), option.id) == chosen.end())
      continue;
    line += separator + option.label;
    separator = "; ";
  }
  if (answer.custom_reply)
    line += separator + ("in their own words: " + *answer.custom_reply);
  return line;
}

std::string answer_lines(const contracts::ask_snapshot& ask) {
  std::string result;
  for (size_t i = 0; i < contracts::active_question(ask); ++i)
    result += "\n" + answer_line(ask.questions[i], ask.answers[i]);
  return result;
}

std::string told(const contracts::ask_snapshot& ask) {
  using enum contracts::ask_status;
  auto partly = ask.answers.empty()
                  ? std::string{}
                  : "\nAnswered before that:" + answer_lines(ask);
  switch (ask.status) {
  case answered:
    return "The user answered." + answer_lines(ask);
  case expired:
    return "The user did not answer in time. Go on without the answer if you "
           "can, or say in your reply what you need to know."
           + partly;
  case cancelled:
    return "The question was withdrawn before it was answered." + partly;
  case pending:
    break;
  }
  return "The question is still open.";
}

} // namespace

tool_outcome asked_outcome(const contracts::ask_snapshot& ask) {
  auto result = text_outcome(told(ask));
  result.details = json_text{json::print(contracts::to_json(ask))};
  return result;
}

tool_outcome unasked_outcome(const caf::error& reason) {
  switch (code_of(reason)) {
  case errc::bad_request:
  case errc::conflict:
  case errc::queue_full:
    return failed_outcome(sentence_of(reason));
  default:
    return failed_outcome("Nobody can be asked here just now. Put the question "
                          "into your answer instead and end your turn.");
  }
}

} // namespace bureau::harness
