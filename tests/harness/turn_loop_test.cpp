#include "actors/harness/sentence_core.hpp"
#include "messages/limits.hpp"
#include "tests/harness/loop_story.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::test;

namespace {

session_context context_with(std::vector<transcript_message> messages) {
  session_context result;
  result.session_id = "session-1";
  result.messages = std::move(messages);
  return result;
}

} // namespace

// -- order --------------------------------------------------------------------

TEST_CASE("a plain answer: stored before it is shown, then settled") {
  loop_story story;
  story.begin();
  story.expect({"open"});
  story.open_ok();
  story.expect({"append cause user"});
  story.append_ok();
  story.expect({"agent_start", "turn_start", "message_start user",
                "message_end user", "call"});
  story.delta(stream_kind::start);
  story.delta(stream_kind::text_start);
  story.delta(stream_kind::text_delta, "hel");
  story.expect({"message_start assistant", "message_update", "message_update"});
  story.reply(answer("hello"));
  story.expect({"append stop"});
  story.append_ok();
  story.expect(
    {"message_end assistant", "turn_end", "agent_end", "settle stop"});
  CHECK(story.outcome().final_text == "hello");
  CHECK(story.outcome().error_sentence.empty());
  CHECK(story.outcome().stats.llm_calls == 1);
  CHECK(story.outcome().stats.tool_calls == 0);
  CHECK(story.stored_roles() == "user assistant");
}

TEST_CASE("one tool call: the order of events is the contract's") {
  loop_story story;
  story.begin();
  story.open_ok();
  story.append_ok();
  story.delta(stream_kind::start);
  story.delta(stream_kind::tool_call_start);
  story.reply(calling({"echo"}));
  story.append_ok();
  story.wait(7);
  story.tool(0, "pong");
  story.append_ok();
  story.delta(stream_kind::start);
  story.reply(answer("done"));
  story.append_ok();
  story.expect({"open",
                "append cause user",
                "agent_start",
                "turn_start",
                "message_start user",
                "message_end user",
                "call",
                "message_start assistant",
                "message_update",
                "append toolUse",
                "message_end assistant",
                "tool_start c1",
                "run echo c1",
                "tool_end c1",
                "append result(c1)",
                "message_start toolResult",
                "message_end toolResult",
                "turn_end",
                "turn_start",
                "call",
                "message_start assistant",
                "append stop",
                "message_end assistant",
                "turn_end",
                "agent_end",
                "settle stop"});
  CHECK(story.stored_roles() == "user assistant toolResult assistant");
  CHECK(story.outcome().final_text == "done");
  CHECK(story.outcome().stats.llm_calls == 2);
  CHECK(story.outcome().stats.tool_calls == 1);
  CHECK(story.outcome().stats.spent.total_tokens == 20);
  CHECK(story.outcome().stats.duration_ms == 7);
}

TEST_CASE("a reply without start is shown at its end") {
  loop_story story;
  story.reach_call();
  story.reply(answer("hello"));
  story.append_ok();
  story.expect({"append stop", "message_start assistant",
                "message_end assistant", "turn_end", "agent_end",
                "settle stop"});
}

TEST_CASE("the user message holds text, then images, and the cause before it") {
  auto setup = loop_story::setup();
  content_block image;
  image.kind = block_kind::image;
  image.data = "AAAA";
  image.mime_type = "image/png";
  setup.images = {image};
  loop_story story{setup};
  story.begin();
  story.open_ok();
  const auto& entries = story.last_entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].custom_type == "mikan.run_cause");
  CHECK(entries[0].fields.text == R"({"messageId":"m1"})");
  REQUIRE(entries[1].message.content.size() == 2);
  CHECK(entries[1].message.content[0].text == "hi");
  CHECK(entries[1].message.content[1] == image);
  CHECK(entries[1].message.timestamp_ms == 1'767'225'600'000);
}

