#include "actors/harness/continuation_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::harness;

namespace {

constexpr int64_t some_time = 1'767'225'600'000;

transcript_message user(std::string text) {
  return user_message(std::move(text), some_time);
}

transcript_message says(std::string text,
                        stop_reason stop = stop_reason::stop) {
  transcript_message result;
  result.role = message_role::assistant;
  result.content.push_back(text_block(std::move(text)));
  result.stop = stop;
  return result;
}

transcript_message brings(std::string text) {
  transcript_message result;
  result.role = message_role::tool_result;
  result.content.push_back(text_block(std::move(text)));
  return result;
}

std::optional<contracts::continuation_context>
kept_of(const std::vector<transcript_message>& transcript) {
  return continuation_of("console:local", "run-1", "build it", transcript,
                         some_time);
}

std::string words(const contracts::continuation_context& context) {
  std::string result;
  for (const auto& message : context.messages)
    result += (result.empty() ? "" : " | ") + to_string(message.role) + " "
              + message.content;
  return result;
}

} // namespace

TEST_CASE("what a run knew ends with its question and its answer") {
  auto context = kept_of({user("hello"), says("hi"), user("build it"),
                          says("I start it.", stop_reason::tool_use),
                          brings("pj-1 is running"), user("[ada]: and test it"),
                          says("It runs.")});
  REQUIRE(context);
  CHECK(words(*context)
        == "user hello | assistant hi | user build it\n\n[ada]: and test it | "
           "assistant I start it.\n\nIt runs.");
  CHECK(context->origin_run_id == "run-1");
  CHECK(context->history_boundary == "run-1");
  CHECK(contracts::check_continuation_origin_context(to_json(*context))
        == contracts::continuation_fault::none);
}

TEST_CASE("a run without an answer leaves nothing to go on from") {
  CHECK_FALSE(kept_of({}));
  CHECK_FALSE(kept_of({user("build it")}));
  CHECK_FALSE(kept_of({user("build it"), says("", stop_reason::stop)}));
  CHECK_FALSE(kept_of({user("build it"), says("cut", stop_reason::error)}));
  CHECK_FALSE(kept_of({user("another one"), says("done")}));
}

TEST_CASE("the oldest go when the context is too long") {
  std::vector<transcript_message> many;
  for (auto i = 0; i < 100; ++i)
    many.push_back(user("m" + std::to_string(i)));
  many.push_back(user("build it"));
  many.push_back(says("It runs."));
  auto context = kept_of(many);
  REQUIRE(context);
  CHECK(context->messages.size() == contracts::continuation_max_messages);
  CHECK(context->messages.front().content == "m38");
  for (auto& message : many)
    if (text_of(message) != "build it" && text_of(message) != "It runs.")
      message.content.front().text.append(30'000, 'x');
  context = kept_of(many);
  REQUIRE(context);
  CHECK(context->messages.size() == 10);
  CHECK(context->messages.back().content == "It runs.");
}

TEST_CASE("one long message is cut, not refused") {
  auto context =
    kept_of({user("build it"), says(std::string(100'000, 'a') + "\xc3\xa4")});
  REQUIRE(context);
  CHECK(context->messages.back().content.size()
        == contracts::continuation_max_message_bytes);
}

TEST_CASE("a pinned context takes the place of the session's messages") {
  auto context =
    kept_of({user("hello"), says("hi"), user("build it"), says("It runs.")});
  REQUIRE(context);
  session_context session;
  session.messages = {user("said since")};
  session.entry_ids = {"e1"};
  pin(session, *context);
  REQUIRE(session.messages.size() == 4);
  CHECK(session.entry_ids.empty());
  CHECK(session.messages[1].role == message_role::assistant);
  CHECK(text_of(session.messages[2]) == "build it");
  CHECK(session.messages[3].timestamp_ms == some_time);
}

TEST_CASE("of what was held back only question and answer are stored") {
  CHECK(question_and_answer({}).empty());
  CHECK(
    question_and_answer({user("q"), says("no", stop_reason::error)}).empty());
  auto both = question_and_answer(
    {user("q"), says("no", stop_reason::error), says("yes")});
  REQUIRE(both.size() == 2);
  CHECK(text_of(both[1]) == "yes");
}
