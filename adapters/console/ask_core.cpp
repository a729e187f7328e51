#include "adapters/console/ask_core.hpp"

#include "messages/text/command_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace bureau::console {

namespace {

/// The numbers of a line that holds nothing else, separated by white space or
/// commas. A number that is too large is 0.
std::optional<std::vector<size_t>> numbers_of(std::string_view line) {
  constexpr size_t digits_max = 3;
  std::vector<size_t> result;
  size_t value = 0;
  size_t digits = 0;
  auto complete = [&] {
    if (digits > 0)
      result.push_back(digits > digits_max ? 0 : value);
    value = 0;
    digits = 0;
  };
  for (auto c : line) {
    if (c >= '0' && c <= '9') {
      ++digits;
      if (digits <= digits_max)
        value = value * 10 + static_cast<size_t>(c - '0');
    } else if (c == ' ' || c == '\t' || c == ',') {
      complete();
    } else {
      return std::nullopt;
    }
  }
  complete();
  if (result.empty())
    return std::nullopt;
  return result;
}

/// Text in one line, so that it cannot look like more options than there are.
std::string one_line(std::string_view text) {
  std::string result{text::trim(text)};
  std::replace_if(
    result.begin(), result.end(),
    [](char c) { return c == '\n' || c == '\r' || c == '\v' || c == '\f'; },
    ' ');
  return result;
}

} // namespace

std::string question_text(const contracts::ask_snapshot& ask,
                          bool with_message) {
  auto at = contracts::active_question(ask);
  if (at == ask.questions.size())
    return {};
  const auto& question = ask.questions[at];
  std::string result;
  if (with_message && ask.message)
    result = *ask.message + "\n";
  result += one_line(question.header) + ": " + question.question;
  size_t number = 0;
  for (const auto& option : question.options)
    result += "\n  " + std::to_string(++number) + ". " + one_line(option.label)
              + " - " + one_line(option.description);
  result += question.multi_select
              ? "\nType one or more numbers, or your own words."
              : "\nType a number, or your own words.";
  return result;
}

line_answer read_answer(const contracts::ask_snapshot& ask,
                        std::string_view line) {
  const auto& question = ask.questions[contracts::active_question(ask)];
  line_answer result;
  auto& answer = result.answer;
  answer.question_id = question.id;
  auto text = text::trim(line);
  auto numbers = numbers_of(text);
  if (!numbers) {
    answer.custom_reply = std::string{text};
    return result;
  }
  auto& chosen = answer.selected_option_ids;
  for (auto number : *numbers) {
    if (number == 0 || number > question.options.size()) {
      result.fault = "Type a number from 1 to "
                     + std::to_string(question.options.size())
                     + ", or your own words.";
      return result;
    }
    const auto& id = question.options[number - 1].id;
    if (std::find(chosen.begin(), chosen.end(), id) == chosen.end())
      chosen.push_back(id);
  }
  if (chosen.size() > 1 && !question.multi_select)
    result.fault = "Type one number, or your own words.";
  return result;
}

std::string end_text(contracts::ask_status status) {
  switch (status) {
  case contracts::ask_status::answered:
    return "The question is answered.";
  case contracts::ask_status::expired:
    return "The question waited too long and is closed.";
  case contracts::ask_status::cancelled:
    return "The question was withdrawn.";
  case contracts::ask_status::pending:
    break;
  }
  return {};
}

bool overrides_question(std::string_view line) {
  return text::trim(line).starts_with('/') || text::is_stop_word(line);
}

} // namespace bureau::console
