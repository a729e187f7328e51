#include "actors/io/process_roster_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;

namespace {

using groups = std::map<pid_t, std::string>;

groups groups_after(std::initializer_list<std::string_view> pieces) {
  io::group_roster roster;
  for (auto piece : pieces)
    roster.take(piece);
  return roster.groups();
}

} // namespace

TEST_CASE("notices of groups are one line each") {
  CHECK(io::begin_notice(4711, "") == "+4711 \n");
  CHECK(io::begin_notice(4711, "a1b2") == "+4711 a1b2\n");
  CHECK(io::end_notice(4711) == "-4711\n");
  auto longest = io::begin_notice(1 << 30, std::string(1000, 'x'));
  CHECK(longest.size() <= io::notice_bytes);
  CHECK(longest.ends_with("x\n"));
}

TEST_CASE("a roster holds what has begun and not ended") {
  struct row {
    const char* name;
    std::initializer_list<std::string_view> pieces;
    groups left;
  };
  const row rows[] = {
    {"nothing", {}, {}},
    {"one", {"+17 \n"}, {{17, ""}}},
    {"with a tag", {"+17 a b\n"}, {{17, "a b"}}},
    {"two in one piece", {"+17 a\n+18 \n"}, {{17, "a"}, {18, ""}}},
    {"one in three pieces", {"+1", "7 a", "\n"}, {{17, "a"}}},
    {"ended", {"+17 a\n+18 \n", "-17\n"}, {{18, ""}}},
    {"ended twice", {"+17 a\n-17\n-17\n"}, {}},
    {"a number used again", {"+17 a\n-17\n+17 b\n"}, {{17, "b"}}},
    {"cut", {"+17 a\n+18"}, {{17, "a"}}},
    {"no notices", {"\n17 a\nhello\n+\n-\n+x \n+17\n+17a\n"}, {}},
    {"numbers that mean everybody", {"+0 a\n+1 a\n+-1 a\n+-17 a\n"}, {}},
    {"a number that is too large", {"+99999999999 a\n"}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(groups_after(row.pieces) == row.left);
  }
}
