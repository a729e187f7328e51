#include "actors/io/file_jobs.hpp"
#include "tests/io/journal_world.hpp"
#include "tests/io/power_cut.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <iterator>

// What a boot makes of the segments it finds.

using namespace bureau;
using test::disk_errors;
using test::get_file;
using test::has_note;
using test::journal_world;
using test::put;
using test::put_file;

TEST_CASE("a replay restores what the targets lack, once") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "one\n");
  put(*writer, "a", "two\n");
  put(*writer, "b", "one\n");
  auto segment = get_file(world.file("journal/0000000000000001.wal"));
  writer.reset();
  put_file(world.file("a"), "one\nt");
  std::filesystem::remove(world.file("b"));
  put_file(world.file("journal/0000000000000001.wal"), segment + "torn");
  put_file(world.file("journal/notes.txt"), "not ours");
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(report.segments == 1);
  CHECK(report.frames == 3);
  CHECK(report.bytes_written == 7);
  CHECK(report.touched
        == std::vector<io::journal_path>{{journal_root::state, "a"},
                                         {journal_root::state, "b"}});
  CHECK(report.notes.size() == 1);
  CHECK(get_file(world.file("a")) == "one\ntwo\n");
  CHECK(get_file(world.file("b")) == "one\n");
  CHECK(world.segments() == 1); // the foreign file
  CHECK(world.replay().segments == 0);
}

TEST_CASE("a replay goes around what is no place for bytes") {
  journal_world world;
  auto writer = world.writer();
  std::filesystem::create_directory(world.file("office"));
  put(*writer, "office/log", "1\n");
  put(*writer, "short", "0123456789\n");
  put(*writer, "short", "tail\n");
  put(*writer, "linked", "1\n");
  writer.reset();
  std::filesystem::remove_all(world.file("office"));
  put_file(world.file("short"), "0");
  std::filesystem::remove(world.file("linked"));
  std::filesystem::create_symlink(world.file("victim"), world.file("linked"));
  auto writer_again = world.writer();
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(get_file(world.file("short")) == "0123456789\ntail\n");
  CHECK_FALSE(std::filesystem::exists(world.file("victim")));
  CHECK(report.touched.size() == 3);
  // What has no place is told, with the place where its bytes still are.
  CHECK(has_note(report, world.file("linked") + ": not restored"));
  CHECK(has_note(report, ".wal.damaged"));
  CHECK(world.segments() == 1);
  CHECK(world.replay().segments == 0);
}

TEST_CASE("a replay makes a directory that is gone, but goes through no link") {
  journal_world world;
  std::filesystem::create_directories(world.file("conversations/office"));
  std::filesystem::create_directory(world.file("swapped"));
  auto writer = world.writer();
  put(*writer, "conversations/office/ledger", "accepted\n");
  put(*writer, "swapped/log", "1\n");
  writer.reset();
  std::filesystem::remove_all(world.file("conversations"));
  std::filesystem::remove_all(world.file("swapped"));
  std::filesystem::create_directory_symlink(world.workspace(),
                                            world.file("swapped"));
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(get_file(world.file("conversations/office/ledger")) == "accepted\n");
  struct stat facts {};
  REQUIRE(::lstat(world.file("conversations/office").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0700);
  CHECK(has_note(report, world.file("conversations/office/ledger")
                           + ": its directory was gone"));
  CHECK(has_note(report, world.file("swapped/log") + ": not restored"));
  CHECK_FALSE(std::filesystem::exists(world.workspace() + "/log"));
}

TEST_CASE("without power, appends in a new directory are kept with it") {
  for (auto checkpointed : {false, true})
    for (auto made_by_us : {false, true}) {
      CAPTURE(checkpointed);
      CAPTURE(made_by_us);
      journal_world world;
      auto power = std::make_shared<test::power_cut_file_system>();
      world.fs = std::make_shared<test::faulty_file_system>(power);
      if (made_by_us) {
        test::seeded_entropy chance;
        file_job job;
        job.op = file_op::ensure_directory;
        job.root = world.state();
        job.path = "conversations/office";
        job.mode = 0700;
        REQUIRE(io::run_file_job(*power, chance, job));
      } else {
        // By somebody who was killed before the directories were synced.
        REQUIRE(power->make_directory(world.file("conversations"), 0700));
        REQUIRE(
          power->make_directory(world.file("conversations/office"), 0700));
      }
      auto writer = world.writer();
      CHECK_FALSE(
        put(*writer, "conversations/office/ledger", "accepted\n").failure);
      if (checkpointed) {
        writer->begin_checkpoint();
        while (writer->checkpoint_step(1))
          ;
        CHECK_FALSE(writer->has_unsynced());
      }
      writer.reset();
      power->cut();
      REQUIRE_FALSE(world.replay().failure);
      CHECK(get_file(world.file("conversations/office/ledger"))
            == "accepted\n");
    }
}

TEST_CASE("a replay leaves a file alone that ends before its record") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "0123456789\n");
  writer->begin_checkpoint();
  CHECK_FALSE(writer->checkpoint_step(4));
  put(*writer, "a", "tail\n");
  writer.reset();
  put_file(world.file("a"), "x");
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(get_file(world.file("a")) == "x");
  CHECK(has_note(report, "shorter"));
  // The bytes are still somewhere.
  CHECK(std::filesystem::exists(
    world.file("journal/0000000000000002.wal.damaged")));
  writer = world.writer();
  put(*writer, "b", "1\n");
  CHECK(std::filesystem::exists(world.file("journal/0000000000000003.wal")));
}

