#include "tests/sandbox/real_world.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace bureau;
using bureau::test::contains;
using bureau::test::real_world;

namespace {

/// A listening socket on the loopback of the host.
class listener {
public:
  listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(fd_, generic, size) == 0);
    REQUIRE(::listen(fd_, 4) == 0);
    REQUIRE(::getsockname(fd_, generic, &size) == 0);
    port = ntohs(address.sin_port);
  }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() { ::close(fd_); }
  int port = 0;

private:
  int fd_;
};

std::string connect_program(int port) {
  return "perl -MIO::Socket::INET -e 'exit(IO::Socket::INET->new("
         "PeerAddr => \"127.0.0.1\", PeerPort => "
         + std::to_string(port) + ", Timeout => 5) ? 0 : 7)'";
}

struct planted_secret {
  planted_secret() { ::setenv("PLANTED_NODE_SECRET", value, 1); }
  ~planted_secret() { ::unsetenv("PLANTED_NODE_SECRET"); }
  static constexpr const char* value = "sesame-of-the-node";
};

struct one_office : real_world {
  executor_actor executor = make();
  office place = args_for("local").place;

  /// Exit code of a command and what it said on standard error.
  std::pair<int32_t, std::string> tried(const std::string& command) {
    auto got = run(executor, command);
    CAPTURE(got.sentence);
    REQUIRE(got.value);
    return {got.value->code, got.value->err};
  }

  bool refused_read_only(const std::string& command) {
    auto [code, err] = tried(command);
    CAPTURE(command);
    CAPTURE(err);
    return code != 0 && contains(err, "Read-only file system");
  }
};

} // namespace

TEST_CASE_FIXTURE(one_office, "no capability, no new privilege, a filter") {
  auto status = out_of(executor, "cat /proc/self/status");
  CHECK(contains(status, "CapEff:\t0000000000000000"));
  CHECK(contains(status, "CapPrm:\t0000000000000000"));
  CHECK(contains(status, "CapBnd:\t0000000000000000"));
  CHECK(contains(status, "NoNewPrivs:\t1"));
  CHECK(contains(status, "Seccomp:\t2"));
  CHECK(out_of(executor, "id -u; id -g; whoami; hostname")
        == "1000\n1000\nagent\noffice\n");
}

TEST_CASE_FIXTURE(one_office, "nothing of the node is inherited") {
  planted_secret secret;
  CHECK(out_of(executor, "wc -c < /proc/1/environ") == "0\n");
  CHECK(out_of(executor, "env | cut -d= -f1 | sort | tr '\\n' ' '")
        == "HOME LANG LOGNAME PATH PWD SHELL TERM TMPDIR TZ USER ");
  // Standard streams and the directory that ls itself reads.
  CHECK(out_of(executor, "ls /proc/self/fd | wc -l") == "4\n");
  auto seen = out_of(executor, "cat /proc/*/environ /proc/*/cmdline "
                               "/proc/self/mountinfo; env; ls -l "
                               "/proc/*/fd; true 2>&1");
  CHECK(!contains(seen, planted_secret::value));
  CHECK(contains(out_of(executor, "cat /proc/1/limits"), "4096"));
}

TEST_CASE_FIXTURE(one_office, "nobody sees the values of the sandbox") {
  planted_secret secret;
  sandbox.bwrap.extra_env = {{"VAULT_TOKEN", "sesame-of-the-vault", true}};
  auto other = make("secretive");
  test::milestone up{args_for("secretive").place.dir + "/up"};
  auto pending = start(other, 1, "echo > up; : marker-4711; sleep 60");
  up.line();
  std::string outside;
  for (const auto* marker : {"marker-4711", "/usr/bin/bwrap"})
    outside += test::shown_of_processes(marker);
  abort(other, 1);
  await<exec_result>(pending);
  CHECK(contains(outside, "marker-4711"));
  CHECK(!contains(outside, planted_secret::value));
  auto command_lines = outside;
  CHECK(out_of(other, "echo $VAULT_TOKEN") == "sesame-of-the-vault\n");
  CHECK(!contains(out_of(other, "cat /proc/*/cmdline"), "sesame"));
  CHECK(out_of(other, "wc -c < /proc/1/environ") == "0\n");
}

