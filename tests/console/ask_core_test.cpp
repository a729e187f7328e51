#include "adapters/console/ask_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

namespace {

contracts::ask_snapshot make_ask(bool several) {
  contracts::ask_snapshot result;
  result.message = "Before I paint:";
  result.questions.push_back(
    {"q0",
     "Colour",
     "Which one?",
     {{"q0o0", "red", "as roses"}, {"q0o1", "blue", "as the sky"}},
     several});
  return result;
}

} // namespace

TEST_CASE("a question has numbered options") {
  CHECK(question_text(make_ask(false), true)
        == "Before I paint:\n"
           "Colour: Which one?\n"
           "  1. red - as roses\n"
           "  2. blue - as the sky\n"
           "Type a number, or your own words.");
  CHECK(question_text(make_ask(true), false)
        == "Colour: Which one?\n"
           "  1. red - as roses\n"
           "  2. blue - as the sky\n"
           "Type one or more numbers, or your own words.");
  auto done = make_ask(false);
  done.answers.push_back({"q0", {"q0o0"}, caf::none});
  CHECK(question_text(done, true).empty());
}

TEST_CASE("an option is one line, whatever its text") {
  auto ask = make_ask(false);
  ask.questions[0].header = "Colour\n";
  ask.questions[0].options[1] = {"q0o1", "blue\nish",
                                 "as the sky\r\n  3. fake"};
  CHECK(question_text(ask, false)
        == "Colour: Which one?\n"
           "  1. red - as roses\n"
           "  2. blue ish - as the sky    3. fake\n"
           "Type a number, or your own words.");
}

TEST_CASE("lines and what they answer") {
  struct row {
    const char* line;
    bool several;
    const char* chosen;
    const char* words;
    const char* fault;
  };
  constexpr auto range = "Type a number from 1 to 2, or your own words.";
  for (const auto& [line, several, chosen, words, fault] : {
         row{"1", false, "q0o0", "", ""},
         row{" 2 ", false, "q0o1", "", ""},
         row{"2 2", false, "q0o1", "", ""},
         row{"1 2", false, "", "", "Type one number, or your own words."},
         row{"1,2", true, "q0o0q0o1", "", ""},
         row{"2, 1", true, "q0o1q0o0", "", ""},
         row{"0", false, "", "", range},
         row{"3", true, "", "", range},
         row{"99999999999999999999", false, "", "", range},
         row{"2 of them", false, "", "2 of them", ""},
         row{" green ", true, "", "green", ""},
         row{",", false, "", ",", ""},
       }) {
    CAPTURE(std::string{line});
    auto read = read_answer(make_ask(several), line);
    CHECK(read.fault == fault);
    if (!read.fault.empty())
      continue;
    std::string ids;
    for (const auto& id : read.answer.selected_option_ids)
      ids += id;
    CHECK(ids == chosen);
    CHECK(read.answer.custom_reply.value_or("") == words);
    auto ask = make_ask(several);
    CHECK(take_answers(ask, {read.answer}));
  }
}

TEST_CASE("commands and stop are messages even now") {
  CHECK(overrides_question("stop"));
  CHECK(overrides_question(" /queue steer"));
  CHECK_FALSE(overrides_question("1"));
  CHECK_FALSE(overrides_question("stop that"));
}

TEST_CASE("every end has its sentence") {
  using enum contracts::ask_status;
  for (auto status : {answered, expired, cancelled})
    CHECK_FALSE(end_text(status).empty());
  CHECK(end_text(pending).empty());
}
