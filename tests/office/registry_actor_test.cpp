#include "actors/io/file_jobs.hpp"
#include "actors/io/files_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/registry.hpp"
#include "actors/office/registry_core.hpp"
#include "actors/office/registry_store.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

using namespace bureau;
using namespace bureau::test;
using enum bureau::platform_id;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A file pool whose disk does not answer until it is asked for its status. It
// then does what the pool may do, the youngest job first.
//
// (file, file_job) → file_outcome   ⇒ waits
// (status) → status_line            ⇒ answer_all
// (stop) → ok                       ⇒ ok
struct stuck_files_state {
  using pointer = files_actor::stateful_pointer<stuck_files_state>;
  using promise = caf::typed_response_promise<file_outcome>;
  static inline const char* name = "stuck_files";
  pointer self;
  std::shared_ptr<file_system> disk;
  std::shared_ptr<entropy> chance;
  io::job_queue queue;
  std::map<uint64_t, promise> answers;
  uint64_t last = 0;

  explicit stuck_files_state(pointer me) : self(me) {}

  void init(std::shared_ptr<file_system> fs, std::shared_ptr<entropy> source) {
    disk = std::move(fs);
    chance = std::move(source);
  }

  void answer_all() {
    while (!queue.empty()) {
      std::vector<io::ready_job> ready;
      while (auto next = queue.next())
        ready.push_back(std::move(*next));
      for (; !ready.empty(); ready.pop_back()) {
        auto& [id, job] = ready.back();
        answers.extract(id).mapped().deliver(
          *io::run_file_job(*disk, *chance, job));
        queue.done(id);
      }
    }
  }

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) {
        auto answer = self->make_response_promise<promise>();
        queue.add(++last, job, io::job_queue::time_point::max());
        answers.emplace(last, answer);
        return answer;
      },
      [this](atom::status) {
        answer_all();
        return status_line{};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

struct registry_story : node_fixture {
  scratch_directory scratch;
  std::shared_ptr<faulty_file_system> disk =
    std::make_shared<faulty_file_system>(
      std::make_shared<os::posix_file_system>());
  std::shared_ptr<files_probe> jobs = std::make_shared<files_probe>();
  workspace place = make_workspace(scratch / "w", scratch / "s");
  registry_actor handle;
  std::string last_failure;

  registry_story() {
    std::filesystem::create_directories(place.root);
    std::filesystem::create_directories(place.state_dir);
    start({});
  }

  ~registry_story() {
    self->send_exit(handle, caf::exit_reason::user_shutdown);
  }

  void start(registry_state state, files_actor files = {}) {
    if (!files)
      files = spawn_inline_files(*system, disk, chance, jobs);
    handle =
      offices::spawn_registry(*system, {place, std::move(state), files, wall});
  }

  std::string ensure(const office_address& address) {
    std::string result;
    ask(
      handle, [&](const office& made) { result = made.dir; },
      [&](const caf::error& reason) {
        result = last_failure = sentence_of(reason);
      },
      atom::ensure_v, address);
    return result;
  }

  office_inventory inventory() {
    office_inventory result;
    ask(
      handle, [&](const office_inventory& found) { result = found; },
      [](const caf::error&) {}, atom::list_v);
    return result;
  }

  registry_state on_disk() {
    auto text = get_file(place.state_dir + "/office-registry.json");
    if (text.empty())
      return {};
    auto parsed = parse_registry(text, "r");
    REQUIRE(parsed);
    return parsed.state;
  }

  size_t jobs_of(file_op op) const {
    return static_cast<size_t>(
      std::count_if(jobs->jobs.begin(), jobs->jobs.end(),
                    [&](const file_job& job) { return job.op == op; }));
  }
};

} // namespace

TEST_CASE_FIXTURE(registry_story, "an office is recorded, then made") {
  auto dir = ensure({slack, "C77"});
  CHECK(dir == place.root + "/v1-slack-c77-ace00909a09337b5");
  CHECK(std::filesystem::is_directory(dir));
  struct stat facts {};
  ::lstat(dir.c_str(), &facts);
  CHECK((facts.st_mode & 07777u) == 0700);
  REQUIRE(on_disk().offices.size() == 1);
  CHECK(on_disk().offices[0].recorded_at == "2026-01-01T00:00:00.000Z");
}