TEST_CASE("a resumed run does not store its user message again") {
  auto setup = loop_story::setup();
  setup.resume = true;
  loop_story story{setup};
  story.begin();
  auto context = context_with({user_message("hi", 1)});
  context.handled_messages = {"m1"};
  story.open_ok(context);
  story.expect({"open", "agent_start", "turn_start", "call"});
  CHECK(story.loop.transcript().size() == 1);
}

TEST_CASE("a resumed run whose message was never stored stores it") {
  auto setup = loop_story::setup();
  setup.resume = true;
  loop_story story{setup};
  story.begin();
  story.open_ok(context_with({user_message("older", 1)}));
  story.expect({"open", "append cause user"});
}

TEST_CASE("a run without a cause stores the message alone") {
  auto setup = loop_story::setup();
  setup.message_id.clear();
  loop_story story{setup};
  story.begin();
  story.open_ok();
  story.expect({"open", "append user"});
}

TEST_CASE("the transcript is the store's context and what the run adds") {
  loop_story story;
  story.begin();
  story.open_ok(context_with({user_message("before", 1), answer("yes")}));
  story.append_ok();
  REQUIRE(story.loop.transcript().size() == 3);
  CHECK(text_of(story.loop.transcript()[2]) == "hi");
  CHECK(story.loop.session_id() == "session-1");
}

TEST_CASE("a store that does not open refuses the prompt") {
  loop_story story;
  story.begin();
  story.open_fails(errc::corrupt);
  story.expect({"open", "refuse corrupt"});
  CHECK(story.loop.is_over());
}

TEST_CASE("a reply that names no model is stored with the run's") {
  loop_story story;
  story.reach_call();
  story.wait(5);
  story.reply(answer("hello"));
  const auto& message = story.last_entries().back().message;
  CHECK(message.provider == "faux");
  CHECK(message.model == "faux-1");
  CHECK(message.api == "faux");
  CHECK(message.timestamp_ms == 1'767'225'600'005);
}

// -- tools --------------------------------------------------------------------

TEST_CASE("parallel calls end in their own order, results are stored in the "
          "model's") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"slow", "echo"}));
  story.append_ok();
  story.take();
  story.tool(1, "fast");
  story.expect({"tool_end c2"});
  story.tool(0, "late");
  story.expect({"tool_end c1", "append result(c1) result(c2)"});
  story.append_ok();
  story.expect({"message_start toolResult", "message_end toolResult",
                "message_start toolResult", "message_end toolResult",
                "turn_end", "turn_start", "call"});
  CHECK(story.stored_roles() == "user assistant toolResult toolResult");
}

TEST_CASE("one sequential tool makes the whole batch run in turn") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "seq"}));
  story.append_ok();
  story.expect({"append toolUse", "message_start assistant",
                "message_end assistant", "tool_start c1", "run echo c1"});
  story.tool(0, "a");
  story.expect({"tool_end c1", "append result(c1)"});
  story.append_ok();
  story.expect({"message_start toolResult", "message_end toolResult",
                "tool_start c2", "run seq c2"});
  story.tool(1, "b");
  story.append_ok();
  story.expect({"tool_end c2", "append result(c2)", "message_start toolResult",
                "message_end toolResult", "turn_end", "turn_start", "call"});
}

TEST_CASE("an unknown tool is answered with an error and the run goes on") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"nope", "echo"}));
  story.append_ok();
  story.expect({"append toolUse", "message_start assistant",
                "message_end assistant", "tool_start c1", "tool_end c1!",
                "tool_start c2", "run echo c2"});
  story.tool(1, "fine");
  CHECK(text_of(story.last_entries()[0].message).find("nope")
        != std::string::npos);
  CHECK(story.last_entries()[0].message.is_error);
  story.append_ok();
  CHECK(story.take().back() == "call");
}

TEST_CASE("a batch of refused calls only goes on at once") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"nope"}));
  story.append_ok();
  story.take();
  story.append_ok();
  CHECK(story.take().back() == "call");
}

