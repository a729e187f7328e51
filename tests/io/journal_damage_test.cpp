#include "tests/io/journal_world.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

// Segments that are not as they were written.

using namespace bureau;
using test::get_file;
using test::has_note;
using test::journal_world;
using test::put;
using test::put_file;

TEST_CASE("a damaged segment restores a prefix, never harms, and is kept") {
  journal_world world;
  auto writer = world.writer();
  for (auto line : {"one\n", "two\n", "three\n"})
    put(*writer, "a", line);
  writer.reset();
  auto path = world.file("journal/0000000000000001.wal");
  auto whole = get_file(path);
  auto last = 2 * (whole.size() - 2) / 3; // "three" has two letters more
  const std::set<std::string> prefixes = {"", "one\n", "one\ntwo\n",
                                          "one\ntwo\nthree\n"};
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    auto flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    for (const auto& damaged : {whole.substr(0, at), flipped}) {
      std::filesystem::remove(world.file("a"));
      put_file(path, damaged);
      auto report = world.replay();
      CHECK_FALSE(report.failure);
      CHECK(prefixes.count(get_file(world.file("a"))) == 1);
      // What lies before synced frames was synced itself: no torn write.
      auto is_kept = damaged.size() == whole.size() && at < last;
      CHECK(world.segments() == (is_kept ? 1 : 0));
      CHECK(has_note(report, path + ": damaged at byte ") == is_kept);
      if (is_kept) {
        CHECK(get_file(path + ".damaged") == damaged);
        CHECK(world.replay().segments == 0);
        std::filesystem::remove(path + ".damaged");
      }
    }
  }
}

TEST_CASE("only the last segment may have a torn end") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "one\n");
  put(*writer, "b", "one\n");
  writer->begin_checkpoint();
  put(*writer, "b", "two\n");
  writer.reset();
  auto first = world.file("journal/0000000000000001.wal");
  auto text = get_file(first);
  put_file(first, text.substr(0, text.size() - 1));
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(has_note(report, first + ": damaged at byte "
                           + std::to_string(text.size() / 2)));
  CHECK(std::filesystem::exists(first + ".damaged"));
  CHECK(world.segments() == 1);
  CHECK(get_file(world.file("b")) == "one\ntwo\n");
}

TEST_CASE("a few damaged segments are kept, the newest") {
  journal_world world;
  for (auto round = 0; round < 7; ++round) {
    auto writer = world.writer();
    put(*writer, "a", "1\n");
    put(*writer, "a", "2\n");
    writer.reset();
    for (const auto& entry :
         std::filesystem::directory_iterator{world.file("journal")})
      if (auto path = entry.path().string(); path.ends_with(".wal")) {
        auto text = get_file(path);
        text[text.size() / 2 - 1] ^= 1;
        put_file(path, text);
      }
    CHECK_FALSE(world.replay().failure);
  }
  CHECK(world.segments() == io::most_kept_segments);
  for (auto name : {"0000000000000004", "0000000000000007"})
    CHECK(std::filesystem::exists(
      world.file("journal/" + std::string{name} + ".wal.damaged")));
}
