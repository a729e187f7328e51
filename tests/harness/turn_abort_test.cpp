#include "tests/harness/loop_story.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

namespace {

void ends_aborted(const loop_story& story) {
  REQUIRE(story.is_settled());
  CHECK(story.outcome().stop == stop_reason::aborted);
  CHECK(story.outcome().final_text.empty());
  CHECK(story.outcome().error_sentence.empty());
  CHECK(story.loop.is_over());
}

} // namespace

// -- abort, phase by phase ----------------------------------------------------

TEST_CASE("abort before anything is stored leaves no trace") {
  loop_story story;
  story.begin();
  story.take();
  story.abort();
  story.expect({"settle aborted"});
  ends_aborted(story);
  story.open_ok();
  story.expect({});
}

TEST_CASE("abort while the user message is stored: no model call") {
  loop_story story;
  story.begin();
  story.open_ok();
  story.take();
  story.abort();
  story.expect({"grace 4000"});
  story.append_ok();
  story.expect({"agent_start", "turn_start", "message_start user",
                "message_end user", "append aborted"});
  story.append_ok();
  story.expect({"message_start assistant", "message_end assistant", "turn_end",
                "agent_end", "settle aborted"});
  ends_aborted(story);
  CHECK(story.outcome().stats.llm_calls == 0);
}

TEST_CASE("abort while streaming: the partial reply is stored as aborted") {
  loop_story story;
  story.reach_call();
  story.delta(stream_kind::start);
  story.delta(stream_kind::text_delta, "par");
  story.take();
  story.abort();
  story.expect({"cancel", "grace 4000"});
  story.delta(stream_kind::text_delta, "tial");
  story.expect({});
  story.reply(answer("partial", stop_reason::aborted),
              failure_of(model_error_class::cancelled));
  story.append_ok();
  story.expect({"append aborted", "message_end assistant", "turn_end",
                "agent_end", "settle aborted"});
  ends_aborted(story);
  CHECK(story.stored().back().content[0].text == "partial");
  CHECK(story.outcome().stats.llm_calls == 1);
}

TEST_CASE("abort that meets a finished answer still counts as an abort") {
  loop_story story;
  story.reach_call();
  story.abort();
  story.reply(answer("too late"));
  story.append_ok();
  ends_aborted(story);
  CHECK(text_of(story.stored().back()) == "too late");
}

TEST_CASE("abort while a reply with calls is stored: the first call is "
          "answered, none runs") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.take();
  story.abort();
  story.append_ok();
  story.expect({"grace 4000", "message_start assistant",
                "message_end assistant", "tool_start c1", "tool_end c1!",
                "append result(c1)!"});
  story.append_ok();
  story.append_ok();
  ends_aborted(story);
  CHECK(story.invocations().empty());
  CHECK(story.stored_roles() == "user assistant toolResult assistant");
  CHECK(story.stored().back().stop == stop_reason::aborted);
  CHECK(story.stored().back().content.empty());
}

TEST_CASE("abort while two tools run: both results, then the stub, no call") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.append_ok();
  story.take();
  story.abort();
  story.expect({"abort_tool 0", "abort_tool 1", "grace 4000"});
  story.tool(1, "stopped", true);
  story.tool(0, "finished anyway");
  story.append_ok();
  story.append_ok();
  story.expect({"tool_end c2!", "tool_end c1", "append result(c1) result(c2)!",
                "message_start toolResult", "message_end toolResult",
                "message_start toolResult", "message_end toolResult",
                "turn_end", "turn_start", "append aborted",
                "message_start assistant", "message_end assistant", "turn_end",
                "agent_end", "settle aborted"});
  ends_aborted(story);
  CHECK(story.outcome().stats.llm_calls == 1);
}

TEST_CASE("abort in a sequential batch: later calls get no result") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"seq", "echo", "echo"}));
  story.append_ok();
  story.take();
  story.abort();
  story.tool(0, "stopped", true);
  story.append_ok();
  story.append_ok();
  ends_aborted(story);
  CHECK(story.stored_roles() == "user assistant toolResult assistant");
  CHECK(story.outcome().stats.tool_calls == 1);
}

TEST_CASE("abort while a result is stored: the next call does not start") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"seq", "echo"}));
  story.append_ok();
  story.tool(0, "x");
  story.take();
  story.abort();
  story.append_ok();
  story.expect({"grace 4000", "message_start toolResult",
                "message_end toolResult", "turn_end", "turn_start",
                "append aborted"});
  story.append_ok();
  ends_aborted(story);
}

