#include "messages/limits.hpp"
#include "tests/io/journal_world.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

// How records come into their files.

using namespace bureau;
using test::append_of;
using test::count_of;
using test::get_file;
using test::has_note;
using test::journal_world;
using test::put;
using test::put_file;

TEST_CASE("a batch is one frame with one sync, then one write a target") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a.jsonl", "0\n");
  put(*writer, "b.jsonl", "0\n");
  world.fs->heal();
  std::vector<io::journal_append> batch;
  for (auto line : {"1\n", "2\n", "3\n"}) {
    batch.push_back(append_of("a.jsonl", line));
    batch.push_back(append_of("b.jsonl", line, durability::lazy));
  }
  writer->commit(batch);
  std::vector<uint64_t> offsets;
  for (const auto& append : batch) {
    CHECK_FALSE(append.failure);
    offsets.push_back(append.offset);
  }
  CHECK(offsets == std::vector<uint64_t>{2, 2, 4, 4, 6, 6});
  CHECK(get_file(world.file("a.jsonl")) == "0\n1\n2\n3\n");
  CHECK(get_file(world.file("b.jsonl")) == "0\n1\n2\n3\n");
  CHECK(world.fs->operations()
        == std::vector<std::string>{"stat", "stat", "write_at", "sync_data",
                                    "write_at", "write_at"});
}

TEST_CASE("targets and segments are private files") {
  journal_world world;
  auto writer = world.writer();
  CHECK_FALSE(put(*writer, "a.jsonl", "1\n").failure);
  struct stat facts {};
  for (const auto& path :
       {world.file("a.jsonl"), world.file("journal/0000000000000001.wal")}) {
    REQUIRE(::lstat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == 0600);
  }
  REQUIRE(::lstat(world.file("journal").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0700);
}

TEST_CASE("lazy appends sync nothing and ride in the next frame") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a.jsonl", "0\n");
  world.fs->heal();
  CHECK_FALSE(put(*writer, "a.jsonl", "lazy\n", durability::lazy).failure);
  CHECK(get_file(world.file("a.jsonl")) == "0\nlazy\n");
  CHECK(count_of(*world.fs, "sync_data") == 0);
  put(*writer, "b.jsonl", "sync\n");
  auto segment =
    test::scan_text(get_file(world.file("journal/0000000000000001.wal")));
  REQUIRE(segment.records.size() == 3);
  CHECK(segment.records[1].bytes == "lazy\n");
  CHECK(segment.records[1].offset == 2);
  CHECK(segment.records[2].bytes == "sync\n");
}

TEST_CASE("many lazy bytes are not left without a frame") {
  journal_world world;
  auto writer = world.writer();
  std::string piece(300'000, 'x');
  for (int i = 0; i < 4; ++i)
    CHECK_FALSE(put(*writer, "a.jsonl", piece, durability::lazy).failure);
  CHECK(writer->frames() == 1);
}

TEST_CASE("an append that has no place fails alone") {
  journal_world world;
  std::filesystem::create_directory(world.file("dir"));
  std::filesystem::create_symlink("/etc/passwd", world.file("link"));
  std::filesystem::create_directory_symlink(world.workspace(),
                                            world.file("way"));
  ::mkfifo(world.file("fifo").c_str(), 0600);
  auto writer = world.writer();
  std::vector<io::journal_append> batch;
  for (auto path : {"absent/a", "dir", "link", "way/a", "fifo"})
    batch.push_back(append_of(path, "x"));
  batch.push_back(append_of("good", "x"));
  writer->commit(batch);
  for (size_t i = 0; i + 1 < batch.size(); ++i) {
    CAPTURE(batch[i].record.path);
    CHECK(code_of(batch[i].failure) == errc::bad_request);
    CHECK(sentence_of(batch[i].failure).find(batch[i].record.path)
          != std::string::npos);
  }
  CHECK_FALSE(batch.back().failure);
  CHECK_FALSE(writer->broken());
  CHECK_FALSE(std::filesystem::exists(world.workspace() + "/a"));
}

TEST_CASE("a file with a second name is no target") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "known", "1\n");
  put_file(world.file("fresh"), "1\n");
  for (auto name : {"known", "fresh"}) {
    CAPTURE(name);
    std::filesystem::create_hard_link(world.file(name),
                                      world.workspace() + "/" + name);
    auto refused = put(*writer, name, "2\n");
    CHECK(code_of(refused.failure) == errc::bad_request);
    CHECK(sentence_of(refused.failure).find("second name")
          != std::string::npos);
    CHECK_FALSE(writer->broken());
    CHECK(get_file(world.file(name)) == "1\n");
    std::filesystem::remove(world.workspace() + "/" + name);
    CHECK(put(*writer, name, "2\n").offset == 2);
  }
  // Nor does a replay write to one; what it would have written is kept.
  writer.reset();
  put_file(world.file("known"), "1\n");
  std::filesystem::create_hard_link(world.file("known"),
                                    world.workspace() + "/known");
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(get_file(world.workspace() + "/known") == "1\n");
  CHECK(has_note(report, world.file("known") + ": not restored"));
  CHECK(has_note(report, ".damaged"));
}

TEST_CASE("a foreign writer is noticed and never overwritten") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a.jsonl", "ours\n");
  put_file(world.file("a.jsonl"), "ours\ntheirs\n");
  auto next = put(*writer, "a.jsonl", "ours again\n");
  CHECK(next.offset == 12);
  CHECK(get_file(world.file("a.jsonl")) == "ours\ntheirs\nours again\n");
}

TEST_CASE("a file that was cut or replaced loses its older frames") {
  for (auto replaced : {false, true}) {
    CAPTURE(replaced);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a.jsonl", "a long first line\n");
    if (replaced)
      std::filesystem::remove(world.file("a.jsonl"));
    put_file(world.file("a.jsonl"), "new\n");
    CHECK(put(*writer, "a.jsonl", "2\n").offset == 4);
    // Killed here: what the replay sees is all there ever was.
    writer.reset();
    auto report = world.replay();
    CHECK_FALSE(report.failure);
    CHECK(get_file(world.file("a.jsonl")) == "new\n2\n");
  }
}

TEST_CASE("few descriptors stay open however many targets there are") {
  journal_world world;
  auto writer = world.writer();
  auto most = writer->kept_targets();
  CHECK(most >= limits::journal_open_targets);
  CHECK(most <= io::most_open_targets);
  for (size_t i = 0; i < most + 20; ++i)
    put(*writer, "t" + std::to_string(i), "1\n", durability::lazy);
  CHECK(writer->open_targets() == most);
  // The least recently used one was closed, this one was not.
  world.fs->heal();
  put(*writer, "t" + std::to_string(most), "2\n", durability::lazy);
  CHECK(count_of(*world.fs, "open_below") == 0);
  CHECK(put(*writer, "t0", "2\n").offset == 2);
}

TEST_CASE("under a low limit of open files fewer targets stay open") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  for (auto [soft, most] : {std::pair<rlim_t, size_t>{256, 128},
                            {1024, 256},
                            {before.rlim_max, 0}}) {
    auto lowered = before;
    lowered.rlim_cur = std::min(soft, before.rlim_max);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lowered) == 0);
    journal_world world;
    auto kept = world.writer()->kept_targets();
    CHECK((most == 0 ? kept <= io::most_open_targets : kept == most));
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}
