#include "messages/text/history_line.hpp"

#include <doctest/doctest.h>

namespace {

using namespace bureau::text;

history_line sample() {
  history_line line;
  line.time_ms = 1'777'593'602'000; // 2026-05-01T00:00:02Z
  line.offset_minutes = 480;
  line.name = "alice";
  line.text = "hi";
  return line;
}

} // namespace

TEST_CASE("a line shows time, zone, name and thread") {
  auto line = sample();
  CHECK(print_history_line(line) == "[2026-05-01 08:00:02+08:00] [alice]: hi");
  line.thread = "1000.1";
  CHECK(print_history_line(line)
        == "[2026-05-01 08:00:02+08:00] [alice] [in-thread:1000.1]: hi");
  line.time_ms.reset();
  CHECK(print_history_line(line) == "[alice] [in-thread:1000.1]: hi");
  line.name.clear();
  line.thread.clear();
  CHECK(print_history_line(line) == "[unknown]: hi");
}

TEST_CASE("stripping takes the attribution away, and nothing else") {
  struct row {
    const char* name;
    const char* line;
    const char* text;
  };
  const row rows[] = {
    {"with thread",
     "[2026-05-01 08:00:02+08:00] [alice] [in-thread:1000.1]: hi", "hi"},
    {"without time", "[alice]: hi", "[alice]: hi"},
    {"empty text", "[2026-05-01 08:00:02+08:00] [alice]:", ""},
    {"plain text", "hello", "hello"},
    {"time alone", "[2026-05-01 08:00:02+08:00] hi",
     "[2026-05-01 08:00:02+08:00] hi"},
    {"not a time", "[yesterday] [alice]: hi", "[yesterday] [alice]: hi"},
    {"time and name glued", "[2026-05-01 08:00:02+08:00][alice]: hi",
     "[2026-05-01 08:00:02+08:00][alice]: hi"},
    {"no colon", "[2026-05-01 08:00:02+08:00] [alice] hi",
     "[2026-05-01 08:00:02+08:00] [alice] hi"},
    {"empty name", "[2026-05-01 08:00:02+08:00] []: hi",
     "[2026-05-01 08:00:02+08:00] []: hi"},
    {"no end of the name", "[2026-05-01 08:00:02+08:00] [alice: hi",
     "[2026-05-01 08:00:02+08:00] [alice: hi"},
    {"only a part", "[2026-05-01", "[2026-05-01"},
    {"text with a colon", "[2026-05-01 08:00:02-03:30] [a: b]: c: d", "c: d"},
  };
  for (const auto& [name, line, text] : rows) {
    CAPTURE(name);
    CHECK(strip_history_line(line) == text);
  }
}

TEST_CASE("every line that has a time can be taken apart again") {
  for (auto name : {"alice", "a]b", "a\nb", "日本 太郎", "[x]", "a: b", "]]"})
    for (auto thread : {"", "1000.1", "a]b"})
      for (auto text : {"hi", "", "two\nlines", "[x]: y", "日本", ": ]"}) {
        auto line = sample();
        line.name = name;
        line.thread = thread;
        line.text = text;
        auto printed = print_history_line(line);
        CAPTURE(printed);
        auto parsed = parse_history_line(printed);
        REQUIRE(parsed);
        CHECK(parsed->time == "2026-05-01 08:00:02+08:00");
        CHECK(parsed->text == text);
        CHECK(parsed->name.size() == line.name.size());
        CHECK(parsed->thread.size() == line.thread.size());
      }
}