TEST_CASE("invalid arguments are reported and the tool does not run") {
  loop_story story;
  story.reach_call();
  auto message = calling({"echo"});
  message.content[0].arguments = json_text{"{}"};
  story.reply(message);
  story.append_ok();
  CHECK(story.invocations().empty());
  auto text = story.last_stored_text();
  CHECK(text.find("text: is required but missing") != std::string::npos);
  CHECK(text.find("{}") != std::string::npos);
}

TEST_CASE("arguments are converted before the tool sees them, not before the "
          "listener does") {
  loop_story story;
  story.reach_call();
  auto message = calling({"echo"});
  message.content[0].arguments = json_text{R"({"text":5})"};
  story.reply(message);
  story.append_ok();
  REQUIRE(story.invocations().size() == 1);
  CHECK(story.invocations()[0].arguments.text == R"({"text":"5"})");
  const auto& told = story.events().back();
  CHECK(told.kind == harness_event_kind::tool_start);
  CHECK(told.arguments.text == R"({"text":5})");
}

TEST_CASE("a failed tool has an error result with empty details") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, "boom", true);
  const auto& message = story.last_entries().back().message;
  CHECK(text_of(message) == "boom");
  CHECK(message.is_error);
  CHECK(message.details->text == "{}");
}

TEST_CASE("a tool without content has an empty result") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, "");
  CHECK(story.last_entries().back().message.content.empty());
}

TEST_CASE("tool text that is no UTF-8 is repaired before it is stored") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, "a\xff"
                "b");
  CHECK(story.last_stored_text()
        == "a\xEF\xBF\xBD"
           "b");
}

TEST_CASE("a tool's text is bounded, whoever made it") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, std::string(limits::tool_result_bytes + 1, 'x'));
  auto text = story.last_stored_text();
  CHECK(text.size() < limits::tool_result_bytes + 100);
  CHECK(text.find("is cut") != std::string::npos);
}

TEST_CASE("a reply cut by the output limit runs none of its calls") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "seq"}, stop_reason::length));
  story.append_ok();
  story.expect({"append length", "message_start assistant",
                "message_end assistant", "tool_start c1", "tool_end c1!",
                "tool_start c2", "tool_end c2!",
                "append result(c1)! result(c2)!"});
  CHECK(story.last_stored_text().find("output limit") != std::string::npos);
  story.append_ok();
  CHECK(story.take().back() == "call");
  CHECK(story.invocations().empty());
}

TEST_CASE("a batch whose outcomes all say terminate ends the run") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.append_ok();
  story.tool(0, "a", false, true);
  story.tool(1, "b", false, true);
  story.append_ok();
  CHECK(story.is_settled());
  CHECK(story.outcome().stop == stop_reason::stop);
  CHECK(story.outcome().final_text.empty());
}

TEST_CASE("one outcome that says terminate does not end the run") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.append_ok();
  story.tool(0, "a", false, true);
  story.tool(1, "b");
  story.append_ok();
  CHECK(story.take().back() == "call");
}

TEST_CASE("a second answer of a tool is ignored") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"slow", "echo"}));
  story.append_ok();
  story.take();
  story.tool(1, "once");
  story.tool(1, "twice");
  story.tool(9, "never asked");
  story.expect({"tool_end c2"});
}

TEST_CASE("only the text of the last message without calls is the answer") {
  loop_story story;
  story.reach_call();
  auto first = calling({"echo"});
  first.content.insert(first.content.begin(), text_block("let me look"));
  story.reply(first);
  story.append_ok();
  story.tool(0, "x");
  story.append_ok();
  auto last = answer("it is 5");
  content_block thought;
  thought.kind = block_kind::thinking;
  thought.text = "hm";
  last.content.insert(last.content.begin(), thought);
  story.reply(last);
  story.append_ok();
  CHECK(story.outcome().final_text == "it is 5");
}

TEST_CASE("a reply that is cut before any text ends with a sentence") {
  loop_story story;
  story.reach_call();
  story.reply(answer("", stop_reason::length));
  story.append_ok();
  CHECK(story.outcome().stop == stop_reason::length);
  CHECK(story.outcome().error_class == "length");
  CHECK(story.outcome().error_sentence.find("faux-1") != std::string::npos);
}

