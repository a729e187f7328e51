#include "actors/runner/run_output_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;

namespace {

/// Calls as text: `+x` append, `=x` replace, `#x` activity.
std::string told(const output_calls& calls) {
  std::string result;
  for (const auto& call : calls) {
    const char marks[] = {'+', '=', '#'};
    result += marks[static_cast<size_t>(call.what)] + call.text;
  }
  return result;
}

harness_event of_kind(harness_event_kind kind) {
  harness_event result;
  result.kind = kind;
  return result;
}

harness_event begins(message_role role = message_role::assistant) {
  auto result = of_kind(harness_event_kind::message_start);
  result.message.role = role;
  return result;
}

harness_event ends() {
  auto result = of_kind(harness_event_kind::message_end);
  result.message.role = message_role::assistant;
  return result;
}

harness_event delta(std::string text,
                    stream_kind kind = stream_kind::text_delta) {
  auto result = of_kind(harness_event_kind::message_update);
  result.update.kind = kind;
  result.update.delta = std::move(text);
  return result;
}

harness_event tool(std::string id, std::string arguments) {
  auto result = of_kind(harness_event_kind::tool_start);
  result.call_id = std::move(id);
  result.tool_name = "bash";
  result.arguments = json_text{std::move(arguments)};
  return result;
}

harness_event tool_done(std::string id, bool failed) {
  auto result = of_kind(harness_event_kind::tool_end);
  result.call_id = std::move(id);
  result.tool_name = "bash";
  result.outcome.is_error = failed;
  return result;
}

std::string play(turn_origin origin, const std::vector<harness_event>& events) {
  run_output_core core{origin};
  std::string result;
  for (const auto& event : events)
    result += told(core.event(event));
  return result;
}

prompt_outcome says(std::string text) {
  prompt_outcome result;
  result.final_text = std::move(text);
  return result;
}

} // namespace

TEST_CASE("what a run shows") {
  struct row {
    const char* name;
    std::vector<harness_event> events;
    const char* want;
  };
  const row rows[] = {
    {"deltas are appended",
     {begins(), delta("Hel"), delta("lo"), ends()},
     "+Hel+lo"},
    {"thinking is never shown",
     {begins(), delta("hm", stream_kind::thinking_delta), delta("x")},
     "+x"},
    {"text before a tool call is replaced by later text",
     {begins(), delta("Let me look"), ends(), tool("c1", R"({"label":"look"})"),
      tool_done("c1", false), begins(), delta("It is "), delta("4")},
     "+Let me look#• look#✓ look=It is +4"},
    {"a message without text leaves the shown text",
     {begins(), delta("a"), ends(), begins(), ends()},
     "+a"},
    {"other roles do not begin a new text",
     {begins(), delta("a"), begins(message_role::tool_result), delta("b")},
     "+a+b"},
    {"a failed attempt is replaced",
     {begins(), delta("par"), ends(),
      [] {
        auto event = of_kind(harness_event_kind::retry_start);
        event.attempt = 1;
        return event;
      }(),
      begins(), delta("whole")},
     "+par#_Retrying (1/3)…_=whole"},
    {"[SILENT] is held back",
     {begins(), delta("[SIL"), delta("ENT] x"), ends()},
     ""},
    {"[SILENT] after blanks too", {begins(), delta(" \n[SILENT]"), ends()}, ""},
    {"what only looks like it is shown",
     {begins(), delta("[SI"), delta("C]"), ends()},
     "+[SIC]"},
    {"a cut beginning is shown at the end",
     {begins(), delta("[SI"), ends()},
     "+[SI"},
    {"a bracket in the middle is no mark",
     {begins(), delta("x "), delta("[SILENT]")},
     "+x +[SILENT]"},
    {"budget",
     {[] {
       auto event = of_kind(harness_event_kind::budget_exceeded);
       event.text = "50 LLM calls >= 50 limit";
       return event;
     }()},
     "#_Budget reached: 50 LLM calls >= 50 limit_"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(play(turn_origin::user, row.events) == row.want);
  }
}

TEST_CASE("a scheduled run streams no text") {
  CHECK(
    play(turn_origin::event, {begins(), delta("a"), ends(), tool("c1", "{}")})
    == "#• bash");
}

TEST_CASE("labels of tool calls") {
  struct row {
    const char* name;
    std::string arguments;
    std::string want;
  };
  const row rows[] = {
    {"label", R"({"label":"count lines"})", "#• count lines"},
    {"no label", R"({"command":"ls"})", "#• bash"},
    {"blank label", R"({"label":"  "})", "#• bash"},
    {"label of another type", R"({"label":7})", "#• bash"},
    {"arguments that are no JSON", "{\"label\":", "#• bash"},
    {"arguments absent", "", "#• bash"},
    {"lines are folded", R"({"label":" a\n\n b\tc "})", "#• a b c"},
    {"control characters", "{\"label\":\"a\\u001b[31mb\"}", "#• a [31mb"},
    {"cut at the bound",
     R"({"label":")" + std::string(limits::activity_label_chars + 1, 'x')
       + R"("})",
     "#• " + std::string(limits::activity_label_chars - 1, 'x') + "…"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(play(turn_origin::user, {tool("c1", row.arguments)}) == row.want);
  }
}