TEST_CASE("abort while sleeping before a retry") {
  loop_story story;
  story.reach_call();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.take();
  story.abort();
  story.expect({"wake", "retry_end failed 1", "settle aborted"});
  ends_aborted(story);
  story.retry_due();
  story.expect({});
}

TEST_CASE("a second abort and an abort after the end have no effect") {
  loop_story story;
  story.reach_call();
  story.abort();
  story.take();
  story.abort();
  story.expect({});
  story.reply(answer("", stop_reason::aborted),
              failure_of(model_error_class::cancelled));
  story.append_ok();
  story.take();
  story.abort();
  story.grace_over();
  story.duration_over();
  story.expect({});
}

TEST_CASE("a user's abort after a budget trip makes it the user's") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 10;
  loop_story story{setup};
  story.reach_call();
  story.wait(10);
  story.duration_over();
  story.take();
  story.abort();
  story.expect({});
  story.reply(answer("", stop_reason::aborted),
              failure_of(model_error_class::cancelled));
  story.append_ok();
  ends_aborted(story);
  CHECK_FALSE(story.outcome().stats.budget_reason.empty());
}

// -- peers that do not end ----------------------------------------------------

TEST_CASE("a model call that ignores its cancel is dropped, its text kept") {
  loop_story story;
  story.reach_call();
  story.delta(stream_kind::start);
  story.delta(stream_kind::text_delta, "so far");
  story.abort();
  story.take();
  story.grace_over();
  story.expect({"drop", "append aborted", "grace 500"});
  CHECK(story.last_stored_text() == "so far");
  story.append_ok();
  ends_aborted(story);
}

TEST_CASE("a tool that ignores its abort gets an error result") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"slow", "echo"}));
  story.append_ok();
  story.tool(1, "good");
  story.abort();
  story.take();
  story.grace_over();
  story.expect({"tool_end c1!", "append result(c1)! result(c2)", "grace 500"});
  CHECK(text_of(story.last_entries()[0].message).find("unknown")
        != std::string::npos);
  story.append_ok();
  story.append_ok();
  ends_aborted(story);
  story.tool(0, "at last");
  CHECK(story.stored_roles()
        == "user assistant toolResult toolResult assistant");
}

TEST_CASE("a store that ignores the abort does not hold the run") {
  loop_story story;
  story.reach_call();
  story.reply(answer("hello"));
  story.abort();
  story.take();
  story.grace_over();
  story.expect({"grace 500"});
  story.grace_over();
  story.expect({"turn_end", "agent_end", "settle aborted"});
  ends_aborted(story);
  story.append_ok();
  CHECK(story.take().empty());
}

TEST_CASE("a store that never takes the user message does not hold the run") {
  loop_story story;
  story.begin();
  story.open_ok();
  story.abort();
  story.grace_over();
  story.take();
  story.grace_over();
  story.expect({"settle aborted"});
}

// -- storage failures ---------------------------------------------------------

TEST_CASE("the user message cannot be stored: the prompt is refused") {
  loop_story story;
  story.begin();
  story.open_ok();
  story.take();
  story.append_fails();
  story.expect({"refuse disk"});
}

TEST_CASE("a reply cannot be stored: it is not shown as final and not the "
          "answer") {
  loop_story story;
  story.reach_call();
  story.delta(stream_kind::start);
  story.take();
  story.reply(answer("hello"));
  story.append_fails();
  story.expect({"append stop", "turn_end", "agent_end", "settle error"});
  CHECK(story.outcome().final_text.empty());
  CHECK(story.outcome().error_class == "disk");
  CHECK(story.outcome().error_sentence.find("disk") != std::string::npos);
}

TEST_CASE("a reply with calls cannot be stored: no tool runs") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_fails();
  CHECK(story.invocations().empty());
  CHECK(story.outcome().stop == stop_reason::error);
}

TEST_CASE("results cannot be stored: no further call") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.take();
  story.tool(0, "x");
  story.append_fails();
  story.expect({"tool_end c1", "append result(c1)", "turn_end", "agent_end",
                "settle error"});
}

TEST_CASE("the stub of an abort cannot be stored: the run settles aborted") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.abort();
  story.tool(0, "x");
  story.append_ok();
  story.take();
  story.append_fails();
  story.expect({"turn_end", "agent_end", "settle aborted"});
  CHECK(story.outcome().error_class == "disk");
}

TEST_CASE("late answers of the store have no effect") {
  loop_story story;
  story.reach_call();
  story.append_ok();
  story.append_fails();
  story.open_ok();
  story.open_fails(errc::disk);
  story.expect({});
}
