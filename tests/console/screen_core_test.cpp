#include "adapters/console/screen_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

namespace {

outbound answer(std::string text,
                outbound_class rank = outbound_class::final_answer) {
  outbound result;
  result.rank = rank;
  result.conversation = {platform_id::console, "local"};
  result.run = "run-1";
  result.text = std::move(text);
  return result;
}

outbound interim(std::string text) {
  return answer(std::move(text), outbound_class::interim);
}

outbound kind(outbound_content content, std::string text) {
  auto result = interim(std::move(text));
  result.content = content;
  return result;
}

} // namespace

TEST_CASE("a pipe: answers on the output, all else on the error stream") {
  screen_core screen{false};
  CHECK(screen.show(answer("4"), "r1") == printed{"4\n", ""});
  CHECK(screen.show(answer("a\n\nb\n\n"), "r2") == printed{"a\n\nb\n", ""});
  CHECK(screen.show(kind(outbound_content::notice, "_Stopped._"), "r3")
        == printed{"", "_Stopped._\n"});
  CHECK(screen.show(kind(outbound_content::activity, "• ls"), "r4")
        == printed{"", "• ls\n"});
  CHECK(screen.show(interim("par\ntial"), "r5").empty());
  CHECK(screen.own("help\n") == printed{"", "help\n"});
}

TEST_CASE("a pipe passes bytes on as they are") {
  screen_core screen{false};
  CHECK(screen.show(answer("\x1b[31mred"), "r1").out == "\x1b[31mred\n");
}

TEST_CASE("what reaches a terminal is harmless, whatever the input is") {
  const std::string evil = "a\x1b[2Jb\x9d\rc\xC2\x9B";
  const std::string good = "a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD\xEF\xBF\xBD"
                           "c\xEF\xBF\xBD\n";
  auto notice = kind(outbound_content::notice, evil);
  auto activity = kind(outbound_content::activity, evil);
  struct row {
    terminals where;
    std::string out;
    std::string err;
  };
  const row rows[] = {
    {{false, false}, evil + "\n", evil + "\n"},
    {{true, false}, good, evil + "\n"},
    {{false, true}, evil + "\n", good},
    {{true, true}, good, good},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where.out);
    CAPTURE(row.where.err);
    screen_core screen{false, row.where};
    CHECK(screen.show(answer("x"), "r1", evil).out == row.out + "x\n");
    CHECK(screen.show(answer(evil), "r1").out == row.out);
    CHECK(screen.show(notice, "r2").err == row.err);
    CHECK(screen.show(activity, "r3").err == row.err);
    CHECK(screen.own(evil).err == row.err);
  }
  screen_core interactive{true};
  CHECK(interactive.own(evil).out == good);
}

TEST_CASE("a terminal shows a streamed answer line by line") {
  screen_core screen{true};
  CHECK(screen.show(interim("one"), "r1").empty());
  CHECK(screen.show(interim("one\ntwo\nth"), "r1").out == "one\ntwo\n");
  CHECK(screen.show(interim("one\ntwo\nthree\nf"), "r1").out == "three\n");
  CHECK(screen.show(answer("one\ntwo\nthree\nfour"), "r1").out == "four\n");
  CHECK(screen.remembered() == 0);
}

TEST_CASE("an answer that ends as it was streamed adds nothing") {
  screen_core screen{true};
  CHECK(screen.show(interim("one\n"), "r1").out == "one\n");
  CHECK(screen.show(answer("one\n"), "r1").empty());
}

TEST_CASE("an edit that is no continuation is printed whole") {
  screen_core screen{true};
  screen.show(interim("let me look\n"), "r1");
  CHECK(screen.show(interim("it is\n4"), "r1").out == "it is\n");
  CHECK(screen.show(answer("it is\n4"), "r1").out == "4\n");
  screen.show(interim("draft\n"), "r2");
  CHECK(screen.show(answer("final"), "r2").out == "final\n");
}

TEST_CASE("activity is dimmed and adds its new lines") {
  screen_core screen{true};
  CHECK(screen.show(kind(outbound_content::activity, "• a"), "r1").out
        == "\x1b[2m• a\x1b[0m\n");
  CHECK(screen.show(kind(outbound_content::activity, "• a\n✓ a"), "r1").out
        == "\x1b[2m✓ a\x1b[0m\n");
  CHECK(
    screen.show(kind(outbound_content::activity, "• a\n✓ a"), "r1").empty());
  // The oldest lines were left out.
  CHECK(screen.show(kind(outbound_content::activity, "✓ a\n• b"), "r1").out
        == "\x1b[2m• b\x1b[0m\n");
  CHECK(screen.show(kind(outbound_content::activity, "• c"), "r1").out
        == "\x1b[2m• c\x1b[0m\n");
}

TEST_CASE("of activity that changed in the middle only new lines are added") {
  screen_core screen{false};
  auto show = [&](const char* text) {
    return screen.show(kind(outbound_content::activity, text), "r1").err;
  };
  CHECK(show("agent a\n  read x\nagent b") == "agent a\n  read x\nagent b\n");
  CHECK(show("agent a\n  read x\n  read y\nagent b") == "  read y\n");
  CHECK(show("agent a\n  read x\n  read y (×2)\nagent b") == "  read y (×2)\n");
  CHECK(show("agent a · 3 calls\nagent b") == "agent a · 3 calls\n");
  CHECK(show("agent a · 3 calls\nagent b\nagent b") == "agent b\n");
}

TEST_CASE("an answer does not continue the activity in whose place it comes") {
  screen_core screen{false};
  screen.show(kind(outbound_content::activity, "a"), "r1");
  CHECK(screen.show(answer("a\nb"), "r1") == printed{"a\nb\n", ""});
  screen_core terminal{true};
  terminal.show(kind(outbound_content::activity, "a"), "r1");
  CHECK(terminal.show(interim("a\nb"), "r1").out == "a\n");
}

TEST_CASE("notices lose the marks of their emphasis on a terminal") {
  screen_core screen{true};
  CHECK(screen.show(kind(outbound_content::notice, "_Stopping…_"), "r1").out
        == "\x1b[2mStopping…\x1b[0m\n");
}

TEST_CASE("text cannot steer the terminal") {
  screen_core screen{true};
  CHECK(screen.show(answer("a\x1b[2Jb\x07\tc\xC2\x9B"), "r1").out
        == "a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD\tc\xEF\xBF\xBD\n");
}

TEST_CASE("with two conversations every line names its own") {
  screen_core screen{false};
  CHECK(screen.show(answer("a"), "r1").out == "a\n");
  screen.meet("lab");
  CHECK(screen.show(answer("a\nb"), "r2").out == "[local] a\n[local] b\n");
  auto other = answer("c");
  other.conversation.conversation_id = "lab";
  CHECK(screen.show(other, "r3").out == "[lab] c\n");
}

TEST_CASE("a preface stands above the answer") {
  screen_core screen{false};
  CHECK(screen.show(answer("x"), "r1", "(cut)").out == "(cut)\nx\n");
}

TEST_CASE("what is remembered is bounded and forgotten") {
  screen_core screen{true};
  for (size_t i = 0; i < limits::console_visible_messages + 10; ++i)
    screen.show(interim("x\n"), "r" + std::to_string(i));
  CHECK(screen.remembered() == limits::console_visible_messages);
  screen.forget_run("run-1");
  CHECK(screen.remembered() == 0);
  screen.show(interim("x\n"), "r1");
  screen.forget("r1");
  CHECK(screen.remembered() == 0);
}
