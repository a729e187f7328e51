#include "actors/memory/memory_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::memory;

TEST_CASE("what a run is shown") {
  auto block = block_of("likes tea\xff", 10);
  CHECK(block.content == "likes tea\xEF\xBF\xBD");
  CHECK(block.source == "MEMORY.md");
  CHECK_FALSE(block.truncated);
  CHECK(block_of("likes", 10).truncated);
}

TEST_CASE("entries stand below the heading of their day") {
  auto file = with_entry("", "2026-01-01", "Likes tea.");
  CHECK(file == "## 2026-01-01\n\nLikes tea.\n");
  file = with_entry(file, "2026-01-01", "Paints blue.");
  CHECK(file == "## 2026-01-01\n\nLikes tea.\n\nPaints blue.\n");
  file = with_entry(file, "2026-01-02", "Sleeps.");
  CHECK(file.ends_with("blue.\n\n## 2026-01-02\n\nSleeps.\n"));
  CHECK(with_entry("no line end", "2026-01-02", "a")
        == "no line end\n\n## 2026-01-02\n\na\n");
}

TEST_CASE("an entry is found as it was written") {
  auto file = with_entry("", "2026-01-01", "Likes tea.\nAnd cake.");
  CHECK(has_entry(file, "Likes tea.\nAnd cake."));
  CHECK_FALSE(has_entry(file, "Likes tea"));
  CHECK_FALSE(has_entry(file, "cake."));
  CHECK_FALSE(has_entry("", "Likes tea."));
}

TEST_CASE("ids that can name a run") {
  CHECK(is_run_id("01a22e2d-1fc5-7829"));
  CHECK(is_run_id("job:1.a_B"));
  for (auto wrong : {"", "a b", "a>", "a\n"})
    CHECK_FALSE(is_run_id(wrong));
  CHECK_FALSE(is_run_id(std::string(129, 'a')));
}

TEST_CASE("an entry is bounded and valid") {
  CHECK(entry_text(" a\xff ") == "a\xEF\xBF\xBD");
  CHECK(entry_text(" \n").empty());
  auto entry = entry_text(std::string(100'000, 'x'));
  CHECK(entry.size() == limits::memory_entry_bytes);
  CHECK(entry.ends_with("(cut here)"));
}
