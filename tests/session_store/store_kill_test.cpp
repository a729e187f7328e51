#include "tests/session_store/store_world.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

// A process is killed with SIGKILL at every system call that it enters or
// leaves while a session begins, branches or is reset; then the files are
// opened as after a restart.

using namespace bureau;
using namespace bureau::test;

namespace {

using list = std::vector<std::string>;

/// Does `work` in a child that is killed at its n-th stop before or after a
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

/// Calls `check` for the world that each kill leaves.
void at_every_kill(
  const std::function<session_store_actor(store_world&)>& set,
  const std::function<void(store_world&, session_store_actor&)>& work,
  const std::function<void(store_world&, bool)>& check) {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    store_world world;
    auto store = set(world);
    auto killed = killed_at(n, [&] { work(world, store); });
    // The next process draws other ids.
    world.chance->next();
    check(world, killed);
    if (!killed) {
      CHECK(n > 10);
      break;
    }
  }
}

} // namespace

TEST_CASE("a kill anywhere in the reset of a thread leaves the old session or "
          "the new one") {
  std::string old;
  at_every_kill(
    [&](store_world& world) {
      world.logged("9", "before", "17.1", 1000);
      auto store = world.spawn("C123:17.1");
      REQUIRE(world.open(store));
      world.say(store, "precious");
      old = world.text("17.1.jsonl");
      return store;
    },
    [](store_world& world, session_store_actor& store) { world.reset(store); },
    [&](store_world& world, bool killed) {
      auto next = world.spawn("C123:17.1");
      CHECK(world.exists(next).value);
      auto context = world.open(next);
      REQUIRE_MESSAGE(bool{context}, context.sentence);
      auto is_old = world.text("17.1.jsonl") == old;
      auto kept = is_old;
      for (const auto& name : world.archived())
        kept = kept || get_file(world.path("archive/" + name)) == old;
      CHECK(kept);
      CHECK(texts(context.value)
            == (is_old ? list{"before", "precious"} : list{}));
      CHECK((killed || !is_old));
      REQUIRE(world.reset(next));
      REQUIRE(world.say(next, "more"));
      CHECK(texts(world.open(world.spawn("C123:17.1")).value) == list{"more"});
    });
}

TEST_CASE("a kill anywhere while a session begins leaves none or a whole one") {
  at_every_kill(
    [](store_world& world) {
      world.logged("1", "one");
      return world.spawn();
    },
    [](store_world& world, session_store_actor& store) { world.open(store); },
    [](store_world& world, bool) {
      auto context = world.open(world.spawn());
      REQUIRE_MESSAGE(bool{context}, context.sentence);
      CHECK(texts(context.value) == list{"one"});
      CHECK(split_lines(world.current_text()).size() == 3);
    });
}

TEST_CASE("a kill anywhere in a branch leaves the old leaf or the new one") {
  std::string first;
  at_every_kill(
    [&](store_world& world) {
      auto store = world.spawn();
      REQUIRE(world.open(store));
      first = world.say(store, "one").value.at(0);
      world.say(store, "two");
      return store;
    },
    [&](store_world& world, session_store_actor& store) {
      world.branch(store, first, R"({"summary":"two, in short"})");
    },
    [&](store_world& world, bool) {
      auto next = world.spawn();
      auto context = world.open(next);
      REQUIRE_MESSAGE(bool{context}, context.sentence);
      auto said = texts(context.value);
      auto whole =
        said == list{"one", "two"} || said == list{"one", "two, in short"};
      CHECK(whole);
      CHECK(world.say(next, "three"));
    });
}