TEST_CASE_FIXTURE(one_office, "the system is read-only, the office is not") {
  for (const auto* path : {"/x", "/etc/x", "/usr/x", "/run/x", "/workspace/x"})
    CHECK(refused_read_only(std::string{"touch "} + path));
  CHECK(refused_read_only("rm -f /etc/passwd /usr/bin/env"));
  out_of(executor, "echo mine > file");
  CHECK(test::content_of(place.dir + "/file") == "mine\n");
  struct stat facts {};
  REQUIRE(::stat((place.dir + "/file").c_str(), &facts) == 0);
  CHECK(facts.st_uid == ::geteuid());
  CHECK((facts.st_mode & 07777) == 0644);
}

TEST_CASE_FIXTURE(one_office, "the own records are read-only") {
  test::put_file(place.log_path, "history\n");
  test::put_file(place.sessions_dir + "/s.jsonl", "session\n");
  test::put_file(place.attachments_dir + "/a.txt", "attachment\n");
  CHECK(out_of(executor, "cat log.jsonl sessions/s.jsonl attachments/a.txt")
        == "history\nsession\nattachment\n");
  for (const auto* command :
       {"echo forged >> log.jsonl", "echo forged > sessions/new.jsonl",
        "rm -f sessions/s.jsonl", "touch attachments/new",
        "chmod 777 sessions/s.jsonl", "ln -s sessions s && touch s/new",
        "truncate -s 0 log.jsonl"})
    CHECK(refused_read_only(command));
  for (const auto* command :
       {"rm -rf sessions", "mv sessions other", "mv log.jsonl other",
        "rm -f log.jsonl", "rmdir attachments", "ln log.jsonl hard",
        "mv /workspace/*/sessions /tmp/"}) {
    CAPTURE(std::string{command});
    CHECK(tried(command).first != 0);
  }
  CHECK(test::content_of(place.log_path) == "history\n");
  CHECK(test::content_of(place.sessions_dir + "/s.jsonl") == "session\n");
  CHECK(test::content_of(place.attachments_dir + "/a.txt") == "attachment\n");
}

TEST_CASE_FIXTURE(one_office, "what is not mounted is not there") {
  test::put_file(ws.state_dir + "/auth.json", "sesame");
  test::put_file(ws.memory_path, "shared");
  auto other = make("other");
  out_of(other, "echo theirs > file");
  auto neighbour = args_for("other").place.key;
  for (const auto& path :
       {std::string{"/etc/shadow"}, std::string{"/etc/hostname"},
        std::string{"/home"}, std::string{"/sys"}, std::string{"/boot"},
        std::string{"/mnt"}, std::string{"/opt"}, std::string{"/var/log"},
        std::string{"/run/systemd"}, ws.state_dir, ws.root,
        "/workspace/" + neighbour, std::string{"/workspace/MEMORY.md"},
        std::string{"/etc/resolv.conf"}}) {
    CAPTURE(path);
    CHECK(tried("test -e " + path).first == 1);
  }
  CHECK(out_of(executor, "ls /workspace") == place.key + "\n");
  CHECK(out_of(executor, "ls -A /root; ls -A /tmp").empty());
  CHECK(out_of(executor, "grep -c '^agent:' /etc/passwd; wc -l < /etc/passwd")
        == "1\n1\n");
}

TEST_CASE_FIXTURE(one_office, "processes of the host are out of sight and "
                              "reach") {
  auto pids = out_of(executor, "ls /proc | grep -c '^[0-9]'");
  CHECK(std::stoi(pids) < 8);
  CHECK(tried("kill -9 1; kill -0 1").first == 0);
  CHECK(run(executor, "kill -TERM 0").value->code == 143);
  CHECK(out_of(executor, "kill -9 -1 2>/dev/null; echo alive") == "alive\n");
}