// -- errors of the model ------------------------------------------------------

TEST_CASE("an error that cannot be repeated is stored and ends the run") {
  struct row {
    model_error_class error;
    const char* says;
  };
  const row rows[] = {
    {model_error_class::auth, "FAUX_API_KEY"},
    {model_error_class::quota, "quota"},
    {model_error_class::bad_request, "/new"},
    {model_error_class::not_found, "faux-1"},
    {model_error_class::overflow, "/new"},
    {model_error_class::unknown, "Try again"},
    {model_error_class::cancelled, "cancelled"},
  };
  for (const auto& row : rows) {
    CAPTURE(to_string(row.error));
    loop_story story;
    story.reach_call();
    story.reply(failing("secret sk-123 in the body"), failure_of(row.error));
    story.append_ok();
    story.expect({"append error", "message_start assistant",
                  "message_end assistant", "turn_end", "agent_end",
                  "settle error"});
    CHECK(story.outcome().error_class == to_string(row.error));
    CHECK(story.outcome().error_sentence.find(row.says) != std::string::npos);
    CHECK(story.outcome().error_sentence.find("sk-123") == std::string::npos);
    CHECK(story.outcome().final_text.empty());
    CHECK(story.stored().back().error_class == to_string(row.error));
  }
}

TEST_CASE("a request that could not be made keeps its advice") {
  loop_story story;
  story.reach_call();
  auto failure = failure_of(model_error_class::bad_request);
  failure.code = harness::not_sent_code;
  story.reply(
    failing("The provider lab has no address: set it in models.json."),
    failure);
  story.append_ok();
  CHECK(story.outcome().error_sentence
        == "The provider lab has no address: set it in models.json.");
  CHECK(story.outcome().error_class == "bad_request");
}

TEST_CASE("an overflow advises a new session or a larger model") {
  loop_story story;
  story.reach_call();
  story.reply(failing("too long"), failure_of(model_error_class::overflow));
  story.append_ok();
  const auto& sentence = story.outcome().error_sentence;
  CHECK(sentence.find("/new") != std::string::npos);
  CHECK(sentence.find("larger context window") != std::string::npos);
}

TEST_CASE("calls in a failed message are not executed") {
  loop_story story;
  story.reach_call();
  auto message = calling({"echo"}, stop_reason::error);
  story.reply(message, failure_of(model_error_class::auth));
  story.append_ok();
  CHECK(story.invocations().empty());
  CHECK(story.is_settled());
}

TEST_CASE("a model call that dies loses nothing of what it had said") {
  loop_story story;
  story.reach_call();
  story.delta(stream_kind::start);
  story.delta(stream_kind::text_delta, "half an ");
  story.delta(stream_kind::text_delta, "answer");
  story.model_dies();
  CHECK(story.last_stored_text() == "half an answer");
  CHECK(story.last_entries().back().message.error_class == "unknown");
  story.append_ok();
  CHECK(story.outcome().stop == stop_reason::error);
  CHECK_FALSE(story.outcome().error_sentence.empty());
}

TEST_CASE("an error without a class is not repeated") {
  loop_story story;
  story.reach_call();
  story.reply(failing("?"));
  story.append_ok();
  CHECK(story.outcome().error_class == "unknown");
}

// -- retry --------------------------------------------------------------------

TEST_CASE("three overloads, then an answer") {
  loop_story story;
  story.reach_call();
  const std::vector<std::string> starts = {
    "retry_start 1 in 2000", "retry_start 2 in 4000", "retry_start 3 in 8000"};
  const std::vector<std::string> sleeps = {"sleep 2000", "sleep 4000",
                                           "sleep 8000"};
  for (size_t i = 0; i < 3; ++i) {
    story.reply(failing("529"), failure_of(model_error_class::overloaded));
    story.append_ok();
    story.expect({"append error", "message_start assistant",
                  "message_end assistant", "turn_end", "agent_end", starts[i],
                  sleeps[i]});
    story.retry_due();
    story.expect({"agent_start", "turn_start", "call"});
  }
  story.reply(answer("at last"));
  story.append_ok();
  story.expect({"append stop", "message_start assistant",
                "message_end assistant", "retry_end ok 3", "turn_end",
                "agent_end", "settle stop"});
  CHECK(story.stored_roles() == "user assistant assistant assistant assistant");
  CHECK(story.loop.transcript().size() == 2);
  CHECK(story.outcome().stats.llm_calls == 4);
}

