#include "actors/runner/time_zone_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;

TEST_CASE("the zone of the host, by its variable or its file") {
  constexpr const char* file = "/usr/share/zoneinfo/Europe/Vienna";
  struct row {
    std::string variable;
    std::string localtime;
    std::string expected;
  };
  const row rows[] = {
    {"", "", ""},
    {"", file, "Europe/Vienna"},
    {"", "/usr/share/zoneinfo/Etc/UTC", "Etc/UTC"},
    // A file of its own has no name.
    {"", "/etc/localtime", ""},
    {"Asia/Taipei", file, "Asia/Taipei"},
    {":Asia/Taipei", "", "Asia/Taipei"},
    {":/usr/share/zoneinfo/Asia/Taipei", "", "Asia/Taipei"},
    {"CET-1CEST,M3.5.0,M10.5.0/3", "", "CET-1CEST,M3.5.0,M10.5.0/3"},
    {"<+0330>-3:30", "", "<+0330>-3:30"},
    // What cannot be a zone is passed over.
    {"/etc/localtime", file, "Europe/Vienna"},
    {"../../etc/passwd", file, "Europe/Vienna"},
    {"a b", file, "Europe/Vienna"},
    {std::string(200, 'a'), file, "Europe/Vienna"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.variable);
    CAPTURE(row.localtime);
    CHECK(runner::host_time_zone(row.variable, row.localtime) == row.expected);
  }
}
