#include "messages/codec/open_list.hpp"
#include "tests/io/journal_world.hpp"
#include "tests/io/power_cut.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

// Seals, checkpoints, and a clean end.

using namespace bureau;
using test::count_of;
using test::get_file;
using test::journal_world;
using test::put;
using test::put_file;

TEST_CASE("after a seal nothing is promised in a file whose name may be lost") {
  for (auto level : {durability::sync, durability::lazy}) {
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", "old\n");
    CHECK_FALSE(writer->seal({journal_root::state, "a"}));
    // Replaced by somebody whose sync of the directory may have failed.
    put_file(world.file("new"), "new\n");
    std::filesystem::rename(world.file("new"), world.file("a"));
    world.fs->fail_named("sync", EIO);
    CHECK(code_of(put(*writer, "a", "1\n", level).failure) == errc::disk);
    world.fs->heal();
    CHECK(put(*writer, "a", "1\n", level).offset == 4);
    CHECK(count_of(*world.fs, "sync") > 0);
    world.fs->heal();
    CHECK_FALSE(put(*writer, "a", "2\n", level).failure);
    CHECK(count_of(*world.fs, "sync") == 0);
  }
}

TEST_CASE("after a seal older frames of the path are void, newer ones count") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a.jsonl", "one\ntwo\n");
  put(*writer, "b.jsonl", "kept\n");
  CHECK_FALSE(writer->seal({journal_root::state, "a.jsonl"}));
  put_file(world.file("a.jsonl"), "");
  writer.reset();
  CHECK_FALSE(world.replay().failure);
  CHECK(get_file(world.file("a.jsonl")).empty());
  CHECK(get_file(world.file("b.jsonl")) == "kept\n");
  writer = world.writer();
  put(*writer, "a.jsonl", "old\n");
  CHECK_FALSE(writer->seal({journal_root::state, "a.jsonl"}));
  put_file(world.file("a.jsonl"), "");
  put(*writer, "a.jsonl", "new\n");
  put_file(world.file("a.jsonl"), ""); // the plain write was lost
  writer.reset();
  CHECK_FALSE(world.replay().failure);
  CHECK(get_file(world.file("a.jsonl")) == "new\n");
}

TEST_CASE("a seal syncs the target before it says so") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a.jsonl", "1\n", durability::lazy);
  world.fs->heal();
  CHECK_FALSE(writer->seal({journal_root::state, "a.jsonl"}));
  const auto& done = world.fs->operations();
  auto target = std::find(done.begin(), done.end(), "sync_data");
  auto frame = std::find(done.begin(), done.end(), "write_at");
  CHECK(target < frame);
  CHECK(std::find(frame, done.end(), "sync_data") != done.end());
  world.fs->fail_named("sync_data", EIO);
  put(*writer, "b.jsonl", "1\n", durability::lazy);
  auto failure = writer->seal({journal_root::state, "b.jsonl"});
  CHECK(code_of(failure) == errc::disk);
}

TEST_CASE("a checkpoint syncs a few targets at a time, then removes segments") {
  journal_world world;
  auto writer = world.writer();
  for (auto name : {"a", "b", "c", "d", "e"})
    put(*writer, name, "1\n");
  CHECK(world.segments() == 1);
  CHECK(writer->has_unsynced());
  writer->begin_checkpoint();
  CHECK(writer->checkpoint_step(2));
  put(*writer, "f", "1\n");
  CHECK(world.segments() == 2);
  CHECK(writer->checkpoint_step(2));
  CHECK_FALSE(writer->checkpoint_step(2));
  CHECK(world.segments() == 1);
  CHECK(writer->has_unsynced());
  writer->begin_checkpoint();
  CHECK_FALSE(writer->checkpoint_step(2));
  CHECK(world.segments() == 0);
  CHECK_FALSE(writer->has_unsynced());
}

TEST_CASE("a checkpoint that fails keeps its segments and is tried again") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  world.fs->fail_named("sync_data", EIO);
  writer->begin_checkpoint();
  CHECK_FALSE(writer->checkpoint_step(4));
  CHECK(world.segments() == 1);
  CHECK(writer->has_unsynced());
  CHECK(writer->trouble().find("cannot sync a") == 0);
  world.fs->heal();
  writer->begin_checkpoint();
  CHECK_FALSE(writer->checkpoint_step(4));
  CHECK(world.segments() == 0);
}

TEST_CASE("a checkpoint that works again ends its trouble") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  writer->begin_checkpoint();
  world.fs->fail_named("unlink_below", EIO);
  while (writer->checkpoint_step(1))
    ;
  CHECK(writer->trouble().find("cannot remove old segments") == 0);
  world.fs->heal();
  put(*writer, "a", "2\n");
  CHECK_FALSE(writer->trouble().empty());
  writer->retry();
  CHECK(writer->trouble().empty());
  CHECK(world.segments() == 0);
}

