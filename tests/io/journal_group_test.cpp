#include "tests/io/journal_world.hpp"
#include "tests/io/power_cut.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

// Records that are in all of their files or in none.

using namespace bureau;
using test::append_of;
using test::disk_errors;
using test::get_file;
using test::journal_world;
using test::lines_of;
using test::put;

TEST_CASE("a group that has no place for one of its records writes none") {
  journal_world world;
  std::filesystem::create_symlink("/etc/passwd", world.file("link"));
  auto writer = world.writer();
  std::vector<io::journal_append> batch;
  batch.push_back(append_of("a", "alone\n"));
  batch.push_back(append_of("a", "first\n"));
  batch.push_back(append_of("link", "second\n"));
  batch.push_back(append_of("a", "other\n"));
  batch.push_back(append_of("b", "other\n"));
  batch[1].group = batch[2].group = 1;
  batch[3].group = batch[4].group = 2;
  writer->commit(batch);
  CHECK_FALSE(batch[0].failure);
  CHECK(code_of(batch[1].failure) == errc::bad_request);
  CHECK(batch[1].failure == batch[2].failure);
  CHECK_FALSE(batch[3].failure);
  CHECK(batch[3].offset == 6);
  CHECK(get_file(world.file("a")) == "alone\nother\n");
  CHECK(get_file(world.file("b")) == "other\n");
}

TEST_CASE("killed at any operation, a group is in both files or in none") {
  for (size_t nth = 1; nth < 60; ++nth) {
    CAPTURE(nth);
    journal_world world;
    {
      auto writer = world.writer();
      put(*writer, "a", "0\n");
      world.fs->heal();
      world.fs->fail_from(nth, EIO);
      std::vector<io::journal_append> batch;
      batch.push_back(append_of("a", "1\n"));
      batch.push_back(append_of("b", "1\n"));
      batch[0].group = batch[1].group = 1;
      writer->commit(batch);
    }
    world.fs->heal();
    CHECK_FALSE(world.replay().failure);
    auto first = get_file(world.file("a")) == "0\n1\n";
    auto second = get_file(world.file("b")) == "1\n";
    CHECK(first == second);
  }
}

namespace {

/// What may happen after a group of which something failed.
struct afterwards {
  const char* name;
  bool heals;
  /// Appends that follow: to `a` alone, to `b` alone, a lazy one to `a`.
  std::string appends;
  bool seals;
  bool checkpoints;
  bool closes;
};

const afterwards endings[] = {
  {"killed at once", true, "", false, false, false},
  {"closed", true, "", false, false, true},
  {"closed on a dead disk", false, "", false, false, true},
  {"one file goes on, killed", true, "a", false, false, false},
  {"the other goes on, killed", true, "b", false, false, false},
  {"a lazy one follows, killed", true, "l", false, false, false},
  {"both go on, closed", true, "ab", false, false, true},
  {"one is sealed, killed", true, "", true, false, false},
  {"a checkpoint, killed", true, "", false, true, false},
  {"goes on and a checkpoint, killed", true, "ba", false, true, false},
};

void go_on(io::journal_writer& writer, const afterwards& ending) {
  for (auto file : ending.appends)
    put(writer, file == 'b' ? "b" : "a", "next\n",
        file == 'l' ? durability::lazy : durability::sync);
  if (ending.seals)
    writer.seal({journal_root::state, "a"});
  if (ending.checkpoints) {
    writer.begin_checkpoint();
    while (writer.checkpoint_step(1))
      ;
  }
  if (ending.closes)
    writer.close();
}

/// How often a line is in a file, which holds whole lines.
size_t count_line(const std::string& text, const std::string& line) {
  auto lines = lines_of(text);
  CHECK((text.empty() || text.back() == '\n'));
  return static_cast<size_t>(std::count(lines.begin(), lines.end(), line));
}

} // namespace

