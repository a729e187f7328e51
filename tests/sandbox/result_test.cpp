#include "sandbox/result_core.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

proc_result finished(std::string out, std::string err, int32_t code,
                     std::string status = {}) {
  proc_result result;
  result.out = std::move(out);
  result.err = std::move(err);
  result.exit.code = code;
  result.extra.push_back(std::move(status));
  return result;
}

const std::string started = "{ \"child-pid\": 7, \"net-namespace\": 4026 }\n";

} // namespace

TEST_CASE("captured bytes become text without cutting a character") {
  struct row {
    std::string name;
    std::string bytes;
    uint64_t dropped;
    size_t cap;
    std::string text;
    bool truncated;
  };
  const row rows[] = {
    {"plain", "abc", 0, 10, "abc", false},
    {"empty", "", 0, 10, "", false},
    {"invalid byte",
     "a\xff"
     "b",
     0, 10,
     "a\xEF\xBF\xBD"
     "b",
     false},
    {"cut by the program", "a\xE2\x82", 0, 10, "a\xEF\xBF\xBD", false},
    {"cut by the capture", "a\xE2\x82", 5, 10, "a", true},
    {"exactly full", "abcd", 0, 4, "abcd", false},
    {"dropped behind a whole character", "ab\xE2\x82\xAC", 1, 5,
     "ab\xE2\x82\xAC", true},
    {"replacements make it longer than the cap", "\xff\xff", 0, 4,
     "\xEF\xBF\xBD", true},
    {"NUL is text", std::string("a\0b", 3), 0, 10, std::string("a\0b", 3),
     false},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto decoded = decode_capture(each.bytes, each.dropped, each.cap);
    CHECK(decoded.text == each.text);
    CHECK(decoded.truncated == each.truncated);
  }
}

TEST_CASE("a timeout is told in seconds with their fraction") {
  CHECK(timeout_line(200) == "Command timed out after 0.2 seconds");
  CHECK(timeout_line(30'000) == "Command timed out after 30 seconds");
  CHECK(timeout_line(1'250) == "Command timed out after 1.25 seconds");
  CHECK(timeout_line(1'005) == "Command timed out after 1.005 seconds");
  CHECK(timeout_line(1) == "Command timed out after 0.001 seconds");
}

TEST_CASE("the text of a killed command is what it said plus one line") {
  CHECK(killed_text("part\n", "", "L") == "part\n\n\nL");
  CHECK(killed_text("", "", "L") == "L");
  CHECK(killed_text("o", "e", "L") == "o\ne\nL");
  CHECK(killed_text("  \n", "\n", "L") == "L");
}

TEST_CASE("bubblewrap's status documents") {
  struct row {
    std::string name;
    std::string text;
    std::optional<int32_t> code;
  };
  const row rows[] = {
    {"normal", started + "{ \"exit-code\": 3 }\n", 3},
    {"zero", started + "{ \"exit-code\": 0 }\n", 0},
    {"no blank", "{\"exit-code\":137}", 137},
    {"never ran", started, std::nullopt},
    {"nothing", "", std::nullopt},
    {"not a number", "{ \"exit-code\": x }", std::nullopt},
    {"cut", "{ \"exit-code\":", std::nullopt},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    CHECK(status_exit_code(each.text) == each.code);
  }
}

TEST_CASE("a plain command keeps its code, a signal becomes 128 and more") {
  auto end = end_of_plain(kill_cause::none, 0, finished("a", "b", 3));
  CHECK(end.fault == errc::none);
  CHECK(end.result == exec_result{"a", "b", 3, false, false});
  auto killed = finished("", "", 0);
  killed.exit.signal = SIGSEGV;
  CHECK(end_of_plain(kill_cause::none, 0, killed).result.code == 139);
}

TEST_CASE("a sandboxed command has the code of the status") {
  auto end = end_of_sandboxed(
    kill_cause::none, 0, "/w",
    finished("a", "b", 1, started + "{ \"exit-code\": 42 }\n"));
  CHECK(end.fault == errc::none);
  CHECK(end.result.code == 42);
  CHECK(end.result.out == "a");
}

TEST_CASE("a kill is told as timeout or abort, whatever the exit says") {
  auto result =
    finished("part\n", "warn\n", 0, started + "{ \"exit-code\": 0 }\n");
  auto timed_out = end_of_sandboxed(kill_cause::timeout, 200, "/w", result);
  CHECK(timed_out.fault == errc::timeout);
  CHECK(timed_out.sentence
        == "part\n\nwarn\n\nCommand timed out after 0.2 seconds");
  CHECK(timed_out.result == exec_result{});
  auto aborted = end_of_plain(kill_cause::aborted, 200, result);
  CHECK(aborted.fault == errc::aborted);
  CHECK(aborted.sentence == "part\n\nwarn\n\nCommand aborted");
}

TEST_CASE("what a killed command printed can be a result of its own") {
  auto result = finished("part\n", "warn\n", 0, started);
  result.exit.err_dropped = 3;
  auto kept = kept_result(kill_cause::timeout, result);
  CHECK(kept.ending == exec_ending::timed_out);
  CHECK(kept.out == "part\n");
  CHECK(kept.err == "warn\n");
  CHECK_FALSE(kept.out_truncated);
  CHECK(kept.err_truncated);
  CHECK(kept_result(kill_cause::aborted, result).ending
        == exec_ending::aborted);
}

TEST_CASE("without an exit code the sandbox itself failed") {
  struct row {
    std::string name;
    std::string err;
    int32_t signal;
    errc code;
    const char* says;
  };
  const row rows[] = {
    {"missing source",
     "bwrap: Can't find source path /x: No such file or directory\n", 0,
     errc::transport, "Can't find source path /x"},
    {"missing directory", "bwrap: Can't chdir to /w/sub: No such file\n", 0,
     errc::not_found, "the directory /w/sub does not exist in the sandbox"},
    {"killed from outside", "", SIGKILL, errc::transport, "signal 9"},
    {"silent", "", 0, errc::transport, "code 1 and said nothing"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto result = finished("", each.err, 1, started);
    result.exit.signal = each.signal;
    auto end = end_of_sandboxed(kill_cause::none, 0, "/w/sub", result);
    CHECK(end.fault == each.code);
    CHECK(end.sentence.find(each.says) != std::string::npos);
  }
}

TEST_CASE("truncation is told for each stream") {
  auto result = finished("abc", "def", 0, "{ \"exit-code\": 0 }");
  result.exit.err_dropped = 9;
  auto end = end_of_sandboxed(kill_cause::none, 0, "/w", result);
  CHECK(!end.result.out_truncated);
  CHECK(end.result.err_truncated);
  CHECK(end.result.err == "def");
}
