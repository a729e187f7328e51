#include "actors/runner/activity_ledger_core.hpp"
#include "actors/runner/run_output_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/provider_status.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;

namespace {

const contracts::path_roots roots = {"/workspace/o", "/root"};

/// What an event looks like in a ledger; the end of a call as `/id`.
std::string told(const contracts::stream_event& event) {
  using kind = contracts::stream_event_kind;
  if (event.kind == kind::provider_status) {
    auto line = contracts::format_provider_status_line(event);
    return line.empty() ? "" : "#" + line;
  }
  if (event.kind == kind::usage_update)
    return {};
  if (event.kind == kind::runtime_warning)
    return "!" + event.text;
  if (event.kind == kind::tool_call_completed)
    return "/" + event.id + (*event.is_error ? " failed" : "");
  activity_ledger ledger;
  ledger.shorten(roots);
  ledger.tool_started(event);
  return "#" + ledger.text();
}

/// Calls as text: `?x` status, `+x` append, `=x` replace, `#x` event.
std::string told(const output_calls& calls) {
  std::string result;
  for (const auto& call : calls) {
    const char marks[] = {'?', '+', '='};
    if (call.what == output_call::verb::event)
      result += told(call.event);
    else
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

harness_event stored(std::string id) {
  auto result = of_kind(harness_event_kind::message_end);
  result.message.role = message_role::tool_result;
  result.message.tool_call_id = std::move(id);
  return result;
}

/// The end of a call as it is told once the session holds it.
contracts::stream_event told_end(const harness_event& end) {
  run_output_core core{{}};
  CHECK(core.event(end).empty());
  auto calls = core.event(stored(end.call_id));
  REQUIRE(calls.size() == 1);
  return calls[0].event;
}

std::string play(turn_origin origin, const std::vector<harness_event>& events) {
  run_output_core core{{origin, "lab/small", roots}};
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
     {begins(), delta("Let me look"), ends(), tool("c1", R"({"command":"ls"})"),
      tool_done("c1", false), stored("c1"), begins(), delta("It is "),
      delta("4")},
     "+Let me look#🖥️ Running ls/c1=It is +4"},
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
        event.text = "overloaded";
        return event;
      }(),
      begins(), delta("whole")},
     "+par#⏳ Retrying lab/small — attempt 2 (overloaded)=whole"},
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
    {"a message that reached the run",
     {[] {
       auto event = of_kind(harness_event_kind::input_applied);
       event.text = "no,\ntoken=abc";
       return event;
     }()},
     "#↪️ Steered: “no, token=[redacted]”/live-input:"},
    {"a budget is a warning",
     {[] {
       auto event = of_kind(harness_event_kind::budget_exceeded);
       event.text = "50 LLM calls >= 50 limit";
       return event;
     }()},
     "!The run reached its budget: 50 LLM calls >= 50 limit"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(play(turn_origin::user, row.events) == row.want);
  }
}

TEST_CASE("a scheduled run streams no text and no status") {
  auto starts = of_kind(harness_event_kind::agent_start);
  CHECK(play(turn_origin::event,
             {starts, begins(), delta("a"), ends(), tool("c1", "{}")})
        == "#🖥️ Running");
  CHECK(play(turn_origin::user, {starts, begins(), delta("a")})
        == "?Thinking…+a");
}

TEST_CASE("the end of a call tells what its outcome is judged by") {
  auto end = tool_done("c1", true);
  end.duration_ms = 1250;
  end.outcome.content = {text_block("one"), {}, text_block("two")};
  end.outcome.content[1].kind = block_kind::image;
  end.outcome.details = json_text{
    R"({"truncation":{"truncated":true,"totalBytes":900,"outputBytes":40}})"};
  auto told = told_end(end);
  CHECK(told.name.value_or("") == "bash");
  CHECK(told.is_error.value_or(false));
  CHECK(told.duration_us.value_or(0) == 1'250'000);
  CHECK(told.content.text == R"("one\ntwo")");
  CHECK(told.structured_content == end.outcome.details);
  CHECK(told.metadata.empty());
  REQUIRE(told.history);
  CHECK(told.history->persisted);
  CHECK(told.history->terminal_state == contracts::tool_terminal_state::error);
  CHECK(told.history->truncated.value_or(false));
  CHECK(told.history->original_bytes.value_or(0) == 900);
  CHECK(told.history->retained_bytes.value_or(0) == 40);
  SUBCASE("much content is cut and says so") {
    end.outcome.content = {text_block(std::string(1u << 20, 'x')),
                           text_block("never reached")};
    told = told_end(end);
    CHECK(told.content.text.size() == 2 * limits::tool_output_bytes + 2);
    CHECK(told.metadata.text == R"({"truncated":true})");
  }
  SUBCASE("nothing is nothing") {
    end.outcome.content.clear();
    end.outcome.details = json_text{"{}"};
    end.outcome.is_error = false;
    told = told_end(end);
    CHECK(told.content.empty());
    CHECK(told.structured_content.empty());
    CHECK(told.history->terminal_state
          == contracts::tool_terminal_state::success);
  }
}

