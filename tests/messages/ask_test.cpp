#include "messages/contracts/ask.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

bj::object question(bool multi) {
  return {{"header", " Colour "},
          {"question", "Which one?"},
          {"options",
           bj::array{bj::object{{"label", "Red"}, {"description", "warm"}},
                     bj::object{{"label", "Blue"}, {"description", "cold"}}}},
          {"multiSelect", multi}};
}

/// One question with one choice, then one with several.
ask_snapshot two_questions() {
  auto ask = parse_ask(
    bj::object{{"message", "Please"},
               {"questions", bj::array{question(false), question(true)}}});
  REQUIRE(ask);
  ask->interaction_id = "x";
  return *ask;
}

ask_answer answer(std::string id, std::vector<std::string> selected,
                  caf::optional<std::string> custom = caf::none) {
  return {std::move(id), std::move(selected), std::move(custom)};
}

} // namespace

TEST_CASE("an ask gets its ids") {
  auto ask = two_questions();
  CHECK(
    json::print(to_json(ask))
    == R"({"interactionId":"x","message":"Please","questions":[)"
       R"({"id":"q0","header":"Colour","question":"Which one?","options":[)"
       R"({"id":"q0o0","label":"Red","description":"warm"},)"
       R"({"id":"q0o1","label":"Blue","description":"cold"}],"multiSelect":false},)"
       R"({"id":"q1","header":"Colour","question":"Which one?","options":[)"
       R"({"id":"q1o0","label":"Red","description":"warm"},)"
       R"({"id":"q1o1","label":"Blue","description":"cold"}],"multiSelect":true}],)"
       R"("answers":[],"activeQuestionIndex":0,"status":"pending",)"
       R"("createdAt":"","expiresAt":""})");
}

TEST_CASE("limits of an ask") {
  auto asks = [](const bj::object& one) {
    return static_cast<bool>(
      parse_ask(bj::object{{"questions", bj::array{one}}}));
  };
  auto with = [](const char* name, bj::value value) {
    auto result = question(false);
    result[name] = std::move(value);
    return result;
  };
  CHECK(asks(question(true)));
  CHECK(asks(with("header", "12 character")));
  CHECK_FALSE(asks(with("header", "13 characters")));
  CHECK(asks(with("header", "😀😀😀😀😀😀")));
  CHECK_FALSE(asks(with("header", "😀😀😀😀😀😀x")));
  CHECK_FALSE(asks(with("question", " ")));
  CHECK_FALSE(asks(with("question", bj::string(1001, 'x'))));
  CHECK_FALSE(asks(with("question", 5)));
  CHECK_FALSE(asks(with("multiSelect", "yes")));
  CHECK_FALSE(asks(with("options", bj::array{})));
  CHECK_FALSE(asks(with("options", bj::array(4, bj::object{}))));
  CHECK_FALSE(asks(with("options", bj::array(2, bj::value()))));
  CHECK_FALSE(parse_ask(bj::object{{"questions", bj::array{}}}));
  CHECK_FALSE(
    parse_ask(bj::object{{"questions", bj::array(6, question(false))}}));
  CHECK_FALSE(parse_ask(
    bj::object{{"message", " "}, {"questions", bj::array{question(false)}}}));
  for (const auto& value : {bj::value(), bj::value(5), bj::value(bj::array{})})
    CHECK_FALSE(parse_ask(value));
}

TEST_CASE("answers fit their questions or change nothing") {
  const std::vector<ask_answer> wrong[] = {
    {},
    {answer("q0", {"q0o0", "q0o1"})},
    {answer("q0", {})},
    {answer("q0", {"q0o0"}, std::string{"x"})},
    {answer("q0", {"q1o0"})},
    {answer("q0", {"nope"})},
    {answer("q0", {}, std::string{" "})},
    {answer("q1", {"q1o0"})},
    {answer("q0", {"q0o0"}), answer("q1", {"q1o0", "q1o0"})},
    {answer("q0", {"q0o0"}), answer("q0", {"q0o0"})},
    {answer("q0", {"q0o0"}), answer("q1", {"q1o0"}), answer("q2", {})},
  };
  for (const auto& answers : wrong) {
    auto ask = two_questions();
    CHECK_FALSE(take_answers(ask, answers));
    CHECK(ask == two_questions());
  }
}

TEST_CASE("answers come at once or one by one") {
  auto ask = two_questions();
  CHECK(take_answers(ask, {answer("q0", {}, std::string{" green "})}));
  CHECK(ask.answers.front().custom_reply == std::string{"green"});
  CHECK(active_question(ask) == 1);
  CHECK(ask.status == ask_status::pending);
  CHECK(take_answers(ask, {answer("q1", {}, std::string{"x"})}));
  CHECK(ask.status == ask_status::answered);
  CHECK_FALSE(take_answers(ask, {answer("q1", {"q1o0"})}));

  ask = two_questions();
  CHECK(take_answers(ask, {answer("q0", {"q0o1"}),
                           answer("q1", {"q1o1", "q1o0"}, std::string{"x"})}));
  CHECK(ask.status == ask_status::answered);

  ask = two_questions();
  ask.status = ask_status::expired;
  CHECK_FALSE(take_answers(ask, {answer("q0", {"q0o1"})}));
}