TEST_CASE_FIXTURE(registry_story, "a directory that fails leaves its record") {
  disk->fail_named("make_directory_below", EIO);
  CHECK(contains(ensure({slack, "C77"}), "cannot be made"));
  CHECK(on_disk().offices.size() == 1);
  CHECK_FALSE(
    std::filesystem::exists(place.root + "/v1-slack-c77-ace00909a09337b5"));
  disk->heal();
  CHECK(std::filesystem::is_directory(ensure({slack, "C77"})));
  CHECK(jobs_of(file_op::write_atomic) == 1);
}

TEST_CASE_FIXTURE(registry_story, "without a record there is no directory") {
  disk->fail_named("rename_below", ENOSPC);
  CHECK(contains(ensure({slack, "C77"}), "registry cannot be written"));
  CHECK_FALSE(
    std::filesystem::exists(place.root + "/v1-slack-c77-ace00909a09337b5"));
  disk->heal();
  ensure({slack, "C77"});
  CHECK(on_disk().offices.size() == 1);
}

TEST_CASE("whatever fails once, the registry knows what the file says") {
  size_t in_place = 0;
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    registry_story story;
    CHECK(story.ensure({slack, "C1"}) != "");
    auto writes = story.jobs_of(file_op::write_atomic);
    story.disk->fail_at(n, EIO);
    story.ensure({slack, "C2"});
    auto reached = story.disk->operations().size() >= n;
    auto listed = story.inventory().offices;
    CHECK(listed == story.on_disk().offices);
    auto failed_in_place =
      listed.size() == 2
      && story.last_failure.find("make durable") != std::string::npos;
    in_place += failed_in_place ? 1 : 0;
    story.disk->heal();
    CHECK(story.ensure({slack, "C2"}).starts_with("/"));
    CHECK(story.on_disk().offices.size() == 2);
    CHECK(story.inventory().offices == story.on_disk().offices);
    // What may not last is written again before the office is made.
    if (failed_in_place)
      CHECK(story.jobs_of(file_op::write_atomic) == writes + 2);
    if (!reached)
      break;
  }
  CHECK(in_place > 0);
}

TEST_CASE_FIXTURE(registry_story, "a known office costs no write") {
  auto dir = ensure({slack, "C77"});
  CHECK(ensure({slack, "C77"}) == dir);
  CHECK(jobs_of(file_op::write_atomic) == 1);
  std::filesystem::remove(dir);
  CHECK(ensure({slack, "C77"}) == dir);
  CHECK(std::filesystem::is_directory(dir));
  CHECK(on_disk().offices.size() == 1);
}

TEST_CASE_FIXTURE(registry_story, "something else in the place of an office") {
  auto dir = place.root + "/v1-slack-c77-ace00909a09337b5";
  std::filesystem::create_directories(scratch / "target");
  std::filesystem::create_directory_symlink(scratch / "target", dir);
  CHECK(contains(ensure({slack, "C77"}), "regular non-symlink directory"));
  CHECK(std::filesystem::is_empty(scratch / "target"));
  std::filesystem::remove(dir);
  put_file(dir, "file");
  CHECK(contains(ensure({slack, "C77"}), "regular non-symlink directory"));
  CHECK(get_file(dir) == "file");
}

TEST_CASE_FIXTURE(registry_story, "a bad id is refused before anything") {
  CHECK(contains(ensure({slack, "a/b"}), "path separator"));
  CHECK(jobs->jobs.empty());
}

TEST_CASE_FIXTURE(registry_story, "a hundred askers make one record") {
  for (int i = 0; i < 100; ++i)
    caf::anon_send(caf::actor_cast<caf::actor>(handle), atom::ensure_v,
                   office_address{slack, "C77"});
  settle();
  CHECK(on_disk().offices.size() == 1);
  CHECK(jobs_of(file_op::write_atomic) == 1);
  CHECK(jobs_of(file_op::ensure_directory) == 100);
}

TEST_CASE_FIXTURE(registry_story,
                  "offices that arrive together share a write") {
  for (int i = 0; i < 50; ++i)
    caf::anon_send(caf::actor_cast<caf::actor>(handle), atom::ensure_v,
                   office_address{slack, "C" + std::to_string(i)});
  settle();
  CHECK(on_disk().offices.size() == 50);
  CHECK(jobs_of(file_op::write_atomic) == 2);
}

