#include "actors/office/ledger_core.hpp"
#include "messages/codec/ledger_record.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::offices;
using enum bureau::ledger_state;

namespace {

const office_address place{platform_id::console, "local"};
constexpr int64_t t0 = 1'767'225'600'000;

conversation_event event_of(const std::string& id,
                            const std::string& key = "local") {
  conversation_event event;
  event.address = place;
  event.session_key = key;
  event.message_id = id;
  event.user = "ann";
  event.text = "hello " + id;
  event.target = json_text{R"({"chat":1})"};
  return event;
}

ledger_record line(const std::string& id, ledger_state state) {
  ledger_record record;
  record.at = text::iso_utc(t0);
  record.id = id;
  record.state = state;
  if (state == accepted)
    record.event = event_of(id);
  if (state == running || state == produced || state == sending)
    record.run = "run-" + id;
  if (state == produced)
    record.text = "answer " + id;
  if (state == dead)
    record.why = "stopped";
  return record;
}

ledger_record noted(const std::string& id, const std::string& note) {
  auto record = line(id, sent);
  record.note = note;
  return record;
}

ledger_record labelled(const std::string& id) {
  auto record = line(id, sending);
  record.labelled = true;
  return record;
}

ledger_record part(ledger_record record, uint32_t index, uint32_t of) {
  record.part = index;
  record.of = of;
  return record;
}

ledger_core replayed(const std::vector<ledger_record>& lines) {
  ledger_core core{place};
  for (auto& record : lines)
    core.replay(record, text::parse_iso(record.at).value_or(t0));
  return core;
}

} // namespace

TEST_CASE("every kind of ledger line round-trips") {
  auto full = line("m1", accepted);
  full.event.thread_ts = "9";
  full.event.user_name = "Ann";
  full.event.origin = turn_origin::event;
  full.event.kind = conversation_kind::shared;
  full.event.attachments = {{"a.txt", "k/attachments/a.txt", "ref-1", {}}};
  full.event.sent_ms = 12;
  full.event.from_bot = true;
  full.event.bot_id = "B1";
  full.event.app_id = "A1";
  full.event.subtype = "bot_message";
  auto answer = line("m1", produced);
  answer.covers = {"m2", "m3"};
  answer.provisional = "p1";
  answer.target = json_text{R"({"chat":1})"};
  auto back = line("m1", produced);
  back.text.reset();
  auto edit = line("m1", sending);
  edit.op = outbound_op::edit;
  edit.ref = "p1";
  auto delivered_part = part(line("m1", sent), 1, 3);
  delivered_part.ref = "x";
  auto lost = line("m1", ambiguous);
  lost.run = "r";
  lost.why = "no answer";
  auto ended = line("m1", dead);
  ended.told = true;
  ledger_record closed;
  closed.at = text::iso_utc(t0);
  closed.closed = {"a", "b"};
  for (auto& record :
       {full, line("m1", running), answer, back, line("m1", sending), edit,
        labelled("m1"), delivered_part, noted("m1", "silent"), lost, ended,
        closed}) {
    auto text = print_ledger_line(record);
    CAPTURE(text);
    REQUIRE(text.ends_with('\n'));
    auto read = parse_ledger_line(text.substr(0, text.size() - 1));
    REQUIRE(read);
    auto expected = record;
    expected.event.address = {};
    CHECK(*read == expected);
  }
}

TEST_CASE("the fields of an accepted line are those of the format") {
  auto record = line("m1", accepted);
  record.event.attachments = {{"a", "", "r", {}}};
  CHECK(
    print_ledger_line(record)
    == R"({"v":1,"at":"2026-01-01T00:00:00.000Z","id":"m1","st":"accepted",)"
       R"("key":"local","origin":"user","ev":{"ts":"m1","kind":"direct",)"
       R"("type":"message","user":"ann","text":"hello m1",)"
       R"("attachments":[{"name":"a","ref":"r"}]},"target":{"chat":1}})"
       "\n");
}

TEST_CASE("ill-formed text cannot make a line unreadable") {
  auto record = line("m\xff", accepted);
  record.event.text = "cut \xe2\x82";
  record.event.target = json_text{"{broken"};
  auto text = print_ledger_line(record);
  auto read = parse_ledger_line(text.substr(0, text.size() - 1));
  REQUIRE(read);
  CHECK(read->id == "m\uFFFD");
  CHECK(read->event.text == "cut \uFFFD");
  CHECK(read->event.target.empty());
}

