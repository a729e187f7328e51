#include "actors/io/files.hpp"
#include "actors/io/journal.hpp"
#include "actors/io/journal_replay.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"
#include "tests/io/real_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <condition_variable>
#include <mutex>

using namespace bureau;
using test::get_file;
using test::put_file;

namespace {

/// A door that worker threads wait at.
class gate {
public:
  void open() {
    std::lock_guard<std::mutex> guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock<std::mutex> guard{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait_for(guard, test::patience, [this] { return open_; });
    --waiting_;
  }
  /// Waits until so many wait. @return whether they came
  bool has(size_t count) {
    std::unique_lock<std::mutex> guard{mutex_};
    return changed_.wait_for(guard, test::patience,
                             [&] { return waiting_ >= count; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_ = 0;
  bool open_ = false;
};

/// Chance that makes whoever asks for it wait: the way to hold a file worker.
struct gated_entropy final : entropy {
  uint64_t next() override {
    door.pass();
    return source.next();
  }
  gate door;
  test::seeded_entropy source;
};

struct files_world : test::real_system {
  files_world()
    : chance(std::make_shared<gated_entropy>()),
      files(io::spawn_files(system, std::make_shared<os::posix_file_system>(),
                            chance, {})) {}

  ~files_world() {
    chance->door.open();
    result_of<caf::ok_atom>(files, atom::stop_v);
  }

  file_job write(std::string name, std::string reason = "test") {
    file_job job;
    job.op = file_op::write_atomic;
    job.reason = std::move(reason);
    job.root = scratch.path();
    job.path = std::move(name);
    job.bytes = "x";
    return job;
  }

  test::scratch_directory scratch;
  std::shared_ptr<gated_entropy> chance;
  files_actor files;
};

struct journal_service : test::real_system {
  journal_service() : disk(std::make_shared<os::posix_file_system>()) {
    journal = spawn();
  }

  ~journal_service() {
    result_of<caf::ok_atom>(journal, atom::stop_v);
    // As the node does: a timer under way would hold the actor until it fires.
    self->send_exit(journal, caf::exit_reason::user_shutdown);
  }

  journal_actor spawn() {
    return io::spawn_journal(system, disk, scratch.path(), scratch.path(), {});
  }

  caf::expected<uint64_t> append(std::string path, std::string bytes,
                                 durability level = durability::sync) {
    return result_of<uint64_t>(journal, atom::append_v,
                               journal_record{journal_root::state,
                                              std::move(path), std::move(bytes),
                                              level});
  }

  test::scratch_directory scratch;
  std::shared_ptr<file_system> disk;
  journal_actor journal;
};

} // namespace

TEST_CASE("four jobs run at once, 256 wait, the next is refused") {
  files_world world;
  constexpr auto most = limits::file_workers + limits::file_jobs_waiting;
  for (size_t i = 0; i < limits::file_workers; ++i)
    world.self->send(world.files, atom::file_v,
                     world.write(std::to_string(i), "session"));
  CHECK(world.chance->door.has(limits::file_workers));
  for (size_t i = limits::file_workers; i < most; ++i)
    world.self->send(world.files, atom::file_v,
                     world.write(std::to_string(i), "registry"));
  auto refused = world.result_of<file_outcome>(world.files, atom::file_v,
                                               world.write("late"));
  CHECK(code_of(refused.error()) == errc::queue_full);
  auto line = world.result_of<status_line>(world.files, atom::status_v);
  REQUIRE(line);
  CHECK(line->state == "busy");
  CHECK(line->detail == "registry 256 waiting 0 done, session 4 busy 0 done");
  world.chance->door.open();
  for (size_t i = 0; i < most; ++i)
    world.self->receive([](const file_outcome&) {},
                        caf::after(test::patience) >>
                          [] { FAIL("a job was not answered"); });
  for (size_t i = 0; i < most; ++i)
    CHECK(get_file(world.scratch / std::to_string(i)) == "x");
}

TEST_CASE("what is asked about a path waits for who changes it") {
  files_world world;
  world.self->send(world.files, atom::file_v, world.write("f"));
  CHECK(world.chance->door.has(1));
  auto look = world.write("f");
  look.op = file_op::stat;
  world.self->send(world.files, atom::file_v, look);
  // Others are not held up.
  auto other = look;
  other.path = "g";
  CHECK(world.result_of<file_outcome>(world.files, atom::file_v, other));
  auto line = world.result_of<status_line>(world.files, atom::status_v);
  REQUIRE(line);
  CHECK(line->detail == "test 1 busy 1 waiting 1 done");
  world.chance->door.open();
  std::vector<file_outcome> answers;
  for (auto i = 0; i < 2; ++i)
    world.self->receive(
      [&](file_outcome& answer) { answers.push_back(std::move(answer)); },
      caf::after(test::patience) >> [] { FAIL("a job was not answered"); });
  CHECK(answers[0].kind == file_kind::absent);
  CHECK(answers[1].kind == file_kind::regular);
  CHECK(answers[1].size == 1);
}

TEST_CASE("a pool that stops does what it accepted and refuses the rest") {
  files_world world;
  for (auto name : {"a", "b", "c", "d", "e", "f"})
    world.self->send(world.files, atom::file_v, world.write(name));
  auto stopped = world.self->request(world.files, test::patience, atom::stop_v);
  auto late = world.result_of<file_outcome>(world.files, atom::file_v,
                                            world.write("late"));
  CHECK(code_of(late.error()) == errc::shutting_down);
  world.chance->door.open();
  bool done = false;
  stopped.receive([&](caf::ok_atom) { done = true; }, [](const caf::error&) {});
  CHECK(done);
  CHECK(get_file(world.scratch / "f") == "x");
}

TEST_CASE("a pool that is only let go of ends by itself") {
  auto chance = std::make_shared<gated_entropy>();
  chance->door.open();
  {
    test::real_system world;
    auto files = io::spawn_files(
      world.system, std::make_shared<os::posix_file_system>(), chance, {});
    CHECK(world.result_of<status_line>(files, atom::status_v));
  }
  CHECK(chance.use_count() == 1);
}

TEST_CASE("what waits for the journal is committed together and in order") {
  journal_service world;
  // All of these are in the mailbox before the first sync has ended.
  for (auto i = 0; i < 400; ++i)
    world.self->send(
      world.journal, atom::append_v,
      journal_record{journal_root::state, i % 2 == 0 ? "even" : "odd",
                     std::to_string(i) + "\n", durability::sync});
  std::vector<uint64_t> offsets;
  for (auto i = 0; i < 400; ++i)
    world.self->receive([&](uint64_t offset) { offsets.push_back(offset); },
                        caf::after(test::patience) >>
                          [] { FAIL("an append was not answered"); });
  CHECK(offsets[0] == 0);
  CHECK(offsets[1] == 0);
  std::string even;
  std::string odd;
  for (auto i = 0; i < 400; ++i) {
    auto& text = i % 2 == 0 ? even : odd;
    CHECK(offsets[static_cast<size_t>(i)] == text.size());
    text += std::to_string(i) + "\n";
  }
  CHECK(get_file(world.scratch / "even") == even);
  CHECK(get_file(world.scratch / "odd") == odd);
  auto line = world.result_of<status_line>(world.journal, atom::status_v);
  REQUIRE(line);
  CHECK(line->state == "ok");
  CHECK(line->detail.starts_with("400 records, "));
}

TEST_CASE("the journal refuses what it cannot hold") {
  journal_service world;
  CHECK(code_of(world.append("../a", "x").error()) == errc::bad_request);
  CHECK(code_of(world.append("a", "").error()) == errc::bad_request);
  std::string large(limits::journal_record_bytes + 1, 'x');
  CHECK(code_of(world.append("a", large).error()) == errc::bad_request);
  large.resize(large.size() / 2 + 1);
  journal_batch group;
  for (auto path : {"a", "b"})
    group.push_back({journal_root::state, path, large, durability::sync});
  auto refused = world.result_of<std::vector<uint64_t>>(world.journal,
                                                        atom::append_v, group);
  CHECK(code_of(refused.error()) == errc::bad_request);
  auto sealed = world.result_of<caf::ok_atom>(
    world.journal, atom::seal_v, journal_root::state, std::string{"/a"});
  CHECK(code_of(sealed.error()) == errc::bad_request);
}

TEST_CASE("large and small records of one mailbox keep their order") {
  journal_service world;
  std::string large(2u << 20, 'x');
  std::string expected;
  for (auto i = 0; i < 40; ++i) {
    auto bytes = i % 10 == 5 ? large : std::to_string(i) + "\n";
    auto level = i % 3 == 0 ? durability::sync : durability::lazy;
    expected += bytes;
    world.self->send(world.journal, atom::append_v,
                     journal_record{journal_root::state, "a", bytes, level});
  }
  size_t answers = 0;
  for (; answers < 40; ++answers)
    world.self->receive([](uint64_t) {},
                        caf::after(test::patience) >>
                          [] { FAIL("an append was not answered"); });
  CHECK(get_file(world.scratch / "a") == expected);
}

TEST_CASE("a long journal is checkpointed while it goes on") {
  journal_service world;
  std::string piece(900'000, 'x');
  for (auto i = 0; i < 24; ++i)
    CHECK(world.append("f" + std::to_string(i % 6), piece));
  auto line = world.result_of<status_line>(world.journal, atom::status_v);
  REQUIRE(line);
  // The first segment is gone: it would hold more than the second may.
  auto names = world.disk->list(world.scratch / "journal");
  CHECK(names.value.size() == 1);
  CHECK_FALSE(
    std::count(names.value.begin(), names.value.end(), "0000000000000001.wal"));
}

TEST_CASE("a journal that stops leaves nothing to replay and refuses more") {
  journal_service world;
  CHECK(world.append("a", "sync\n"));
  CHECK(world.append("a", "lazy\n", durability::lazy));
  CHECK(world.result_of<caf::ok_atom>(world.journal, atom::seal_v,
                                      journal_root::state, std::string{"a"}));
  CHECK(world.append("a", "more\n"));
  CHECK(world.result_of<caf::ok_atom>(world.journal, atom::stop_v));
  CHECK(code_of(world.append("a", "x").error()) == errc::shutting_down);
  auto report =
    io::replay_journal(*world.disk, world.scratch.path(), world.scratch.path());
  CHECK_FALSE(report.failure);
  CHECK(report.segments == 0);
  CHECK(get_file(world.scratch / "a") == "sync\nlazy\nmore\n");
}

TEST_CASE("a journal killed with promises made is finished by the next boot") {
  journal_service world;
  CHECK(world.append("a", "one\n"));
  CHECK(world.append("b", "two\n"));
  world.self->send_exit(world.journal, caf::exit_reason::kill);
  CHECK(world.append("a", "three\n").error());
  put_file(world.scratch / "a", "o");
  auto report =
    io::replay_journal(*world.disk, world.scratch.path(), world.scratch.path());
  CHECK_FALSE(report.failure);
  CHECK(report.touched.size() == 2);
  CHECK(get_file(world.scratch / "a") == "one\n");
  world.journal = world.spawn();
  CHECK(*world.append("a", "three\n") == 4);
}
