#include "actors/io/pidfd.hpp"
#include "actors/io/process_host.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/io/real_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

using namespace bureau;
using namespace std::string_literals;

namespace {

struct process_world : test::real_system {
  process_world() : service(io::start_processes(system, {})) {}

  ~process_world() {
    result_of<caf::ok_atom>(service.host, atom::stop_v);
    service.loop->join();
  }

  proc_spec spec(std::vector<std::string> argv) {
    proc_spec result;
    result.id = ++last_id;
    result.reason = "test";
    result.argv = std::move(argv);
    return result;
  }

  proc_spec shell(std::string script) {
    auto result = spec({"/bin/sh", "-c", std::move(script)});
    result.env = {{"PATH", "/usr/bin:/bin", false}};
    return result;
  }

  caf::expected<proc_result> run(const proc_spec& what) {
    return result_of<proc_result>(service.host, atom::run_v, what);
  }

  /// Starts a child whose events come to this test.
  proc_started start(const proc_spec& what) {
    auto started = result_of<proc_started>(service.host, atom::start_v, what,
                                           as_sink<process_sink_actor>());
    REQUIRE(started);
    return *started;
  }

  proc_output next_output() { return next<atom::p_out, proc_output>(); }
  proc_exit next_exit() { return next<atom::p_exit, proc_exit>(); }

  /// Output of one stream until a text is there; everything is acknowledged.
  std::string read_until(const std::string& end) {
    std::string text;
    while (text.find(end) == std::string::npos) {
      auto output = next_output();
      ack(output);
      text += output.bytes;
    }
    return text;
  }

  void ack(const proc_output& output) {
    self->send(service.host, atom::ack_v,
               proc_ack{output.id, output.stream, output.bytes.size()});
  }

  void kill(uint64_t id, uint32_t grace_ms = 0) {
    kit::urgent_send(self.ptr(), service.host, atom::p_kill_v,
                     proc_kill{id, grace_ms});
  }

  io::process_service service;
  uint64_t last_id = 0;
};

/// A process that is not ours to wait for.
class stranger {
public:
  explicit stranger(pid_t pid) : pid_(pid), fd_(io::open_pidfd(pid)) {}
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;
  ~stranger() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  bool alive() const {
    pollfd wanted{fd_, POLLIN, 0};
    return fd_ >= 0 && ::poll(&wanted, 1, 0) == 0;
  }

  /// Waits for its end, bounded. @return whether it came
  bool ends() const {
    pollfd wanted{fd_, POLLIN, 0};
    auto limit = std::chrono::milliseconds{test::patience};
    return fd_ < 0 || ::poll(&wanted, 1, static_cast<int>(limit.count())) == 1;
  }

  /// Whether even its zombie is gone.
  bool reaped() const { return ::kill(pid_, 0) != 0; }

private:
  pid_t pid_;
  int fd_;
};

pid_t pid_in(const std::string& text) {
  return static_cast<pid_t>(std::stol(text));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

size_t count_of_threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator{"/proc/self/task"})
    ++count;
  return count;
}

struct idle_child_sink_state {
  using pointer = process_sink_actor::stateful_pointer<idle_child_sink_state>;
  static inline const char* name = "idle_child_sink";
  explicit idle_child_sink_state(pointer) {}
  process_sink_actor::behavior_type make_behavior() {
    return {[](atom::p_out, const proc_output&) {},
            [](atom::p_exit, const proc_exit&) {
            }};
  }
};

} // namespace

TEST_CASE("a run captures both streams and the exit code") {
  process_world world;
  auto result = world.run(world.shell("echo out; echo err >&2; exit 3"));
  REQUIRE(result);
  CHECK(result->out == "out\n");
  CHECK(result->err == "err\n");
  CHECK(result->exit.code == 3);
  CHECK(result->exit.signal == 0);
  CHECK_FALSE(result->killed);
  CHECK(result->exit.max_rss_kib > 0);
  CHECK(result->exit.cpu_us >= 0);
}

TEST_CASE("a child that dies of a signal says which") {
  process_world world;
  auto result = world.run(world.shell("kill -SEGV $$"));
  REQUIRE(result);
  CHECK(result->exit.signal == SIGSEGV);
  CHECK_FALSE(result->killed);
}

