// Bodies that users and agents send: questions, answers, follow-ups.
#include "messages/contracts/ask.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

namespace {

void check_ask(ask_snapshot ask, fuzz::reader in) {
  fuzz::require(!ask.questions.empty()
                  && ask.questions.size() <= ask_max_questions,
                "an ask has 1 to 5 questions");
  for (const auto& question : ask.questions)
    fuzz::require(question.options.size() >= ask_min_options
                    && question.options.size() <= ask_max_options
                    && text::utf16_length(question.question)
                         <= ask_max_question,
                  "a question has its bounds");
  for (size_t step = 0; step < 8; ++step) {
    std::vector<ask_answer> answers(in.below(3));
    for (auto& answer : answers) {
      answer.question_id = "q" + std::to_string(in.below(6));
      for (auto more = in.below(3); more > 0; --more)
        answer.selected_option_ids.push_back(answer.question_id + "o"
                                             + std::to_string(in.below(4)));
      if (in.byte() % 2 == 1)
        answer.custom_reply = std::string{in.text()};
    }
    auto before = ask;
    auto taken = take_answers(ask, answers);
    fuzz::require(taken || ask == before, "a refused answer changes nothing");
    fuzz::require(active_question(ask) <= ask.questions.size(),
                  "the open question is one of them");
    fuzz::require(ask.answers.size() <= ask.questions.size(),
                  "a question is answered once");
  }
}

} // namespace

void fuzz::try_input(std::string_view input) {
  reader in{input};
  auto value = json_of(in.text());
  if (auto ask = parse_ask(value))
    check_ask(*ask, in);
  if (auto request = parse_live_input(value, "console:x")) {
    require(request->conversation_id == "console:x", "the route is the host's");
    auto refusal = check_live_input(*request, 0);
    require(refusal
              || text::utf16_length(request->text) <= live_input_max_characters,
            "a follow-up has a bound");
    require(check_live_input(*request, live_input_max_messages).has_value(),
            "a run takes so many");
  }
}
