#include "tests/io/journal_world.hpp"

#include <doctest/doctest.h>

// The journal on a disk that refuses, and on one that works again.

using namespace bureau;
using test::append_of;
using test::get_file;
using test::journal_world;
using test::put;
using test::put_file;

TEST_CASE("when the disk is full nothing is acknowledged, later all is well") {
  for (auto failing : {"write_at", "sync_data"}) {
    CAPTURE(failing);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", "1\n");
    world.fs->fail_named(failing, ENOSPC);
    std::vector<io::journal_append> batch;
    batch.push_back(append_of("a", "lost\n"));
    batch.push_back(append_of("b", "lost too\n", durability::lazy));
    writer->commit(batch);
    for (const auto& append : batch) {
      CHECK(code_of(append.failure) == errc::disk);
      CHECK(sentence_of(append.failure).find("No space") != std::string::npos);
    }
    CHECK(writer->broken());
    CHECK(get_file(world.file("a")) == "1\n");
    world.fs->heal();
    CHECK(put(*writer, "a", "2\n").offset == 2);
    CHECK_FALSE(writer->broken());
    CHECK(get_file(world.file("a")) == "1\n2\n");
    // The refused bytes must not come back and shift the others.
    writer.reset();
    CHECK_FALSE(world.replay().failure);
    CHECK(get_file(world.file("a")) == "1\n2\n");
    CHECK(get_file(world.file("b")).empty());
  }
}

TEST_CASE("a target that cannot be written keeps whole lines") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  // stat of the target, write and sync of the frame, then the target itself.
  world.fs->fail_at(4, ENOSPC);
  auto failed = put(*writer, "a", "refused\n");
  CHECK(code_of(failed.failure) == errc::disk);
  CHECK_FALSE(writer->broken());
  world.fs->heal();
  CHECK(put(*writer, "a", "2\n").offset == 2);
  writer.reset();
  CHECK_FALSE(world.replay().failure);
  CHECK(get_file(world.file("a")) == "1\n2\n");
}

TEST_CASE("what a failed write left is cut off, also when only later") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  // stat, frame, sync; then the target and the cut of what it left.
  world.fs->fail_from(4, ENOSPC);
  CHECK(code_of(put(*writer, "a", "refused\n").failure) == errc::disk);
  world.fs->heal();
  put_file(world.file("a"), "1\nref");
  CHECK(put(*writer, "a", "2\n").offset == 2);
  CHECK(get_file(world.file("a")) == "1\n2\n");
}

TEST_CASE("a retry tells when the disk works again without an append") {
  for (auto failing : {"write_at", "sync_data"}) {
    CAPTURE(failing);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", "1\n");
    world.fs->fail_named(failing, ENOSPC);
    CHECK(put(*writer, "a", "lost\n").failure);
    CHECK_FALSE(writer->trouble().empty());
    writer->retry();
    // Writing is what is tried, not only what was left to do.
    world.fs->fail_named("write", ENOSPC);
    writer->retry();
    CHECK(writer->trouble().find("No space left") != std::string::npos);
    world.fs->heal();
    writer->retry();
    CHECK(writer->trouble().empty());
    CHECK_FALSE(writer->broken());
    CHECK(world.segments() == 0);
    CHECK(put(*writer, "a", "2\n").offset == 2);
    CHECK(world.replay().failure == caf::none);
    CHECK(get_file(world.file("a")) == "1\n2\n");
  }
}

TEST_CASE("a target that cannot be written is trouble until it can") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "1\n");
  put(*writer, "b", "1\n");
  world.fs->fail_at(4, ENOSPC);
  CHECK(put(*writer, "a", "refused\n").failure);
  world.fs->heal();
  // Others work, and do not say that this one does.
  CHECK_FALSE(put(*writer, "b", "2\n").failure);
  CHECK(writer->trouble().find("cannot write " + world.file("a")) == 0);
  CHECK_FALSE(put(*writer, "a", "2\n").failure);
  CHECK(writer->trouble().empty());
}
