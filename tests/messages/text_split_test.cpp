#include "messages/contracts/text_split.hpp"

#include <doctest/doctest.h>

using namespace bureau::contracts;

namespace {

using pieces = std::vector<std::string>;

std::string repeated(std::string_view unit, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += unit;
  return result;
}

} // namespace

TEST_CASE("trailing white space goes, leading stays") {
  CHECK(normalize_trailing("  x \n", "f") == "  x");
  CHECK(normalize_trailing("x\u3000\uFEFF", "f") == "x");
  CHECK(normalize_trailing("x\u200B", "f") == "x\u200B");
  CHECK(normalize_trailing(" \n", "f") == "f");
  CHECK(normalize_trailing("", "f") == "f");
}

TEST_CASE("pieces of so many code points") {
  CHECK(split_text_by_code_points("a😀b😀c", 2) == pieces{"a😀", "b😀", "c"});
  CHECK(split_text_by_code_points("", 5) == pieces{""});
  CHECK(split_text_by_code_points("ab", 2) == pieces{"ab"});
  CHECK_FALSE(split_text_by_code_points("x", 0));
}

TEST_CASE("pieces for a chat end where people would end them") {
  struct row {
    const char* name;
    std::string text;
    size_t max;
    pieces want;
  };
  const row rows[] = {
    {"words", "hello world foo bar", 10, {"hello", "world foo", "bar"}},
    {"a paragraph before a line",
     "aaaa\n\nbbbb\ncccc",
     12,
     {"aaaa\n\nbbbb", "cccc"}},
    {"a line before a word",
     "line one\nline two and more",
     12,
     {"line one", "line two", "and more"}},
    {"indentation stays",
     "aaaaaa\n  indented line",
     10,
     {"aaaaaa", "  indented", " line"}},
    {"nowhere to break",
     "abcdefghijklmnopqrst",
     8,
     {"abcdefgh", "ijklmnop", "qrst"}},
    {"nothing but blanks", "          ", 4, {"          "}},
    {"a break before the half does not count",
     "aa bbbbbbbbbb cc",
     8,
     {"aa bbbbb", "bbbbb cc"}},
    {"CR counts as LF",
     "one\r\n\r\ntwo three four",
     10,
     {"one", "two three", "four"}},
    {"short", "x ", 5, {"x "}},
    {"empty", "", 5, {""}},
    {"one by one", "a b", 1, {"a", " ", "b"}},
    {"no UTF-8", "\x80\x80\xff\xff", 1, {"\x80\x80", "\xff", "\xff"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(split_text_for_chat(row.text, row.max) == row.want);
  }
  CHECK_FALSE(split_text_for_chat("x", 0));
}

TEST_CASE("the end of a growing text") {
  CHECK(build_streaming_tail_preview("abcdefghij", 6, "…\n") == "…\nghij");
  CHECK(build_streaming_tail_preview("abcdefghij", 3) == "...\nj");
  CHECK(build_streaming_tail_preview("abc", 3) == "abc");
  CHECK(build_streaming_tail_preview("", 0).empty());
  CHECK(build_streaming_tail_preview("😀😀😀😀😀😀", 5, "…\n") == "…\n😀😀😀");
}

TEST_CASE("a megabyte is split in linear time") {
  const std::string texts[] = {
    repeated("x", 1u << 20),    repeated(" ", 1u << 20),
    repeated("\n", 1u << 20),   repeated("a ", 1u << 19),
    repeated("\r\n", 1u << 19), repeated("\u3000", 1u << 18),
    repeated("\x80", 1u << 20), repeated("😀 \n", 1u << 17),
  };
  for (const auto& text : texts)
    for (auto max : {size_t{1}, size_t{2}, size_t{3800}, size_t{1} << 19}) {
      auto chat = *split_text_for_chat(text, max);
      auto plain = *split_text_by_code_points(text, max);
      CHECK_FALSE(chat.empty());
      size_t bytes = 0;
      for (const auto& piece : plain)
        bytes += piece.size();
      CHECK(bytes == text.size());
      CHECK(build_streaming_tail_preview(text, max).size() <= text.size() + 4);
    }
}
