#include "messages/codec/log_record.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace bureau;

log_record sample() {
  log_record record;
  record.date = "2026-05-01T08:59:40.000Z";
  record.ts = "1777625980.000100";
  record.user = "U7";
  record.user_name = "ana";
  record.text = "ping";
  return record;
}

std::string bot(const char* ts, const char* text, const char* extra = "") {
  return std::string{R"({"date":"2026-05-01T09:00:00.000Z","ts":")"} + ts
         + R"(","user":"bot","text":")" + text + R"(","isMessagingBot":true)"
         + extra + "}\n";
}

std::string human(const char* ts, const char* text) {
  return std::string{R"({"date":"2026-05-01T09:00:00.000Z","ts":")"} + ts
         + R"(","user":"U1","text":")" + text + R"(","isMessagingBot":false})"
         + "\n";
}

} // namespace

TEST_CASE("a log line has the fields in the order of the format") {
  CHECK(print_log_line(sample())
        == R"({"date":"2026-05-01T08:59:40.000Z","ts":"1777625980.000100",)"
           R"("user":"U7","userName":"ana","text":"ping","attachments":[],)"
           R"("isMessagingBot":false})"
           "\n");
  auto answer = sample();
  answer.user = "bot";
  answer.user_name.clear();
  answer.thread_ts = "17.1";
  answer.from_bot = true;
  answer.reply_to = "17.1";
  answer.session_key = "C123:17.1";
  answer.attachments = {{"a b.txt", "K/attachments/1_a_b.txt"}};
  CHECK(print_log_line(answer)
        == R"({"date":"2026-05-01T08:59:40.000Z","ts":"1777625980.000100",)"
           R"("threadTs":"17.1","user":"bot","text":"ping","attachments":)"
           R"([{"original":"a b.txt","localPath":"K/attachments/1_a_b.txt"}],)"
           R"("isMessagingBot":true,"replyTo":"17.1",)"
           R"("sessionKey":"C123:17.1"})"
           "\n");
}

TEST_CASE("every record reads back as it was written") {
  auto record = sample();
  record.display_name = "Ana \"A\" 日本";
  record.text = "line\nbreak\t\\ and \x01";
  record.platform = "slack";
  record.bot_id = "B1";
  record.app_id = "A1";
  record.subtype = "bot_message";
  record.attachments = {{"one", "K/attachments/1_one"}, {"", ""}};
  auto line = print_log_line(record);
  CHECK(line.find('\n') == line.size() - 1);
  auto parsed = parse_log_line(line.substr(0, line.size() - 1));
  REQUIRE(parsed);
  CHECK(*parsed == record);
}

TEST_CASE("ill-formed text never makes a line unreadable") {
  auto record = sample();
  record.text = "broken \xFF\xC3 text";
  auto parsed = parse_log_line(print_log_line(record));
  REQUIRE(parsed);
  CHECK(parsed->text == "broken \xEF\xBF\xBD\xEF\xBF\xBD text");
}

TEST_CASE("readers are tolerant about members") {
  struct row {
    const char* name;
    const char* line;
    const char* ts;
    const char* text;
  };
  const row rows[] = {
    {"numeric ids become digits", R"({"ts":17,"text":"a"})", "17", "a"},
    {"wrong types count as absent", R"({"ts":["x"],"text":5})", "", ""},
    {"null counts as absent", R"({"ts":null,"text":null})", "", ""},
    {"an empty object is a record", "{}", "", ""},
  };
  for (const auto& [name, line, ts, text] : rows) {
    CAPTURE(name);
    auto parsed = parse_log_line(line);
    REQUIRE(parsed);
    CHECK(parsed->ts == ts);
    CHECK(parsed->text == text);
  }
  auto named = parse_log_line(
    R"({"attachments":[{"name":"n","localPath":"p"},5,{"original":"o"}]})");
  REQUIRE(named);
  CHECK(named->attachments
        == std::vector<log_attachment>{{"n", "p"}, {"o", ""}});
  for (auto line : {"", "oops", "[1]", "5", "{\"a\":1", "{} {}"})
    CHECK_FALSE(parse_log_line(line));
}

TEST_CASE("malformed lines are skipped but keep their number") {
  auto log = read_log(human("1", "one") + "oops\n\n" + human("2", "two"),
                      "/w/K/log.jsonl");
  REQUIRE(log.entries.size() == 2);
  CHECK(log.entries[0].index == 0);
  CHECK(log.entries[1].index == 2);
  CHECK(log.skipped == 1);
  REQUIRE(log.warnings.size() == 1);
  CHECK(log.warnings[0].find("/w/K/log.jsonl, line 2") != std::string::npos);
}

TEST_CASE("chunks of one answer become one record") {
  auto log =
    read_log(bot("2", "One") + bot("2", " two") + bot("2", " three"), "log");
  REQUIRE(log.entries.size() == 1);
  CHECK(log.entries[0].record.text == "One two three");
  CHECK(log.entries[0].index == 0);
}

TEST_CASE("what is not one answer is not merged") {
  struct row {
    const char* name;
    std::string text;
    size_t records;
  };
  const row rows[] = {
    {"a person in between", bot("2", "a") + human("3", "x") + bot("2", "b"), 3},
    {"another thread", bot("2", "a") + bot("2", "b", R"(,"threadTs":"1")"), 2},
    {"another bot",
     bot("2", "a")
       + R"({"ts":"2","user":"bot:B","text":"b","isMessagingBot":true})",
     2},
    {"no id", bot("", "a") + bot("", "b"), 2},
    {"two messages of a person", human("2", "a") + human("2", "b"), 2},
    {"a malformed line in between", bot("2", "a") + "oops\n" + bot("2", "b"),
     1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(read_log(row.text, "log").entries.size() == row.records);
  }
}

TEST_CASE("a log may be missing, blank, or come from Windows") {
  CHECK(read_log("", "log").entries.empty());
  CHECK(read_log(" \n\r\n ", "log").entries.empty());
  auto text = human("1", "one");
  text.insert(text.size() - 1, "\r");
  auto log = read_log(text + human("2", "two"), "log");
  CHECK(log.entries.size() == 2);
  CHECK(log.warnings.empty());
}

TEST_CASE("the warnings of a damaged log are bounded") {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "oops\n";
  auto log = read_log(text, "log");
  CHECK(log.skipped == 500);
  CHECK(log.warnings.size() == 20);
}

TEST_CASE("the tail of a log drops its first line unless it is the whole") {
  auto text = human("1", "one") + human("2", "two") + bot("3", "a")
              + bot("3", "b") + human("2", "again");
  CHECK(log_tail_ids(text, true) == std::vector<std::string>{"1", "2", "3"});
  CHECK(log_tail_ids(text, false) == std::vector<std::string>{"2", "3"});
  CHECK(log_tail_ids("no line break at all", false).empty());
  CHECK(log_tail_ids("", true).empty());
  // Cut in the middle of a character and of a record.
  auto cut = std::string_view{text}.substr(5);
  CHECK(read_log_tail(cut, false, "log").warnings.empty());
  CHECK(read_log_tail(cut, false, "log").entries.front().record.ts == "2");
}
