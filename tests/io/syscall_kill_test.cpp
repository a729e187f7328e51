#include "actors/io/journal_replay.hpp"
#include "actors/io/journal_writer.hpp"
#include "config/os/durable.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/long_campaign.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <sstream>

// A real process is killed with SIGKILL at every system call that it enters or
// leaves while it writes; then the files are opened as a boot opens them.

using namespace bureau;
using test::get_file;

namespace {

/// What the writer promised before it was killed; shared with its parent.
struct promises {
  size_t ledger = 0;
  size_t log = 0;
  size_t registry = 0;
};

class shared_promises {
public:
  shared_promises()
    : page_(::mmap(nullptr, sizeof(promises), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(page_ != MAP_FAILED);
    new (page_) promises;
  }
  shared_promises(const shared_promises&) = delete;
  shared_promises& operator=(const shared_promises&) = delete;
  ~shared_promises() { ::munmap(page_, sizeof(promises)); }
  promises& operator*() { return *static_cast<promises*>(page_); }
  promises* operator->() { return static_cast<promises*>(page_); }

private:
  void* page_;
};

/// Runs `work` in a child that is killed at its n-th stop before or after a
/// system call. False: it ended before.
bool killed_at(size_t n, const std::function<void()>& work) {
  auto pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
      ::_exit(1);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFSTOPPED(status));
  ::ptrace(PTRACE_SETOPTIONS, pid, nullptr,
           PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  for (size_t stops = 0;;) {
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status)) {
      CHECK(WEXITSTATUS(status) == 0);
      return false;
    }
    REQUIRE(WIFSTOPPED(status));
    if (WSTOPSIG(status) != (SIGTRAP | 0x80) || ++stops < n)
      continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return true;
  }
}

io::journal_append append_of(journal_root root, std::string path,
                             std::string bytes, durability level,
                             uint64_t group) {
  return {{root, std::move(path), std::move(bytes), level}, 0, group, 0, {}};
}

std::string line_of(size_t number) {
  return "line " + std::to_string(number) + "\n";
}

/// The first lines of a file, as it must always look; how many they are.
size_t whole_lines(const std::string& text) {
  std::string expected;
  size_t count = 0;
  while (expected.size() < text.size())
    expected += line_of(++count);
  CHECK(text == expected);
  return count;
}

struct killed_world {
  killed_world() {
    std::filesystem::create_directory(state);
    std::filesystem::create_directory(workspace);
  }

  /// What a node does to its files in a few rounds: messages in two files at
  /// once, a registry that is replaced, a seal with a rewrite, a checkpoint.
  void write() {
    io::journal_writer writer{disk, state, workspace};
    for (size_t round = 1; round <= 4; ++round) {
      std::vector<io::journal_append> batch;
      batch.push_back(append_of(journal_root::state, "ledger",
                                line_of(round * 2 - 1), durability::sync, 1));
      batch.push_back(append_of(journal_root::workspace, "log",
                                line_of(round * 2 - 1), durability::sync, 1));
      writer.commit(batch);
      seen->ledger = seen->log = round * 2 - 1;
      batch.clear();
      batch.push_back(append_of(journal_root::state, "ledger",
                                line_of(round * 2), durability::lazy, 0));
      batch.push_back(append_of(journal_root::workspace, "log",
                                line_of(round * 2), durability::lazy, 0));
      writer.commit(batch);
      seen->ledger = seen->log = round * 2;
      if (!os::write_private_atomically(*disk, chance, state + "/registry",
                                        content(round)))
        seen->registry = round;
      if (round == 2 && !writer.seal({journal_root::state, "ledger"}))
        os::write_private_atomically(*disk, chance, state + "/ledger",
                                     get_file(state + "/ledger"));
      if (round == 3) {
        writer.begin_checkpoint();
        while (writer.checkpoint_step(1))
          ;
      }
    }
  }

  /// A line, then a record that has a frame of its own, and one that follows.
  void write_large() {
    io::journal_writer writer{disk, state, workspace};
    for (size_t round = 1; round <= 3; ++round) {
      std::vector<io::journal_append> batch;
      auto bytes = round == 2 ? large : line_of(round);
      batch.push_back(append_of(journal_root::state, "session",
                                std::move(bytes), durability::sync, 0));
      writer.commit(batch);
      seen->ledger = round;
    }
    writer.close();
  }

  void check_large() {
    REQUIRE_FALSE(io::replay_journal(*disk, state, workspace).failure);
    auto found = get_file(state + "/session");
    const std::string expected[] = {"", line_of(1), line_of(1) + large,
                                    line_of(1) + large + line_of(3)};
    auto known = std::find(std::begin(expected), std::end(expected), found);
    REQUIRE(known != std::end(expected));
    CHECK(static_cast<size_t>(known - std::begin(expected)) >= seen->ledger);
  }

  static std::string content(size_t round) {
    return std::string(3000 + round, static_cast<char>('0' + round));
  }

  /// Boots over what is left, and checks it.
  void check() {
    os::sweep_stale_temporaries(*disk, state);
    REQUIRE_FALSE(io::replay_journal(*disk, state, workspace).failure);
    auto ledger = whole_lines(get_file(state + "/ledger"));
    auto log = whole_lines(get_file(workspace + "/log"));
    CHECK(ledger >= seen->ledger);
    CHECK(log >= seen->log);
    // What is written together is there together.
    if (ledger % 2 == 1 || log % 2 == 1)
      CHECK((ledger + 1) / 2 == (log + 1) / 2);
    auto registry = get_file(state + "/registry");
    auto round = registry.empty() ? 0 : registry.size() - 3000;
    CHECK(registry == (round == 0 ? std::string{} : content(round)));
    CHECK(round >= seen->registry);
    CHECK(round <= seen->registry + 1);
    for (const auto& entry : std::filesystem::directory_iterator{state})
      CHECK_FALSE(os::is_temporary_name(entry.path().filename().string(), ""));
  }

  const std::string large = std::string(3u << 20, 'l') + "\n";
  test::scratch_directory scratch;
  std::string state = scratch / "state";
  std::string workspace = scratch / "work";
  std::shared_ptr<os::posix_file_system> disk =
    std::make_shared<os::posix_file_system>();
  test::seeded_entropy chance;
  shared_promises seen;
};

} // namespace

TEST_CASE("killed at any system call, files keep what was promised") {
  auto step = test::stride(5);
  size_t kills = 0;
  for (size_t n = 1;; n += step) {
    CAPTURE(n);
    killed_world world;
    auto killed = killed_at(n, [&] { world.write(); });
    world.check();
    if (!killed) {
      CHECK(world.seen->ledger == 8);
      CHECK(kills * step > 100);
      return;
    }
    ++kills;
  }
}

TEST_CASE("killed at any system call, a large record is there or not") {
  auto step = test::stride(5);
  for (size_t n = 1;; n += step) {
    CAPTURE(n);
    killed_world world;
    auto killed = killed_at(n, [&] { world.write_large(); });
    world.check_large();
    if (!killed) {
      CHECK(world.seen->ledger == 3);
      return;
    }
  }
}

TEST_CASE("killed at any system call of a replay, the next one finishes") {
  auto step = test::stride(3);
  for (size_t n = 1;; n += step) {
    CAPTURE(n);
    killed_world world;
    // Late enough that frames are left to replay.
    CHECK(killed_at(90, [&] { world.write(); }));
    auto killed = killed_at(n, [&] {
      io::replay_journal(*world.disk, world.state, world.workspace);
    });
    world.check();
    if (!killed)
      return;
  }
}
