#include "actors/session/writer_table_core.hpp"

#include <doctest/doctest.h>

using namespace bureau::session;

TEST_CASE("one store writes to a file, whatever it is called") {
  struct row {
    const char* name;
    writer_claim held;
    writer_claim wanted;
    bool granted;
  };
  const row rows[] = {
    {"the same file", {"a", 1, 2, "x"}, {"a", 1, 2, "x"}, false},
    {"another name of it", {"a", 1, 2, "x"}, {"b", 1, 2, "x"}, false},
    {"the same inode of another disk",
     {"a", 1, 2, "x"},
     {"b", 3, 2, "x"},
     true},
    {"another file", {"a", 1, 2, "x"}, {"b", 1, 3, "y"}, true},
    {"an unreadable header", {"a", 1, 2, "x"}, {"a", 1, 2, ""}, false},
    {"both create it", {"a", 0, 0, "x"}, {"a", 0, 0, "y"}, false},
    {"created, and not told yet", {"a", 0, 0, "x"}, {"a", 1, 2, "x"}, false},
    {"rewritten, and not told yet", {"a", 1, 2, "x"}, {"a", 1, 3, "x"}, false},
    {"the file is gone", {"a", 1, 2, "x"}, {"a", 0, 0, "y"}, true},
    {"it was replaced", {"a", 1, 2, "x"}, {"a", 1, 3, "y"}, true},
    {"its inode was used again", {"a", 1, 2, "x"}, {"b", 1, 2, "y"}, true},
    {"nothing is nowhere", {"a", 0, 0, "x"}, {"b", 0, 0, "y"}, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    writer_table table;
    REQUIRE(table.claim(1, row.held));
    CHECK(table.claim(2, row.wanted) == row.granted);
    CHECK(table.knows(2) == row.granted);
    // A refusal leaves the holder what it has.
    if (!row.granted)
      CHECK(table.knows(1));
  }
}

TEST_CASE("a claim lasts until it is given up or replaced") {
  writer_table table;
  REQUIRE(table.claim(1, {"a", 1, 2, "x"}));
  REQUIRE(table.claim(1, {"b", 1, 3, "y"}));
  CHECK(table.claim(2, {"a", 1, 2, "x"}));
  CHECK_FALSE(table.claim(2, {"b", 1, 3, "y"}));
  table.release(1);
  table.release(1);
  CHECK(table.claim(2, {"b", 1, 3, "y"}));
}
