#include "actors/io/file_jobs.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/journal_file.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/inline_journal.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <cerrno>
#include <deque>
#include <functional>

using namespace bureau;
using namespace bureau::test;

namespace {

using file_promise = caf::typed_response_promise<file_outcome>;

/// A pool on one slow path: jobs wait until the test lets them go, in order.
struct slow_pool {
  bool holds = false;
  size_t refusals = 0;
  std::deque<std::pair<file_job, file_promise>> held;
  std::function<caf::expected<file_outcome>(const file_job&)> run;

  void let_go() {
    holds = false;
    for (auto& [job, answer] : std::exchange(held, {})) {
      auto outcome = run(job);
      if (outcome)
        answer.deliver(std::move(*outcome));
      else
        answer.deliver(outcome.error());
    }
  }
};

// (file, file_job) → file_outcome   ⇒ work
// (status) → status_line            ⇒ lets go
// (stop) → ok                       ⇒ ok
struct slow_files_state {
  using pointer = files_actor::stateful_pointer<slow_files_state>;
  static inline const char* name = "slow_files";
  pointer self;
  std::shared_ptr<slow_pool> pool;

  explicit slow_files_state(pointer me) : self(me) {}

  void init(std::shared_ptr<slow_pool> control) { pool = std::move(control); }

