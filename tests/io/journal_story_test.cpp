#include "actors/io/journal.hpp"
#include "actors/io/journal_core.hpp"
#include "actors/kit/log.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/open_list.hpp"
#include "messages/limits.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <cerrno>

// The journal as an actor, in virtual time.

using namespace bureau;
using namespace bureau::test;

namespace {

struct journal_story : node_fixture {
  journal_story() {
    kit::log::set_level(kit::log::level::info);
    kit::log::to_sink([this](kit::log::level, std::string_view line) {
      lines.emplace_back(line.substr(line.find(']') + 2));
    });
    journal = io::spawn_scheduled_journal(*system, disk, scratch.path(),
                                          scratch.path(), {});
  }

  ~journal_story() {
    self->send_exit(journal, caf::exit_reason::user_shutdown);
    settle();
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::off);
  }

  errc append(std::string path) {
    auto result = errc::none;
    ask(
      journal, [](uint64_t) {},
      [&](const caf::error& reason) { result = code_of(reason); },
      atom::append_v,
      journal_record{journal_root::state, std::move(path), "x\n",
                     durability::sync});
    return result;
  }

  std::string state() {
    std::string result;
    ask(
      journal, [&](const status_line& line) { result = line.state; },
      [](const caf::error&) {}, atom::status_v);
    return result;
  }

  scratch_directory scratch;
  std::shared_ptr<faulty_file_system> disk =
    std::make_shared<faulty_file_system>(
      std::make_shared<os::posix_file_system>());
  std::vector<std::string> lines;
  journal_actor journal;
};

} // namespace

TEST_CASE_FIXTURE(journal_story, "in trouble the journal tries each second") {
  CHECK(append("a") == errc::none);
  disk->fail_named("sync_data", ENOSPC);
  CHECK(append("a") == errc::disk);
  CHECK(state() == "degraded");
  for (auto second = 0; second < 5; ++second) {
    advance(io::journal_retry_interval);
    CHECK(append("a") == errc::disk);
  }
  CHECK(state() == "degraded");
  CHECK(lines.size() == 1);
  disk->heal();
  advance(io::journal_retry_interval);
  CHECK(state() == "ok");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("error journal: cannot write the journal") == 0);
  CHECK(lines[1] == "journal: writing works again");
  // Nothing is tried for nothing.
  auto tried = disk->operations().size();
  advance(io::journal_retry_interval * 5);
  CHECK(disk->operations().size() == tried);
  CHECK(append("a") == errc::none);
  CHECK(get_file(scratch / "a") == "x\nx\n");
  CHECK(lines.size() == 2);
}

TEST_CASE_FIXTURE(journal_story, "one file in trouble makes no other well") {
  CHECK(append("a") == errc::none);
  CHECK(append("b") == errc::none);
  disk->fail_at(4, ENOSPC);
  CHECK(append("a") == errc::disk);
  disk->heal();
  CHECK(append("b") == errc::none);
  CHECK(state() == "degraded");
  advance(io::journal_retry_interval);
  CHECK(state() == "ok");
  CHECK(lines.size() == 2);
}

TEST_CASE_FIXTURE(journal_story,
                  "a journal that stops in trouble tries no more") {
  disk->fail_named("write_at", EIO);
  CHECK(append("a") == errc::disk);
  disk->fail_named("sync", EIO);
  auto stopped = errc::none;
  ask(
    journal, [](caf::ok_atom) {},
    [&](const caf::error& reason) { stopped = code_of(reason); }, atom::stop_v);
  CHECK(stopped == errc::disk);
  disk->heal();
  advance(io::journal_retry_interval * 3);
  CHECK(disk->operations().empty());
}

TEST_CASE_FIXTURE(journal_story, "an office is listed until its last line is "
                                 "written") {
  auto key = "v1-slack-C1-0123456789abcdef";
  auto list = [&] {
    return get_file(scratch / "ledger-open.json");
  };
  auto mark = [&](bool unfinished) {
    caf::anon_send(journal, atom::mark_v, std::string{key}, unfinished);
  };
  mark(true);
  CHECK(append("a") == errc::none);
  advance(limits::journal_checkpoint_interval);
  CHECK(list() == print_open_list({key}));
  // Work that ended counts as ended with the lines that came before.
  caf::anon_send(
    journal, atom::append_v,
    journal_record{journal_root::state, "a", "x\n", durability::lazy});
  mark(false);
  settle();
  CHECK(append("a") == errc::none);
  advance(limits::journal_checkpoint_interval);
  CHECK(list() == print_open_list({}));
  mark(false);
  mark(true);
  CHECK(append("a") == errc::none);
  advance(limits::journal_checkpoint_interval);
  CHECK(list() == print_open_list({key}));
}
