#include "actors/artifacts/artifacts.hpp"

#include "config/os/posix_file_system.hpp"
#include "messages/codec/artifact_record.hpp"
#include "messages/errc.hpp"
#include "messages/limits.hpp"
#include "messages/text/sha256.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;
using code = contracts::part_failure_code;

namespace {

constexpr const char* here = "console:C1";
constexpr int64_t day_ms = 24 * 3'600'000LL;

struct world : node_fixture {
  world() { start(); }

  void start() {
    hub =
      artifacts::spawn_artifacts(*system, {disk.path(), files, wall, chance});
    settle();
  }

  /// A new process on the same disk.
  void restart() {
    caf::anon_send_exit(hub, caf::exit_reason::kill);
    hub = nullptr;
    settle();
    start();
  }

  struct publication {
    contracts::attachment_part part;
    caf::error fault;
  };

  publication publish(artifact_publish request) {
    publication result;
    ask(
      hub, [&](const contracts::attachment_part& part) { result.part = part; },
      [&](const caf::error& reason) { result.fault = reason; }, atom::publish_v,
      std::move(request));
    return result;
  }

  publication publish(const std::string& bytes,
                      const std::string& file = "a.txt") {
    return publish({here, "r1", file, "text/plain", bytes, {}, {}});
  }

