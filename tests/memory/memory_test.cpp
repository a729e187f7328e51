#include "actors/memory/memory.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "actors/memory/memory_core.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/errc.hpp"
#include "messages/limits.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <set>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* here = "console:local";

/// Ledgers that outlive the store.
struct desk_script {
  std::set<std::string> marks;
  std::optional<errc> fault;
};

struct desk_state {
  memory_desk_actor::stateful_pointer<desk_state> self;
  std::shared_ptr<desk_script> script;
  static inline const char* name = "desk";
  explicit desk_state(memory_desk_actor::stateful_pointer<desk_state> me)
    : self(me) {}
  void init(std::shared_ptr<desk_script> shared) { script = std::move(shared); }

  memory_desk_actor::behavior_type make_behavior() {
    return {
      [this](atom::exists, const office_mark& mark) {
        return script->marks.contains(mark.conversation.conversation_id + " "
                                      + mark.id);
      },
      [this](atom::mark, const office_mark& mark) -> caf::result<caf::ok_atom> {
        if (script->fault)
          return make_failure(*script->fault, "not now");
        script->marks.insert(mark.conversation.conversation_id + " " + mark.id);
        return caf::ok_atom_v;
      },
    };
  }
};

struct memory_world : node_fixture {
  memory_world() {
    std::filesystem::create_directories(place.dir);
    start();
  }

  ~memory_world() { stop(); }

  void start() {
    store = memory::spawn_memory(*system, {ws, files, wall});
    desk = kit::spawn_stateful<memory_desk_actor, desk_state>(*system, ledgers);
    self->send(store, atom::start_v, desk);
    settle();
  }

  void stop() {
    caf::anon_send_exit(store, caf::exit_reason::kill);
    store = nullptr;
    settle();
  }

  template <class T>
  struct answer {
    T value;
    errc fault = errc::none;
  };

  template <class T, class... Args>
  answer<T> get(Args&&... args) {
    answer<T> result;
    ask(
      store, [&](const T& value) { result.value = value; },
      [&](const caf::error& reason) { result.fault = code_of(reason); },
      std::forward<Args>(args)...);
    return result;
  }

  answer<memory_found> load() {
    return get<memory_found>(atom::load_v,
                             contracts::memory_query{here, {}, {}});
  }

  answer<contracts::memory_write_result> append(std::string text) {
    return get<contracts::memory_write_result>(
      atom::append_v, memory_summary{here, std::move(text)});
  }

  answer<contracts::memory_admission> submit(std::string run,
                                             std::string text) {
    return get<contracts::memory_admission>(
      atom::submit_v, contracts::memory_completed_turn{
                        std::move(run), here, std::move(text), {}});
  }

  std::string content() const { return get_file(place.memory_path); }

  std::shared_ptr<desk_script> ledgers = std::make_shared<desk_script>();
  memory_desk_actor desk;
  scratch_directory disk;
  workspace ws = make_workspace(disk.path(), disk / "state");
  office place = make_office(ws, {platform_id::console, "local"});
  std::shared_ptr<files_probe> probe = std::make_shared<files_probe>();
  files_actor files = spawn_inline_files(
    *system, std::make_shared<os::posix_file_system>(), chance, probe);
  memory_actor store;
};

} // namespace

