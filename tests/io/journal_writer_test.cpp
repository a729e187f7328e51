#include "actors/io/file_jobs.hpp"
#include "actors/io/journal_replay.hpp"
#include "actors/io/journal_writer.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"
#include "tests/io/power_cut.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>

using namespace bureau;
using test::get_file;
using test::put_file;

namespace {

/// A state and a workspace directory with a journal on a file system that may
/// be made to fail.
struct journal_world {
  journal_world()
    : disk(std::make_shared<os::posix_file_system>()),
      fs(std::make_shared<test::faulty_file_system>(disk)) {
    std::filesystem::create_directory(state());
    std::filesystem::create_directory(workspace());
  }

  std::string state() const { return scratch / "state"; }
  std::string workspace() const { return scratch / "work"; }
  std::string file(const std::string& name) const {
    return state() + "/" + name;
  }

  std::unique_ptr<io::journal_writer> writer() {
    return std::make_unique<io::journal_writer>(fs, state(), workspace());
  }

  io::replay_report replay() {
    return io::replay_journal(*disk, state(), workspace());
  }

  size_t segments() const {
    size_t count = 0;
    std::error_code absent;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator{state() + "/journal", absent})
      ++count;
    return count;
  }

  test::scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> disk;
  std::shared_ptr<test::faulty_file_system> fs;
};

io::journal_append append_of(std::string path, std::string bytes,
                             durability level = durability::sync) {
  return {{journal_root::state, std::move(path), std::move(bytes), level},
          0,
          0,
          0,
          {}};
}

/// One append in a batch of its own.
io::journal_append put(io::journal_writer& writer, std::string path,
                       std::string bytes, durability level = durability::sync) {
  std::vector<io::journal_append> batch;
  batch.push_back(append_of(std::move(path), std::move(bytes), level));
  writer.commit(batch);
  return batch.front();
}

size_t count_of(const test::faulty_file_system& fs, const std::string& name) {
  const auto& all = fs.operations();
  return static_cast<size_t>(std::count(all.begin(), all.end(), name));
}