  caf::result<file_outcome> work(const file_job& job) {
    if (pool->refusals > 0) {
      --pool->refusals;
      return make_failure(errc::queue_full, "too many jobs");
    }
    auto answer = self->make_response_promise<file_outcome>();
    pool->held.emplace_back(job, answer);
    if (!pool->holds)
      pool->let_go();
    return answer;
  }

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) { return work(job); },
      [this](atom::status) {
        pool->let_go();
        return status_line{};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

/// The actor around the file; `describe` does what the test wants done inside.
struct owner_state {
  using pointer = offices::office_child_actor::stateful_pointer<owner_state>;
  static inline const char* name = "owner";
  pointer self;
  std::shared_ptr<std::function<void()>> action;
  offices::journal_file* file = nullptr;

  explicit owner_state(pointer me) : self(me) {}

  void init(journal_actor journal, offices::journal_file* ours,
            std::shared_ptr<std::function<void()>> what) {
    file = ours;
    action = std::move(what);
    file->init(self, std::move(journal), journal_root::state, "ledger");
  }

  offices::office_child_actor::behavior_type make_behavior() {
    return {
      [](atom::intake, const intake_request&) { return intake_reply{}; },
      [](atom::may_send, const delivery_key&) { return caf::ok_atom_v; },
      [](atom::stop, const stop_request&) { return stop_report{}; },
      [](atom::renew) { return uint64_t{0}; },
      [](atom::attach, const transport_actor&) {},
      [this](atom::describe) {
        (*action)();
        return runtime_snapshot{};
      },
      [](atom::drain, drain_phase) { return drain_report{}; },
      [](atom::run, const turn_started&) { return caf::ok_atom_v; },
      [](atom::produced, const turn_produced&) { return caf::ok_atom_v; },
      [](atom::failed, const turn_dead&) { return caf::ok_atom_v; },
      [](atom::notice, const posted_notice&) {},
      [](atom::settled, const session_snapshot&) {},
      [](atom::dispose) { return true; },
      [](atom::dispose, const std::string&) {},
      [](atom::settled, const entry_query&) { return entry_end{}; },
      [](atom::locate, const session_query&) { return session_snapshot{}; },
      [](atom::exists, const std::string&) { return false; },
      [](atom::mark, const std::string&) { return caf::ok_atom_v; },
    };
  }
};

struct file_story : node_fixture {
  scratch_directory scratch;
  std::shared_ptr<faulty_file_system> disk =
    std::make_shared<faulty_file_system>(
      std::make_shared<os::posix_file_system>());
  std::shared_ptr<slow_pool> pool = std::make_shared<slow_pool>();
  std::shared_ptr<std::function<void()>> action =
    std::make_shared<std::function<void()>>();
  std::shared_ptr<journal_probe> journal = std::make_shared<journal_probe>();
  std::string path = scratch / "ledger";
  offices::journal_file file;
  files_actor files;
  offices::office_child_actor owner;
  /// What became of the appends and the rewrite, in order.
  std::vector<std::string> outcomes;

  file_story() {
    pool->run = [this](const file_job& job) {
      return io::run_file_job(*disk, *chance, job);
    };
    files = kit::spawn_stateful<files_actor, slow_files_state>(*system, pool);
    owner = kit::spawn_stateful<offices::office_child_actor, owner_state>(
      *system,
      spawn_inline_journal(*system, disk, scratch.path(), scratch.path(),
                           journal),
      &file, action);
    settle();
  }

  ~file_story() {
    self->send_exit(owner, caf::exit_reason::user_shutdown);
    settle();
  }

  void inside(std::function<void()> what) {
    *action = std::move(what);
    ask(
      owner, [](const runtime_snapshot&) {}, [](const caf::error&) {},
      atom::describe_v);
  }

  void let_go() {
    ask(
      files, [](const status_line&) {}, [](const caf::error&) {},
      atom::status_v);
  }

  offices::journal_file::done noted(std::string name) {
    return [this, name](const caf::error& reason) {
      outcomes.push_back(name
                         + (reason ? " " + to_string(code_of(reason)) : ""));
    };
  }

  void append(std::string line) {
    inside([this, line] {
      file.append(line + "\n", durability::sync, noted(line));
    });
  }

  void rewrite(std::string content) {
    inside([this, content] {
      file.rewrite(
        files, path, [content] { return content; }, noted("rewritten"));
    });
  }
};

} // namespace

TEST_CASE_FIXTURE(file_story, "appends wait for a replacement that is late") {
  append("old");
  pool->holds = true;
  rewrite("compacted\n");
  append("new");
  // The requester gives up; the job is still under way.
  advance(limits::disk_timeout);
  append("newer");
  advance(limits::disk_timeout * 3);
  CHECK(outcomes == std::vector<std::string>{"old"});
  let_go();
  CHECK(outcomes
        == std::vector<std::string>{"old", "rewritten", "new", "newer"});
  CHECK(get_file(path) == "compacted\nnew\nnewer\n");
  CHECK(file.size() == get_file(path).size());
}

TEST_CASE_FIXTURE(file_story, "appends go on when a late replacement failed") {
  append("old");
  pool->holds = true;
  rewrite("compacted\n");
  append("new");
  advance(limits::disk_timeout);
  disk->fail_named("rename_below", EIO);
  let_go();
  CHECK(outcomes
        == std::vector<std::string>{"old", "rewritten timeout", "new"});
  CHECK(get_file(path) == "old\nnew\n");
  CHECK(file.size() == get_file(path).size());
}

TEST_CASE_FIXTURE(file_story, "what a failed replacement left is looked at") {
  append("old");
  // The last step of it fails; the new content is in place.
  disk->fail_named("sync", EIO);
  pool->run = [this, run = pool->run](const file_job& job) {
    auto outcome = run(job);
    if (job.op != file_op::write_atomic)
      return outcome;
    disk->heal();
    put_file(path, "compacted\n");
    // The first looks are refused.
    pool->refusals = 2;
    return outcome;
  };
  rewrite("compacted\n");
  append("new");
  CHECK(outcomes == std::vector<std::string>{"old"});
  advance(limits::ledger_retry_delay * 2);
  CHECK(outcomes == std::vector<std::string>{"old", "rewritten", "new"});
  CHECK(get_file(path) == "compacted\nnew\n");
}

TEST_CASE_FIXTURE(file_story, "a line may be as long as a record may be") {
  std::string answer(24u << 20, 'a');
  inside([&] { file.append(answer + "\n", durability::sync, noted("long")); });
  CHECK(outcomes == std::vector<std::string>{"long"});
  CHECK(file.size() == answer.size() + 1);
  // The limit is told before the journal is asked.
  std::string over(limits::journal_record_bytes, 'a');
  inside([&] { file.append(over, durability::sync, noted("over")); });
  CHECK(outcomes.back() == "over too_large");
  CHECK(journal->asked.size() == 1);
}