TEST_CASE("a clean end leaves no segment") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  put(*writer, "b", "1\n", durability::lazy);
  CHECK_FALSE(writer->close());
  CHECK(world.segments() == 0);
  auto report = world.replay();
  CHECK(report.segments == 0);
  CHECK(report.touched.empty());
}

TEST_CASE("the files of a directory are new together: it is synced once") {
  journal_world world;
  auto power = std::make_shared<test::power_cut_file_system>();
  world.fs = std::make_shared<test::faulty_file_system>(power);
  for (auto name : {"office", "office/inner"})
    REQUIRE(power->make_directory(world.file(name), 0700));
  auto writer = world.writer();
  const std::string names[] = {"office/a",       "office/b",       "office/c",
                               "office/inner/a", "office/inner/b", "top"};
  for (const auto& name : names)
    put(*writer, name, "1\n");
  writer->begin_checkpoint();
  world.fs->heal();
  while (writer->checkpoint_step(1))
    ;
  CHECK_FALSE(writer->has_unsynced());
  // office and the state, inner and those above it, the state, and once the
  // directory of the segments.
  CHECK(count_of(*world.fs, "sync") == 2 + 3 + 1 + 1);
  power->cut();
  for (const auto& name : names)
    CHECK(get_file(world.file(name)) == "1\n");
}

// -- unfinished work ----------------------------------------------------------

namespace {

std::string list_of(const journal_world& world) {
  return get_file(world.file("ledger-open.json"));
}

std::string listed(std::initializer_list<std::string> keys) {
  return print_open_list(keys);
}

void checkpoint(io::journal_writer& writer) {
  writer.begin_checkpoint();
  while (writer.checkpoint_step(1))
    ;
}

constexpr auto one = "v1-slack-C1-0123456789abcdef";
constexpr auto two = "v1-slack-C2-0123456789abcdef";

} // namespace

TEST_CASE("a frame is forgotten when the list has its office") {
  journal_world world;
  auto writer = world.writer();
  writer->mark(two, true);
  writer->mark(one, true);
  put(*writer, "a", "1\n");
  CHECK(list_of(world).empty());
  checkpoint(*writer);
  CHECK(world.segments() == 0);
  CHECK(list_of(world) == listed({one, two}));
  // The list that cannot be written keeps the frames.
  writer->mark(one, false);
  put(*writer, "a", "2\n");
  for (auto step : {"rename", "sync"}) {
    CAPTURE(step);
    world.fs->fail_named(step, ENOSPC);
    checkpoint(*writer);
    CHECK(world.segments() == 1);
    CHECK_FALSE(writer->trouble().empty());
    world.fs->heal();
  }
  checkpoint(*writer);
  CHECK(world.segments() == 0);
  CHECK(writer->trouble().empty());
  CHECK(list_of(world) == listed({two}));
  // Nothing is written twice.
  put(*writer, "a", "3\n");
  world.fs->heal();
  checkpoint(*writer);
  CHECK(count_of(*world.fs, "rename") == 0);
  writer->mark(two, false);
  CHECK_FALSE(writer->close());
  CHECK(list_of(world) == listed({}));
}

TEST_CASE("after a failure nothing is promised while the list cannot be "
          "written") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  writer->mark(one, true);
  world.fs->fail_named("sync_data", EIO);
  CHECK(code_of(put(*writer, "a", "2\n").failure) == errc::disk);
  world.fs->heal();
  world.fs->fail_named("rename", EIO);
  CHECK(code_of(put(*writer, "a", "2\n").failure) == errc::disk);
  CHECK(world.segments() == 1);
  world.fs->heal();
  CHECK_FALSE(put(*writer, "a", "2\n").failure);
  CHECK(list_of(world) == listed({one}));
}

TEST_CASE("a journal that nobody told of unfinished work writes no list") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  checkpoint(*writer);
  CHECK_FALSE(writer->close());
  CHECK_FALSE(std::filesystem::exists(world.file("ledger-open.json")));
}

TEST_CASE("a replay removes no frame before what it tells is kept") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  writer.reset();
  std::vector<io::journal_path> told;
  auto refuse = [&](const std::vector<io::journal_path>& touched) {
    told = touched;
    return make_failure(errc::disk, "full");
  };
  auto report =
    io::replay_journal(*world.fs, world.state(), world.workspace(), refuse);
  CHECK(code_of(report.failure) == errc::disk);
  CHECK(told == std::vector<io::journal_path>{{journal_root::state, "a"}});
  CHECK(world.segments() == 1);
  report = io::replay_journal(
    *world.fs, world.state(), world.workspace(),
    [](const std::vector<io::journal_path>&) { return caf::error{}; });
  CHECK_FALSE(report.failure);
  CHECK(report.frames == 1);
  CHECK(world.segments() == 0);
}
