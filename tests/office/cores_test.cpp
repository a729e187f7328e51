#include "actors/office/delivery_core.hpp"
#include "actors/office/intake_core.hpp"
#include "actors/office/open_list.hpp"
#include "messages/limits.hpp"
#include "tests/office/first_operation.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::offices;

namespace {

const office_address place{platform_id::telegram, "-9"};
constexpr int64_t now = 1'767'225'600'000;

intake_request message(const std::string& text = "hi") {
  intake_request request;
  request.event.address = place;
  request.event.kind = conversation_kind::shared;
  request.event.message_id = "7";
  request.event.user = "1";
  request.event.text = text;
  request.event.sent_ms = now - 1000;
  return request;
}

ledger_entry entry_in(ledger_state state) {
  ledger_entry entry;
  entry.id = "7";
  entry.state = state;
  entry.event = message().event;
  entry.event.target = json_text{"{}"};
  entry.run = "r1";
  entry.text = "answer";
  entry.provisional = "p1";
  entry.produced_ms = now;
  return entry;
}

} // namespace

TEST_CASE("the order in which a message is judged") {
  using enum intake_action;
  struct row {
    const char* name;
    std::function<void(intake_request&)> change;
    bool seen;
    intake_action action;
    const char* key;
  };
  const row rows[] = {
    {"plain", [](auto&) {}, false, accept, "-9:7"},
    {"own key", [](auto& r) { r.event.session_key = "-9:3"; }, false, accept,
     "-9:3"},
    {"thread", [](auto& r) { r.event.thread_ts = "5"; }, false, accept, "-9:5"},
    {"seen", [](auto&) {}, true, duplicate, "-9:7"},
    {"seen stop", [](auto& r) { r.event.text = "stop"; }, true, duplicate,
     "-9:7"},
    {"stop", [](auto& r) { r.event.text = " /Stop@my_bot "; }, false, stop,
     "-9:7"},
    {"stop in the magic text",
     [](auto& r) {
       r.event.text = "@bot stop";
       r.magic_text = "stop";
     },
     false, stop, "-9:7"},
    {"magic text without stop",
     [](auto& r) {
       r.event.text = "stop";
       r.magic_text = "@other stop";
     },
     false, accept, "-9:7"},
    {"stop although log only",
     [](auto& r) {
       r.event.text = "stop";
       r.trigger = trigger_class::log_only;
     },
     false, stop, "-9:7"},
    {"a schedule says stop",
     [](auto& r) {
       r.event.text = "stop";
       r.event.origin = turn_origin::event;
     },
     false, accept, "-9:7"},
    {"log only", [](auto& r) { r.trigger = trigger_class::log_only; }, false,
     log_only, "-9:7"},
    {"candidate", [](auto& r) { r.trigger = trigger_class::candidate; }, false,
     log_only, "-9:7"},
    {"a day old", [](auto& r) { r.event.sent_ms = now - 86'400'001; }, false,
     log_only, "-9:7"},
    {"just not", [](auto& r) { r.event.sent_ms = now - 86'400'000; }, false,
     accept, "-9:7"},
    {"age unknown", [](auto& r) { r.event.sent_ms = 0; }, false, accept,
     "-9:7"},
    {"an old schedule",
     [](auto& r) {
       r.event.sent_ms = 1;
       r.event.origin = turn_origin::event;
     },
     false, accept, "-9:7"},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto request = message();
    row.change(request);
    auto verdict = judge_intake(request, place, row.seen, now);
    CHECK(verdict.action == row.action);
    CHECK(verdict.session_key == row.key);
    CHECK(verdict.code == errc::none);
  }
}

TEST_CASE("messages that leave no trace") {
  struct row {
    const char* name;
    std::function<void(intake_request&)> change;
    const char* word;
  };
  const row rows[] = {
    {"other platform",
     [](auto& r) { r.event.address.platform = platform_id::discord; },
     "address mismatch"},
    {"other conversation",
     [](auto& r) { r.event.address.conversation_id = "9"; },
     "address mismatch"},
    {"no message id", [](auto& r) { r.event.message_id = ""; }, "message id"},
    {"long message id", [](auto& r) { r.event.message_id.assign(513, 'x'); },
     "message id"},
    {"foreign key", [](auto& r) { r.event.session_key = "9:3"; },
     "foreign_session_key"},
    {"bad suffix", [](auto& r) { r.event.session_key = "-9:.."; },
     "invalid_suffix"},
    {"bad message id as suffix", [](auto& r) { r.event.message_id = "a/b"; },
     "invalid_suffix"},
    {"target is no JSON", [](auto& r) { r.event.target = json_text{"{"}; },
     "reply target"},
    {"target too long",
     [](auto& r) {
       r.event.target = json_text{"\"" + std::string(4096, 'x') + "\""};
     },
     "reply target"},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto request = message("stop");
    row.change(request);
    auto verdict = judge_intake(request, place, false, now);
    CHECK(verdict.action == intake_action::refuse);
    CHECK(verdict.code == errc::bad_identity);
    CHECK(verdict.sentence.find(row.word) != std::string::npos);
  }
}