TEST_CASE_FIXTURE(registry_story, "ten thousand known offices") {
  registry_state state;
  for (int i = 0; i < 10'000; ++i)
    state.offices.push_back(
      {{telegram, std::to_string(i)}, "2026-01-01T00:00:00.000Z"});
  put_file(place.state_dir + "/office-registry.json", print_registry(state));
  auto parsed = on_disk();
  CHECK(parsed == state);
  self->send_exit(handle, caf::exit_reason::user_shutdown);
  start(std::move(parsed));
  ensure({telegram, "9999"});
  CHECK(jobs_of(file_op::write_atomic) == 0);
  ensure({telegram, "new"});
  CHECK(jobs_of(file_op::write_atomic) == 1);
  CHECK(on_disk().offices.size() == 10'001);
  ask(
    handle,
    [](const office_inventory& inventory) {
      CHECK(inventory.offices.size() == 10'001);
    },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::list_v);
}

// The first write comes to its end long after it was given up; the one after it
// must not be overtaken.
TEST_CASE_FIXTURE(registry_story, "a write that was given up harms no later") {
  auto pool =
    kit::spawn_stateful<files_actor, stuck_files_state>(*system, disk, chance);
  auto let_go = [&] {
    ask(
      pool, [](const status_line&) {}, [](const caf::error&) {},
      atom::status_v);
  };
  self->send_exit(handle, caf::exit_reason::user_shutdown);
  start({}, pool);
  auto first = self->request(handle, caf::infinite, atom::ensure_v,
                             office_address{slack, "C1"});
  settle();
  // Neither the write nor what is asked about it is answered.
  advance(limits::disk_timeout * 2);
  first.receive([](const office&) { FAIL("nothing was written"); },
                [](const caf::error& reason) {
                  CHECK(contains(sentence_of(reason), "cannot be written"));
                });
  auto second = self->request(handle, caf::infinite, atom::ensure_v,
                              office_address{slack, "C2"});
  settle();
  let_go();
  let_go();
  second.receive(
    [&](const office& made) { CHECK(std::filesystem::exists(made.dir)); },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  REQUIRE(on_disk().offices.size() == 1);
  CHECK(on_disk().offices[0].address == office_address{slack, "C2"});
}

// -- claims -------------------------------------------------------------------

TEST_CASE_FIXTURE(registry_story, "an old directory is claimed while a node "
                                  "runs") {
  registry_state state;
  offices::enable_platform(state, telegram);
  self->send_exit(handle, caf::exit_reason::user_shutdown);
  start(state);
  std::filesystem::create_directories(place.root + "/900100");
  std::filesystem::create_directories(place.root + "/"
                                      + office_key({telegram, "900102"}));
  std::filesystem::create_directories(place.root + "/900102");
  auto claim = [&](platform_id platform, const std::string& id) {
    std::string result = "ok";
    ask(
      handle, [](caf::ok_atom) {},
      [&](const caf::error& reason) {
        result = to_string(code_of(reason)) + ": " + sentence_of(reason);
      },
      atom::claim_v, office_address{platform, id});
    return result;
  };
  CHECK(claim(telegram, "900100") == "ok");
  auto written = on_disk();
  auto found = offices::find_migration(written, "900100");
  REQUIRE(found != nullptr);
  CHECK(found->owner == telegram);
  CHECK(found->status == migration_status::prepared);
  auto writes = jobs_of(file_op::write_atomic);
  CHECK(contains(claim(slack, "900100"), "denied: "));
  CHECK(contains(claim(telegram, "900101"), "must be a regular directory"));
  CHECK(contains(claim(telegram, "a/b"), "bad_identity"));
  // Again is no harm, and writes nothing.
  CHECK(claim(telegram, "900100") == "ok");
  CHECK(jobs_of(file_op::write_atomic) == writes);
  // A failure is recorded, and told.
  CHECK(contains(claim(telegram, "900102"), "already exists"));
  auto disk_state = on_disk();
  auto failed = offices::find_migration(disk_state, "900102");
  REQUIRE(failed != nullptr);
  CHECK(failed->status == migration_status::failed);
  // Claims and new offices share the file.
  caf::anon_send(handle, atom::ensure_v, office_address{slack, "C1"});
  std::filesystem::create_directories(place.root + "/900103");
  CHECK(claim(telegram, "900103") == "ok");
  disk_state = on_disk();
  CHECK(offices::find_office(disk_state, {slack, "C1"}) != nullptr);
  CHECK(offices::find_migration(disk_state, "900103") != nullptr);
}
