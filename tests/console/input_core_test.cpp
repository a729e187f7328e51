#include "adapters/console/input_core.hpp"
#include "adapters/console/message_id_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;
using verb = console_line::verb;

TEST_CASE("message ids by text") {
  struct row {
    const char* text;
    bool valid;
  };
  const row rows[] = {
    {"1767225600.000001", true},
    {"0.000000", true},
    {"1767225600.00001", false},
    {"1767225600", false},
    {".000001", false},
    {"17672256.0000011", false},
    {"-1.000001", false},
    {"1.00000x", false},
    {"", false},
    {"9999999999999.000000", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_message_id(row.text).has_value() == row.valid);
  }
  CHECK(print_message_id(*parse_message_id("1767225600.000001"))
        == "1767225600.000001");
}

TEST_CASE("ids increase when the clock does not") {
  message_ids ids;
  CHECK(ids.next(1'767'225'600'123) == "1767225600.123000");
  CHECK(ids.next(1'767'225'600'123) == "1767225600.123001");
  CHECK(ids.next(1'767'225'599'000) == "1767225600.123002");
  CHECK(ids.next(1'767'225'600'124) == "1767225600.124000");
  ids.seen("1767225700.999999");
  ids.seen("1767225600.000000");
  ids.seen("something else");
  CHECK(ids.next(1'767'225'600'125) == "1767225701.000000");
}

TEST_CASE("lines are split however the bytes arrive") {
  line_splitter splitter;
  CHECK(splitter.feed("ab").empty());
  CHECK(splitter.feed("c\nd\n\ne")
        == std::vector<raw_line>{{"abc", false}, {"d", false}, {"", false}});
  CHECK(splitter.finish() == std::vector<raw_line>{{"e", false}});
  CHECK(splitter.finish().empty());
}

TEST_CASE("a line without end is cut, and the next one is whole") {
  line_splitter splitter;
  std::string megabyte(1u << 20, 'x');
  for (int i = 0; i < 4; ++i)
    CHECK(splitter.feed(megabyte).empty());
  auto lines = splitter.feed("\nnext\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].bytes.size() == limits::message_text_bytes + 1);
  CHECK(lines[0].cut);
  CHECK(lines[1] == raw_line{"next", false});
}

TEST_CASE("what a line means") {
  struct row {
    const char* name;
    std::string bytes;
    console_line want;
  };
  const row rows[] = {
    {"text", "hello", {verb::message, "hello", false}},
    {"blanks inside stay", "  a b ", {verb::message, "  a b ", false}},
    {"carriage return", "a\r", {verb::message, "a", false}},
    {"empty", "", {}},
    {"blank", " \t\r", {}},
    {"ill-formed",
     "a\xff"
     "b",
     {verb::message,
      "a\xEF\xBF\xBD"
      "b",
      false}},
    {"help", " /help ", {verb::help, "", false}},
    {"quit", "/quit", {verb::quit, "", false}},
    {"switch", "/to  lab-2", {verb::switch_to, "lab-2", false}},
    {"switch to a bad name",
     "/to Lab",
     {verb::wrong,
      "/to needs the name of a conversation: 1 to 32 of a-z, 0-9 and -.",
      false}},
    {"switch without a name",
     "/to",
     {verb::wrong,
      "/to needs the name of a conversation: 1 to 32 of a-z, 0-9 and -.",
      false}},
    {"other commands go on", "/tomorrow", {verb::message, "/tomorrow", false}},
    {"stop goes on", "stop", {verb::message, "stop", false}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto line = read_line({row.bytes, false});
    CHECK(line.what == row.want.what);
    CHECK(line.text == row.want.text);
    CHECK(line.cut == row.want.cut);
  }
}

TEST_CASE("a file to attach, its path and the text with it") {
  struct row {
    const char* bytes;
    const char* path;
    const char* text;
  };
  const row rows[] = {
    {"/attach notes.txt", "notes.txt", ""},
    {" /attach  ~/a/b.png   look at  this \r", "~/a/b.png", "look at  this"},
    {"/attach \"my notes.txt\" what is this?", "my notes.txt", "what is this?"},
    {"/attach 'it is \"so\".txt'", "it is \"so\".txt", ""},
    {"/attach \"it's.txt\"now", "it's.txt", "now"},
    {"/attach\t/tmp/x\tread: it", "/tmp/x", "read: it"},
    // A name keeps its bytes, a text does not.
    {"/attach caf\xE9 caf\xE9", "caf\xE9", "caf\xEF\xBF\xBD"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.bytes);
    auto line = read_line({row.bytes, false});
    CHECK(line.what == verb::attach);
    CHECK(line.path == row.path);
    CHECK(line.text == row.text);
  }
  for (auto bytes : {"/attach", "/attach ", "/attach \"a", "/attach ''"}) {
    CAPTURE(bytes);
    auto line = read_line({bytes, false});
    CHECK(line.what == verb::wrong);
    CHECK(line.text.find("/attach needs the path") == 0);
  }
  CHECK(read_line({"/attachments", false}).what == verb::message);
  auto cut = read_line({"/attach a " + std::string(1000, 'x'), true});
  CHECK(cut.cut);
  CHECK(cut.what == verb::attach);
  CHECK(help_text().find("/attach PATH") != std::string::npos);
  CHECK(help_text().find("/queue [MODE]") != std::string::npos);
}

TEST_CASE("long lines at the bound") {
  auto bound = limits::message_text_bytes;
  CHECK_FALSE(read_line({std::string(bound, 'x'), false}).cut);
  auto longer = read_line({std::string(bound + 1, 'x'), false});
  CHECK(longer.cut);
  CHECK(longer.text.size() == bound);
  // Never inside a character.
  auto wide = read_line({std::string(bound - 1, 'x') + "\xC3\xA4", false});
  CHECK(wide.cut);
  CHECK(wide.text == std::string(bound - 1, 'x'));
  // U+FFFD is longer than what it replaces.
  auto broken = read_line({std::string(bound, '\xff'), false});
  CHECK(broken.cut);
  CHECK(broken.text.size() <= bound);
  CHECK(broken.text.size() > bound - 3);
}

TEST_CASE("a file of an answer to keep") {
  struct row {
    const char* line;
    uint64_t number;
    const char* path;
  };
  for (const auto& [line, number, path] :
       {row{"/save 1", 1, ""}, row{"  /save 12  ", 12, ""},
        row{"/save 2 notes.txt", 2, "notes.txt"},
        row{"/save 2 my notes.txt", 2, "my notes.txt"},
        row{"/save 3 \"my notes.txt\"", 3, "my notes.txt"},
        row{"/save 3 'a'", 3, "a"}}) {
    CAPTURE(line);
    auto read = read_line({line, false});
    CHECK(read.what == verb::save);
    CHECK(read.number == number);
    CHECK(read.path == path);
  }
  for (auto line : {"/save", "/save x", "/save 0", "/save 1x", "/save -1"}) {
    CAPTURE(line);
    CHECK(read_line({line, false}).what == verb::wrong);
  }
  CHECK(read_line({"/saved 1", false}).what == verb::message);
}