TEST_CASE_FIXTURE(one_office, "home and tmp stay, each office has its own") {
  out_of(executor, "echo h > ~/h; echo t > /tmp/t; echo v > /var/tmp/v");
  CHECK(out_of(executor, "cat ~/h /tmp/t /tmp/v") == "h\nt\nv\n");
  CHECK(out_of(make("local"), "cat /root/h /tmp/t") == "h\nt\n");
  auto other = make("other");
  CHECK(out_of(other, "ls -A /root /tmp") == "/root:\n\n/tmp:\n");
  // The job of the passivation empties /tmp and nothing else.
  auto emptied = call<file_outcome>(deps.files, atom::file_v,
                                    sandbox::empty_tmp_job(ws, place.key));
  CHECK(emptied.value);
  CHECK(out_of(executor, "ls -A /tmp; cat ~/h") == "h\n");
  for (const auto& job : sandbox::boot_tmp_jobs(ws))
    CHECK(call<file_outcome>(deps.files, atom::file_v, job).value);
  CHECK(std::filesystem::is_empty(ws.state_dir + "/run/tmp"));
  // An executor made before the directory vanished finds its way back.
  CHECK(run(executor, "true").code == errc::spawn_failed);
  CHECK(out_of(executor, "ls -A /tmp; cat ~/h") == "h\n");
}

TEST_CASE_FIXTURE(one_office, "ordinary tools work") {
  CHECK(out_of(executor, "echo 1 2 | awk '{ print $1 + $2 }'") == "3\n");
  CHECK(out_of(executor, "printf 'b\\na\\n' | sort | head -1") == "a\n");
  CHECK(out_of(executor, "perl -e 'print 6 * 7'") == "42");
  CHECK(contains(out_of(executor, "date +%Z"), "UTC"));
  CHECK(out_of(executor, "head -c 3 /dev/urandom | wc -c") == "3\n");
  CHECK(out_of(executor, "echo x > /dev/shm/x && cat /dev/shm/x") == "x\n");
  if (std::filesystem::exists("/usr/bin/git")) {
    out_of(executor, "git init -q repo && cd repo && git config user.email a@b "
                     "&& git config user.name a && echo x > f && git add f "
                     "&& git commit -q -m first");
    CHECK(contains(out_of(executor, "git -C repo log --oneline"), "first"));
  }
}

TEST_CASE_FIXTURE(real_world, "networks: none reaches nothing, host all") {
  listener server;
  auto args = args_for("local");
  auto none = make(args);
  auto got = run(none, connect_program(server.port));
  REQUIRE(got.value);
  CHECK(got.value->code == 7);
  CHECK(out_of(none, "grep -c : /proc/net/dev") == "1\n");
  args.network = "host";
  auto shared = make(args);
  out_of(shared, connect_program(server.port));
  CHECK(run(shared, "test -e /etc/resolv.conf").value->code == 0);
  args.network = "internet";
  auto refused = run(make(args), "true");
  CHECK(refused.code == errc::denied);
}

