#include "sandbox/transport_core.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

program_output said(std::string out, std::string err, int32_t code = 0) {
  return {std::move(out), std::move(err), code, false};
}

} // namespace

TEST_CASE("quoting makes one word of anything") {
  CHECK(quote("") == "''");
  CHECK(quote("plain") == "'plain'");
  CHECK(quote("it's.txt") == "'it'\\''s.txt'");
  CHECK(quote("$HOME `id` \"x\" \\") == "'$HOME `id` \"x\" \\'");
  CHECK(quote("''") == "''\\'''\\'''");
}

TEST_CASE("programs quote their path and protect utilities from it") {
  auto program = write_program("/tmp/it's -x", "0123abcd", 5, -1);
  CHECK(holds(program, "p='/tmp/it'\\''s -x'\n"));
  CHECK(holds(program, "d='/tmp'\n"));
  CHECK(holds(program, "s='/tmp/.it'\\''s -x.bureau-stage.0123abcd'\n"));
  CHECK(holds(program, "mkdir -p -- "));
  CHECK(holds(program, "mv -f -- "));
  CHECK(holds(program, "-eq 5 ]"));
  CHECK(cleanup_program("/tmp/it's -x", "0123abcd")
        == "rm -f -- '/tmp/.it'\\''s -x.bureau-stage.0123abcd'\n");
}

TEST_CASE("a write names its directory, also at the root and without one") {
  CHECK(holds(write_program("/x", "1", 0, -1), "d='/'\n"));
  CHECK(holds(write_program("/x", "1", 0, -1), "s='/.x.bureau-stage.1'\n"));
  CHECK(holds(write_program("x", "1", 0, -1), "d='.'\n"));
}

TEST_CASE("an explicit mode is octal, otherwise the old one is kept") {
  CHECK(holds(write_program("/a", "1", 0, 0755), "new=755\n"));
  CHECK(holds(write_program("/a", "1", 0, 0), "new=0\n"));
  CHECK(holds(write_program("/a", "1", 0, -1), "new=${old:-644}\n"));
}

TEST_CASE("the staging name of a long name fits into a directory entry") {
  auto program = cleanup_program("/d/" + std::string(255, 'n'), "01234567");
  auto name = program.substr(program.rfind('/') + 1);
  CHECK(name.size() == 255 + std::string_view{"'\n"}.size());
  // Cut between characters, never inside one.
  std::string wide;
  for (int i = 0; i < 85; ++i)
    wide += "\xE2\x82\xAC";
  auto cut = cleanup_program("/d/" + wide, "01234567");
  CHECK(holds(cut, "\xE2\x82\xAC.bureau-stage."));
}

TEST_CASE("reading slices") {
  CHECK(holds(read_program("/a", 0, 100), "\nhead -c 100\n"));
  CHECK(holds(read_program("/a", 5, 100), "\ntail -c +6 | head -c 100\n"));
}

TEST_CASE("the end of a read") {
  struct row {
    std::string name;
    uint64_t offset;
    uint64_t length;
    program_output output;
    errc fault;
    bool end_of_file;
  };
  program_output overflowing{"abc", "3\n", 0, true};
  const row rows[] = {
    {"whole file", 0, 10, said("abc", "3\n"), errc::none, true},
    {"first slice", 0, 2, said("ab", "3\n"), errc::none, false},
    {"last slice", 2, 2, said("c", "3\n"), errc::none, true},
    {"exactly to the end", 0, 3, said("abc", "3\n"), errc::none, true},
    {"behind the end", 5, 10, said("", "3\n"), errc::none, true},
    {"empty file", 0, 10, said("", "0\n"), errc::none, true},
    {"a file of /proc says no size", 0, 10, said("abc", "0\n"), errc::none,
     true},
    {"grown meanwhile", 0, 10, said("abcd", "3\n"), errc::none, true},
    {"cut", 0, 10, said("ab", "3\n"), errc::transport, false},
    {"capture overflow", 0, 10, overflowing, errc::transport, false},
    {"no size", 0, 10, said("abc", ""), errc::transport, false},
    {"more than asked", 0, 2, said("abc", "3\n"), errc::transport, false},
    {"absent", 0, 10, said("", "", 80), errc::not_found, false},
    {"directory", 0, 10, said("", "", 81), errc::is_directory, false},
    {"pipe", 0, 10, said("", "", 82), errc::denied, false},
    {"unreadable", 0, 10, said("", "", 83), errc::denied, false},
    {"shell says denied", 0, 10,
     said("", "sh: 6: cannot open /x: Permission denied\n", 2), errc::denied,
     false},
    {"other failure", 0, 10, said("", "head: weird\n", 1), errc::transport,
     false},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto end = end_of_read("/x", each.offset, each.length, each.output);
    CHECK(end.fault == each.fault);
    CHECK(end.end_of_file == each.end_of_file);
    CHECK(end.sentence.empty() == (each.fault == errc::none));
    if (each.fault != errc::none)
      CHECK(end.sentence.starts_with("cannot read /x: "));
  }
}

TEST_CASE("the end of a write") {
  struct row {
    std::string name;
    program_output output;
    errc fault;
  };
  const row rows[] = {
    {"right count", said("5\n", ""), errc::none},
    {"padded count", said("  5\n", ""), errc::none},
    {"wrong count", said("4\n", ""), errc::transport},
    {"no count", said("", ""), errc::transport},
    {"read-only", said("", "sh: 1: cannot create /x: Read-only file system", 1),
     errc::denied},
    {"directory", said("", "", 81), errc::is_directory},
    {"disk full", said("", "cat: write error: No space left on device", 1),
     errc::disk},
    {"file limit", said("", "cat: write error: File too large", 1), errc::disk},
    {"parent is a file",
     said("", "mkdir: cannot create directory '/x': Not a directory", 1),
     errc::not_found},
    {"a pipe is no target", said("", "", 82), errc::denied},
    {"silent failure", said("", "", 1), errc::transport},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto end = end_of_write("/x", 5, each.output);
    CHECK(end.fault == each.fault);
  }
  CHECK(end_of_write("/x", 5, said("", "boom\n", 1)).sentence
        == "cannot write /x: boom");
  CHECK(end_of_write("/x", 5, said("", "", 1)).sentence
        == "cannot write /x: the transfer broke");
}
