#include "sandbox/probe.hpp"

#include "tests/sandbox/real_world.hpp"

#include <poll.h>

#include <future>

using namespace bureau;
using bureau::test::contains;
using bureau::test::real_world;

namespace {

/// A number of seconds that no other process of the machine sleeps, and longer
/// than any request here waits: who waited for it would fail.
std::string odd_sleep() {
  static int count = 0;
  return "300." + std::to_string(::getpid()) + std::to_string(++count);
}

/// The same expectations for every backend that runs commands here.
struct both_backends : real_world {
  template <class Check>
  void each(Check check) {
    for (const auto* backend : {"bwrap", "host"}) {
      CAPTURE(std::string{backend});
      sandbox.backend = backend;
      check(make(args_for(backend, "trusted", "shared-support")),
            args_for(backend).place);
    }
  }
};

} // namespace

TEST_CASE_FIXTURE(both_backends, "output, code and standard input") {
  each([&](const executor_actor& executor, const office&) {
    auto got = run(executor, "printf a; printf b >&2; exit 3");
    REQUIRE(got.value);
    CHECK(*got.value == exec_result{"a", "b", 3, false, false});
    got = run(executor, "cat");
    REQUIRE(got.value);
    CHECK(*got.value == exec_result{"", "", 0, false, false});
    exec_request request;
    request.id = fresh_id();
    request.command = "wc -c";
    request.has_stdin = true;
    request.stdin_bytes = std::string(300'000, 'x');
    got = call<exec_result>(executor, atom::exec_v, request);
    REQUIRE(got.value);
    CHECK(got.value->out == "300000\n");
  });
}

TEST_CASE_FIXTURE(both_backends, "commands may have many lines and quotes") {
  each([&](const executor_actor& executor, const office&) {
    CHECK(out_of(executor, "x='it'\\''s'\nprintf '%s|' \"$x\" \\\n  'a  b'\n"
                           "cat <<'EOF'\n$HOME `id`\nEOF\n")
          == "it's|a  b|$HOME `id`\n");
  });
}

TEST_CASE_FIXTURE(both_backends, "a command ended by a signal has 128 and n") {
  each([&](const executor_actor& executor, const office&) {
    auto got = run(executor, "kill -9 $$");
    REQUIRE(got.value);
    CHECK(got.value->code == 137);
    got = run(executor, "kill -15 $$");
    REQUIRE(got.value);
    CHECK(got.value->code == 143);
  });
}

TEST_CASE_FIXTURE(both_backends, "a timeout kills and says so") {
  each([&](const executor_actor& executor, const office&) {
    auto sleep = odd_sleep();
    auto got = run(executor, "sleep " + sleep, 200);
    CHECK(got.code == errc::timeout);
    CHECK(got.sentence == "Command timed out after 0.2 seconds");
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(both_backends, "a timeout kills background grandchildren") {
  each([&](const executor_actor& executor, const office&) {
    auto sleep = odd_sleep();
    auto got = run(executor, "sh -c 'sleep " + sleep + " & wait'", 500);
    CHECK(got.code == errc::timeout);
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(both_backends, "an abort reaches a session of its own") {
  each([&](const executor_actor& executor, const office& place) {
    auto sleep = odd_sleep();
    test::milestone up{place.dir + "/up"};
    auto pending = start(executor, 7,
                         "echo part; setsid sh -c 'echo > up; exec sleep "
                           + sleep + "' & wait",
                         0);
    up.line();
    // The shell has come so far; it becomes the sleep next.
    auto seen = false;
    for (auto looks = 0; looks < 2000 && !seen; ++looks) {
      seen = !test::processes_with_argument(sleep).empty();
      ::poll(nullptr, 0, seen ? 0 : 5);
    }
    CHECK(seen);
    abort(executor, 7);
    auto got = await<exec_result>(pending);
    CHECK(got.code == errc::aborted);
    CHECK(got.sentence == "part\n\n\nCommand aborted");
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(both_backends, "a background process does not hold the end") {
  each([&](const executor_actor& executor, const office&) {
    auto sleep = odd_sleep();
    CHECK(out_of(executor, "sleep " + sleep + " & echo hi") == "hi\n");
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(both_backends, "output beyond the cap is cut and told") {
  each([&](const executor_actor& executor, const office&) {
    auto got = run(executor, "yes | head -c 11000000");
    REQUIRE(got.value);
    CHECK(got.value->out.size() == limits::exec_output_bytes);
    CHECK(got.value->out_truncated);
    CHECK(!got.value->err_truncated);
    CHECK(got.value->code == 0);
    got = run(executor, "head -c 10485760 /dev/zero");
    REQUIRE(got.value);
    CHECK(got.value->out.size() == limits::exec_output_bytes);
    CHECK(!got.value->out_truncated);
  });
}

TEST_CASE_FIXTURE(both_backends, "characters are never cut") {
  each([&](const executor_actor& executor, const office&) {
    CHECK(out_of(executor, "printf '\\342'; printf '' >&2; printf '\\202\\254'")
          == "\xE2\x82\xAC");
    CHECK(out_of(executor, "printf 'a\\377b'")
          == "a\xEF\xBF\xBD"
             "b");
    // 10 485 760 is no multiple of 3: the last character does not fit.
    auto got = run(executor, "yes '\xE2\x82\xAC' | tr -d '\\n' | "
                             "head -c 11000000");
    REQUIRE(got.value);
    CHECK(got.value->out_truncated);
    CHECK(got.value->out.size() == 10'485'759);
    CHECK(got.value->out.substr(got.value->out.size() - 3) == "\xE2\x82\xAC");
  });
}

TEST_CASE_FIXTURE(both_backends, "where commands start") {
  each([&](const executor_actor& executor, const office& place) {
    auto paths = call<path_context>(executor, atom::paths_v).value.value();
    CHECK(out_of(executor, "pwd") == paths.cwd + "\n");
    std::filesystem::create_directories(place.dir + "/sub");
    CHECK(run(executor, "pwd", 0, "sub").value->out == paths.cwd + "/sub\n");
    CHECK(run(executor, "pwd", 0, "/usr").value->out == "/usr\n");
    auto missing = run(executor, "pwd", 0, "/nowhere");
    CHECK(!missing.value);
    CHECK(contains(missing.sentence, "/nowhere"));
  });
}

TEST_CASE_FIXTURE(both_backends, "many commands run at once without threads") {
  each([&](const executor_actor& executor, const office& place) {
    test::milestone up{place.dir + "/up"};
    out_of(executor, "true");
    auto before = test::thread_count();
    using pending_exec = decltype(start(executor, 1, ""));
    std::vector<pending_exec> pending;
    for (uint64_t id = 1; id <= 64; ++id)
      pending.push_back(
        start(executor, id, "echo $$ > up; read line; echo $line", 0));
    for (int i = 0; i < 64; ++i)
      up.line();
    CHECK(test::thread_count() <= before);
    size_t good = 0;
    for (auto& each_one : pending) {
      auto got = await<exec_result>(each_one);
      good += got.value && got.value->code == 0 ? 1 : 0;
    }
    CHECK(good == 64);
  });
}

TEST_CASE_FIXTURE(both_backends, "an abort at any moment leaves nothing") {
  each([&](const executor_actor& executor, const office&) {
    auto sleep = odd_sleep();
    out_of(executor, "true");
    for (int round = 0; round < 12; ++round) {
      using pending_exec = decltype(start(executor, 1, ""));
      std::vector<pending_exec> pending;
      std::vector<uint64_t> ids;
      for (int i = 0; i < 10; ++i) {
        ids.push_back(fresh_id());
        pending.push_back(start(executor, ids.back(), "exec sleep " + sleep));
      }
      // Each abort comes one answered request later, so that they meet the
      // starting sandboxes at different moments.
      for (auto id : ids) {
        call<status_line>(deps.processes, atom::status_v);
        abort(executor, id);
      }
      for (auto& each_one : pending)
        CHECK(await<exec_result>(each_one).code == errc::aborted);
    }
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(both_backends, "stop ends what runs") {
  each([&](const executor_actor& executor, const office& place) {
    auto sleep = odd_sleep();
    test::milestone up{place.dir + "/up"};
    auto pending = start(executor, 1, "echo > up; exec sleep " + sleep);
    up.line();
    CHECK(call<caf::ok_atom>(executor, atom::stop_v).value);
    CHECK(await<exec_result>(pending).code == errc::aborted);
    CHECK(test::all_gone(sleep));
  });
}

TEST_CASE_FIXTURE(real_world,
                  "an executor that is dropped kills its commands") {
  auto executor = make();
  auto sleep = odd_sleep();
  test::milestone up{args_for("local").place.dir + "/up"};
  auto pending = start(executor, 1, "echo > up; exec sleep " + sleep);
  up.line();
  self->send_exit(executor, caf::exit_reason::user_shutdown);
  CHECK(await<exec_result>(pending).code == errc::shutting_down);
  CHECK(test::all_gone(sleep));
}

TEST_CASE_FIXTURE(real_world, "the probe passes here") {
  std::promise<sandbox::probe_report> promise;
  sandbox::probe_bwrap(
    system, deps, sandbox.bwrap, ws,
    [&](const sandbox::probe_report& report) { promise.set_value(report); });
  auto report = promise.get_future().get();
  CAPTURE(report.failure);
  CHECK(report.ok);
  CHECK(!report.version.empty());
}

TEST_CASE_FIXTURE(real_world, "the probe explains what is missing") {
  auto failure_of = [&](sandbox::bwrap_config broken) {
    std::promise<sandbox::probe_report> promise;
    sandbox::probe_bwrap(
      system, deps, std::move(broken), ws,
      [&](const sandbox::probe_report& report) { promise.set_value(report); });
    auto report = promise.get_future().get();
    CHECK(!report.ok);
    return report.failure;
  };
  auto broken = sandbox.bwrap;
  broken.bwrap_path = "/nonexistent/bwrap";
  CHECK(contains(failure_of(broken), "Install the package bubblewrap"));
  broken = sandbox.bwrap;
  broken.prlimit_path = "/nonexistent/prlimit";
  CHECK(contains(failure_of(broken), "install util-linux"));
  broken = sandbox.bwrap;
  broken.seccomp = "no filter";
  CHECK(contains(failure_of(broken), "seccomp"));
  broken = sandbox.bwrap;
  broken.roots.clear();
  CHECK(contains(failure_of(broken), "--sandbox=host"));
}

TEST_CASE_FIXTURE(real_world, "a host command inherits nothing of the node") {
  ::setenv("PLANTED_NODE_SECRET", "sesame-host", 1);
  sandbox.backend = "host";
  auto executor = make(args_for("local", "trusted"));
  auto env = out_of(executor, "env | cut -d= -f1 | sort | tr '\\n' ' '");
  ::unsetenv("PLANTED_NODE_SECRET");
  CHECK(env
        == "BUREAU_EXEC_ID HOME LANG LOGNAME PATH PWD SHELL TERM TMPDIR "
           "USER ");
  CHECK(out_of(executor, "ls /proc/self/fd | wc -l") == "4\n");
  // No terminal to read from or to write to.
  auto tty = run(executor, "echo x > /dev/tty");
  REQUIRE(tty.value);
  CHECK(tty.value->code != 0);
}
