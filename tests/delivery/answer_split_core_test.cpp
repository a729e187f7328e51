#include "actors/delivery/answer_split_core.hpp"
#include "messages/text/utf8.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::delivery;

namespace {

using texts = std::vector<std::string>;

fits_function at_most(size_t bytes) {
  return [bytes](std::string_view source) {
    return source.size() <= bytes;
  };
}

std::string repeated(std::string_view part, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += part;
  return result;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

} // namespace

TEST_CASE("where an answer is cut") {
  struct row {
    const char* name;
    const char* source;
    size_t room;
    texts want;
  };
  const row rows[] = {
    {"it fits", " a\n", 10, {" a\n"}},
    {"nothing", "", 10, {""}},
    {"between blocks",
     "one two\n\nthree four five",
     16,
     {"one two", "three four five"}},
    {"at a line",
     "one two\nthree four five",
     16,
     {"one two", "three four five"}},
    {"at a word", "one two three four", 12, {"one two", "three four"}},
    {"at a character", "äöüäöü", 4, {"äö", "üä", "öü"}},
    {"a block that ends too early is no reason",
     "a\n\nbbbb cccc dddd",
     12,
     {"a\n\nbbbb cccc", "dddd"}},
    {"an indentation stays", "aaaaaa\n\n    bbbb", 10, {"aaaaaa", "    bbbb"}},
    {"one character that never fits", "ä", 1, {"ä"}},
    {"blank pieces are none", "aaaa\n\n\n\n\n\n\n\nbbbb", 5, {"aaaa", "bbbb"}},
  };
  for (const auto& row : rows) {
    std::string got;
    for (const auto& piece : split_markdown(row.source, at_most(row.room)))
      got += "[" + piece + "]";
    INFO(row.name, ": ", got);
    CHECK(split_markdown(row.source, at_most(row.room)) == row.want);
  }
}

TEST_CASE("a fenced block that is cut is one in every piece") {
  SUBCASE("with its info string") {
    CHECK(split_markdown("```cpp\nint a;\nint b;\nint c;\n```\n", at_most(26))
          == texts{"```cpp\nint a;\nint b;\n```", "```cpp\nint c;\n```"});
  }
  SUBCASE("with its own mark") {
    CHECK(split_markdown("~~~~\n```\naaaaaa\nbbbbbb\n~~~~", at_most(22))
          == texts{"~~~~\n```\naaaaaa\n~~~~", "~~~~\nbbbbbb\n~~~~"});
  }
  SUBCASE("it moves as a whole where it can") {
    CHECK(split_markdown("text before it\n```\na\nb\n```", at_most(20))
          == texts{"text before it", "```\na\nb\n```"});
  }
  SUBCASE("text goes on behind it") {
    CHECK(split_markdown("```\naaaa\nbbbb\n```\nand so on", at_most(17))
          == texts{"```\naaaa\nbbbb\n```", "and so on"});
  }
  SUBCASE("blanks in it are code") {
    CHECK(split_markdown("```\naaaaaa\n  bbbbbb\n```", at_most(16))
          == texts{"```\naaaaaa\n```", "```\n  bbbbbb\n```"});
  }
  SUBCASE("what looks like one and is none") {
    CHECK(split_markdown("```a``` bbbb\ncccc", at_most(12))
          == texts{"```a``` bbbb", "cccc"});
  }
}

TEST_CASE("pieces fit as they are rendered, and lose nothing") {
  auto escaped = [](std::string_view text) {
    size_t width = 0;
    for (auto c : text)
      width += c == '&' ? 5 : 1;
    return width;
  };
  const std::string sources[] = {
    repeated("a & b && c\n", 200),
    repeated("&", 900),
    repeated("para graph & so\n\n", 80),
    "intro\n```sh\n" + repeated("echo a && b\n", 120) + "```\nend",
    repeated("ä😀 ", 300),
    repeated("\n", 500) + "x",
    repeated("```\n", 101),
  };
  for (const auto& source : sources)
    for (auto room : {size_t{30}, size_t{100}, size_t{700}}) {
      auto pieces = split_markdown(
        source, [&](std::string_view piece) { return escaped(piece) <= room; });
      std::string all;
      for (const auto& piece : pieces) {
        CHECK(escaped(piece) <= room);
        CHECK(text::is_valid_utf8(piece));
        all += piece;
      }
      auto whole = without_spaces(source);
      if (source.find("```") == std::string::npos)
        CHECK(without_spaces(all) == whole);
      else
        CHECK(without_spaces(all).size() + 7 >= whole.size());
    }
}

TEST_CASE("a megabyte is cut in a moment, whatever it is made of") {
  for (auto part : {"x", " ", "\n", "a ", "```\n", "😀 \n", "a\n\n"}) {
    std::string source = repeated(part, (1u << 18) / std::string{part}.size());
    auto pieces = split_markdown(source, at_most(4000));
    CHECK(std::all_of(pieces.begin(), pieces.end(),
                      [](const auto& piece) { return piece.size() <= 4000; }));
  }
}

TEST_CASE("every platform counts in its own unit") {
  transport_info info;
  CHECK(split_for(repeated("x", 9000), info).size() == 1);
  info.max_length = 10;
  auto text = repeated("😀", 10);
  struct row {
    const char* unit;
    size_t want;
  };
  const row rows[] = {{"code_points", 1}, {"utf16", 2}, {"bytes", 5}};
  for (const auto& row : rows) {
    CAPTURE(row.unit);
    info.length_unit = row.unit;
    CHECK(split_for(text, info).size() == row.want);
  }
}

TEST_CASE("the end of a draft in the unit of its platform") {
  using namespace bureau::text;
  CHECK(tail_preview("abcdef", 6, "…", byte_length) == "abcdef");
  CHECK(tail_preview("abcdef", 5, "…", byte_length) == "…ef");
  CHECK(tail_preview("abcdef", 5, "…", code_point_length) == "…cdef");
  CHECK(tail_preview("😀😀😀", 5, "…", utf16_length) == "…😀😀");
  CHECK(tail_preview("😀😀😀", 1, "…", utf16_length) == "…😀");
  CHECK((length_function_of("words") == byte_length));
}