TEST_CASE("the end of a call names what began, and whether it is kept") {
  run_output_core core{{}};
  core.event(tool("c1", R"({"command":"ls"})"));
  core.event(tool("c2", R"({"command":"pwd"})"));
  CHECK(core.event(tool_done("c2", false)).empty());
  CHECK(core.event(tool_done("c1", false)).empty());
  auto kept = core.event(stored("c1"));
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].event.arguments.text == R"({"command":"ls"})");
  CHECK(kept[0].event.history->persisted);
  CHECK(core.event(stored("c1")).empty());
  auto lost = core.event(of_kind(harness_event_kind::agent_end));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].event.id == "c2");
  CHECK_FALSE(lost[0].event.history->persisted);
}

TEST_CASE("requests and what they cost are told as they end") {
  using phase = contracts::provider_phase;
  run_output_core core{{turn_origin::user, "lab/small", roots}};
  auto begun = core.event(of_kind(harness_event_kind::turn_start));
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].event.phase == phase::request_started);
  CHECK(begun[0].event.model.value_or("") == "lab/small");
  auto end = ends();
  end.message.spent.input = 10;
  end.message.spent.output = 3;
  end.message.spent.cost_total_micro = 1500;
  core.event(end);
  auto done = core.event(end);
  REQUIRE(done.size() == 2);
  CHECK(done[0].event.phase == phase::request_completed);
  CHECK_FALSE(done[0].event.cancelled);
  CHECK(done[1].event.kind == contracts::stream_event_kind::usage_update);
  CHECK(done[1].event.tokens->input == 20);
  CHECK(done[1].event.cumulative_micro_usd.value_or(0) == 3000);
  auto stub = ends();
  stub.message.stop = stop_reason::aborted;
  auto cut = core.event(stub);
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].event.cancelled.value_or(false));
}

TEST_CASE("what a run was reminded of, and what it came to") {
  auto memory = memory_recalled("conversation", 12);
  CHECK(memory.kind == contracts::stream_event_kind::memory_recalled);
  CHECK(memory.source.value_or("") == "conversation");
  CHECK(memory.bytes.value_or(0) == 12);
  auto outcome = says("4");
  outcome.stats.llm_calls = 2;
  auto end = run_ended(outcome);
  CHECK(end.kind == contracts::stream_event_kind::runtime_telemetry);
  CHECK(end.data.text
        == R"({"stop":"stop","llmCalls":2,"toolCalls":0,"durationMs":0})");
}

TEST_CASE("a message that reached the run is a call of its own") {
  auto applied = of_kind(harness_event_kind::input_applied);
  applied.call_id = "m2";
  applied.text = "stop that";
  run_output_core core{{}};
  auto calls = core.event(applied);
  REQUIRE(calls.size() == 2);
  CHECK(is_steering(calls[0].event));
  CHECK(calls[0].event.id == "live-input:m2");
  const auto& done = calls[1].event;
  CHECK(done.kind == contracts::stream_event_kind::tool_call_completed);
  CHECK(done.id == calls[0].event.id);
  CHECK(done.metadata == calls[0].event.metadata);
  CHECK(done.content.text == R"("applied")");
  CHECK(calls[0].event.metadata.text
        == R"({"liveInput":true,"synthetic":true,"inputId":"m2"})");
}