TEST_CASE("a fourth overload is the end") {
  loop_story story;
  story.reach_call();
  for (size_t i = 0; i < 3; ++i) {
    story.reply(failing("529"), failure_of(model_error_class::overloaded));
    story.append_ok();
    story.retry_due();
  }
  story.take();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.expect({"append error", "message_start assistant",
                "message_end assistant", "turn_end", "agent_end",
                "retry_end failed 3", "settle error"});
  CHECK(story.outcome().error_class == "overloaded");
  CHECK(story.outcome().error_sentence.find("3 retries") != std::string::npos);
}

TEST_CASE("a good reply starts the count of retries afresh") {
  loop_story story;
  story.reach_call();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.retry_due();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, "x");
  story.append_ok();
  story.take();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  CHECK(story.take().back() == "sleep 2000");
}

TEST_CASE("retries can be switched off") {
  auto setup = loop_story::setup();
  setup.retry.max_retries = 0;
  loop_story story{setup};
  story.reach_call();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.expect({"append error", "message_start assistant",
                "message_end assistant", "turn_end", "agent_end",
                "settle error"});
}

TEST_CASE("a rate limit that outlasts all retries is told with its wait") {
  loop_story story;
  story.reach_call();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    story.reply(failing("429"),
                failure_of(model_error_class::rate_limit, 3'600'000));
    story.append_ok();
    CHECK(story.take().back() == "sleep 60000");
    story.retry_due();
  }
  story.reply(failing("429"),
              failure_of(model_error_class::rate_limit, 3'600'000));
  story.append_ok();
  CHECK(story.outcome().stop == stop_reason::error);
  CHECK(
    story.outcome().error_sentence
    == "The model provider faux limits the rate of requests, also after 3 "
       "retries, and asks to wait 60 minutes. Send the message again then.");
}

TEST_CASE("a wake-up outside of a sleep has no effect") {
  loop_story story;
  story.reach_call();
  story.retry_due();
  story.expect({});
}

// -- budget -------------------------------------------------------------------

TEST_CASE("the call cap ends a run that would call again") {
  auto setup = loop_story::setup();
  setup.budget.max_llm_calls = 1;
  loop_story story{setup};
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.append_ok();
  story.expect({"append toolUse", "message_start assistant",
                "message_end assistant", "budget 1 LLM calls >= 1 limit",
                "grace 4000", "tool_start c1", "tool_end c1!",
                "append result(c1)!"});
  CHECK(story.last_stored_text().find("aborted") != std::string::npos);
  story.append_ok();
  story.expect({"message_start toolResult", "message_end toolResult",
                "turn_end", "turn_start", "append aborted"});
  story.append_ok();
  story.expect({"message_start assistant", "message_end assistant", "turn_end",
                "agent_end", "settle aborted"});
  const auto& outcome = story.outcome();
  CHECK(outcome.stats.llm_calls == 1);
  CHECK(outcome.stats.budget_reason == "1 LLM calls >= 1 limit");
  CHECK(outcome.error_class == "budget");
  CHECK(outcome.error_sentence.find("1 LLM calls") != std::string::npos);
}

TEST_CASE("an answer exactly at the call cap is a success") {
  auto setup = loop_story::setup();
  setup.budget.max_llm_calls = 1;
  loop_story story{setup};
  story.reach_call();
  story.reply(answer("done"));
  story.append_ok();
  CHECK(story.outcome().stop == stop_reason::stop);
  CHECK(story.outcome().stats.budget_reason.empty());
}

