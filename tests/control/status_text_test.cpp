#include "actors/control/status_text_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::control;

namespace {

std::string text_of(const char* json_text) {
  auto parsed = json::parse(json_text);
  REQUIRE(parsed);
  return status_text(parsed.value.as_object());
}

} // namespace

TEST_CASE("durations are said as people say them") {
  struct row {
    int64_t milliseconds;
    const char* text;
  };
  for (const auto& [milliseconds, said] :
       {row{-5, "0 s"}, row{999, "0 s"}, row{45'999, "45 s"},
        row{60'000, "1 min"}, row{3'599'999, "59 min"},
        row{7'500'000, "2 h 05 min"}, row{172'800'000, "2 d 0 h"},
        row{365'000'000, "4 d 5 h"}}) {
    CHECK(duration_text(milliseconds) == said);
  }
}

TEST_CASE("nothing from outside controls a terminal") {
  CHECK(terminal_text("a\x1b[31mb\nc\x7f\xC2\x9B"
                      "d \xC3\xA4\xFF")
        == "a [31mb c  d \xC3\xA4\xEF\xBF\xBD");
}

TEST_CASE("a whole status is a page of aligned lines") {
  CHECK(text_of(R"({"product":"bureau","version":"0.1.0","pid":7,
    "startedAt":"2026-01-01T00:00:00.000Z","uptimeMs":61000,"logLevel":"info",
    "state":"degraded",
    "components":[{"label":"journal","state":"ok","detail":"0 waiting"},
                  {"label":"offices","state":"degraded","detail":""}],
    "adapters":[{"label":"adapter/console","state":"ok","detail":"x"}],
    "degraded":[{"component":"web","reason":"port taken"}],
    "offices":{"known":3,"active":1},"openEntries":2,"sessionsTotal":3,
    "sessions":[{"sessionKey":"C2","state":"running","waiting":2,"run":"r"},
                {"sessionKey":"C1:17.1","state":"idle","waiting":0}],
    "silent":[]})")
        == "bureau 0.1.0, pid 7, since 2026-01-01T00:00:00.000Z (1 min)\n"
           "state: degraded\n"
           "offices: 3 known, 1 active, 2 open entries\n"
           "log level: info\n"
           "components:\n"
           "  journal  ok        0 waiting\n"
           "  offices  degraded\n"
           "adapters:\n"
           "  adapter/console  ok  x\n"
           "sessions: 3\n"
           "  C2       running  2 waiting\n"
           "  C1:17.1  idle     0 waiting\n"
           "  and 1 more\n"
           "degraded:\n"
           "  web  port taken\n");
}

TEST_CASE("a status with gaps says where nobody answered") {
  CHECK(text_of(R"({"product":"bureau","version":"1","pid":7,"startedAt":"t",
    "uptimeMs":0,"logLevel":"debug",
    "silent":[{"part":"offices","errc":"timeout","message":"no answer"}]})")
        == "bureau 1, pid 7, since t (0 s)\n"
           "log level: debug\n"
           "no answer:\n"
           "  offices  no answer\n");
  // Whatever answers on the socket, this does not fall over.
  CHECK(text_of(R"({"sessions":7,"components":[1],"offices":[]})")
        == " , pid 0, since  (0 s)\nlog level: \n");
}