TEST_CASE("a tool call is told once, by what may be shown of it") {
  struct row {
    const char* name;
    std::string arguments;
    std::string want;
  };
  const row rows[] = {
    {"the command", R"({"label":"count lines","command":"wc -l a"})",
     "#🖥️ Running wc -l a"},
    {"paths of the office are short",
     R"({"command":"cd /workspace/o && cat /workspace/o/a /root/b"})",
     "#🖥️ Running cat a ~/b"},
    {"secrets are not shown",
     R"({"command":"curl --token=abc https://u:p@h/x"})",
     "#🖥️ Running curl --token [redacted] https://h/x"},
    {"control characters", "{\"command\":\"a\\u001b[31mb\"}",
     "#🖥️ Running a [31mb"},
    {"other arguments", R"({"stdin":"private"})", "#🖥️ Running"},
    {"arguments that are no JSON", "{\"command\":", "#🖥️ Running"},
    {"arguments absent", "", "#🖥️ Running"},
    {"cut at the bound",
     R"({"command":")" + std::string(1u << 20, 'x') + R"("})",
     "#🖥️ Running " + std::string(20, 'x') + "…" + std::string(18, 'x')
       + "…"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(play(turn_origin::user,
               {tool("c1", row.arguments), tool_done("c1", true), stored("c1")})
          == row.want + "/c1 failed");
  }
}

TEST_CASE("which directories activity lines shorten") {
  path_context paths;
  paths.runtime_root = "/workspace";
  paths.cwd = "/workspace/o";
  executor_info executor;
  executor.backend = "bwrap";
  CHECK(output_roots(executor, paths).workspace == "/workspace/o");
  CHECK(output_roots(executor, paths).home == "/root");
  executor.backend = "host";
  CHECK(output_roots(executor, paths).home.empty());
}

TEST_CASE("the final answer by outcome") {
  struct row {
    const char* name;
    turn_origin origin;
    prompt_outcome outcome;
    const char* text;
    bool suppressed;
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
    {"text", turn_origin::user, says("4"), "4", false},
    {"empty", turn_origin::user, says(" \n"), "No response text was returned.",
     false},
    {"empty, nobody watching", turn_origin::event, says(""), "", true},
    {"silent", turn_origin::user, says("  [SILENT] ok"), "", true},
    {"silent event", turn_origin::event, says("[SILENT]"), "", true},
    {"sentinel of an event", turn_origin::event, says("Nothing_To_Report"), "",
     true},
    {"narrated sentinel", turn_origin::event,
     says("done\r\nnothing_to_report\r\n"), "", true},
    {"sentinel in a sentence", turn_origin::event,
     says("done NOTHING_TO_REPORT"), "done NOTHING_TO_REPORT", false},
    {"a user may be told the sentinel", turn_origin::user,
     says("NOTHING_TO_REPORT"), "NOTHING_TO_REPORT", false},
    {"error with a sentence", turn_origin::user, explained,
     "The key of lab was refused.", false},
    {"error of a scheduled run is said", turn_origin::event, explained,
     "The key of lab was refused.", false},
    {"error without one", turn_origin::user, failed,
     "The model call failed. Send the message again to retry.", false},
    {"blocked", turn_origin::user, blocked, "This request was blocked.", false},
    {"budget", turn_origin::user, broke,
     "I stopped because this run reached its budget (10 tokens >= 5 limit). "
     "Ask again with a smaller task.",
     false},
    {"an answer at the cap", turn_origin::user, at_cap, "all of it", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto answer = final_answer_of(row.outcome, row.origin);
    CHECK(answer.text == row.text);
    CHECK(answer.suppressed == row.suppressed);
  }
}

TEST_CASE("an answer too long is cut at a character and says so") {
  auto note = [](size_t bytes) {
    return "\n\n(cut here: the answer was " + std::to_string(bytes)
           + " bytes long)";
  };
  std::string whole(limits::final_answer_bytes, 'x');
  CHECK(final_answer_of(says(whole), turn_origin::user).text == whole);
  std::string text;
  while (text.size() <= limits::final_answer_bytes)
    text += "€";
  auto answer = final_answer_of(says(text), turn_origin::user).text;
  CHECK(answer.size() <= limits::final_answer_bytes);
  CHECK(answer.size() + 3 > limits::final_answer_bytes);
  REQUIRE(answer.ends_with(note(text.size())));
  auto kept = answer.size() - note(text.size()).size();
  CHECK(kept % 3 == 0);
  CHECK(text.starts_with(answer.substr(0, kept)));
}

TEST_CASE("files go along with the text, and make up for an empty one") {
  auto outcome = says("here it is");
  contracts::attachment_part file;
  file.name = "report.pdf";
  outcome.parts.emplace_back(file);
  CHECK(final_answer_of(outcome, turn_origin::user).parts == outcome.parts);
  outcome.final_text = " \n";
  auto answer = final_answer_of(outcome, turn_origin::user);
  CHECK(answer.text.empty());
  CHECK(answer.parts == outcome.parts);
  outcome.final_text = "[SILENT]";
  CHECK(final_answer_of(outcome, turn_origin::user).parts.empty());
  outcome.final_text = " ";
  // Nobody asked, and yet there is something.
  answer = final_answer_of(outcome, turn_origin::event);
  CHECK_FALSE(answer.suppressed);
  CHECK(answer.text.empty());
  CHECK(answer.parts == outcome.parts);
  outcome.final_text = "NOTHING_TO_REPORT";
  CHECK(final_answer_of(outcome, turn_origin::event).parts.empty());
  outcome.error_sentence = "It failed.";
  answer = final_answer_of(outcome, turn_origin::user);
  CHECK(answer.text == "It failed.");
  CHECK(answer.parts == outcome.parts);
}
