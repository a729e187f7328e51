#include "messages/limits.hpp"
#include "tests/io/journal_world.hpp"
#include "tests/support/long_campaign.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

// Records that have a frame of their own.

using namespace bureau;
using test::append_of;
using test::count_of;
using test::get_file;
using test::has_note;
using test::journal_world;
using test::put;
using test::put_file;

namespace {

/// Lines of a kilobyte, no two of them alike.
std::string large_text(size_t size) {
  std::string result;
  result.reserve(size);
  for (size_t line = 0; result.size() + 1024 <= size; ++line) {
    auto number = std::to_string(line);
    result += number;
    result.append(1023 - number.size(), static_cast<char>('a' + line % 26));
    result += '\n';
  }
  return result;
}

/// get_file takes its time for so many bytes.
std::string content_of(const std::string& path) {
  std::string result(std::filesystem::file_size(path), '\0');
  std::ifstream{path, std::ios::binary}.read(
    result.data(), static_cast<std::streamsize>(result.size()));
  return result;
}

constexpr size_t large = 40u << 20;
constexpr size_t little = 2u << 20;

const std::string first_segment = "journal/0000000000000001.wal";

} // namespace

TEST_CASE("a record of 40 MiB is appended and restored, the journal goes on") {
  journal_world world;
  auto text = large_text(large);
  auto writer = world.writer();
  put(*writer, "a", "before\n");
  CHECK(put(*writer, "a", text).offset == 7);
  CHECK(writer->segment_full());
  CHECK(put(*writer, "a", "after\n").offset == 7 + large);
  CHECK(content_of(world.file("a")) == "before\n" + text + "after\n");
  writer.reset();
  std::filesystem::resize_file(world.file("a"), 9'000'000);
  auto report = world.replay();
  CHECK_FALSE(report.failure);
  CHECK(report.frames == 3);
  CHECK(report.notes.empty());
  CHECK(report.bytes_written == 13 + large - 9'000'000);
  CHECK(content_of(world.file("a")) == "before\n" + text + "after\n");
  CHECK(world.segments() == 0);
}

TEST_CASE("a checkpoint removes a segment that one frame made too long") {
  journal_world world;
  auto writer = world.writer();
  CHECK_FALSE(put(*writer, "a", large_text(large), durability::lazy).failure);
  // So many bytes are not left without a frame.
  CHECK(writer->frames() == 1);
  REQUIRE(writer->segment_full());
  writer->begin_checkpoint();
  CHECK_FALSE(writer->segment_full());
  put(*writer, "b", "1\n");
  CHECK(world.segments() == 2);
  CHECK_FALSE(writer->checkpoint_step(4));
  CHECK(world.segments() == 1);
  CHECK_FALSE(std::filesystem::exists(world.file(first_segment)));
}

TEST_CASE("what rides along and what is large have a frame each, one sync") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", "0\n");
  put(*writer, "a", "lazy\n", durability::lazy);
  world.fs->heal();
  auto text = large_text(little);
  CHECK_FALSE(put(*writer, "a", text).failure);
  CHECK(count_of(*world.fs, "sync_data") == 1);
  auto segment = test::scan_text(content_of(world.file(first_segment)));
  CHECK(segment.frames == 3);
  REQUIRE(segment.records.size() == 3);
  CHECK(segment.records[1].bytes == "lazy\n");
  CHECK(segment.records[2].offset == 7);
  CHECK(segment.records[2].bytes == text);
}

TEST_CASE("a large group is in one frame: cut anywhere, it is all or nothing") {
  auto text = large_text(little);
  std::string whole;
  {
    journal_world world;
    auto writer = world.writer();
    std::vector<io::journal_append> batch;
    for (auto name : {"a", "b", "a"}) {
      batch.push_back(append_of(name, text));
      batch.back().group = 1;
    }
    writer->commit(batch);
    for (const auto& append : batch)
      CHECK_FALSE(append.failure);
    CHECK(content_of(world.file("a")) == text + text);
    CHECK(writer->frames() == 1);
    whole = content_of(world.file(first_segment));
  }
  CHECK(test::scan_text(whole).frames == 1);
  for (auto left : {whole.size(), whole.size() - 1, whole.size() / 2, size_t{9},
                    size_t{7}}) {
    CAPTURE(left);
    journal_world world;
    std::filesystem::create_directory(world.file("journal"));
    put_file(world.file(first_segment), whole.substr(0, left));
    auto report = world.replay();
    CHECK_FALSE(report.failure);
    CHECK(has_note(report, "did not end") == (left < whole.size()));
    auto is_whole = left == whole.size();
    CHECK(get_file(world.file("a")) == (is_whole ? text + text : ""));
    CHECK(get_file(world.file("b")) == (is_whole ? text : ""));
    CHECK(world.segments() == 0);
  }
}