TEST_CASE("the end of a tool call names its label and its result") {
  CHECK(play(turn_origin::user,
             {tool("c1", R"({"label":"one"})"),
              tool("c2", R"({"label":"two"})"), tool_done("c2", true),
              tool_done("c1", false), tool_done("c3", false)})
        == "#• one#• two#✗ two#✓ one#✓ bash");
}

TEST_CASE("the final answer by outcome") {
  struct row {
    const char* name;
    turn_origin origin;
    prompt_outcome outcome;
    final_answer want;
  };
  auto failed = says("partial");
  failed.stop = stop_reason::error;
  auto explained = failed;
  explained.error_sentence = "The key of lab was refused.";
  auto blocked = says("");
  blocked.blocked = true;
  auto broke = says("part");
  broke.stop = stop_reason::aborted;
  broke.stats.budget_reason = "10 tokens >= 5 limit";
  auto at_cap = says("all of it");
  at_cap.stats.budget_reason = "10 tokens >= 5 limit";
  const row rows[] = {
    {"text", turn_origin::user, says("4"), {"4", false}},
    {"empty",
     turn_origin::user,
     says(" \n"),
     {"No response text was returned.", false}},
    {"empty, nobody watching", turn_origin::event, says(""), {"", true}},
    {"silent", turn_origin::user, says("  [SILENT] ok"), {"", true}},
    {"silent event", turn_origin::event, says("[SILENT]"), {"", true}},
    {"sentinel of an event",
     turn_origin::event,
     says("Nothing_To_Report"),
     {"", true}},
    {"narrated sentinel",
     turn_origin::event,
     says("done\r\nnothing_to_report\r\n"),
     {"", true}},
    {"sentinel in a sentence",
     turn_origin::event,
     says("done NOTHING_TO_REPORT"),
     {"done NOTHING_TO_REPORT", false}},
    {"a user may be told the sentinel",
     turn_origin::user,
     says("NOTHING_TO_REPORT"),
     {"NOTHING_TO_REPORT", false}},
    {"error with a sentence",
     turn_origin::user,
     explained,
     {"The key of lab was refused.", false}},
    {"error of a scheduled run is said",
     turn_origin::event,
     explained,
     {"The key of lab was refused.", false}},
    {"error without one",
     turn_origin::user,
     failed,
     {"The model call failed. Send the message again to retry.", false}},
    {"blocked",
     turn_origin::user,
     blocked,
     {"This request was blocked.", false}},
    {"budget",
     turn_origin::user,
     broke,
     {"I stopped because this run reached its budget (10 tokens >= 5 limit). "
      "Ask again with a smaller task.",
      false}},
    {"an answer at the cap", turn_origin::user, at_cap, {"all of it", false}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto answer = final_answer_of(row.outcome, row.origin);
    CHECK(answer.text == row.want.text);
    CHECK(answer.suppressed == row.want.suppressed);
  }
}

TEST_CASE("the sentinel of silent turns, as in the golden cases") {
  CHECK(suppresses_notification(""));
  CHECK(suppresses_notification(" \xEF\xBB\xBF"));
  CHECK(suppresses_notification("a\nb\n\n  NOTHING_TO_REPORT  "));
  CHECK(suppresses_notification("NOTHING_TO_REPORT\nNOTHING_TO_REPORT"));
  CHECK(suppresses_notification("x\n\xE3\x80\x80NOTHING_TO_REPORT"));
  CHECK_FALSE(suppresses_notification("\xE2\x80\x8BNOTHING_TO_REPORT"));
  CHECK_FALSE(suppresses_notification("NOTHING_TO_REPORT\nmore"));
  CHECK_FALSE(suppresses_notification("NOTHING_TO_REPORT."));
}