#if defined(__x86_64__)
TEST_CASE_FIXTURE(one_office, "the filter denies what S1 lists") {
  struct row {
    const char* name;
    const char* arguments;
    int error;
  };
  const row rows[] = {
    {"keyctl", "250, 0, -3, 0", EPERM},
    {"add_key", "248, 0, 0, 0, 0, 0", EPERM},
    {"request_key", "249, 0, 0, 0, 0", EPERM},
    {"bpf", "321, 0, 0, 0", EPERM},
    {"perf_event_open", "298, 0, 0, 0, 0, 0", EPERM},
    {"userfaultfd", "323, 0", EPERM},
    {"io_uring_setup", "425, 1, 0", EPERM},
    {"io_uring_enter", "426, 0, 0, 0, 0, 0", EPERM},
    {"io_uring_register", "427, 0, 0, 0, 0", EPERM},
    {"kexec_load", "246, 0, 0, 0, 0", EPERM},
    {"init_module", "175, 0, 0, 0", EPERM},
    {"mount", "165, 0, 0, 0, 0, 0", EPERM},
    {"umount2", "166, 0, 0", EPERM},
    {"open_tree", "428, -100, 0, 0", EPERM},
    {"move_mount", "429, 0, 0, 0, 0, 0", EPERM},
    {"fsopen", "430, 0, 0", EPERM},
    {"mount_setattr", "442, 0, 0, 0, 0, 0", EPERM},
    {"pivot_root", "155, 0, 0", EPERM},
    {"setns", "308, 0, 0", EPERM},
    {"unshare of users", "272, 0x10000000", EPERM},
    {"unshare of time", "272, 0x80", EPERM},
    {"clone of users", "56, 0x10000000, 0, 0, 0, 0", EPERM},
    {"clone of mounts", "56, 0x00020000, 0, 0, 0, 0", EPERM},
    {"clone3", "435, 0, 0", ENOSYS},
    {"pushing input into a terminal", "16, 0, 0x5412, 0", EPERM},
    {"the same with high bits", "16, 0, 0x100005412, 0", EPERM},
    {"the console's selection", "16, 0, 0x541c, 0", EPERM},
    {"another ioctl is asked", "16, 0, 0x5413, 0", ENOTTY},
    {"unshare of files is harmless", "272, 0x400", 0},
    {"ptrace stays", "101, 0, 0, 0, 0", 0},
  };
  std::string program = "perl -e '";
  for (const auto& each : rows)
    program += "$! = 0; syscall(" + std::string{each.arguments}
               + "); print 0 + $!, \"\\n\"; ";
  program += "'";
  std::istringstream lines{out_of(executor, program)};
  for (const auto& each : rows) {
    CAPTURE(std::string{each.name});
    int error = -1;
    lines >> error;
    CHECK(error == each.error);
  }
}
#endif

TEST_CASE_FIXTURE(one_office, "limits of a command") {
  CHECK(out_of(executor, "ulimit -n; ulimit -c") == "4096\n0\n");
  CHECK(out_of(executor, "ulimit -f")
        == std::to_string(limits::exec_written_file_bytes / 512) + "\n");
  CHECK(tried("ulimit -n 5000").first != 0);
}

TEST_CASE_FIXTURE(real_world, "a shared door shows what is shared") {
  test::put_file(ws.skills_dir + "/a/SKILL.md", "skill");
  auto executor = make(args_for("local", "trusted", "shared-support"));
  auto place = args_for("local").place;
  CHECK(out_of(executor, "ls /workspace")
        == "MEMORY.md\nevents\nskills\n" + place.key + "\n");
  CHECK(out_of(executor, "cat /workspace/skills/a/SKILL.md") == "skill");
  out_of(executor, "echo remembered >> /workspace/MEMORY.md; "
                   "echo x > /workspace/events/e.json");
  CHECK(test::content_of(ws.memory_path) == "remembered\n");
  CHECK(test::content_of(ws.events_dir + "/e.json") == "x\n");
  CHECK(run(executor, "touch /workspace/new").value->code != 0);
}

TEST_CASE_FIXTURE(real_world, "a full door shows all but keeps the records") {
  auto other = make("other");
  out_of(other, "echo theirs > file");
  auto executor = make(args_for("local", "trusted", "full"));
  auto neighbour = "/workspace/" + args_for("other").place.key;
  CHECK(out_of(executor,
               "cat " + neighbour + "/file; echo mine > " + neighbour + "/file")
        == "theirs\n");
  CHECK(run(executor, "touch sessions/x").value->code != 0);
  CHECK(run(executor, "echo x >> log.jsonl").value->code != 0);
  out_of(executor, "echo new > /workspace/new");
}

TEST_CASE_FIXTURE(one_office, "a source that became a link is not mounted") {
  out_of(executor, "true");
  std::filesystem::remove_all(place.sessions_dir);
  std::filesystem::create_directory_symlink("/etc", place.sessions_dir);
  auto got = run(executor, "cat sessions/shadow");
  CHECK(got.code == errc::spawn_failed);
  // The next command prepares again and refuses for the same reason.
  got = run(executor, "cat sessions/shadow");
  CHECK(got.code == errc::not_ready);
  CHECK(contains(got.sentence, "sessions"));
}