TEST_CASE("any byte of a large frame damaged, it is dropped and kept aside") {
  journal_world world;
  auto text = large_text(little);
  auto writer = world.writer();
  put(*writer, "a", "before\n");
  auto begin = static_cast<size_t>(writer->segment_bytes());
  put(*writer, "a", text);
  auto end = static_cast<size_t>(writer->segment_bytes());
  put(*writer, "a", "after\n");
  writer.reset();
  auto whole = content_of(world.file(first_segment));
  std::vector<size_t> places;
  for (size_t i = 0; i < 26; ++i)
    places.push_back(begin + i); // the length, the sum, the record's head
  for (size_t i = 1; i < 8; ++i)
    places.push_back(begin + i * (end - begin) / 8);
  places.push_back(end - 1);
  for (auto at : places)
    for (auto bit : {0x01, 0x80})
      for (auto is_last : {false, true}) {
        CAPTURE(at);
        CAPTURE(bit);
        CAPTURE(is_last);
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ bit);
        if (is_last)
          damaged.resize(end);
        std::filesystem::remove(world.file("a"));
        put_file(world.file(first_segment), damaged);
        auto report = world.replay();
        CHECK_FALSE(report.failure);
        CHECK(content_of(world.file("a")) == "before\n");
        CHECK(has_note(report, "damaged at byte") == !is_last);
        CHECK(std::filesystem::remove(world.file(first_segment) + ".damaged")
              == !is_last);
      }
}

TEST_CASE("a disk that is full in the middle of a large record loses none") {
  auto text = large_text(little);
  for (size_t nth = 1;; ++nth) {
    CAPTURE(nth);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", "0\n");
    put(*writer, "a", "lazy\n", durability::lazy);
    world.fs->heal();
    world.fs->shorten_writes(1u << 20);
    world.fs->fail_at(nth, ENOSPC);
    auto failed = put(*writer, "a", text);
    auto reached = world.fs->operations().size() >= nth;
    CHECK((!failed.failure || code_of(failed.failure) == errc::disk));
    world.fs->heal();
    CHECK_FALSE(put(*writer, "a", "1\n").failure);
    writer.reset();
    CHECK_FALSE(world.replay().failure);
    CHECK(content_of(world.file("a"))
          == "0\nlazy\n" + (failed.failure ? "" : text) + "1\n");
    if (!reached) {
      CHECK(nth > 7);
      break;
    }
  }
}

TEST_CASE("killed at any operation of a large record, it is there or not") {
  auto text = large_text(little);
  for (size_t nth = 1;; ++nth) {
    CAPTURE(nth);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", "0\n");
    world.fs->heal();
    world.fs->shorten_writes(1u << 20);
    world.fs->fail_from(nth, EIO);
    auto refused = static_cast<bool>(put(*writer, "a", text).failure);
    auto reached = world.fs->operations().size() >= nth;
    writer.reset();
    CHECK_FALSE(world.replay().failure);
    auto found = content_of(world.file("a"));
    CHECK((found == "0\n" + text || (refused && found == "0\n")));
    if (!reached)
      break;
  }
}

TEST_CASE("a replay that ends in the middle of a large record is finished") {
  auto text = large_text(little);
  for (size_t nth = 1;; nth += test::stride(4)) {
    CAPTURE(nth);
    journal_world world;
    auto writer = world.writer();
    put(*writer, "a", text);
    put(*writer, "a", "after\n");
    writer.reset();
    std::filesystem::resize_file(world.file("a"), 1000);
    world.fs->shorten_writes(400'000);
    world.fs->fail_from(nth, EIO);
    auto report =
      io::replay_journal(*world.fs, world.state(), world.workspace());
    auto reached = world.fs->operations().size() >= nth;
    world.fs->heal();
    CHECK_FALSE(world.replay().failure);
    CHECK(content_of(world.file("a")) == text + "after\n");
    if (!reached)
      break;
  }
}

namespace {

/// A figure of this process in bytes, for example VmHWM, its largest resident
/// size so far.
size_t memory_figure(const std::string& name) {
  std::istringstream status{get_file("/proc/self/status")};
  for (std::string word; status >> word;)
    if (word == name + ":") {
      size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

} // namespace

TEST_CASE("a replay of large frames takes little memory") {
  journal_world world;
  auto writer = world.writer();
  put(*writer, "a", large_text(large));
  writer.reset();
  std::filesystem::remove(world.file("a"));
  // What a frame claims is not believed either.
  put_file(world.file("journal/0000000000000002.wal"),
           std::string{"\x00\x00\x00\x08", 4} + "sum!" + "rest");
  std::ofstream{"/proc/self/clear_refs"} << "5";
  auto before = memory_figure("VmRSS");
  auto report = world.replay();
  auto peak = memory_figure("VmHWM");
  CHECK_FALSE(report.failure);
  CHECK(report.bytes_written == large);
  CHECK(has_note(report, "did not end"));
#ifdef __SANITIZE_ADDRESS__ // It keeps what is freed.
  constexpr size_t kept = large;
#else
  constexpr size_t kept = 0;
#endif
  CHECK(peak > 0);
  CHECK(peak < before + kept + (16u << 20));
}