/// Whether a sentence of a report holds a text.
bool has_note(const io::replay_report& report, const std::string& text) {
  return std::any_of(
    report.notes.begin(), report.notes.end(),
    [&](const auto& note) { return note.find(text) != std::string::npos; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

} // namespace

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
    io::decode_segment(get_file(world.file("journal/0000000000000001.wal")));
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

constexpr int errors[] = {EIO, ENOSPC, EINTR};

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
          auto error = errors[++round % std::size(errors)];
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

TEST_CASE("few descriptors stay open however many targets there are") {
  journal_world world;
  auto writer = world.writer();
  for (size_t i = 0; i < limits::journal_open_targets + 20; ++i)
    put(*writer, "t" + std::to_string(i), "1\n", durability::lazy);
  CHECK(writer->open_targets() == limits::journal_open_targets);
  CHECK(put(*writer, "t0", "2\n").offset == 2);
}

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
      auto error = errors[n % std::size(errors)];
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

namespace {

/// What a story of appends left: every line it asked for, and how far the
/// promises went.
struct story {
  std::map<std::string, std::vector<std::string>> asked;
  /// How many lines of each file are promised to survive a kill, and a cut.
  std::map<std::string, size_t> survives_kill;
  std::map<std::string, size_t> survives_cut;
};

/// Mixed appends, seals and checkpoints on three files. With `stop_at_failure`
/// the process is taken to die at the first refusal.
story tell(io::journal_writer& writer, bool stop_at_failure) {
  story result;
  auto number = 0;
  for (auto round = 0; round < 6; ++round) {
    std::vector<io::journal_append> batch;
    for (auto name : {"a", "b", "c"}) {
      if (round % 3 == 2 && name[0] == 'c')
        continue;
      auto level =
        (round + name[0]) % 2 == 0 ? durability::sync : durability::lazy;
      auto line = name + std::to_string(++number);
      result.asked[name].push_back(line);
      batch.push_back(append_of(name, line + "\n", level));
    }
    writer.commit(batch);
    for (const auto& append : batch) {
      const auto& name = append.record.path;
      if (append.failure) {
        if (stop_at_failure)
          return result;
        continue;
      }
      result.survives_kill[name] = result.asked[name].size();
      if (append.record.level == durability::sync)
        result.survives_cut[name] = result.asked[name].size();
    }
    if (round == 2 && writer.seal({journal_root::state, "b"})
        && stop_at_failure)
      return result;
    if (round == 3) {
      writer.begin_checkpoint();
      while (writer.checkpoint_step(1))
        ;
    }
  }
  return result;
}

/// Whether a file is a run of whole lines in the order they were asked for.
bool is_prefix_of(const std::string& text,
                  const std::vector<std::string>& lines) {
  std::string expected;
  if (text.empty())
    return true;
  for (const auto& line : lines) {
    expected += line + "\n";
    if (text == expected)
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("killed at any operation, a journal keeps what it promised") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    journal_world world;
    auto writer = world.writer();
    world.fs->fail_from(n, EIO);
    auto told = tell(*writer, true);
    auto reached_end = world.fs->operations().size() < n;
    writer.reset();
    auto report = world.replay();
    REQUIRE_FALSE(report.failure);
    for (const auto& [name, lines] : told.asked) {
      auto text = get_file(world.file(name));
      CAPTURE(name);
      CAPTURE(text);
      CHECK(is_prefix_of(text, lines));
      CHECK(lines_of(text).size() >= told.survives_kill[name]);
    }
    if (reached_end)
      return;
  }
}

TEST_CASE("without power at any operation, synced appends are kept") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    journal_world world;
    auto power = std::make_shared<test::power_cut_file_system>();
    world.fs = std::make_shared<test::faulty_file_system>(power);
    auto writer = world.writer();
    world.fs->fail_from(n, EIO);
    auto told = tell(*writer, true);
    auto reached_end = world.fs->operations().size() < n;
    writer.reset();
    power->cut();
    auto report = world.replay();
    REQUIRE_FALSE(report.failure);
    for (const auto& [name, lines] : told.asked) {
      auto text = get_file(world.file(name));
      CAPTURE(name);
      CAPTURE(text);
      CHECK(is_prefix_of(text, lines));
      CHECK(lines_of(text).size() >= told.survives_cut[name]);
    }
    if (reached_end)
      return;
  }
}

TEST_CASE("after any single fault the journal goes on without a flaw") {
  for (auto cut : {false, true})
    for (size_t n = 1;; ++n) {
      CAPTURE(cut);
      CAPTURE(n);
      journal_world world;
      auto power = std::make_shared<test::power_cut_file_system>();
      world.fs = std::make_shared<test::faulty_file_system>(power);
      world.fs->shorten_writes(5);
      auto writer = world.writer();
      world.fs->fail_at(n, errors[(n + cut) % std::size(errors)]);
      std::map<std::string, std::vector<std::string>> kept;
      std::map<std::string, std::set<std::string>> known;
      for (auto number = 0; number < 12; ++number) {
        auto name = number % 3 == 0 ? "a" : "b";
        auto line = "line " + std::to_string(number);
        known[name].insert(line);
        if (!put(*writer, name, line + "\n").failure)
          kept[name].push_back(line);
        if (number == 7) {
          writer->begin_checkpoint();
          while (writer->checkpoint_step(1))
            ;
        }
      }
      auto reached_end = world.fs->operations().size() < n;
      writer.reset();
      if (cut)
        power->cut();
      REQUIRE_FALSE(world.replay().failure);
      for (const auto& [name, lines] : known) {
        auto found = lines_of(get_file(world.file(name)));
        CAPTURE(name);
        // Refused lines may have come through, but whole, once and in order.
        std::set<std::string> distinct{found.begin(), found.end()};
        CHECK(distinct.size() == found.size());
        for (const auto& line : found)
          CHECK(lines.count(line) == 1);
        std::vector<std::string> order;
        for (const auto& line : found)
          if (std::find(kept[name].begin(), kept[name].end(), line)
              != kept[name].end())
            order.push_back(line);
        CHECK(order == kept[name]);
      }
      if (reached_end)
        break;
    }
}
