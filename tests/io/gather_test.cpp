#include "actors/io/journal_core.hpp"

#include <doctest/doctest.h>

using namespace bureau::io;
using namespace std::chrono_literals;

namespace {

/// A journal whose commits take 100 µs each.
struct gathering {
  group_gatherer core;
  group_gatherer::time_point now{};

  void commit(size_t count, bool more) {
    auto began = now;
    now += 100us;
    core.committed(count, more, began, now);
  }

  bool waits(size_t waiting) { return core.waits(waiting, now); }
};

} // namespace

TEST_CASE("a writer that is alone is never kept waiting") {
  gathering g;
  CHECK_FALSE(g.waits(1));
  for (auto i = 0; i < 3; ++i) {
    g.commit(1, false);
    CHECK_FALSE(g.waits(1));
  }
  CHECK_FALSE(g.waits(0));
}

TEST_CASE("a group that was answered is awaited, but not for long") {
  gathering g;
  g.commit(8, false);
  CHECK(g.waits(3));
  g.now += 49us;
  CHECK(g.waits(7));
  CHECK_FALSE(g.waits(8));
  // Those who do not come again hold the others up for half a commit.
  g.commit(8, false);
  CHECK(g.waits(3));
  g.now += 50us;
  CHECK_FALSE(g.waits(3));
  // That was the last commit but one: the group is smaller now.
  g.commit(3, false);
  g.commit(3, false);
  CHECK_FALSE(g.waits(3));
}

TEST_CASE("two halves that take turns become one group") {
  gathering g;
  g.commit(4, true);
  g.commit(4, true);
  // The half that came meanwhile waits for the one that was answered.
  CHECK(g.waits(4));
  CHECK_FALSE(g.waits(8));
  g.commit(8, false);
  CHECK(g.waits(4));
  CHECK_FALSE(g.waits(8));
}

TEST_CASE("a large group is not awaited whole, and no commit takes an age") {
  gathering g;
  g.commit(500, false);
  CHECK(g.waits(group_gatherer::most_awaited - 1));
  CHECK_FALSE(g.waits(group_gatherer::most_awaited));
  auto began = g.now;
  g.now += 1s;
  g.core.committed(8, false, began, g.now);
  CHECK(g.waits(1));
  g.now += group_gatherer::most_wait;
  CHECK_FALSE(g.waits(1));
}
