#include "actors/settings/watched_file_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::settings;

namespace {

constexpr int64_t now_ms = 1'000'000;

config::file_signature written_at(int64_t ms, uint64_t size = 1) {
  return {true, size, 1, 1, ms * 1'000'000};
}

config::reading<int> good(int value, std::vector<std::string> warnings = {}) {
  return {value, std::move(warnings), {}};
}

config::reading<int> bad(std::string fault) {
  return {0, {}, std::move(fault)};
}

} // namespace

TEST_CASE("a file is read once for each content") {
  watched_file<int> file;
  auto old = written_at(1);
  CHECK(file.must_read(old));
  CHECK(file.take(old, now_ms, good(7)).loaded);
  CHECK_FALSE(file.must_read(old));
  CHECK(file.must_read(written_at(2)));
  CHECK(file.must_read(written_at(1, 2)));
  CHECK(file.must_read({}));
  CHECK(*file.value() == 7);
}

TEST_CASE("a content that was just written is read again until it is old") {
  watched_file<int> file;
  auto young = written_at(now_ms - 1999);
  file.take(young, now_ms, good(1));
  CHECK(file.must_read(young));
  file.take(young, now_ms + 1, good(1));
  CHECK_FALSE(file.must_read(young));
}

TEST_CASE("an absent file has the default content and is not read again") {
  watched_file<int> file;
  file.take({}, now_ms, good(0));
  CHECK_FALSE(file.must_read({}));
}

TEST_CASE("a bad content keeps the last good one and is told once") {
  watched_file<int> file{std::make_shared<const int>(5), written_at(1)};
  CHECK_FALSE(file.must_read(written_at(1)));
  auto first = file.take(written_at(2), now_ms, bad("broken"));
  CHECK(first.turned_bad);
  CHECK_FALSE(first.loaded);
  CHECK(first.warnings == std::vector<std::string>{"broken"});
  CHECK(*file.value() == 5);
  CHECK(file.fault() == "broken");
  auto again = file.take(written_at(3), now_ms, bad("broken"));
  CHECK_FALSE(again.turned_bad);
  CHECK(again.warnings.empty());
  CHECK(file.take(written_at(4), now_ms, bad("worse")).turned_bad);
  auto healed = file.take(written_at(5), now_ms, good(6));
  CHECK(healed.recovered);
  CHECK(healed.loaded);
  CHECK(file.fault() == "");
  CHECK(*file.value() == 6);
}

TEST_CASE("a warning is told once as long as it stays") {
  watched_file<int> file;
  using lines = std::vector<std::string>;
  CHECK(file.take(written_at(1), now_ms, good(1, {"a"})).warnings
        == lines{"a"});
  CHECK(file.take(written_at(2), now_ms, good(1, {"a", "b"})).warnings
        == lines{"b"});
  CHECK(file.take(written_at(3), now_ms, good(1)).warnings.empty());
  CHECK(file.take(written_at(4), now_ms, good(1, {"a"})).warnings
        == lines{"a"});
}