TEST_CASE("whatever fails in a group, its files agree after the next start") {
  size_t round = 0;
  for (const auto& ending : endings)
    for (auto cut : {false, true})
      for (auto lasting : {false, true})
        for (size_t nth = 1;; ++nth) {
          // Which error it is must not matter: each has its turn.
          auto error = disk_errors[++round % std::size(disk_errors)];
          CAPTURE(ending.name);
          CAPTURE(cut);
          CAPTURE(error);
          CAPTURE(lasting);
          CAPTURE(nth);
          journal_world world;
          auto power = std::make_shared<test::power_cut_file_system>();
          world.fs = std::make_shared<test::faulty_file_system>(power);
          auto writer = world.writer();
          put(*writer, "a", "0\n");
          put(*writer, "b", "0\n");
          world.fs->heal();
          world.fs->shorten_writes(8);
          if (lasting)
            world.fs->fail_from(nth, error);
          else
            world.fs->fail_at(nth, error);
          std::vector<io::journal_append> batch;
          batch.push_back(append_of("a", "before\n"));
          batch.push_back(append_of("a", "group\n"));
          batch.push_back(append_of("b", "group\n"));
          batch.push_back(append_of("a", "after\n"));
          batch.push_back(append_of("c", "after\n"));
          batch[1].group = batch[2].group = 1;
          batch[3].group = batch[4].group = 2;
          writer->commit(batch);
          auto reached = world.fs->operations().size() >= nth;
          if (ending.heals)
            world.fs->heal();
          go_on(*writer, ending);
          writer.reset();
          world.fs->heal();
          if (cut)
            power->cut();
          REQUIRE_FALSE(
            io::replay_journal(*power, world.state(), world.workspace())
              .failure);
          auto a = get_file(world.file("a"));
          auto b = get_file(world.file("b"));
          auto c = get_file(world.file("c"));
          CAPTURE(a);
          CAPTURE(b);
          CAPTURE(c);
          CHECK(batch[1].failure == batch[2].failure);
          CHECK(batch[3].failure == batch[4].failure);
          CHECK(count_line(a, "group") == count_line(b, "group"));
          CHECK(count_line(a, "after") == count_line(c, "after"));
          // What was promised is there, once.
          if (!batch[0].failure)
            CHECK(count_line(a, "before") == 1);
          if (!batch[1].failure)
            CHECK(count_line(a, "group") == 1);
          if (!batch[3].failure)
            CHECK(count_line(a, "after") == 1);
          CHECK(count_line(a, "group") <= 1);
          CHECK(count_line(a, "0") == 1);
          if (!reached)
            break;
        }
}

TEST_CASE("a member that failed takes back the bytes of the others") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "0\n");
  put(*writer, "b", "0\n");
  // Two looks, the frame, its sync, then a, then b.
  world.fs->fail_at(6, ENOSPC);
  std::vector<io::journal_append> batch;
  for (auto line : {"alone\n", "group\n", "behind\n"})
    batch.push_back(append_of("a", line));
  batch.push_back(append_of("b", "group\n"));
  batch[1].group = batch[3].group = 1;
  writer->commit(batch);
  CHECK_FALSE(batch[0].failure);
  for (auto i : {1u, 2u, 3u})
    CHECK(code_of(batch[i].failure) == errc::disk);
  CHECK(get_file(world.file("a")) == "0\nalone\n");
  CHECK(get_file(world.file("b")) == "0\n");
  world.fs->heal();
  CHECK_FALSE(writer->close());
  CHECK(world.replay().segments == 0);
  CHECK(get_file(world.file("a")) == "0\nalone\n");
  CHECK(get_file(world.file("b")) == "0\n");
}

TEST_CASE("what cannot be cut off keeps the segments until it can") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "0\n");
  put(*writer, "b", "0\n");
  world.fs->fail_from(6, EIO);
  std::vector<io::journal_append> batch;
  batch.push_back(append_of("a", "group\n"));
  batch.push_back(append_of("b", "group\n"));
  batch[0].group = batch[1].group = 1;
  writer->commit(batch);
  world.fs->fail_named("truncate", EIO);
  writer->begin_checkpoint();
  while (writer->checkpoint_step(1))
    ;
  CHECK(world.segments() == 1);
  CHECK(writer->close());
  CHECK(world.segments() == 1);
  world.fs->heal();
  CHECK_FALSE(writer->close());
  CHECK(world.segments() == 0);
  CHECK(get_file(world.file("a")) == "0\n");
  CHECK(get_file(world.file("b")) == "0\n");
}