TEST_CASE_FIXTURE(memory_world, "memory is loaded up to its bound") {
  CHECK_FALSE(load().value.block);
  put_file(place.memory_path, "likes tea");
  CHECK(load().value.block->content == "likes tea");
  put_file(place.memory_path, std::string(70'000, 'x'));
  auto block = *load().value.block;
  CHECK(block.content.size() == limits::memory_load_bytes);
  CHECK(block.truncated);
}

TEST_CASE_FIXTURE(memory_world, "entries are appended and durable") {
  auto result = append("Likes tea.");
  CHECK(result.value.source == "MEMORY.md");
  CHECK(content() == "## 2026-01-01\n\nLikes tea.\n");
  CHECK(result.value.bytes_written == static_cast<int64_t>(content().size()));
  CHECK(probe->jobs.back().op == file_op::write_atomic);
  put_file(place.memory_path, "Of the agent itself.\n");
  advance(24h);
  append("Sleeps.");
  CHECK(content() == "Of the agent itself.\n\n## 2026-01-02\n\nSleeps.\n");
}

TEST_CASE_FIXTURE(memory_world, "a turn is remembered once, also after a "
                                "restart") {
  CHECK_FALSE(submit("r1", "Painted it blue.").value.duplicate);
  auto before = content();
  CHECK(submit("r1", "Painted it again.").value.duplicate);
  stop();
  start();
  auto again = submit("r1", "Painted it again.");
  CHECK(again.fault == errc::none);
  CHECK(again.value.duplicate);
  CHECK(again.value.bytes_written == 0);
  CHECK(content() == before);
  CHECK_FALSE(submit("r2", "Slept.").value.duplicate);
  CHECK(ledgers->marks.contains("local memory:r1"));
  // Whoever empties the file does not make the store forget the run.
  put_file(place.memory_path, "");
  CHECK(submit("r1", "Painted it again.").value.duplicate);
  CHECK(content().empty());
}

TEST_CASE_FIXTURE(memory_world, "a turn that was cut before its mark is "
                                "written once") {
  ledgers->fault = errc::disk;
  CHECK(submit("r1", "Painted it blue.").fault == errc::disk);
  auto before = content();
  CHECK(before.find("Painted it blue.") != std::string::npos);
  ledgers->fault.reset();
  auto again = submit("r1", "Painted it blue.");
  CHECK(again.fault == errc::none);
  CHECK(content() == before);
  CHECK(submit("r1", "Painted it blue.").value.duplicate);
}

TEST_CASE_FIXTURE(memory_world, "before the offices are there no turn is "
                                "remembered, after the stop nothing") {
  store = memory::spawn_memory(*system, {ws, files, wall});
  CHECK(submit("r1", "x").fault == errc::not_ready);
  CHECK(append("Likes tea.").fault == errc::none);
  CHECK(get<caf::ok_atom>(atom::stop_v).fault == errc::none);
  CHECK(append("Likes cake.").fault == errc::shutting_down);
}

TEST_CASE_FIXTURE(memory_world, "a link is neither read nor written") {
  put_file(disk / "secret", "mine");
  std::filesystem::create_symlink(disk / "secret", place.memory_path);
  CHECK(load().fault == errc::denied);
  CHECK(append("x").fault == errc::denied);
  CHECK(submit("r1", "x").fault == errc::denied);
  CHECK(get_file(disk / "secret") == "mine");
}

TEST_CASE_FIXTURE(memory_world, "a refusing disk leaves the file as it is") {
  append("Likes tea.");
  auto before = content();
  probe->failures = {caf::error{}, make_failure(errc::disk, "full")};
  CHECK(submit("r1", "x").fault == errc::disk);
  CHECK(content() == before);
  CHECK_FALSE(submit("r1", "x").value.duplicate);
}

TEST_CASE_FIXTURE(memory_world, "what cannot be remembered") {
  CHECK(append(" ").fault == errc::bad_request);
  CHECK(submit("a b", "x").fault == errc::bad_request);
  CHECK(get<contracts::memory_write_result>(atom::append_v,
                                            memory_summary{"nobody", "x"})
          .fault
        == errc::bad_identity);
  put_file(place.memory_path, std::string(memory::file_bytes - 10, 'x'));
  CHECK(append("one too many").fault == errc::too_large);
  CHECK(content().size() == memory::file_bytes - 10);
}

TEST_CASE_FIXTURE(memory_world, "a flush follows what was begun") {
  auto flushed = false;
  for (auto text : {"one", "two", "three"})
    self->send(store, atom::append_v, memory_summary{here, text});
  ask(
    store, [&](caf::ok_atom) { flushed = true; },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::flush_v);
  CHECK(flushed);
  CHECK(content() == "## 2026-01-01\n\none\n\ntwo\n\nthree\n");
}
