#include "messages/contracts/subagent_outcome.hpp"

#include <doctest/doctest.h>

using namespace bureau::contracts;

TEST_CASE("what a subagent came back with") {
  struct row {
    const char* content;
    bool is_error;
    const char* want;
  };
  const row rows[] = {
    {"", false, ""},
    {"completed", false, ""},
    {"Completed · 3 tool calls · 1.5s", false, ""},
    {"ok · 1 tool call", false, ""},
    {"failed · 20ms", true, ""},
    {"timed out", true, ""},
    {"completed early", false, "Result: completed early"},
    {"a\r\n\r\nb", false, "Result: a b"},
    {"reason: boom", true, "Reason: boom"},
    {"Validation failed for tool \"Agent\":\n  - root: bad", true,
     "Reason: Validation failed for tool \"Agent\": - root: bad"},
    {"<subagent>\nreason: boom\n</subagent>", false, ""},
    {"<subagent id=\"1\">\nreason: boom\nother\n</subagent>", true,
     "Reason: boom"},
    {"<subagent>\nok\n\nfirst\nsecond\n</subagent>", false, "Result: first"},
    {"<activity>\nonly activity\n</activity>", true, ""},
    {"<activity>\nin\n</activity>\nout", false, "Result: out"},
    {"<subagent>\nnote: skip me\nfailed\nreal text token=abc\n</subagent>",
     true, "Reason: real text token=[redacted]"},
    {"<subagents>", false, "Result: <subagents>"},
    {"see /ws/a.txt", false, "Result: see a.txt"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.content);
    CHECK(format_subagent_outcome_activity_line(row.content, row.is_error,
                                                {"/ws", "/home/agent"})
          == row.want);
  }
}

TEST_CASE("a megabyte of an outcome") {
  for (auto unit : {"<subagent>", "<", "\n", "reason:\n", "ok · 1", "\x80"}) {
    CAPTURE(unit);
    std::string content;
    while (content.size() < 1u << 20)
      content += unit;
    CHECK(format_subagent_outcome_activity_line(content, true, {}).size()
          <= 4 * detail_chars);
  }
}