TEST_CASE("lines that are no transition are skipped") {
  const std::string good = print_ledger_line(line("m1", accepted));
  struct row {
    const char* name;
    std::string text;
    size_t records;
    size_t skipped;
    size_t first;
    bool torn;
  };
  const row rows[] = {
    {"empty", "", 0, 0, 0, false},
    {"blank lines", "\n\n" + good, 1, 0, 0, false},
    {"torn tail", good + good.substr(0, 20), 1, 1, 2, true},
    {"mended", good.substr(0, 20) + "\n" + good, 1, 1, 1, false},
    {"no newline", good.substr(0, good.size() - 1), 1, 0, 0, true},
    {"other version",
     R"({"v":2,"id":"a","st":"dead"})"
     "\n",
     0, 1, 1, false},
    {"other state",
     R"({"v":1,"id":"a","st":"gone"})"
     "\n",
     0, 1, 1, false},
    {"no id",
     R"({"v":1,"st":"dead"})"
     "\n",
     0, 1, 1, false},
    {"no event",
     R"({"v":1,"id":"a","st":"accepted"})"
     "\n",
     0, 1, 1, false},
    {"a list", "[]\n", 0, 1, 1, false},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto contents = read_ledger(row.text);
    CHECK(contents.records.size() == row.records);
    CHECK(contents.skipped == row.skipped);
    CHECK(contents.first_skipped == row.first);
    CHECK(contents.torn == row.torn);
  }
}

TEST_CASE("what the run of an earlier message has read is running with it") {
  ledger_core core{place};
  for (auto id : {"head", "read", "late"})
    CHECK(core.apply(line(id, accepted), t0));
  auto with = [](const std::string& id, const std::string& run) {
    auto record = line(id, running);
    record.run = run;
    return record;
  };
  CHECK(core.apply(with("head", "r1"), t0));
  CHECK(core.apply(with("read", "r1"), t0));
  REQUIRE(core.head_of(*core.find("read")) != nullptr);
  CHECK(core.head_of(*core.find("read"))->id == "head");
  CHECK(core.head_of(*core.find("head")) == nullptr);
  CHECK(core.read_by(*core.find("head")).size() == 1);
  CHECK(core.after_restart(*core.find("read"), false) == boot_step::wait);
  CHECK(core.after_restart(*core.find("head"), false) == boot_step::ask_cause);
  // It goes along into the next run of that message, and into no other.
  CHECK_FALSE(core.apply(with("read", "r2"), t0));
  CHECK(core.apply(line("head", accepted), t0));
  CHECK(core.head_of(*core.find("read"))->id == "head");
  CHECK(core.apply(with("head", "r2"), t0));
  CHECK(core.apply(with("read", "r2"), t0));
  CHECK(core.apply(with("late", "r3"), t0));
  CHECK_FALSE(core.apply(with("read", "r3"), t0));
  // Only an answer that covers it closes it with a note.
  ledger_record note = line("read", sent);
  note.note = "steered";
  CHECK_FALSE(core.allows(note));
  auto answer = line("head", produced);
  answer.run = "r2";
  answer.covers = {"read"};
  CHECK(core.apply(answer, t0));
  CHECK(core.after_restart(*core.find("read"), false) == boot_step::wait);
  CHECK(core.apply(note, t0));
}

TEST_CASE("the transitions of the ledger are a closed set") {
  using path = std::vector<ledger_record>;
  const std::map<std::string, path> ways = {
    {"accepted", {}},
    {"running", {line("m", running)}},
    {"produced", {line("m", running), line("m", produced)}},
    {"sending", {line("m", running), line("m", produced), line("m", sending)}},
    {"first part",
     {line("m", running), line("m", produced), part(line("m", sending), 0, 2),
      part(line("m", sent), 0, 2)}},
    {"ambiguous",
     {line("m", running), line("m", produced), line("m", sending),
      line("m", ambiguous)}},
  };
  struct step {
    const char* name;
    ledger_record record;
    std::set<std::string> from;
  };
  const step steps[] = {
    {"accepted", line("m", accepted), {"running"}},
    {"running", line("m", running), {"accepted"}},
    {"produced", line("m", produced), {"running", "sending"}},
    {"sending", line("m", sending), {"produced"}},
    {"next part",
     part(line("m", sending), 1, 2),
     {"produced", "sending", "first part"}},
    {"labelled", labelled("m"), {"produced", "ambiguous"}},
    {"sent", line("m", sent), {"sending", "ambiguous"}},
    {"noted", noted("m", "silent"), {"accepted", "produced"}},
    {"ambiguous", line("m", ambiguous), {"sending"}},
    {"dead",
     line("m", dead),
     {"accepted", "running", "produced", "first part", "ambiguous"}},
  };
  for (auto& [from, way] : ways)
    for (auto& step : steps) {
      CAPTURE(from);
      CAPTURE(step.name);
      ledger_core core{place};
      REQUIRE(core.apply(line("m", accepted), t0));
      for (auto& record : way)
        REQUIRE(core.apply(record, t0));
      auto legal = step.from.contains(from);
      CHECK(core.allows(step.record) == legal);
      CHECK(core.apply(step.record, t0) == legal);
    }
}