TEST_CASE("each cap on resources trips, and a complete answer still counts") {
  struct row {
    std::string name;
    run_budget caps;
    const char* reason;
  };
  const row rows[] = {
    {"tokens", {20, 0, 0, 0}, "5000 tokens >= 20 limit"},
    {"cost", {0, 1'000'000, 0, 0}, "cost 1.25 USD >= 1 USD limit"},
    {"duration", {0, 0, 300, 0}, "400ms >= 300ms limit"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto setup = loop_story::setup();
    setup.budget = row.caps;
    loop_story story{setup};
    story.reach_call();
    story.wait(400);
    auto message = answer("all done");
    message.spent.total_tokens = 5000;
    message.spent.cost_total_micro = 1'250'000;
    story.reply(message);
    story.append_ok();
    CHECK(story.outcome().stats.budget_reason == row.reason);
    CHECK(story.outcome().stop == stop_reason::stop);
    CHECK(story.outcome().final_text == "all done");
    CHECK(story.outcome().error_sentence.empty());
  }
}

TEST_CASE("a retryable error at the call cap is not repeated") {
  auto setup = loop_story::setup();
  setup.budget.max_llm_calls = 1;
  loop_story story{setup};
  story.reach_call();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.expect({"append error", "message_start assistant",
                "message_end assistant", "budget 1 LLM calls >= 1 limit",
                "grace 4000", "turn_end", "agent_end", "settle aborted"});
}

TEST_CASE("the duration cap ends a model call that stalls") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 1000;
  loop_story story{setup};
  story.begin();
  story.expect({"open", "limit 1000"});
  story.open_ok();
  story.append_ok();
  story.take();
  story.wait(1000);
  story.duration_over();
  story.expect({"budget 1000ms >= 1000ms limit", "cancel", "grace 4000"});
  auto cut = answer("par", stop_reason::aborted);
  story.reply(cut, failure_of(model_error_class::cancelled));
  story.append_ok();
  CHECK(story.outcome().error_class == "budget");
  CHECK(story.outcome().final_text.empty());
}

TEST_CASE("the duration cap ends tools that stall") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 1000;
  loop_story story{setup};
  story.reach_call();
  story.reply(calling({"echo", "slow"}));
  story.append_ok();
  story.tool(0, "x");
  story.take();
  story.wait(1200);
  story.duration_over();
  story.expect({"budget 1200ms >= 1000ms limit", "abort_tool 1", "grace 4000"});
}

TEST_CASE("the duration cap ends a sleep before a retry") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 1000;
  loop_story story{setup};
  story.reach_call();
  story.reply(failing("529"), failure_of(model_error_class::overloaded));
  story.append_ok();
  story.take();
  story.wait(1000);
  story.duration_over();
  story.expect({"budget 1000ms >= 1000ms limit", "wake", "retry_end failed 1",
                "settle aborted"});
  CHECK(story.outcome().error_class == "budget");
}

TEST_CASE("a duration timer that is early is armed again") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 1000;
  loop_story story{setup};
  story.reach_call();
  story.wait(999);
  story.duration_over();
  story.expect({"limit 1"});
}

TEST_CASE("a budget trips once") {
  auto setup = loop_story::setup();
  setup.budget.max_duration_ms = 1000;
  setup.budget.max_tokens = 5;
  loop_story story{setup};
  story.reach_call();
  story.wait(1000);
  story.duration_over();
  story.take();
  story.duration_over();
  auto cut = answer("par", stop_reason::aborted);
  story.reply(cut, failure_of(model_error_class::cancelled));
  story.append_ok();
  for (const auto& line : story.take())
    CHECK(line.rfind("budget", 0) != 0);
  CHECK(story.outcome().stats.budget_reason == "1000ms >= 1000ms limit");
}

// -- circles ------------------------------------------------------------------

