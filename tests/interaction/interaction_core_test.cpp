#include "actors/interaction/interaction_core.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::interaction;
using contracts::ask_refusal;
using contracts::ask_status;

namespace {

contracts::ask_snapshot make_ask(std::string id, size_t questions = 1) {
  contracts::ask_snapshot result;
  result.interaction_id = std::move(id);
  for (size_t i = 0; i < questions; ++i) {
    contracts::ask_question question;
    question.id = "q" + std::to_string(i);
    question.question = "Which?";
    question.options = {{question.id + "o0", "red", "as roses"},
                        {question.id + "o1", "blue", "as the sky"}};
    result.questions.push_back(std::move(question));
  }
  return result;
}

contracts::ask_submission reply(std::string id, std::string question = "q0",
                                std::string option = "q0o1") {
  return {"console:local",
          std::move(id),
          {{std::move(question), {std::move(option)}, caf::none}}};
}

} // namespace

TEST_CASE("a conversation has one open ask") {
  interaction_core core;
  CHECK_FALSE(core.open("console:local", make_ask("a")));
  CHECK(code_of(core.open("console:local", make_ask("b"))) == errc::conflict);
  CHECK_FALSE(core.open("console:lab", make_ask("c")));
  REQUIRE(core.pending("console:local") != nullptr);
  CHECK(core.pending("console:local")->interaction_id == "a");
  CHECK(core.pending("console:else") == nullptr);
  CHECK(core.size() == 2);
}

TEST_CASE("answers come question by question") {
  interaction_core core;
  core.open("console:local", make_ask("a", 2));
  auto first = core.submit(reply("a"));
  CHECK_FALSE(first.refusal);
  CHECK(first.snapshot->status == ask_status::pending);
  CHECK(core.size() == 1);
  auto wrong = core.submit(reply("a"));
  CHECK(*wrong.refusal == ask_refusal::invalid_answer);
  CHECK(wrong.snapshot->answers.size() == 1);
  auto second = core.submit(reply("a", "q1", "q1o0"));
  CHECK_FALSE(second.refusal);
  CHECK(second.snapshot->status == ask_status::answered);
  CHECK(core.size() == 0);
}

TEST_CASE("late answers are told from wrong ones") {
  interaction_core core;
  CHECK(*core.submit(reply("a")).refusal == ask_refusal::not_found);
  core.open("console:local", make_ask("a"));
  auto other = core.submit(reply("z"));
  CHECK(*other.refusal == ask_refusal::stale);
  CHECK(other.snapshot->interaction_id == "a");
  CHECK(core.settle("console:local", ask_status::expired)->status
        == ask_status::expired);
  CHECK_FALSE(core.settle("console:local", ask_status::expired));
  auto late = core.submit(reply("a"));
  CHECK(*late.refusal == ask_refusal::stale);
  CHECK_FALSE(late.snapshot);
}

TEST_CASE("asks and their memory are bounded") {
  interaction_core core;
  for (size_t i = 0; i < asks_open; ++i)
    CHECK_FALSE(core.open("console:c" + std::to_string(i), make_ask("a")));
  CHECK(code_of(core.open("console:local", make_ask("b"))) == errc::queue_full);
  core.settle("console:c0", ask_status::cancelled);
  for (size_t i = 0; i < asks_remembered; ++i) {
    CHECK_FALSE(core.open("console:local", make_ask("b" + std::to_string(i))));
    core.settle("console:local", ask_status::cancelled);
  }
  CHECK(*core.submit(reply("a")).refusal == ask_refusal::not_found);
  CHECK(*core.submit(reply("b0")).refusal == ask_refusal::stale);
}
