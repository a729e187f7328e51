#include "adapters/console/console_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

namespace {

outbound answer(std::string text, outbound_class rank,
                std::string conversation = "local") {
  outbound result;
  result.text = std::move(text);
  result.rank = rank;
  result.conversation = {platform_id::console, std::move(conversation)};
  return result;
}

outbound activity(std::string text) {
  auto result = answer(std::move(text), outbound_class::interim);
  result.content = outbound_content::activity;
  return result;
}

} // namespace

TEST_CASE("ids increase strictly, whatever the clock does") {
  id_sequence ids;
  CHECK(ids.next(1'767'225'600'000) == "1767225600.000000");
  CHECK(ids.next(1'767'225'600'000) == "1767225600.000001");
  CHECK(ids.next(1'767'225'600'001) == "1767225600.001000");
  CHECK(ids.next(1'767'225'500'000) == "1767225600.001001");
}

TEST_CASE("ids go on above what a log holds") {
  id_sequence ids;
  ids.resume_above("1900000000.000041");
  ids.resume_above("1800000000.999999");
  for (auto other : {"", "abc", "1900000001", "1900000001.1", "x.123456",
                     "99999999999999999.000000", "event:daily@1"})
    ids.resume_above(other);
  CHECK(ids.next(1'767'225'600'000) == "1900000000.000042");
}

TEST_CASE("what a typed line is") {
  struct row {
    const char* name;
    std::string raw;
    line_kind kind;
    const char* text;
  };
  const row rows[] = {
    {"empty", "", line_kind::empty, ""},
    {"blank", " \t\r", line_kind::empty, ""},
    {"message", "  hello there \r", line_kind::message, "hello there"},
    {"help", "/help", line_kind::help, ""},
    {"quit", " /quit ", line_kind::quit, ""},
    {"select", "/to lab-2", line_kind::select, "lab-2"},
    {"select nothing", "/to", line_kind::unknown_name, ""},
    {"select nonsense", "/to Lab", line_kind::unknown_name, "Lab"},
    {"other slash", "/model x", line_kind::message, "/model x"},
    {"prefix of a command", "/helpme", line_kind::message, "/helpme"},
    {"broken UTF-8", "caf\xe9", line_kind::message, "caf\xEF\xBF\xBD"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto line = read_line(row.raw);
    CHECK(line.kind == row.kind);
    CHECK(line.text == row.text);
  }
  CHECK_FALSE(is_conversation_name(std::string(33, 'a')));
  CHECK(is_conversation_name(std::string(32, 'a')));
}

TEST_CASE("a pipe gets answers on stdout and the rest on stderr") {
  printer out{false, 0};
  out.add_conversation("local");
  auto shown = out.show(answer("a\nb", outbound_class::final_answer), "1");
  CHECK(shown.where == stream::out);
  CHECK(shown.text == "a\nb\n");
  shown = out.show(activity("• echo"), "2");
  CHECK(shown.where == stream::err);
  CHECK(shown.text == "• echo\n");
}

TEST_CASE("a pipe passes answers on byte by byte") {
  printer out{false, 0};
  CHECK(out.show(answer("a\x1b[1mb", outbound_class::final_answer), "1").text
        == "a\x1b[1mb\n");
}

TEST_CASE("a terminal shows a growing text line by line") {
  printer out{true, 80};
  CHECK(out.show(answer("one", outbound_class::interim), "1").text == "");
  CHECK(out.show(answer("one\ntw", outbound_class::interim), "1").text
        == "one\n");
  CHECK(out.show(answer("one\ntwo\nthree", outbound_class::interim), "1").text
        == "two\n");
  CHECK(
    out.show(answer("one\ntwo\nthree", outbound_class::final_answer), "1").text
    == "three\n");
}

TEST_CASE("a long line is shown in pieces of the terminal's width") {
  printer out{true, 10};
  CHECK(out.show(answer("alpha beta gam", outbound_class::interim), "1").text
        == "alpha beta\n");
  CHECK(
    out.show(answer("alpha beta gamma", outbound_class::final_answer), "1").text
    == "gamma\n");
}

TEST_CASE("a text that became another one is shown whole") {
  printer out{true, 80};
  out.show(answer("draft\n", outbound_class::interim), "1");
  CHECK(out.show(answer("final\n", outbound_class::final_answer), "1").text
        == "final\n");
}

TEST_CASE("activity grows by whole lines, dimmed in a terminal") {
  printer out{true, 80};
  CHECK(out.show(activity("• a"), "1").text == "\x1b[2m• a\x1b[0m\n");
  CHECK(out.show(activity("• a\n✓ a"), "1").text == "\x1b[2m✓ a\x1b[0m\n");
}

TEST_CASE("an answer cannot steer the terminal") {
  printer out{true, 80};
  CHECK(out
          .show(answer("a\x1b[2J\x07"
                       "b\tc\r",
                       outbound_class::final_answer),
                "1")
          .text
        == "a[2Jb\tc\n");
}

TEST_CASE("lines name their conversation when there are several") {
  printer out{false, 0};
  out.add_conversation("local");
  out.add_conversation("lab");
  CHECK(out.show(answer("x\ny", outbound_class::final_answer, "lab"), "1").text
        == "[lab] x\n[lab] y\n");
}
