#include "actors/runner/activity_ledger_core.hpp"

#include "tests/runner/stream_events.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::runner;
using namespace bureau::test;

namespace {

size_t rows(const std::string& text) {
  return 1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A group with one child that came back.
std::string settled(const contracts::stream_event& end) {
  activity_ledger ledger;
  ledger.tool_started(launch("a"));
  ledger.tool_started(child("a", "x"));
  ledger.tool_completed(end);
  return ledger.text();
}

} // namespace

TEST_CASE("equal lines in a row are counted") {
  activity_ledger ledger;
  CHECK(ledger.empty());
  ledger.add_line("a");
  ledger.add_line("a");
  ledger.add_line("b");
  ledger.add_line("a");
  CHECK(ledger.text() == "a (×2)\nb\na");
}

TEST_CASE("calls of a subagent stand below it, in its place") {
  activity_ledger ledger;
  ledger.tool_started(launch("a"));
  ledger.tool_started(tool_started("t", "Read", R"({"path":"mine"})"));
  CHECK(ledger.tool_started(child("a", "x")));
  CHECK(ledger.tool_started(child("a", "x")));
  CHECK(
    ledger.text()
    == "🤖 Starting agent \"a\"\n  ↳ 📖 Reading x (×2)\n📖 Reading "
       "mine");
}

TEST_CASE("a subagent whose launch was not seen has a group all the same") {
  activity_ledger ledger;
  ledger.tool_started(child("a", "x"));
  ledger.tool_started(launch("a"));
  CHECK(ledger.text() == "🤖 Starting agent \"a\"\n  ↳ 📖 Reading x");
}

TEST_CASE("what is no identity leaves a line of the agent itself") {
  for (auto metadata :
       {R"({"subagent":{"id":42}})", R"({"subagent":{"id":"  "}})",
        R"({"subagent":"a"})", "[]", "{"}) {
    CAPTURE(metadata);
    activity_ledger ledger;
    ledger.tool_started(tool_started("c", "Read", R"({"path":"x"})", metadata));
    CHECK(ledger.text() == "📖 Reading x");
  }
}

TEST_CASE("a subagent that came back is one line and its outcome") {
  struct row {
    const char* name;
    contracts::stream_event end;
    const char* want;
  };
  auto untimed = launched("a", 0);
  untimed.duration_us = caf::none;
  const row rows[] = {
    {"no time", untimed, "🤖 Agent \"a\" · 1 tool call"},
    {"milliseconds", launched("a", 5),
     "🤖 Agent \"a\" · 1 tool call · 5ms"},
    {"halves are rounded up", launched("a", 1250),
     "🤖 Agent \"a\" · 1 tool call · 1.3s"},
    {"long", launched("a", 60'000), "🤖 Agent \"a\" · 1 tool call · 60.0s"},
    {"no time that could be", launched("a", -1),
     "🤖 Agent \"a\" · 1 tool call · 0s"},
    {"a result", launched("a", 5, "All is well."),
     "🤖 Agent \"a\" · 1 tool call · 5ms\n  ↳ Result: All is well."},
    {"a failure", launched("a", 5, "No such file", true),
     "⚠️ Agent \"a\" · failed · 1 tool call · 5ms\n  ↳ Reason: No "
     "such "
     "file"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(settled(row.end) == row.want);
  }
  auto nearly = launched("a", 0);
  nearly.duration_us = 999'600;
  CHECK(settled(nearly) == "🤖 Agent \"a\" · 1 tool call · 1000ms");
}

TEST_CASE("the name of a subagent is shown redacted and short") {
  activity_ledger ledger;
  ledger.tool_started(
    tool_started("a", "Agent", R"({"name":"token=hunter2\nx"})"));
  ledger.tool_completed(launched("a", 5));
  CHECK(ledger.text()
        == "🤖 Agent \"token=[redacted] x\" · 0 tool calls · 5ms");
  activity_ledger other;
  other.tool_started(tool_started(
    "a", "Agent", R"({"name":")" + std::string(100, 'n') + R"("})"));
  other.tool_completed(launched("a", 5));
  CHECK(other.text()
        == "🤖 Agent \"" + std::string(39, 'n') + "…\" · 0 tool calls · 5ms");
}

TEST_CASE("a second end may add, and an error outweighs a result") {
  activity_ledger ledger;
  ledger.tool_started(launch("a"));
  ledger.tool_completed(launched("a", 5));
  ledger.tool_completed(launched("a", 9, "fine"));
  CHECK(ledger.text()
        == "🤖 Agent \"a\" · 0 tool calls · 5ms\n  ↳ Result: fine");
  ledger.tool_completed(launched("a", 9, "broken", true));
  CHECK(ledger.text()
        == "⚠️ Agent \"a\" · failed · 0 tool calls · 5ms\n  ↳ Reason: "
           "broken");
  ledger.tool_completed(launched("a", 9, "fine after all"));
  CHECK(ledger.text()
        == "⚠️ Agent \"a\" · failed · 0 tool calls · 5ms\n  ↳ Reason: "
           "broken");
}

TEST_CASE("a subagent that came back stays so") {
  activity_ledger ledger;
  ledger.tool_started(launch("a"));
  ledger.tool_completed(launched("a", 5));
  auto before = ledger.text();
  CHECK_FALSE(ledger.tool_started(child("a", "late")));
  CHECK_FALSE(ledger.tool_started(launch("a")));
  CHECK(ledger.text() == before);
  SUBCASE("even when its row has given way") {
    for (size_t i = 0; i < ledger_lines; ++i)
      ledger.add_line(std::to_string(i));
    CHECK_FALSE(ledger.tool_started(child("a", "late")));
    CHECK(ledger.tool_completed(launched("a", 5, "late")));
    CHECK(ledger.text().find("Agent") == std::string::npos);
  }
  SUBCASE("until many others have come back") {
    for (size_t i = 0; i < ledger_settled; ++i)
      ledger.tool_completed(launched("b" + std::to_string(i), 5));
    CHECK(ledger.tool_started(child("a", "again")));
  }
}

TEST_CASE("the end of any other tool is none of the ledger's business") {
  activity_ledger ledger;
  auto end = launched("a", 5);
  end.name = "Read";
  CHECK_FALSE(ledger.tool_completed(end));
  end.name = "Agent";
  end.metadata = json_text{R"({"subagent":{"id":"a"}})"};
  CHECK_FALSE(ledger.tool_completed(end));
  end.metadata =
    json_text{R"({"subagent":{"id":"a"},"subagentLifecycle":true})"};
  CHECK(ledger.tool_completed(end));
  CHECK(ledger.empty());
}

TEST_CASE("the oldest rows give way") {
  SUBCASE("lines") {
    activity_ledger ledger;
    for (size_t i = 0; i <= ledger_lines; ++i)
      ledger.add_line("line " + std::to_string(i));
    auto text = ledger.text();
    CHECK(rows(text) == ledger_lines);
    CHECK(text.starts_with("line 1\n"));
    CHECK(text.ends_with("line " + std::to_string(ledger_lines)));
  }
  SUBCASE("children before their group") {
    activity_ledger ledger;
    ledger.tool_started(launch("a"));
    for (size_t i = 0; i < ledger_lines; ++i)
      ledger.tool_started(child("a", std::to_string(i)));
    auto text = ledger.text();
    CHECK(rows(text) == ledger_lines);
    CHECK(
      text.starts_with("🤖 Starting agent \"a\"\n  ↳ 📖 Reading 1\n"));
    // What gave way was counted all the same.
    ledger.tool_completed(launched("a", 5));
    CHECK(ledger.text() == "🤖 Agent \"a\" · 512 tool calls · 5ms");
  }
  SUBCASE("a group with its outcome") {
    activity_ledger ledger;
    ledger.tool_started(launch("a"));
    ledger.tool_completed(launched("a", 5, "fine"));
    for (size_t i = 0; i + 1 < ledger_lines; ++i)
      ledger.add_line("line " + std::to_string(i));
    CHECK(ledger.text().starts_with("line 0\n"));
    CHECK(rows(ledger.text()) == ledger_lines - 1);
  }
}