TEST_CASE("input bytes reach the child, however many") {
  process_world world;
  auto spec = world.spec({"/bin/cat"});
  spec.input = stdin_kind::bytes;
  for (int i = 0; spec.input_bytes.size() < 3'000'000; ++i)
    spec.input_bytes += std::to_string(i) + "\n";
  auto result = world.run(spec);
  REQUIRE(result);
  CHECK((result->out == spec.input_bytes));
  // Nobody reads these; the node must survive the broken pipe.
  auto deaf = world.spec({"/bin/true"});
  deaf.input = stdin_kind::bytes;
  deaf.input_bytes = spec.input_bytes;
  auto unread = world.run(deaf);
  REQUIRE(unread);
  CHECK(unread->exit.code == 0);
  auto silent = world.run(world.spec({"/bin/cat"}));
  REQUIRE(silent);
  CHECK(silent->out.empty());
}

TEST_CASE("the head of too much output is kept, the rest is counted") {
  process_world world;
  auto spec = world.shell("head -c 300000 /dev/zero; head -c 50 /dev/zero >&2");
  spec.cap_out = 100'000;
  spec.cap_err = 0;
  auto result = world.run(spec);
  REQUIRE(result);
  CHECK(result->out.size() == 100'000);
  CHECK(result->exit.out_dropped == 200'000);
  CHECK(result->err.empty());
  CHECK(result->exit.err_dropped == 50);
}

TEST_CASE("a child has the environment it was given and nothing of ours") {
  ::setenv("BUREAU_TEST_PLANTED", "planted-secret", 1);
  process_world world;
  auto spec = world.spec({"/usr/bin/env"});
  spec.env = {{"B", "two words", false}, {"A", "", true}};
  auto result = world.run(spec);
  REQUIRE(result);
  CHECK(result->out == "B=two words\nA=\n");
  spec = world.spec({"/bin/cat", "/proc/self/environ"});
  CHECK(world.run(spec)->out.empty());
  ::unsetenv("BUREAU_TEST_PLANTED");
}

TEST_CASE("a child has its listed descriptors and no other") {
  process_world world;
  // Inherited from whoever started the node: not close-on-exec, low and high.
  auto low = ::open("/dev/null", O_RDONLY);
  auto high = ::fcntl(low, F_DUPFD, 700);
  auto spec = world.spec({"/bin/ls", "-1", "/proc/self/fd"});
  auto plain = world.run(spec);
  REQUIRE(plain);
  // ls itself opens the directory as the lowest free one.
  CHECK(plain->out == "0\n1\n2\n3\n");
  spec = world.spec({"/bin/ls", "-1", "/proc/self/fd"});
  spec.fds = {{9, fd_kind::bytes, "x", {}, {}, 0},
              {4, fd_kind::pipe_out, {}, {}, {}, 0},
              {40, fd_kind::open_beneath, {}, "/tmp", {}, O_PATH}};
  auto rich = world.run(spec);
  REQUIRE(rich);
  auto seen = lines_of(rich->out);
  std::set<std::string> numbers{seen.begin(), seen.end()};
  CHECK(numbers == std::set<std::string>{"0", "1", "2", "3", "4", "40", "9"});
  ::close(low);
  ::close(high);
}

TEST_CASE("extra descriptors carry bytes in, files in and bytes out") {
  process_world world;
  test::scratch_directory scratch;
  test::put_file(scratch / "inside.txt", "from a file");
  auto spec = world.shell("cat <&5; cat <&7; echo back >&3; echo too >&4; "
                          "echo x 2>/dev/null 1>&5 || echo sealed");
  spec.fds = {
    {4, fd_kind::pipe_out, {}, {}, {}, 0},
    {5, fd_kind::bytes, "from memory, ", {}, {}, 0},
    {7, fd_kind::open_beneath, {}, scratch.path(), "inside.txt", O_RDONLY},
    {3, fd_kind::pipe_out, {}, {}, {}, 0}};
  auto result = world.run(spec);
  REQUIRE(result);
  CHECK(result->out == "from memory, from a filesealed\n");
  REQUIRE(result->extra.size() == 2);
  CHECK(result->extra[0] == "too\n");
  CHECK(result->extra[1] == "back\n");
}

TEST_CASE("a child starts in its directory, group and session") {
  process_world world;
  test::scratch_directory scratch;
  auto spec = world.shell("pwd; cut -d' ' -f1,5,6 /proc/$$/stat; "
                          "exec grep -E 'SigBlk|SigIgn' /proc/self/status");
  spec.cwd = scratch.path();
  auto grouped = world.run(spec);
  REQUIRE(grouped);
  auto lines = lines_of(grouped->out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == scratch.path());
  int pid = 0;
  int group = 0;
  int session = 0;
  std::istringstream{lines[1]} >> pid >> group >> session;
  CHECK(group == pid);
  CHECK(session == ::getsid(0));
  CHECK(lines[2] == "SigBlk:\t0000000000000000");
  // Signals 32 and 33 belong to the C library; whoever started the tests may
  // have left them ignored, and nothing can reset them.
  auto ignored = std::stoull(lines[3].substr(lines[3].find('\t')), nullptr, 16);
  CHECK((ignored & ~0x180000000ull) == 0);
  spec = world.shell("cut -d' ' -f1,5,6 /proc/$$/stat");
  spec.new_session = true;
  std::istringstream{world.run(spec)->out} >> pid >> group >> session;
  CHECK(group == pid);
  CHECK(session == pid);
}

TEST_CASE("a child may open 1024 files unless it says otherwise") {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  auto raised = before;
  raised.rlim_cur = std::min<rlim_t>(before.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &raised);
  process_world world;
  // The limit is set right after the start: the child looks once it has read.
  auto spec = world.shell("read line; ulimit -Sn");
  spec.input = stdin_kind::pipe;
  auto started = world.start(spec);
  world.self->send(world.service.host, atom::p_write_v,
                   proc_input{started.id, "go\n", false});
  CHECK(world.read_until("\n") == "1024\n");
  CHECK(world.next_exit().code == 0);
  auto own = world.spec(
    {"/usr/bin/prlimit", "--nofile=2000", "/bin/sh", "-c", "ulimit -Sn"});
  CHECK(world.run(own)->out == "2000\n");
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("what cannot be started is named in one sentence") {
  process_world world;
  test::scratch_directory scratch;
  test::put_file(scratch / "plain.txt", "text");
  test::put_file(scratch / "script", "#!/no/such/interpreter\n");
  std::filesystem::permissions(scratch.path() + "/script",
                               std::filesystem::perms::owner_all);
  std::filesystem::create_symlink("/etc", scratch.path() + "/link");
  auto with_fd = [&](std::string path) {
    auto spec = world.spec({"/bin/true"});
    spec.fds = {{3,
                 fd_kind::open_beneath,
                 {},
                 scratch.path(),
                 std::move(path),
                 O_RDONLY}};
    return spec;
  };
  auto with_cwd = [&](std::string cwd) {
    auto spec = world.spec({"/bin/true"});
    spec.cwd = std::move(cwd);
    return spec;
  };
  struct row {
    const char* name;
    proc_spec spec;
    std::string says;
  };
  const row rows[] = {
    {"no program", world.spec({"/no/such/program"}), "/no/such/program"},
    {"a directory", world.spec({"/tmp"}), "not an executable"},
    {"not executable", world.spec({scratch.path() + "/plain.txt"}),
     "not an executable"},
    {"bad interpreter", world.spec({scratch.path() + "/script"}),
     "interpreter"},
    {"no directory", with_cwd("/no/such/place"), "/no/such/place"},
    {"file as directory", with_cwd(scratch.path() + "/plain.txt"),
     "not a directory"},
    {"absent file", with_fd("absent"), "absent"},
    {"link as file", with_fd("link"), "link"},
    {"link on the way", with_fd("link/passwd"), "link"},
    {"way out", with_fd("../x"), "../x"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto result = world.run(row.spec);
    CHECK(code_of(result.error()) == errc::spawn_failed);
    auto sentence = sentence_of(result.error());
    CAPTURE(sentence);
    CHECK(sentence.starts_with("cannot start "));
    CHECK(sentence.find(row.says) != std::string::npos);
  }
  auto started = world.result_of<proc_started>(
    world.service.host, atom::start_v, world.spec({"/no/such/program"}),
    world.as_sink<process_sink_actor>());
  CHECK(code_of(started.error()) == errc::spawn_failed);
}

TEST_CASE("a bad or doubled specification is refused") {
  process_world world;
  CHECK(code_of(world.run(world.spec({"true"})).error()) == errc::bad_request);
  auto spec = world.shell("read line");
  spec.input = stdin_kind::pipe;
  world.start(spec);
  CHECK(code_of(world.run(spec).error()) == errc::bad_request);
  world.kill(spec.id);
  CHECK(world.next_exit().signal == SIGKILL);
}

TEST_CASE("a started child talks through its pipes") {
  process_world world;
  auto spec = world.spec({"/bin/cat"});
  spec.input = stdin_kind::pipe;
  auto id = world.start(spec).id;
  auto write = [&](std::string bytes, bool eof) {
    world.self->send(world.service.host, atom::p_write_v,
                     proc_input{id, std::move(bytes), eof});
  };
  write("one\n", false);
  CHECK(world.read_until("\n") == "one\n");
  write("two\n", false);
  CHECK(world.read_until("\n") == "two\n");
  write("three\n", true);
  CHECK(world.read_until("\n") == "three\n");
  auto exit = world.next_exit();
  CHECK(exit.id == id);
  CHECK(exit.code == 0);
}

TEST_CASE("a sink that does not acknowledge blocks its child") {
  process_world world;
  constexpr size_t total = 2'000'000;
  auto id =
    world.start(world.shell("head -c 2000000 /dev/zero; echo end >&2")).id;
  size_t got = 0;
  while (got < limits::stream_window_bytes)
    got += world.next_output().bytes.size();
  // The loop lives, and has had every reason to send more.
  for (int i = 0; i < 3; ++i)
    CHECK(world.run(world.spec({"/bin/true"})));
  while (auto output = world.poll<atom::p_out, proc_output>())
    got += output->bytes.size();
  CHECK(got < limits::stream_window_bytes + limits::stream_chunk_bytes);
  world.self->send(world.service.host, atom::ack_v, proc_ack{id, 1, got});
  std::string err;
  while (got < total || err.empty()) {
    auto output = world.next_output();
    CHECK(output.bytes.size() <= limits::stream_chunk_bytes);
    (output.stream == 1 ? got += output.bytes.size()
                        : (err += output.bytes).size());
    world.ack(output);
  }
  CHECK(err == "end\n");
  CHECK(world.next_exit().code == 0);
  CHECK(got == total);
}

TEST_CASE("output that was held back comes before the exit") {
  process_world world;
  // Fills the window, then leaves one more pipe's worth behind.
  world.start(world.shell("head -c 300000 /dev/zero"));
  size_t got = 0;
  while (got < 262'144)
    got += world.next_output().bytes.size();
  while (got < 300'000) {
    auto output = world.next_output();
    got += output.bytes.size();
  }
  CHECK(world.next_exit().code == 0);
}

TEST_CASE("a kill ends a run and is told from a death of its own") {
  process_world world;
  auto spec = world.shell("echo started; exec sleep 1000");
  auto pending =
    world.self->request(world.service.host, test::patience, atom::run_v, spec);
  // Its place in the loop is behind the run.
  CHECK(world.run(world.spec({"/bin/true"})));
  world.kill(spec.id);
  world.kill(spec.id);
  proc_result result;
  pending.receive([&](proc_result& value) { result = std::move(value); },
                  [](const caf::error&) { FAIL("no result"); });
  CHECK(result.killed);
  CHECK(result.exit.signal == SIGKILL);
  CHECK_FALSE(result.exit.unkillable);
}

TEST_CASE("a kill that overtakes its run is remembered") {
  process_world world;
  auto spec = world.spec({"/bin/true"});
  world.kill(spec.id);
  CHECK(code_of(world.run(spec).error()) == errc::aborted);
}

TEST_CASE("grace lets a child end by itself, and no longer than that") {
  process_world world;
  auto polite = world.shell("trap 'echo bye; exit 7' TERM; echo ready; "
                            "while :; do read x; done </dev/zero");
  polite.argv[2] =
    "trap 'echo bye; exit 7' TERM; echo ready; sleep 1000 & wait";
  auto id = world.start(polite).id;
  world.read_until("ready\n");
  world.kill(id, 60'000);
  CHECK(world.read_until("bye\n") == "bye\n");
  CHECK(world.next_exit().code == 7);
  auto deaf =
    world.shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  id = world.start(deaf).id;
  world.read_until("ready\n");
  world.kill(id, 10);
  CHECK(world.next_exit().signal == SIGKILL);
}

TEST_CASE("a kill reaches the whole group and a tagged escapee") {
  process_world world;
  auto spec = world.shell("sleep 1000 & echo $!; setsid sleep 1000 & echo $!; "
                          "env -u BUREAU_EXEC_ID sh -c 'sleep 1000 & echo $!'; "
                          "echo all; wait");
  spec.exec_tag = "tag-" + std::to_string(::getpid());
  spec.env.push_back({"BUREAU_EXEC_ID", spec.exec_tag, false});
  auto id = world.start(spec).id;
  auto pids = lines_of(world.read_until("all\n"));
  REQUIRE(pids.size() == 4);
  stranger member{pid_in(pids[0])};
  stranger escapee{pid_in(pids[1])};
  stranger untagged{pid_in(pids[2])};
  CHECK(escapee.alive());
  world.kill(id);
  CHECK(world.next_exit().signal == SIGKILL);
  CHECK(member.ends());
  CHECK(escapee.ends());
  CHECK(untagged.ends());
}

TEST_CASE("what a finished child leaves behind ends with it, or stays") {
  process_world world;
  auto spec = world.shell("sleep 1000 & echo $!");
  auto swept = world.run(spec);
  REQUIRE(swept);
  CHECK(swept->exit.code == 0);
  CHECK_FALSE(swept->killed);
  stranger gone{pid_in(swept->out)};
  CHECK(gone.ends());
  spec = world.shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  spec.on_exit = on_exit_rule::leave;
  auto left = world.run(spec);
  REQUIRE(left);
  stranger stays{pid_in(left->out)};
  CHECK(stays.alive());
  ::kill(pid_in(left->out), SIGKILL);
  CHECK(stays.ends());
  // It came to us as an orphan; the end of any child makes the loop look.
  CHECK(world.run(world.spec({"/bin/true"})));
  CHECK(stays.reaped());
}

TEST_CASE("64 children run at once without a thread for each") {
  process_world world;
  auto before = count_of_threads();
  std::vector<uint64_t> ids;
  for (int i = 0; i < 64; ++i) {
    auto spec = world.shell("read line; echo $line $N");
    spec.input = stdin_kind::pipe;
    spec.env.push_back({"N", std::to_string(i), false});
    ids.push_back(world.start(spec).id);
  }
  CHECK(count_of_threads() == before);
  for (auto id : ids)
    world.self->send(world.service.host, atom::p_write_v,
                     proc_input{id, "go\n", true});
  std::map<uint64_t, std::string> output;
  size_t exits = 0;
  while (exits < ids.size())
    world.self->receive(
      [&](atom::p_out, const proc_output& piece) {
        output[piece.id] += piece.bytes;
      },
      [&](atom::p_exit, const proc_exit& exit) {
        CHECK(exit.code == 0);
        ++exits;
      },
      caf::after(test::patience) >> [] { FAIL("the children have stopped"); });
  for (size_t i = 0; i < ids.size(); ++i)
    CHECK(output[ids[i]] == "go " + std::to_string(i) + "\n");
}

TEST_CASE("beyond 256 children wait their turn, and may be called off") {
  process_world world;
  std::vector<uint64_t> ids;
  auto sink = world.as_sink<process_sink_actor>();
  for (size_t i = 0; i < limits::processes_running + 2; ++i) {
    auto spec = world.spec({"/bin/cat"});
    spec.label = "cat " + std::to_string(i);
    spec.input = stdin_kind::pipe;
    ids.push_back(spec.id);
    world.self->send(world.service.host, atom::start_v, spec, sink);
  }
  for (size_t i = 0; i < limits::processes_running; ++i)
    world.self->receive([](const proc_started&) {},
                        caf::after(test::patience) >>
                          [] { FAIL("a child did not start"); });
  auto line = world.result_of<status_line>(world.service.host, atom::status_v);
  REQUIRE(line);
  CHECK(line->detail.starts_with("258 children; cat 0 (pid "));
  world.kill(ids.back());
  world.self->receive(
    [](const caf::error& reason) { CHECK(code_of(reason) == errc::aborted); },
    caf::after(test::patience) >> [] { FAIL("the kill was not answered"); });
  world.self->send(world.service.host, atom::p_write_v,
                   proc_input{ids[0], {}, true});
  CHECK(world.next_exit().id == ids[0]);
  world.self->receive(
    [&](const proc_started& started) {
      CHECK(started.id == ids[limits::processes_running]);
    },
    caf::after(test::patience) >> [] { FAIL("the place was not filled"); });
  CHECK(world.result_of<caf::ok_atom>(world.service.host, atom::stop_v));
  for (size_t i = 0; i < limits::processes_running; ++i)
    CHECK(world.next_exit().signal == SIGKILL);
  CHECK(code_of(world.run(world.spec({"/bin/true"})).error())
        == errc::shutting_down);
}

TEST_CASE("a sink that ends takes its child along") {
  process_world world;
  auto sink = kit::spawn_stateful<process_sink_actor, idle_child_sink_state>(
    world.system);
  auto started =
    world.result_of<proc_started>(world.service.host, atom::start_v,
                                  world.spec({"/bin/sleep", "1000"}), sink);
  REQUIRE(started);
  stranger child{started->pid};
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  sink = nullptr;
  CHECK(child.ends());
}

TEST_CASE("a child that does not read its input is ended at the bound") {
  process_world world;
  auto spec = world.spec({"/bin/sleep", "1000"});
  spec.input = stdin_kind::pipe;
  auto id = world.start(spec).id;
  std::string piece(4u << 20, 'x');
  for (size_t sent = 0; sent <= limits::process_input_bytes + piece.size();
       sent += piece.size())
    world.self->send(world.service.host, atom::p_write_v,
                     proc_input{id, piece, false});
  CHECK(world.next_exit().signal == SIGKILL);
}