  artifact_opened open(const std::string& id,
                       const std::string& conversation = here) {
    artifact_opened result;
    ask(
      hub, [&](const artifact_opened& found) { result = found; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::open_v,
      contracts::artifact_open_request{conversation, id, caf::none});
    return result;
  }

  struct pull {
    artifact_slice slice;
    errc fault = errc::none;
  };

  pull read(const std::string& token, uint64_t offset,
            uint64_t length = limits::artifact_read_bytes) {
    pull result;
    ask(
      hub, [&](const artifact_slice& slice) { result.slice = slice; },
      [&](const caf::error& reason) { result.fault = code_of(reason); },
      atom::read_v, artifact_read{token, offset, length});
    return result;
  }

  std::string path_of(const contracts::attachment_part& part) const {
    auto digest = part.integrity_id.substr(7);
    return disk / ("artifacts/sha256/" + digest.substr(0, 2) + "/" + digest);
  }

  std::string index() const { return get_file(disk / "artifacts/index.jsonl"); }

  static mode_t mode_of(const std::string& path) {
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    return facts.st_mode & 07777;
  }

  scratch_directory disk;
  std::shared_ptr<faulty_file_system> fs = std::make_shared<faulty_file_system>(
    std::make_shared<os::posix_file_system>());
  files_actor files = spawn_inline_files(*system, fs, chance);
  artifacts_actor hub;
};

} // namespace

TEST_CASE_FIXTURE(world, "a published file is on the disk before it is told") {
  auto done = publish("hello", "/tmp/notes/../greeting.txt");
  REQUIRE_FALSE(done.fault);
  CHECK(done.part.name == "greeting.txt");
  CHECK(done.part.media_type == "text/plain");
  CHECK(done.part.size_bytes == 5);
  CHECK(done.part.integrity_id == "sha256:" + text::sha256_hex("hello"));
  CHECK(*done.part.expires_at == "2026-01-08T00:00:00.000Z");
  CHECK(get_file(path_of(done.part)) == "hello");
  CHECK(mode_of(path_of(done.part)) == 0600);
  CHECK(mode_of(disk / "artifacts/index.jsonl") == 0600);
  CHECK(mode_of(disk / "artifacts") == 0700);
  auto contents = read_artifacts(index());
  REQUIRE(contents.records.size() == 1);
  CHECK(contents.records[0].id == done.part.artifact_id);
  CHECK(contents.records[0].run == "r1");
}

TEST_CASE_FIXTURE(world, "a file is pulled in order and checked at its end") {
  std::string bytes(limits::artifact_read_bytes + 10, 'x');
  auto part = publish(bytes).part;
  auto opened = open(part.artifact_id);
  REQUIRE_FALSE(opened.fault);
  CHECK(opened.attachment == part);
  CHECK(read(opened.token, 1).fault == errc::bad_request);
  CHECK(read(opened.token, 0, limits::artifact_read_bytes + 1).fault
        == errc::bad_request);
  auto first = read(opened.token, 0).slice;
  CHECK(first.bytes.size() == limits::artifact_read_bytes);
  CHECK_FALSE(first.eof);
  CHECK(read(opened.token, 0).slice == first);
  auto second = read(opened.token, limits::artifact_read_bytes).slice;
  CHECK(second.bytes == std::string(10, 'x'));
  CHECK(second.eof);
  CHECK_FALSE(second.fault);
  self->send(hub, atom::close_v, opened.token);
  settle();
  CHECK(read(opened.token, 0).fault == errc::not_found);
}

TEST_CASE_FIXTURE(world, "an empty file is a file") {
  auto part = publish("").part;
  auto slice = read(open(part.artifact_id).token, 0).slice;
  CHECK(slice.eof);
  CHECK_FALSE(slice.fault);
}

TEST_CASE_FIXTURE(world,
                  "damaged, replaced and lost bytes are not handed out") {
  auto part = publish("hello").part;
  auto token = open(part.artifact_id).token;
  SUBCASE("changed in place") {
    put_file(path_of(part), "hellO");
    CHECK(read(token, 0).slice.fault == code::artifact_integrity_failed);
  }
  SUBCASE("longer") {
    put_file(path_of(part), "hello!");
    CHECK(read(token, 0).slice.fault == code::artifact_integrity_failed);
  }
  SUBCASE("a link in their place") {
    put_file(disk / "secret", "hello");
    std::filesystem::remove(path_of(part));
    std::filesystem::create_symlink(disk / "secret", path_of(part));
    auto slice = read(token, 0).slice;
    CHECK(slice.fault == code::artifact_integrity_failed);
    CHECK(slice.bytes.empty());
  }
  SUBCASE("removed") {
    std::filesystem::remove(path_of(part));
    CHECK(read(token, 0).slice.fault == code::artifact_missing);
  }
  SUBCASE("publishing the same bytes again repairs them") {
    put_file(path_of(part), "hellO");
    publish("hello");
    CHECK(read(token, 0).slice.bytes == "hello");
  }
}

TEST_CASE_FIXTURE(world, "a file of another conversation is no file") {
  auto part = publish("hello").part;
  CHECK(open(part.artifact_id, "console:C2").fault == code::artifact_missing);
  CHECK(open("nothing").fault == code::artifact_missing);
  CHECK(open(part.artifact_id, "console:C1:9").token.size() == 32);
}

TEST_CASE_FIXTURE(world, "a file that is too large is refused") {
  auto large = publish(std::string(limits::artifact_bytes + 1, 'x'));
  CHECK(code_of(large.fault) == errc::too_large);
  put_file(disk / "big", std::string(limits::artifact_bytes + 1, 'x'));
  large = publish({here, {}, "big", {}, {}, disk.path(), "big"});
  CHECK(code_of(large.fault) == errc::too_large);
  CHECK_FALSE(std::filesystem::exists(disk / "artifacts/index.jsonl"));
}

TEST_CASE_FIXTURE(world, "a file of this machine is copied through no link") {
  std::filesystem::create_directory(disk / "out");
  put_file(disk / "out/a.csv", "1,2");
  auto done =
    publish({here, {}, "a.csv", "text/csv", {}, disk.path(), "out/a.csv"});
  CHECK(get_file(path_of(done.part)) == "1,2");
  std::filesystem::create_symlink(disk / "out", disk / "way");
  CHECK(
    code_of(publish({here, {}, "a", {}, {}, disk.path(), "way/a.csv"}).fault)
    == errc::denied);
  CHECK(code_of(publish({here, {}, "a", {}, {}, disk.path(), "none"}).fault)
        == errc::not_found);
}

TEST_CASE_FIXTURE(world, "files survive a restart for seven days") {
  auto part = publish("hello").part;
  restart();
  CHECK(read(open(part.artifact_id).token, 0).slice.bytes == "hello");
  wall->step(7 * day_ms - 1);
  CHECK_FALSE(open(part.artifact_id).fault);
  wall->step(1);
  CHECK(open(part.artifact_id).fault == code::artifact_expired);
}

TEST_CASE_FIXTURE(world, "the hourly sweep takes the bytes with their last "
                         "file") {
  auto old = publish("hello").part;
  wall->step(3 * day_ms);
  auto young = publish("hello").part;
  auto other = publish("other").part;
  wall->step(4 * day_ms);
  advance(1h);
  CHECK(open(old.artifact_id).fault == code::artifact_missing);
  CHECK(get_file(path_of(young)) == "hello");
  wall->step(3 * day_ms);
  advance(1h);
  CHECK_FALSE(std::filesystem::exists(path_of(young)));
  CHECK_FALSE(std::filesystem::exists(path_of(other)));
  // Nothing is left to name.
  CHECK(index().empty());
}

TEST_CASE_FIXTURE(world, "bytes that somebody reads outlive the sweep") {
  auto part = publish("hello").part;
  wall->step(7 * day_ms);
  wall->step(-1);
  auto token = open(part.artifact_id).token;
  wall->step(1);
  advance(59min);
  CHECK(read(token, 0, 2).fault == errc::not_found);
  wall->step(-4 * 3'600'000);
  token = open(part.artifact_id).token;
  wall->step(4 * 3'600'000);
  advance(30s);
  CHECK(read(token, 0, 2).slice.bytes == "he");
  advance(30s);
  CHECK(read(token, 2, 9).slice.eof);
  CHECK(std::filesystem::exists(path_of(part)));
  advance(1h);
  CHECK_FALSE(std::filesystem::exists(path_of(part)));
}

TEST_CASE_FIXTURE(world, "bytes that cannot be removed are tried again") {
  auto part = publish("hello").part;
  wall->step(8 * day_ms);
  fs->fail_named("unlink_below", EIO);
  advance(1h);
  CHECK(std::filesystem::exists(path_of(part)));
  CHECK(read_artifacts(index()).records.size() == 1);
  fs->heal();
  advance(1h);
  CHECK_FALSE(std::filesystem::exists(path_of(part)));
}

TEST_CASE_FIXTURE(world, "a full disk costs the file that it refuses, and "
                         "no other") {
  auto kept = publish("kept").part;
  for (size_t n = 1;; ++n) {
    fs->heal();
    fs->fail_at(n, ENOSPC);
    auto done = publish("new " + std::to_string(n));
    auto reached = fs->operations().size() >= n;
    fs->heal();
    if (!reached) {
      CHECK_FALSE(done.fault);
      break;
    }
    CAPTURE(n);
    if (done.fault) {
      CHECK(code_of(done.fault) == errc::disk);
      // The sentence is for the model: no path of this machine.
      CHECK(sentence_of(done.fault).find(disk.path()) == std::string::npos);
    }
    restart();
    CHECK(read(open(kept.artifact_id).token, 0).slice.bytes == "kept");
    if (!done.fault)
      CHECK_FALSE(open(done.part.artifact_id).fault);
  }
}

TEST_CASE_FIXTURE(world, "a torn index loses nothing that can be read") {
  auto part = publish("hello").part;
  auto torn = index() + R"({"v":1,"id":"aa)";
  put_file(disk / "artifacts/index.jsonl", torn);
  restart();
  CHECK_FALSE(open(part.artifact_id).fault);
  auto more = publish("more").part;
  restart();
  CHECK_FALSE(open(part.artifact_id).fault);
  CHECK_FALSE(open(more.artifact_id).fault);
  CHECK(index().find(R"({"v":1,"id":"aa)") != std::string::npos);
  CHECK(get_file(path_of(part)) == "hello");
}

TEST_CASE_FIXTURE(world, "bytes without a line are removed at the next start") {
  auto part = publish("hello").part;
  auto orphan = disk / ("artifacts/sha256/ab/" + text::sha256_hex("x"));
  std::filesystem::create_directory(disk / "artifacts/sha256/ab");
  put_file(orphan, "x");
  restart();
  CHECK_FALSE(std::filesystem::exists(orphan));
  CHECK(get_file(path_of(part)) == "hello");
}

TEST_CASE_FIXTURE(world, "a link in the place of the store stops publishing, "
                         "until it is gone") {
  auto part = publish("hello").part;
  std::filesystem::rename(disk / "artifacts", disk / "elsewhere");
  std::filesystem::create_symlink(disk / "elsewhere", disk / "artifacts");
  restart();
  auto refused = publish("more");
  CHECK(code_of(refused.fault) == errc::disk);
  CHECK(read_artifacts(get_file(disk / "elsewhere/index.jsonl")).records.size()
        == 1);
  std::filesystem::remove(disk / "artifacts");
  std::filesystem::rename(disk / "elsewhere", disk / "artifacts");
  CHECK_FALSE(publish("more").fault);
  CHECK_FALSE(open(part.artifact_id).fault);
}

TEST_CASE_FIXTURE(world, "open files are bounded, and idle ones make room") {
  auto part = publish("hello").part;
  for (size_t i = 0; i < limits::artifacts_open; ++i)
    open(part.artifact_id);
  auto refused = errc::none;
  auto once_more = [&] {
    ask(
      hub, [&](const artifact_opened&) { refused = errc::none; },
      [&](const caf::error& reason) { refused = code_of(reason); },
      atom::open_v,
      contracts::artifact_open_request{here, part.artifact_id, caf::none});
  };
  once_more();
  CHECK(refused == errc::queue_full);
  advance(10min);
  once_more();
  CHECK(refused == errc::none);
}

TEST_CASE_FIXTURE(world, "publications under way are bounded") {
  size_t told = 0;
  size_t refused = 0;
  auto client = system->spawn([&](caf::event_based_actor* me) {
    for (auto i = 0; i < 12; ++i)
      me->request(
          hub, caf::infinite, atom::publish_v,
          artifact_publish{here, {}, "a", {}, std::to_string(i), {}, {}})
        .then([&](const contracts::attachment_part&) { ++told; },
              [&](const caf::error& reason) {
                CHECK(code_of(reason) == errc::queue_full);
                ++refused;
              });
  });
  settle();
  CHECK(told == 8);
  CHECK(refused == 4);
  CHECK(read_artifacts(index()).records.size() == 8);
}

TEST_CASE_FIXTURE(world, "the end waits for what was begun") {
  contracts::attachment_part part;
  auto pending =
    self->request(hub, caf::infinite, atom::publish_v,
                  artifact_publish{here, {}, "a", {}, "hello", {}, {}});
  auto stopped = self->request(hub, caf::infinite, atom::stop_v);
  settle();
  pending.receive([&](const contracts::attachment_part& done) { part = done; },
                  [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  stopped.receive([](caf::ok_atom) {},
                  [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  CHECK(get_file(path_of(part)) == "hello");
  CHECK(code_of(publish("more").fault) == errc::shutting_down);
}