TEST_CASE("age and length are bounded as the settings say") {
  intake_bounds bounds;
  bounds.max_age = std::chrono::hours{2};
  bounds.text_bytes = 1024;
  auto request = message("hello");
  request.event.sent_ms = now - 7'200'000;
  CHECK(judge_intake(request, place, false, now, bounds).action
        == intake_action::accept);
  request.event.sent_ms -= 1;
  CHECK(judge_intake(request, place, false, now, bounds).action
        == intake_action::log_only);
  CHECK(bounded_text(std::string(2000, 'x'), bounds).size() == 1024);
}

TEST_CASE("text is cut at its bound, between characters") {
  CHECK(bounded_text("a\xff") == "a\uFFFD");
  std::string text(limits::message_text_bytes - 1, 'x');
  CHECK(bounded_text(text + "\u65e5") == text);
}

TEST_CASE("text is taken whole and printed, whatever must be escaped in it") {
  for (auto c : {'\n', '"', '\x01'}) {
    CAPTURE(c);
    auto kept = bounded_text(std::string(limits::message_text_bytes, c));
    CHECK(kept.size() == limits::message_text_bytes);
    ledger_record line;
    line.at = "2026-01-01T00:00:00.000Z";
    line.id = "m1";
    line.run = "r1";
    line.state = ledger_state::produced;
    // The longest answer, six bytes for each of it.
    line.text = std::string(limits::final_answer_bytes, c);
    auto printed = print_ledger_line(line);
    CHECK(printed.size() < limits::journal_record_bytes);
    auto read = read_ledger(printed);
    CHECK(read.skipped == 0);
    REQUIRE(read.records.size() == 1);
    CHECK(read.records.front().text == line.text);
  }
}

TEST_CASE("where a stop finds its turn") {
  using enum stop_scope;
  struct row {
    const char* name;
    std::vector<std::string> current;
    const char* key;
    bool top_level;
    stop_scope scope;
    const char* target;
  };
  const row rows[] = {
    {"own key", {"C", "C:1", "C:2"}, "C:2", false, always, "C:2"},
    {"bare key", {"C", "C:1"}, "C:2", false, never, "C"},
    {"only thread, always", {"C:1"}, "C:2", false, always, "C:1"},
    {"only thread, from the top", {"C:1"}, "C", true, top_level, "C:1"},
    {"only thread, from a thread", {"C:1"}, "C:2", false, top_level, ""},
    {"never", {"C:1"}, "C", true, never, ""},
    {"two threads", {"C:1", "C:2"}, "C", true, always, ""},
    {"another conversation", {"C1:1"}, "C", true, always, ""},
    {"none", {}, "C", true, always, ""},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    CHECK(stop_target(row.current, row.key, "C", row.top_level, row.scope)
          == row.target);
  }
}

TEST_CASE("an answer is an edit of its interim message or a post") {
  using enum ledger_state;
  delivery_memory memory;
  auto plan = test::first_operation(entry_in(produced), memory, true);
  CHECK(plan.op == outbound_op::edit);
  CHECK(plan.ref == "p1");
  CHECK(plan.text == "answer");
  CHECK(plan.rank == outbound_class::final_answer);
  CHECK(plan.message_id == "7");
  CHECK(plan.target.text == "{}");
  CHECK(test::first_operation(entry_in(produced), memory, false).op
        == outbound_op::post);
  auto bare = entry_in(produced);
  bare.provisional.clear();
  CHECK(test::first_operation(bare, memory, true).op == outbound_op::post);
  auto again = entry_in(ambiguous);
  plan = test::first_operation(again, memory, true);
  CHECK(plan.op == outbound_op::post);
  CHECK(plan.text
        == std::string{"(sent again; you may see this twice)\n\nanswer"});
  memory.after_restart = true;
  CHECK(test::first_operation(again, memory, true)
          .text.starts_with(
            "(sent again after a restart; you may see this twice)\n"));
  CHECK(sending_record(again, plan).labelled);
  auto edit = entry_in(sending);
  edit.op = outbound_op::edit;
  edit.ref = "p9";
  CHECK(test::first_operation(edit, {}, false).ref == "p9");
  CHECK(test::first_operation(entry_in(sending), {}, true).op
        == outbound_op::post);
}

