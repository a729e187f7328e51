#include "web/http/request_core.hpp"

#include <doctest/doctest.h>

using namespace bureau::web;

TEST_CASE("request targets are decoded once and hostile ones refused") {
  struct row {
    const char* name;
    std::string raw;
    bool accepted;
    const char* path;
    const char* query;
  };
  const row rows[] = {
    {"plain", "/health", true, "/health", ""},
    {"query", "/a?b=c%20d", true, "/a", "b=c%20d"},
    {"escape", "/a%20b", true, "/a b", ""},
    {"decoded once", "/a%2520", true, "/a%20", ""},
    {"absolute form", "http://h:1/x?y", true, "/x", "y"},
    {"absolute form without path", "http://h", true, "/", ""},
    {"fragment dropped", "/a#b", true, "/a", ""},
    {"empty", "", false, "", ""},
    {"relative", "health", false, "", ""},
    {"asterisk", "*", false, "", ""},
    {"cut escape", "/a%2", false, "", ""},
    {"bad escape", "/a%zz", false, "", ""},
    {"NUL", "/a%00b", false, "", ""},
    {"backslash", "/a\\b", false, "", ""},
    {"escaped backslash", "/a%5cb", false, "", ""},
    {"line feed in query", "/a?b\n", false, "", ""},
    {"too long", "/" + std::string(9000, 'a'), false, "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto target = parse_target(row.raw);
    REQUIRE(target.has_value() == row.accepted);
    if (target) {
      CHECK(target->path == row.path);
      CHECK(target->query == row.query);
    }
  }
}

TEST_CASE("host headers") {
  struct row {
    const char* raw;
    bool accepted;
    const char* host;
    int port;
  };
  const row rows[] = {
    {"localhost:80", true, "localhost", 80},
    {"LocalHost", true, "localhost", 0},
    {"[::1]:8181", true, "::1", 8181},
    {"[::1]", true, "::1", 0},
    {" a.example ", true, "a.example", 0},
    {"", false, "", 0},
    {":80", false, "", 0},
    {"[::1", false, "", 0},
    {"[::1]80", false, "", 0},
    {"h:99999", false, "", 0},
    {"h:8a", false, "", 0},
    {"h:123456", false, "", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.raw);
    auto host = parse_host(row.raw);
    REQUIRE(host.has_value() == row.accepted);
    if (host) {
      CHECK(host->host == row.host);
      CHECK(host->port == row.port);
    }
  }
}

TEST_CASE("bearer tokens match exactly or not at all") {
  CHECK(bearer_matches("Bearer abc", "abc"));
  CHECK_FALSE(bearer_matches("Bearer abcd", "abc"));
  CHECK_FALSE(bearer_matches("Bearer ab", "abc"));
  CHECK_FALSE(bearer_matches("Bearer abcabc", "abc"));
  CHECK(bearer_matches("bearer abc", "abc"));
  CHECK(bearer_matches("BEARER  abc ", "abc"));
  CHECK_FALSE(bearer_matches("Bearer\tabc", "abc"));
  CHECK_FALSE(bearer_matches("Bearer ABC", "abc"));
  CHECK_FALSE(bearer_matches("abc", "abc"));
  CHECK_FALSE(bearer_matches("Bearer ", ""));
}