TEST_CASE("a replay that the disk refuses keeps the segments") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  writer.reset();
  std::filesystem::remove(world.file("a"));
  for (auto failing : {"write_at", "sync_data", "unlink"}) {
    CAPTURE(failing);
    world.fs->fail_named(failing, EIO);
    auto report =
      io::replay_journal(*world.fs, world.state(), world.workspace());
    CHECK(code_of(report.failure) == errc::disk);
    CHECK(world.segments() == 1);
    world.fs->heal();
  }
  CHECK_FALSE(world.replay().failure);
  CHECK(get_file(world.file("a")) == "1\n");
}

TEST_CASE("a fault anywhere in a replay leaves the rest to the next one") {
  for (auto lasting : {false, true})
    for (size_t n = 1;; ++n) {
      CAPTURE(lasting);
      CAPTURE(n);
      journal_world world;
      auto power = std::make_shared<test::power_cut_file_system>();
      world.fs = std::make_shared<test::faulty_file_system>(power);
      REQUIRE(power->make_directory(world.file("office"), 0700));
      auto writer = world.writer();
      put(*writer, "a", "one\n");
      writer->begin_checkpoint();
      put(*writer, "a", "two\n");
      put(*writer, "office/log", "one\n");
      writer.reset();
      power->cut();
      world.fs->shorten_writes(3);
      auto error = disk_errors[n % std::size(disk_errors)];
      if (lasting)
        world.fs->fail_from(n, error);
      else
        world.fs->fail_at(n, error);
      auto report =
        io::replay_journal(*world.fs, world.state(), world.workspace());
      auto reached = world.fs->operations().size() >= n;
      CHECK((report.failure || !lasting || !reached || world.segments() == 0));
      world.fs->heal();
      power->cut();
      CHECK_FALSE(
        io::replay_journal(*power, world.state(), world.workspace()).failure);
      CHECK(get_file(world.file("a")) == "one\ntwo\n");
      CHECK(get_file(world.file("office/log")) == "one\n");
      CHECK(world.segments() == 0);
      if (!reached)
        break;
    }
}

TEST_CASE("a journal directory that is no directory is refused at boot") {
  for (auto target : {"elsewhere", "absent"}) {
    CAPTURE(target);
    journal_world world;
    std::filesystem::create_directory(world.file("elsewhere"));
    std::filesystem::create_directory_symlink(world.file(target),
                                              world.file("journal"));
    auto report = world.replay();
    CHECK(code_of(report.failure) == errc::denied);
    CHECK(sentence_of(report.failure).find(world.file("journal"))
          != std::string::npos);
    CHECK(sentence_of(report.failure).find("symbolic link")
          != std::string::npos);
  }
  journal_world world;
  put_file(world.file("journal"), "");
  CHECK(code_of(world.replay().failure) == errc::denied);
}