TEST_CASE("what follows from a round of attempts that failed") {
  using enum delivery_verdict;
  using enum delivery::delivery_disposition;
  struct row {
    const char* name;
    delivery::delivery_disposition disposition;
    bool is_file;
    bool labelled;
    int64_t age_ms;
    uint32_t rounds;
    delivery_verdict verdict;
    int64_t delay_ms;
  };
  const row rows[] = {
    {"first round", retryable, false, false, 0, 0, retry, 15'000},
    {"third round", retryable, false, false, 0, 2, retry, 60'000},
    {"longest wait", retryable, false, false, 0, 30, retry, 300'000},
    {"a day later", retryable, false, false, 86'400'000, 9, undeliverable, 0},
    {"permanent", permanent, false, false, 0, 0, undeliverable, 0},
    {"unknown", unknown, false, false, 0, 0, ambiguous, 1000},
    {"unknown again", unknown, false, true, 0, 1, undeliverable, 0},
    {"a file that never arrives", permanent, true, false, 0, 0, line_instead,
     0},
    {"a file, unknown again", unknown, true, true, 0, 0, line_instead, 0},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto entry = entry_in(ledger_state::sending);
    entry.labelled = row.labelled;
    auto judged = judge_delivery(entry, {4, row.disposition, "no"}, row.is_file,
                                 row.rounds, now + row.age_ms);
    CHECK(judged.verdict == row.verdict);
    CHECK(judged.delay_ms == row.delay_ms);
  }
}

TEST_CASE("an answer goes out in pieces that its platform takes") {
  auto entry = entry_in(ledger_state::produced);
  entry.text = "one two three";
  transport_info info;
  info.max_length = 8;
  auto plan = plan_answer(entry, {}, info);
  REQUIRE(plan.pieces.size() == 2);
  CHECK(plan.pieces[0].text == "one two");
  CHECK(plan.head.ref == "p1");
  SUBCASE("the rest hangs on the first") {
    entry.state = ledger_state::sent;
    entry.of = 2;
    entry.answer_ref = "a1";
    auto next = test::first_operation(entry, {}, info);
    CHECK(next.op == outbound_op::post);
    CHECK(next.text == "three");
    CHECK(next.part == 1);
    CHECK(next.parts == 2);
    CHECK(next.continues == "a1");
  }
  SUBCASE("when messages hold less than before, all of it is said again") {
    entry.state = ledger_state::sent;
    entry.of = 2;
    info.max_length = 4;
    auto next = test::first_operation(entry, {}, info);
    CHECK(next.part == 1);
    CHECK(next.parts == 5);
    CHECK(next.text == "(sent again; you may see this twice)\n\none");
  }
  SUBCASE("as its own splitter cuts it") {
    plan =
      plan_answer(entry, {}, info, [](std::string_view, const transport_info&) {
        return std::vector<std::string>{"a", "b", "c"};
      });
    CHECK(plan.pieces.size() == 3);
  }
}

TEST_CASE("an error of the transport is uncertain once sending is recorded") {
  CHECK(outcome_of_error(entry_in(ledger_state::produced), "x").certainty
        == failure_certainty::definite);
  CHECK(outcome_of_error(entry_in(ledger_state::sending), "x").certainty
        == failure_certainty::unknown);
}

TEST_CASE("the list of unfinished offices") {
  const std::string one = "v1-slack-c123-f1bbf4ab194ff2ea";
  const std::string two = "v1-console-local-aeb48c12d1f82266";
  auto text = print_open_list({one, two, one});
  CHECK(text
        == R"({"version":1,"offices":[")" + two + R"(",")" + one + "\"]}\n");
  CHECK(parse_open_list(text) == std::vector<std::string>{two, one});
  CHECK(parse_open_list(print_open_list({})) == std::vector<std::string>{});
  for (auto damaged : {"", R"({"version":2,"offices":[]})", R"({"version":1})",
                       R"({"version":1,"offices":["../x"]})",
                       R"({"version":1,"offices":[7]})"}) {
    CAPTURE(damaged);
    CHECK_FALSE(parse_open_list(damaged));
  }
  CHECK(keys_of_replayed({"conversations/" + one + "/ledger.jsonl",
                          "conversations/../etc", "events.jsonl",
                          "conversations/" + one + "/other"})
        == std::vector<std::string>{one});
}