TEST_CASE("an id is accepted once, open or closed") {
  ledger_core core{place};
  CHECK_FALSE(core.knows("m"));
  CHECK(core.apply(line("m", accepted), t0));
  CHECK(core.knows("m"));
  CHECK_FALSE(core.apply(line("m", accepted), t0));
  CHECK(core.apply(line("m", dead), t0));
  CHECK(core.open_count() == 0);
  CHECK(core.knows("m"));
  CHECK_FALSE(core.apply(line("m", accepted), t0));
  CHECK_FALSE(core.apply(line("other", running), t0));
}

TEST_CASE("ids are remembered by age or by number, whichever is more") {
  id_window window{100, 3, 5};
  for (auto id : {"a", "b", "c"})
    window.add(id, 0);
  window.add("d", 1000);
  CHECK_FALSE(window.contains("a"));
  CHECK(window.contains("b"));
  window.add("e", 1000);
  window.add("f", 1001);
  CHECK_FALSE(window.contains("c"));
  CHECK(window.size() == 3);
  window.add("g", 1001);
  window.add("h", 1001);
  CHECK(window.size() == 5);
  window.add("i", 1001);
  CHECK(window.size() == 5);
  CHECK_FALSE(window.contains("d"));
  window.add("i", 2000);
  CHECK(window.size() == 5);
}

TEST_CASE("an answer closes what it covers") {
  ledger_core core{place};
  for (auto id : {"early", "main"})
    core.apply(line(id, accepted), t0);
  core.apply(line("main", running), t0);
  core.apply(line("late", accepted), t0);
  auto answer = line("main", produced);
  answer.covers = {"early", "late", "main", "unknown"};
  core.apply(answer, t0);
  CHECK(core.after_restart(*core.find("early"), false) == boot_step::wait);
  auto notes = core.closing_notes(*core.find("main"));
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].id == "early");
  CHECK(notes[0].note == "collected");
  CHECK(notes[1].note == "steered");
  core.apply(line("main", sending), t0);
  core.apply(line("main", sent), t0);
  CHECK(core.open_count() == 0);
  CHECK(core.knows("early"));
}

TEST_CASE("what a restart does about each state") {
  using enum boot_step;
  auto edit = line("m", sending);
  edit.op = outbound_op::edit;
  edit.ref = "p";
  struct row {
    const char* name;
    std::vector<ledger_record> lines;
    boot_step plain;
    boot_step deduped;
  };
  const row rows[] = {
    {"accepted", {}, requeue, requeue},
    {"running", {line("m", running)}, ask_cause, ask_cause},
    {"back to accepted",
     {line("m", running), line("m", accepted)},
     requeue,
     requeue},
    {"produced", {line("m", running), line("m", produced)}, deliver, deliver},
    {"sending a post",
     {line("m", running), line("m", produced), line("m", sending)},
     resend_labelled,
     deliver},
    {"sending an edit",
     {line("m", running), line("m", produced), edit},
     deliver,
     deliver},
    {"sending again",
     {line("m", running), line("m", produced), line("m", sending),
      line("m", ambiguous), labelled("m")},
     give_up,
     deliver},
    {"ambiguous",
     {line("m", running), line("m", produced), line("m", sending),
      line("m", ambiguous)},
     resend_labelled,
     resend_labelled},
    {"between parts",
     {line("m", running), line("m", produced), part(line("m", sending), 0, 2),
      part(line("m", sent), 0, 2)},
     deliver,
     deliver},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto lines = row.lines;
    lines.insert(lines.begin(), line("m", accepted));
    auto core = replayed(lines);
    REQUIRE(core.find("m") != nullptr);
    CHECK(core.after_restart(*core.find("m"), false) == row.plain);
    CHECK(core.after_restart(*core.find("m"), true) == row.deduped);
  }
}

TEST_CASE("a run is repeated only when the session shows that it did nothing") {
  ledger_entry entry;
  entry.attempt = 1;
  auto verdict = [&](bool recorded, bool admitted, bool worked) {
    cause_report report;
    report.recorded = recorded;
    report.admitted = admitted;
    report.worked = worked;
    return ledger_core::after_cause(entry, report);
  };
  CHECK(verdict(true, true, false) == cause_verdict::rerun);
  CHECK(verdict(true, false, false) == cause_verdict::rerun);
  CHECK(verdict(true, true, true) == cause_verdict::interrupted);
  CHECK(verdict(false, false, false) == cause_verdict::interrupted);
  entry.attempt = 2;
  CHECK(verdict(true, true, false) == cause_verdict::interrupted);
}

