#include "actors/harness/tools/bash_core.hpp"
#include "actors/harness/tools/edit_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/harness/tools/read_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::harness;

namespace {

/// "1\n2\n…n", each line padded to `width` with dots.
std::string numbered(size_t n, size_t width = 0, bool newline_at_end = false) {
  std::string result;
  for (size_t i = 1; i <= n; ++i) {
    auto line = std::to_string(i);
    if (line.size() < width)
      line.append(width - line.size(), '.');
    result += line;
    if (i < n || newline_at_end)
      result += '\n';
  }
  return result;
}

std::string text_in(const tool_outcome& outcome) {
  std::string result;
  for (const auto& block : outcome.content)
    result += block.text;
  return result;
}

tool_outcome read_text(const std::string& bytes, read_window window = {},
                       size_t chunk = 0) {
  text_scan scan{window};
  if (chunk == 0)
    scan.feed(bytes);
  else
    for (size_t at = 0; at < bytes.size(); at += chunk)
      scan.feed(std::string_view{bytes}.substr(at, chunk));
  return scan.finish();
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size()
         && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

// -- truncation ---------------------------------------------------------------

TEST_CASE("head and tail of long texts") {
  struct row {
    std::string name;
    std::string text;
    bool head;
    cut_by cut;
    size_t total_lines;
    size_t lines;
    size_t bytes;
    const char* begins;
  };
  const row rows[] = {
    {"empty", "", true, cut_by::nothing, 1, 1, 0, ""},
    {"empty tail", "", false, cut_by::nothing, 1, 1, 0, ""},
    {"short", "a\nb", true, cut_by::nothing, 2, 2, 3, "a"},
    {"head counts the last empty line", "a\nb\n", true, cut_by::nothing, 3, 3,
     4, "a"},
    {"tail does not", "a\nb\n", false, cut_by::nothing, 2, 2, 4, "a"},
    {"head by lines", numbered(2500), true, cut_by::lines, 2500, 2000, 8892,
     "1\n2\n"},
    {"tail by lines", numbered(2500), false, cut_by::lines, 2500, 2000, 9500,
     "501\n502\n"},
    {"tail by lines, newline at the end", numbered(2500, 0, true), false,
     cut_by::lines, 2500, 2000, 9500, "501\n"},
    {"head by bytes", numbered(600, 99), true, cut_by::bytes, 600, 512, 51'199,
     "1...."},
    {"tail by bytes", numbered(600, 99), false, cut_by::bytes, 600, 512, 51'199,
     "89..."},
    {"exactly 2000 lines", numbered(2000), true, cut_by::nothing, 2000, 2000,
     8892, "1\n"},
    {"exactly the bytes", std::string(51'200, 'x'), true, cut_by::nothing, 1, 1,
     51'200, "xxx"},
    {"exactly the bytes, tail with newline", std::string(51'200, 'x') + "\n",
     false, cut_by::nothing, 1, 1, 51'200, "xxx"},
    {"one byte more", std::string(51'201, 'x'), true, cut_by::bytes, 1, 0, 0,
     ""},
    {"a long first line", std::string(51'201, 'x') + "\nb", true, cut_by::bytes,
     2, 0, 0, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto cut = row.head ? truncate_head(row.text) : truncate_tail(row.text);
    CHECK(cut.truncated_by == row.cut);
    CHECK(cut.total_lines == row.total_lines);
    CHECK(cut.total_bytes == row.text.size());
    CHECK(cut.output_lines == row.lines);
    CHECK(cut.output_bytes == row.bytes);
    CHECK(cut.content.size() == row.bytes);
    CHECK(cut.content.rfind(row.begins, 0) == 0);
    CHECK_FALSE(cut.last_line_partial);
  }
}

TEST_CASE("the tail of one long line keeps its end") {
  auto cut = truncate_tail("first\n" + std::string(60'000, 'x'));
  CHECK(cut.last_line_partial);
  CHECK(cut.last_line_bytes == 60'000);
  CHECK(cut.output_bytes == 51'200);
  CHECK(cut.total_lines == 2);
  // Three-byte characters: the cut falls on a boundary.
  std::string euros;
  while (euros.size() < 60'000)
    euros += "\xE2\x82\xAC";
  auto whole = truncate_tail(euros);
  CHECK(whole.output_bytes == 51'198);
  CHECK(text::is_valid_utf8(whole.content));
}

TEST_CASE("the head flags a first line that is too long") {
  CHECK(truncate_head(std::string(60'000, 'x')).first_line_exceeds_limit);
  CHECK_FALSE(truncate_head(numbered(2500)).first_line_exceeds_limit);
}

TEST_CASE("sizes as people read them") {
  CHECK(size_text(0) == "0B");
  CHECK(size_text(1023) == "1023B");
  CHECK(size_text(1024) == "1.0KB");
  CHECK(size_text(51'200) == "50.0KB");
  CHECK(size_text(60'000) == "58.6KB");
  CHECK(size_text(5u << 20) == "5.0MB");
}

// -- read ---------------------------------------------------------------------

TEST_CASE("views of a text file, whatever pieces it comes in") {
  struct row {
    std::string name;
    std::string bytes;
    read_window window;
    const char* begins;
    const char* ends;
    bool is_error;
  };
  const row rows[] = {
    {"whole", "a\nb\n", {}, "a\nb\n", "b\n", false},
    {"empty", "", {}, "(empty file)", "(empty file)", false},
    {"an empty line", "a\n", {2, 0, 0}, "(empty line)", "", false},
    {"from a line", numbered(10), {9, 0, 0}, "9\n10", "10", false},
    {"limited",
     numbered(10),
     {0, 3, 0},
     "1\n2\n3\n\n[7 more lines",
     "[7 more lines in the file. Use offset=4 to continue.]",
     false},
    {"one line left",
     numbered(10),
     {8, 2, 0},
     "8\n9\n\n[1 more line ",
     "Use offset=10 to continue.]",
     false},
    {"limited to the end", numbered(10), {9, 2, 0}, "9\n10", "10", false},
    {"limit beyond the end", numbered(10), {9, 99, 0}, "9\n10", "10", false},
    {"a limit of zero is none", numbered(3), {0, 0, 0}, "1\n2\n3", "3", false},
    {"a negative offset is the start",
     numbered(3),
     {-4, 0, 0},
     "1\n",
     "3",
     false},
    {"beyond the end",
     numbered(10),
     {11, 0, 0},
     "Offset 11 is beyond the end of the file, which has 10 lines.",
     ".",
     true},
    {"too many lines",
     numbered(2500),
     {},
     "1\n2\n",
     "[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]",
     false},
    {"the rest of them",
     numbered(2500),
     {2001, 0, 0},
     "2001\n",
     "\n2500",
     false},
    {"too many bytes",
     numbered(600, 99),
     {},
     "1....",
     "[Showing lines 1-512 of 600 (50.0KB limit). Use offset=513 to "
     "continue.]",
     false},
    {"too many bytes in a limit",
     numbered(600, 99),
     {50, 540, 0},
     "50....",
     "[Showing lines 50-561 of 600 (50.0KB limit). Use offset=562 to "
     "continue.]",
     false},
    {"a long line",
     std::string(60'000, 'x'),
     {},
     "xxx",
     "[Line 1 is 58.6KB, above the 50.0KB limit. Showing its bytes 0-51200 of "
     "60000. Use offset=1 and byteOffset=51200 to continue.]",
     false},
    {"its end",
     std::string(60'000, 'x'),
     {1, 0, 51'200},
     "xxx",
     "Showing its bytes 51200-60000 of 60000. The end of the line is "
     "reached.]",
     false},
    {"beyond its end",
     std::string(60'000, 'x'),
     {1, 0, 99'999},
     "\n\n[Line",
     "Showing its bytes 60000-60000 of 60000. The end of the line is "
     "reached.]",
     false},
    {"a long line in the middle",
     "a\n" + std::string(60'000, 'x') + "\nb",
     {2, 0, 0},
     "xxx",
     "Showing its bytes 0-51200 of 60000. Use offset=2 and byteOffset=51200 "
     "to continue.]",
     false},
    {"before a long line",
     "a\n" + std::string(60'000, 'x') + "\nb",
     {},
     "a\n\n[Showing lines 1-1 of 3 (50.0KB limit)",
     "Use offset=2 to continue.]",
     false},
    {"byteOffset of a short line is ignored",
     "abc",
     {1, 0, 2},
     "abc",
     "abc",
     false},
    {"binary",
     std::string{"a\0b", 3},
     {},
     "The file is not text",
     "converter.",
     true},
    {"invalid UTF-8",
     "a\xff"
     "b",
     {},
     "a\xEF\xBF\xBD"
     "b",
     "b",
     false},
  };
  for (const auto& row : rows) {
    for (auto chunk : {size_t{0}, size_t{7}, size_t{1000}}) {
      CAPTURE(row.name);
      CAPTURE(chunk);
      auto outcome = read_text(row.bytes, row.window, chunk);
      auto text = text_in(outcome);
      CHECK(text.rfind(row.begins, 0) == 0);
      CHECK(ends_with(text, row.ends));
      CHECK(outcome.is_error == row.is_error);
    }
  }
}

TEST_CASE("a cut view carries the record of the cut") {
  auto outcome = read_text(numbered(2500));
  auto details = json::parse(outcome.details.text);
  REQUIRE(details);
  const auto* record = json::member(details.value, "truncation");
  REQUIRE(record != nullptr);
  CHECK(json::print(*record)
        == R"({"truncated":true,"truncatedBy":"lines","totalLines":2500,)"
           R"("totalBytes":11392,"outputLines":2000,"outputBytes":8892,)"
           R"("lastLinePartial":false,"firstLineExceedsLimit":false})");
  CHECK(read_text("short").details.empty());
}

TEST_CASE("slices of a long line never cut a character") {
  std::string line;
  while (line.size() < 120'000)
    line += "\xE2\x82\xAC";
  std::string seen;
  for (int64_t offset = 0;;) {
    auto text = text_in(read_text(line, {1, 0, offset}));
    auto notice = text.find("\n\n[Line");
    REQUIRE(notice != std::string::npos);
    seen += text.substr(0, notice);
    auto next = text.find("byteOffset=", notice);
    if (next == std::string::npos)
      break;
    auto value = std::stoll(text.substr(next + 11));
    REQUIRE(value > offset);
    offset = value;
  }
  CHECK(seen == line);
}

TEST_CASE("slices of a line of broken bytes still make progress") {
  auto text = text_in(read_text(std::string(60'000, '\x80')));
  CHECK(text.find("byteOffset=51200") != std::string::npos);
}

TEST_CASE("images by extension") {
  CHECK(image_mime_type("a.png") == "image/png");
  CHECK(image_mime_type("/x/A.JPeG") == "image/jpeg");
  CHECK(image_mime_type("a.jpg") == "image/jpeg");
  CHECK(image_mime_type("a.gif") == "image/gif");
  CHECK(image_mime_type("a.webp") == "image/webp");
  CHECK(image_mime_type("a.svg").empty());
  CHECK(image_mime_type("png").empty());
  CHECK(image_mime_type("/x.png/file").empty());
  CHECK(image_mime_type("").empty());
}

TEST_CASE("an image is one line of text and the picture") {
  auto outcome = image_outcome("a.png", "image/png", "Man");
  REQUIRE(outcome.content.size() == 2);
  CHECK(outcome.content[0].text.find("image/png") != std::string::npos);
  CHECK(outcome.content[1].kind == block_kind::image);
  CHECK(outcome.content[1].data == "TWFu");
  CHECK(outcome.content[1].mime_type == "image/png");
  CHECK(image_outcome("a.png", "image/png", "").is_error);
}

TEST_CASE("numbers among the arguments") {
  auto parsed = json::parse(
    R"({"a":5,"b":5.9,"c":-1e300,"d":"x","e":0.5,"f":1e9,"g":0.0001,"h":-3})");
  const auto& object = parsed.value.get_object();
  CHECK(integer_argument(object, "a", 1) == 5);
  CHECK(integer_argument(object, "b", 1) == 5);
  CHECK(integer_argument(object, "c", 1) == -9007199254740992);
  CHECK(integer_argument(object, "d", 1) == 1);
  CHECK(integer_argument(object, "none", 1) == 1);
  CHECK(seconds_argument(object, "a", 100'000) == 5000);
  CHECK(seconds_argument(object, "e", 100'000) == 500);
  CHECK(seconds_argument(object, "f", 100'000) == 100'000);
  CHECK(seconds_argument(object, "g", 100'000) == 1);
  CHECK(seconds_argument(object, "h", 100'000) == 0);
  CHECK(seconds_argument(object, "none", 100'000) == 0);
}

// -- bash ---------------------------------------------------------------------

TEST_CASE("what a command printed becomes one text") {
  struct row {
    std::string name;
    const char* out;
    const char* err;
    int32_t code;
    const char* expected;
  };
  const row rows[] = {
    {"nothing", "", "", 0, "(no output)"},
    {"stdout", "a\n", "", 0, "a\n"},
    {"stderr", "", "b", 0, "b"},
    {"both", "a", "b", 0, "a\nb"},
    {"failure", "x", "", 3, "x\n\nCommand exited with code 3"},
    {"failure without output", "", "", 1,
     "(no output)\n\nCommand exited with code 1"},
    {"signal", "x", "", 137, "x\n\nCommand exited with code 137 (signal 9)"},
    {"no signal", "x", "", 255, "x\n\nCommand exited with code 255"},
    {"bytes that are no text", "a\xff", "", 0, "a\xEF\xBF\xBD"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    exec_result result;
    result.out = row.out;
    result.err = row.err;
    result.code = row.code;
    auto outcome = command_outcome(view_output(combined_output(result)),
                                   {row.code, false}, {});
    CHECK(text_in(outcome) == row.expected);
    CHECK(outcome.is_error == (row.code != 0));
  }
}

TEST_CASE("long output: its end, a notice, and the whole of it in a file") {
  auto view = view_output(numbered(2500, 0, true));
  CHECK(view.spill == numbered(2500, 0, true));
  auto kept = command_outcome(view, {0, false}, "/w/o/x.log");
  CHECK(ends_with(text_in(kept), "\n2500\n\n[Showing lines 501-2500 of 2500. "
                                 "Full output: /w/o/x.log]"));
  CHECK(kept.details.text.find(R"("fullOutputPath":"/w/o/x.log")")
        != std::string::npos);
  auto lost = command_outcome(view, {2, false}, {});
  CHECK(ends_with(text_in(lost), "Full output: not available]\n\nCommand "
                                 "exited with code 2"));
  CHECK(lost.details.text.find("fullOutputPath") == std::string::npos);
  CHECK(view_output("short").spill.empty());
}

TEST_CASE("one long line: the notice tells how long it is") {
  auto view = view_output(std::string(60'000, 'x'));
  auto text = text_in(command_outcome(view, {0, false}, {}));
  CHECK(text.find("[Showing the last 50.0KB of line 1, which is 58.6KB.")
        != std::string::npos);
}

TEST_CASE("output that the environment dropped is said to be dropped") {
  auto text = text_in(command_outcome(view_output("x"), {0, true}, {}));
  CHECK(text.find("10.0MB") != std::string::npos);
}

TEST_CASE("a command that was ended from outside is an error") {
  auto outcome = command_outcome(view_output("so far\nCommand aborted"),
                                 {std::nullopt, false}, {});
  CHECK(outcome.is_error);
  CHECK(text_in(outcome) == "so far\nCommand aborted");
}

TEST_CASE("spilled output lies below the office") {
  CHECK(spill_path("/workspace/o", "0123456789abcdef")
        == "/workspace/o/.bureau/bash-output/0123456789abcdef.log");
}

// -- edit ---------------------------------------------------------------------

TEST_CASE("edits that are refused, and one that is not") {
  struct row {
    std::string name;
    const char* content;
    const char* old_text;
    const char* new_text;
    const char* fault;
  };
  const row rows[] = {
    {"empty", "abc", "", "x", "oldText is empty"},
    {"not found", "abc", "d", "x", "does not occur in f"},
    {"twice", "abab", "ab", "x", "occurs 2 times in f"},
    {"overlapping counts once", "aaa", "aa", "x", ""},
    {"unchanged", "abc", "b", "b", "unchanged"},
    {"fine", "abc", "b", "x", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto edited = apply_edit("f", row.content, row.old_text, row.new_text);
    CHECK(edited.fault.empty() == (*row.fault == '\0'));
    CHECK(edited.fault.find(row.fault) != std::string::npos);
  }
  CHECK(apply_edit("f", "abc", "b", "xyz").content == "axyzc");
  CHECK(apply_edit("f", "a\r\nb", "a\r\n", "").content == "b");
}

TEST_CASE("diffs") {
  struct row {
    std::string name;
    std::string before;
    std::string after;
    const char* expected;
  };
  const row rows[] = {
    {"one line", "a\nb\nc\n", "a\nB\nc\n", " 1 a\n-2 b\n+2 B\n 3 c"},
    {"added at the end", "a\n", "a\nb\n", " 1 a\n+2 b"},
    {"removed at the start", "a\nb\n", "b\n", "-1 a\n 2 b"},
    {"from nothing", "", "x", "-1 \n+1 x"},
    {"an unchanged line inside", "a\nb\nc", "A\nb\nC",
     "-1 a\n+1 A\n 2 b\n-3 c\n+3 C"},
    {"far context is left out", numbered(20),
     [] {
       auto text = numbered(20);
       return text.replace(text.find("10"), 2, "ten");
     }(),
     "    ...\n  6 6\n  7 7\n  8 8\n  9 9\n-10 10\n+10 ten\n 11 11\n 12 12\n "
     "13 13\n 14 14\n    ..."},
    {"two changes, a gap between them", numbered(14),
     "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\nend",
     "- 1 1\n+ 1 one\n  2 2\n  3 3\n  4 4\n  5 5\n    ...\n 10 10\n 11 11\n "
     "12 12\n 13 13\n-14 14\n+14 end"},
    {"nothing changed", "a", "a", "   ..."},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(edit_diff(row.before, row.after) == row.expected);
  }
}

TEST_CASE("a diff of everything stays bounded") {
  auto before = numbered(3000);
  std::string after;
  for (auto i = 0; i < 3000; ++i)
    after += "x" + std::to_string(i) + "\n";
  auto diff = edit_diff(before, after);
  CHECK(diff.size() < 52'000);
  CHECK(ends_with(diff, "[diff cut]"));
}

TEST_CASE("the result of an edit reports lengths and shows the change") {
  auto outcome =
    edit_outcome("f", "a\nb", "a\n\xF0\x9F\x98\x80", "b", "\xF0\x9F\x98\x80");
  CHECK(text_in(outcome) == "Replaced 1 characters by 2 in f.");
  CHECK(outcome.details.text.find("diff") != std::string::npos);
  CHECK(text_in(write_outcome("f", 12)) == "Wrote 12 bytes to f.");
}
