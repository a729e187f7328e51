#include "actors/io/process_core.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace bureau;
using namespace std::string_literals;

namespace {

proc_spec good_spec() {
  proc_spec result;
  result.id = 1;
  result.argv = {"/bin/true"};
  result.env = {{"TOKEN", "hush", true}};
  return result;
}

} // namespace

TEST_CASE("a specification is checked before it reaches the loop") {
  CHECK(io::spec_fault(good_spec()).empty());
  struct row {
    const char* name;
    std::function<void(proc_spec&)> spoil;
    const char* says;
  };
  const row rows[] = {
    {"no id", [](proc_spec& s) { s.id = 0; }, "no id"},
    {"no argv", [](proc_spec& s) { s.argv.clear(); }, "argv"},
    {"relative program", [](proc_spec& s) { s.argv = {"true"}; }, "absolute"},
    {"NUL in an argument", [](proc_spec& s) { s.argv.push_back("a\0b"s); },
     "NUL"},
    {"argument of 128 KiB",
     [](proc_spec& s) { s.argv.push_back(std::string(128u << 10, 'x')); },
     "128 KiB"},
    {"4097 arguments", [](proc_spec& s) { s.argv.resize(4097, "x"); },
     "arguments"},
    {"relative directory", [](proc_spec& s) { s.cwd = "tmp"; }, "directory"},
    {"name with =",
     [](proc_spec& s) {
       s.env = {{"A=B", "c", false}};
     },
     "environment"},
    {"empty name",
     [](proc_spec& s) {
       s.env = {{"", "c", false}};
     },
     "environment"},
    {"NUL in a value", [](proc_spec& s) { s.env[0].value = "hush\0x"s; },
     "TOKEN"},
    {"value of 128 KiB",
     [](proc_spec& s) { s.env[0].value = std::string(128u << 10, 'h'); },
     "TOKEN"},
    {"exec tag of two lines", [](proc_spec& s) { s.exec_tag = "a\nb"; },
     "exec tag"},
    {"exec tag of 129 bytes",
     [](proc_spec& s) { s.exec_tag = std::string(129, 'x'); }, "exec tag"},
    {"name twice", [](proc_spec& s) { s.env.push_back(s.env[0]); }, "twice"},
    {"descriptor 2",
     [](proc_spec& s) {
       s.fds = {{2, fd_kind::bytes, {}, {}, {}, 0}};
     },
     "outside"},
    {"descriptor 512",
     [](proc_spec& s) {
       s.fds = {{512, fd_kind::bytes, {}, {}, {}, 0}};
     },
     "outside"},
    {"descriptor twice",
     [](proc_spec& s) {
       s.fds = {{3, fd_kind::bytes, {}, {}, {}, 0},
                {3, fd_kind::pipe_out, {}, {}, {}, 0}};
     },
     "twice"},
    {"relative root",
     [](proc_spec& s) {
       s.fds = {{3, fd_kind::open_beneath, {}, "tmp", {}, 0}};
     },
     "root"},
    {"absolute path below a root",
     [](proc_spec& s) {
       s.fds = {{3, fd_kind::open_beneath, {}, "/tmp", "/x", 0}};
     },
     "relative"},
    {"input beyond the bound",
     [](proc_spec& s) {
       s.input = stdin_kind::bytes;
       s.input_bytes = std::string(limits::process_input_bytes + 1, 'x');
     },
     "input"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto spec = good_spec();
    row.spoil(spec);
    auto fault = io::spec_fault(spec);
    CHECK(fault.find(row.says) != std::string::npos);
    CHECK(fault.find("hush") == std::string::npos);
  }
}

TEST_CASE("a tag is found only as a whole value") {
  CHECK(io::carries_tag("A=1\0BUREAU_EXEC_ID=t1\0B=2\0"s, "t1"));
  CHECK(io::carries_tag("BUREAU_EXEC_ID=t1"s, "t1"));
  CHECK_FALSE(io::carries_tag("BUREAU_EXEC_ID=t11\0"s, "t1"));
  CHECK_FALSE(io::carries_tag("XBUREAU_EXEC_ID=t1\0"s, "t1"));
  CHECK_FALSE(io::carries_tag("A=BUREAU_EXEC_ID=t1\0"s, "t1"));
  CHECK_FALSE(io::carries_tag("", "t1"));
  CHECK_FALSE(io::carries_tag("\0\0"s, "t1"));
}

TEST_CASE("a capture keeps the head and counts the rest") {
  io::capture kept{5};
  kept.take("abc");
  kept.take("defg");
  kept.take("hi");
  CHECK(kept.dropped() == 4);
  CHECK(kept.release() == "abcde");
  io::capture nothing{0};
  nothing.take("x");
  CHECK(nothing.dropped() == 1);
}

TEST_CASE("a window pauses when it is full and goes on when half is used") {
  io::stream_window window;
  CHECK_FALSE(window.sent(limits::stream_window_bytes - 1));
  CHECK(window.sent(1));
  CHECK_FALSE(window.acknowledged(limits::stream_resume_bytes - 1));
  CHECK(window.paused());
  CHECK(window.acknowledged(1));
  CHECK_FALSE(window.paused());
  CHECK_FALSE(window.acknowledged(1u << 30));
}