TEST_CASE("a replay hands over the last answers once") {
  std::vector<ledger_record> lines;
  for (auto id : {"a", "b"}) {
    lines.push_back(line(id, accepted));
    lines.push_back(line(id, running));
    lines.push_back(line(id, produced));
    lines.push_back(line(id, sending));
    lines.push_back(line(id, sent));
    lines.back().ref = std::string{"ref-"} + id;
  }
  lines.push_back(line("c", accepted));
  lines.push_back(noted("c", "command"));
  auto core = replayed(lines);
  auto answers = core.take_answers();
  REQUIRE(answers.size() == 2);
  CHECK(answers[1].event.message_id == "b");
  CHECK(answers[1].text == "answer b");
  CHECK(answers[1].ref == "ref-b");
  CHECK(core.take_answers().empty());
}

TEST_CASE("a compacted ledger replays to the same state") {
  std::vector<ledger_record> lines;
  auto add = [&](ledger_record record) {
    lines.push_back(std::move(record));
  };
  for (int i = 0; i < 200; ++i) {
    auto id = "done-" + std::to_string(i);
    add(line(id, accepted));
    add(line(id, dead));
  }
  for (auto id : {"a", "r", "r2", "p", "s", "e", "x", "q", "l", "f", "u", "v"})
    add(line(id, accepted));
  add(line("r", running));
  add(line("r2", running));
  add(line("r2", accepted));
  for (auto id : {"p", "s", "e", "x", "q", "l", "f", "u", "v"}) {
    add(line(id, running));
    auto answer = line(id, produced);
    answer.covers = {"a"};
    answer.provisional = "prov";
    contracts::attachment_part file;
    file.id = file.artifact_id = "a1";
    file.name = "a.txt";
    file.media_type = "text/plain";
    file.integrity_id = "sha256:" + std::string(64, '0');
    contracts::failed_part failure;
    failure.id = "f1";
    failure.message = "It is too large.";
    answer.parts = {file, failure};
    add(answer);
  }
  add(line("s", sending));
  auto edit = line("e", sending);
  edit.op = outbound_op::edit;
  edit.ref = "prov";
  add(edit);
  add(line("x", sending));
  add(line("x", ambiguous));
  add(line("l", sending));
  add(line("l", ambiguous));
  add(labelled("l"));
  auto back = line("l", produced);
  back.text.reset();
  add(back);
  add(part(line("q", sending), 0, 3));
  auto first = part(line("q", sent), 0, 3);
  first.ref = "ref-0";
  add(first);
  add(part(line("q", sending), 1, 3));
  add(part(line("f", sending), 0, 2));
  first = part(line("f", sent), 0, 2);
  first.ref = "ref-f";
  add(first);
  // Two parts are out, and the third failed or is on its way.
  for (auto id : {"u", "v"})
    for (uint32_t number = 0; number < 3; ++number) {
      auto step = part(line(id, sending), number, 4);
      step.op = number == 0 ? outbound_op::post : outbound_op::upload;
      add(step);
      if (number < 2)
        add(part(line(id, sent), number, 4));
    }
  back.id = "u";
  add(back);
  auto core = replayed(lines);
  auto again = replayed(read_ledger(core.compacted()).records);
  CHECK(read_ledger(core.compacted()).skipped == 0);
  CHECK(again.open_count() == core.open_count());
  for (auto* entry : core.open()) {
    CAPTURE(entry->id);
    auto other = again.find(entry->id);
    REQUIRE(other != nullptr);
    CHECK(other->state == entry->state);
    CHECK(other->event == entry->event);
    CHECK(other->run == entry->run);
    CHECK(other->attempt == entry->attempt);
    CHECK(other->text == entry->text);
    CHECK(other->parts == entry->parts);
    CHECK(other->covers == entry->covers);
    CHECK(other->provisional == entry->provisional);
    CHECK(other->produced_ms == entry->produced_ms);
    CHECK(other->part == entry->part);
    CHECK(other->of == entry->of);
    CHECK(other->op == entry->op);
    CHECK(other->ref == entry->ref);
    CHECK(other->labelled == entry->labelled);
    CHECK(other->answer_ref == entry->answer_ref);
    CHECK(other->accepted_ms == entry->accepted_ms);
    CHECK(again.after_restart(*other, false)
          == core.after_restart(*entry, false));
  }
  for (int i = 0; i < 200; ++i)
    CHECK(again.knows("done-" + std::to_string(i)));
}

TEST_CASE("a ledger is compacted when it is large and mostly closed") {
  ledger_core core{place};
  CHECK_FALSE(core.should_compact(limits::ledger_compact_bytes));
  CHECK(core.should_compact(limits::ledger_compact_bytes + 1));
  auto big = line("m", accepted);
  big.event.text.assign(600'000, 'x');
  core.apply(big, t0);
  CHECK_FALSE(core.should_compact(limits::ledger_compact_bytes + 1));
  CHECK(core.should_compact(3'000'000));
  CHECK(core.compacted().size() < 1'500'000);
}
