#include "messages/text/harmless.hpp"

#include <doctest/doctest.h>

#include <string>

using bureau::text::harmless;

TEST_CASE("a line cannot steer a terminal") {
  struct row {
    std::string line;
    std::string expected;
  };
  const row rows[] = {
    {"", ""},
    {"plain\ttext, Grüße, 中", "plain\ttext, Grüße, 中"},
    {"\x1b[2J", "\uFFFD[2J"},
    {"a\rb\nc\ad\x7f", "a\uFFFDb\uFFFDc\uFFFDd\uFFFD"},
    {std::string{"a\0b", 3}, "a\uFFFDb"},
    // CSI and OSC as single characters of the upper control range.
    {"\u009b2J\u009d0;x\u009c", "\uFFFD2J\uFFFD0;x\uFFFD"},
    // The same as bytes, which are no UTF-8.
    {"\x9b"
     "2J",
     "\uFFFD2J"},
    {"\xff\xfe", "\uFFFD\uFFFD"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.expected);
    CHECK(harmless(row.line) == row.expected);
  }
}