namespace {

/// One round: the model calls, every tool that runs says `result`.
void play_round(loop_story& story, transcript_message reply,
                const std::string& result, int number) {
  // Providers make new ids for every call.
  for (auto& block : reply.content)
    block.id = "c" + std::to_string(number) + block.id;
  story.reply(std::move(reply));
  auto before = story.invocations().size();
  story.append_ok();
  auto running = story.invocations().size() - before;
  for (size_t slot = 0; slot < running; ++slot)
    story.tool(slot, result);
  story.append_ok();
}

int count_budget_lines(const std::vector<std::string>& lines) {
  return static_cast<int>(
    std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("budget ");
    }));
}

} // namespace

TEST_CASE("a model that goes in circles is stopped and the user is told") {
  struct row {
    std::string name;
    transcript_message reply;
  };
  auto unknown = calling({"no_such_tool"});
  auto bad_arguments = calling({"echo"});
  bad_arguments.content[0].arguments = json_text{"{}"};
  const row rows[] = {
    {"one call", calling({"echo"})},
    {"two calls", calling({"echo", "slow"})},
    {"an unknown tool", unknown},
    {"bad arguments", bad_arguments},
    {"cut replies", calling({"echo"}, stop_reason::length)},
  };
  auto rounds = static_cast<int>(limits::repeated_rounds);
  for (const auto& row : rows) {
    CAPTURE(row.name);
    loop_story story;
    story.reach_call();
    for (int i = 1; i < rounds; ++i)
      play_round(story, row.reply, "pong", i);
    CHECK(count_budget_lines(story.take()) == 0);
    play_round(story, row.reply, "pong", rounds);
    auto lines = story.take();
    CHECK(count_budget_lines(lines) == 1);
    REQUIRE(lines.size() > 1);
    CHECK(lines.back() == "append aborted");
    story.append_ok();
    const auto& outcome = story.outcome();
    CHECK(outcome.stop == stop_reason::aborted);
    CHECK(outcome.error_class == "budget");
    CHECK(outcome.error_sentence
          == "I stopped because the model repeated the same tool call 50 times "
             "in a row and always got the same result. Send another message to "
             "go on, best with a hint what to try instead.");
    CHECK(outcome.stats.budget_reason == "50 identical rounds of tool calls");
    CHECK(outcome.stats.llm_calls == rounds);
  }
}

TEST_CASE("rounds that differ in anything that counts are no circle") {
  auto rounds = static_cast<int>(limits::repeated_rounds);
  auto play = [&](auto reply_of, auto result_of) {
    loop_story story;
    story.reach_call();
    for (int i = 1; i <= 3 * rounds; ++i)
      play_round(story, reply_of(i), result_of(i), i);
    CHECK(count_budget_lines(story.take()) == 0);
    CHECK_FALSE(story.is_settled());
  };
  auto same_call = [](int) {
    return calling({"echo"});
  };
  auto same_result = [](int) {
    return std::string{"pong"};
  };
  SUBCASE("the results") {
    play(same_call, [](int i) { return "pong " + std::to_string(i); });
  }
  SUBCASE("the arguments") {
    play(
      [](int i) {
        auto reply = calling({"echo"});
        reply.content[0].arguments =
          json_text{R"({"text":")" + std::to_string(i) + R"("})"};
        return reply;
      },
      same_result);
  }
  SUBCASE("the tools") {
    play([](int i) { return calling({i % 2 == 0 ? "echo" : "slow"}); },
         same_result);
  }
  SUBCASE("the number of calls") {
    play(
      [](int i) {
        return i % 2 == 0 ? calling({"echo"}) : calling({"echo", "echo"});
      },
      same_result);
  }
  SUBCASE("now and then one") {
    play(same_call, [rounds](int i) {
      return std::string{i % (rounds - 1) == 0 ? "other" : "pong"};
    });
  }
}

TEST_CASE("a user's stop after a circle is the user's") {
  loop_story story;
  story.reach_call();
  for (int i = 1; i <= static_cast<int>(limits::repeated_rounds); ++i)
    play_round(story, calling({"echo"}), "pong", i);
  story.abort();
  story.append_ok();
  CHECK(story.outcome().stop == stop_reason::aborted);
  CHECK(story.outcome().error_sentence.empty());
}
