#include "sandbox/bwrap_core.hpp"
#include "sandbox/seccomp_filter.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

using words = std::vector<std::string>;

bwrap_config merged_host() {
  bwrap_config config;
  config.roots = {{"bin", "usr/bin"}, {"lib", "usr/lib"}, {"lib64", ""}};
  config.seccomp = "FILTER";
  return config;
}

executor_args office_args(const char* policy = "isolated",
                          const char* layout_word = "conversation") {
  executor_args args;
  args.ws = make_workspace("/host/ws", "/host/state");
  args.place = make_office(args.ws, {platform_id::console, "local"});
  args.door_policy = policy;
  args.layout = layout_word;
  return args;
}

const std::string key = office_args().place.key;

bwrap_plan plan_of(const bwrap_config& config, const executor_args& args) {
  return make_bwrap_plan(
    config, args,
    project(args.ws, args.place,
            effective_door(args.door_policy, args.layout)));
}

words split(std::string text) {
  for (auto pos = text.find("KEY"); pos != std::string::npos;
       pos = text.find("KEY"))
    text.replace(pos, 3, key);
  std::istringstream in{text};
  words result;
  std::string word;
  while (in >> word)
    result.push_back(word);
  return result;
}

/// The arguments from `first` up to but not including `last`.
words between(const words& all, const std::string& first,
              const std::string& last) {
  auto begin = std::ranges::find(all, first);
  auto end = std::find(begin, all.end(), last);
  return {begin, end};
}

std::string after(const words& all, const std::string& option) {
  auto pos = std::ranges::find(all, option);
  return pos == all.end() || pos + 1 == all.end() ? "" : *(pos + 1);
}

size_t count(const words& all, const std::string& word) {
  return static_cast<size_t>(std::ranges::count(all, word));
}

// S1, steps 1 to 10 for an isolated office without a network.
constexpr const char* normative = R"(
  --unshare-user --unshare-pid --unshare-ipc --unshare-uts
  --unshare-cgroup-try --unshare-net --disable-userns --uid 1000 --gid 1000
  --cap-drop ALL --hostname office --die-with-parent --json-status-fd 4
  --seccomp 5
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib
  --ro-bind /lib64 /lib64
  --perms 0755 --dir /etc
  --ro-bind-try /etc/alternatives /etc/alternatives
  --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache
  --ro-bind-try /etc/ld.so.conf /etc/ld.so.conf
  --ro-bind-try /etc/ld.so.conf.d /etc/ld.so.conf.d
  --ro-bind-try /etc/ssl/certs /etc/ssl/certs
  --ro-bind-try /etc/ssl/openssl.cnf /etc/ssl/openssl.cnf
  --ro-bind-try /etc/ca-certificates /etc/ca-certificates
  --ro-bind-try /etc/localtime /etc/localtime
  --ro-bind-try /etc/timezone /etc/timezone
  --ro-bind-try /etc/protocols /etc/protocols
  --ro-bind-try /etc/services /etc/services
  --ro-bind-try /etc/mime.types /etc/mime.types
  --ro-bind-try /etc/nsswitch.conf /etc/nsswitch.conf
  --ro-bind-try /etc/terminfo /etc/terminfo
  --ro-bind-try /etc/gitconfig /etc/gitconfig
  --ro-bind-try /etc/python3 /etc/python3
  --ro-bind-try /etc/fonts /etc/fonts
  --perms 0644 --ro-bind-data 6 /etc/passwd
  --perms 0644 --ro-bind-data 7 /etc/group
  --perms 0644 --ro-bind-data 8 /etc/hosts
  --proc /proc --dev /dev --perms 1777 --size 67108864 --tmpfs /dev/shm
  --bind-fd 9 /tmp --bind-fd 10 /root --symlink ../tmp /var/tmp
  --perms 0755 --dir /run --perms 0755 --dir /workspace
  --bind-fd 11 /workspace/KEY
  --ro-bind-fd 12 /workspace/KEY/sessions
  --ro-bind-fd 13 /workspace/KEY/attachments
  --ro-bind-fd 14 /workspace/KEY/log.jsonl
  --remount-ro / --chdir /workspace/KEY --clearenv
  --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  --setenv HOME /root --setenv USER agent --setenv LOGNAME agent
  --setenv SHELL /bin/sh --setenv LANG C.UTF-8 --setenv TERM dumb
  --setenv TMPDIR /tmp --setenv TZ UTC
)";

proc_spec spec_of(const bwrap_config& config, const executor_args& args,
                  const command_text& text) {
  auto checked = make_bwrap_profile(config, args)->command(text);
  CHECK(checked.fault == errc::none);
  return checked.spec;
}

const proc_fd* fd_of(const proc_spec& spec, int32_t number) {
  for (const auto& fd : spec.fds)
    if (fd.child_fd == number)
      return &fd;
  return nullptr;
}

command_text command(std::string text) {
  command_text result;
  result.command = std::move(text);
  return result;
}

} // namespace

TEST_CASE("the arguments come in the normative order") {
  auto plan = plan_of(merged_host(), office_args());
  CHECK(plan.fault.empty());
  auto have = bwrap_arguments(plan, "/workspace/" + key);
  auto want = split(normative);
  for (size_t i = 0; i < std::min(have.size(), want.size()); ++i) {
    CAPTURE(i);
    CHECK(have[i] == want[i]);
  }
  CHECK(have.size() == want.size());
}

TEST_CASE("a shared network keeps the namespace and shows the resolver") {
  auto args = office_args();
  args.network = "host";
  auto have = bwrap_arguments(plan_of(merged_host(), args), "/w");
  CHECK(count(have, "--unshare-net") == 0);
  CHECK(count(have, "--disable-userns") == 1);
  CHECK(between(have, "/etc/hosts", "--proc")
        == words{"/etc/hosts", "--ro-bind-try", "/etc/resolv.conf",
                 "/etc/resolv.conf"});
  args.network = "none";
  have = bwrap_arguments(plan_of(merged_host(), args), "/w");
  CHECK(count(have, "/etc/resolv.conf") == 0);
}

TEST_CASE("a network that is not built is refused, never weakened") {
  for (const auto* network : {"internet", "", "HOST", "bridge"}) {
    CAPTURE(std::string{network});
    auto args = office_args();
    args.network = network;
    auto profile = make_bwrap_profile(merged_host(), args);
    CHECK(profile->info().refusal.find("sandbox.network") != std::string::npos);
    CHECK(profile->command(command("true")).fault == errc::denied);
    auto have = bwrap_arguments(plan_of(merged_host(), args), "/w");
    CHECK((count(have, "--unshare-net") == 1));
  }
}

TEST_CASE("nothing runs without the system call filter") {
  auto config = merged_host();
  config.seccomp.clear();
  auto profile = make_bwrap_profile(config, office_args());
  CHECK(profile->command(command("true")).fault == errc::denied);
  CHECK(!profile->info().refusal.empty());
}

TEST_CASE("doors choose the mounts, overlays come last") {
  struct row {
    std::string name;
    const char* policy;
    const char* layout;
    const char* want;
  };
  const row rows[] = {
    {"isolated", "isolated", "full",
     "--bind-fd 11 /workspace/KEY --ro-bind-fd 12 /workspace/KEY/sessions "
     "--ro-bind-fd 13 /workspace/KEY/attachments "
     "--ro-bind-fd 14 /workspace/KEY/log.jsonl"},
    {"shared", "trusted", "shared-support",
     "--bind-fd 11 /workspace/MEMORY.md --bind-fd 12 /workspace/skills "
     "--bind-fd 13 /workspace/events --bind-fd 14 /workspace/KEY "
     "--ro-bind-fd 15 /workspace/KEY/sessions "
     "--ro-bind-fd 16 /workspace/KEY/attachments "
     "--ro-bind-fd 17 /workspace/KEY/log.jsonl"},
    {"full", "trusted", "full",
     "--bind-fd 11 /workspace --ro-bind-fd 12 /workspace/KEY/sessions "
     "--ro-bind-fd 13 /workspace/KEY/attachments "
     "--ro-bind-fd 14 /workspace/KEY/log.jsonl"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto plan = plan_of(merged_host(), office_args(each.policy, each.layout));
    auto have = bwrap_arguments(plan, "/w");
    auto begin = std::find(have.begin(), have.end(), "/run") + 1;
    begin += 4; // --perms 0755 --dir /workspace
    auto end = std::find(begin, have.end(), "--remount-ro");
    CHECK(words(begin, end) == split(each.want));
  }
}

TEST_CASE("read-only paths of the settings stand behind the system") {
  auto config = merged_host();
  config.read_only = {"/opt/tools", "/srv/data"};
  auto have = bwrap_arguments(plan_of(config, office_args()), "/w");
  auto begin = std::find(have.begin(), have.end(), "/lib64") + 2;
  CHECK(words(begin, begin + 6)
        == words{"--ro-bind", "/opt/tools", "/opt/tools", "--ro-bind",
                 "/srv/data", "/srv/data"});
}

TEST_CASE("read-only paths that would uncover something are refused") {
  struct row {
    const char* path;
    bool refused;
  };
  const row rows[] = {
    {"/opt/tools", false},
    {"/home/me/bin", false},
    {"/var/lib/models", false},
    {"/srv", false},
    {"/", true},
    {"/etc", true},
    {"/etc/shadow", true},
    {"/root", true},
    {"/root/.ssh", true},
    {"/home", true},
    {"/var", true},
    {"/run/user", true},
    {"/sys", true},
    {"/proc/1", true},
    {"/dev/sda", true},
    {"/tmp/x", true},
    {"/usr/share", true},
    {"/workspace/x", true},
    {"relative", true},
    {"", true},
    {"/opt/../etc", true},
    {"/opt/", true},
    {"/opt//x", true},
    {"/host", true},
    {"/host/state", true},
    {"/host/state/vault", true},
    {"/host/ws/other", true},
    {"/host/statements", false},
  };
  for (const auto& each : rows) {
    CAPTURE(std::string{each.path});
    auto ws = office_args().ws;
    CHECK(check_read_only(each.path, ws).has_value() == each.refused);
    auto config = merged_host();
    config.read_only = {each.path};
    CHECK(plan_of(config, office_args()).fault.empty() != each.refused);
  }
}

TEST_CASE("names of variables are checked") {
  struct row {
    std::string name;
    bool fine;
  };
  const row rows[] = {
    {"GITHUB_TOKEN", true}, {"_x", true},        {"a1", true},
    {"TERM", true},         {"PATH", true},      {"", false},
    {"1A", false},          {"A-B", false},      {"A=B", false},
    {"A B", false},         {"\xC3\x84", false}, {"HOME", false},
    {"PWD", false},         {"TMPDIR", false},   {"BUREAU_X", false},
    {"BUREAU", true},       {"--setenv", false},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    CHECK(check_variable({each.name, "v", true}).has_value() != each.fine);
    auto config = merged_host();
    config.extra_env = {{each.name, "v", true}};
    CHECK(plan_of(config, office_args()).fault.empty() == each.fine);
  }
  CHECK(check_variable({"A", std::string("a\0b", 3), false}).has_value());
}

TEST_CASE("variables stand last and a refused value is never shown") {
  auto config = merged_host();
  config.extra_env = {{"TOKEN", "hunter2", true}};
  auto have = bwrap_arguments(plan_of(config, office_args()), "/w");
  CHECK(words(have.end() - 3, have.end())
        == words{"--setenv", "TOKEN", "hunter2"});
  config.extra_env = {{"HOME", "hunter2", true}};
  CHECK(plan_of(config, office_args()).fault.find("hunter2")
        == std::string::npos);
}

TEST_CASE("the zone of the office is the zone inside") {
  auto args = office_args();
  args.time_zone = "Europe/Vienna";
  auto have = bwrap_arguments(plan_of(merged_host(), args), "/w");
  CHECK(after(have, "TZ") == "Europe/Vienna");
  args.time_zone = std::string("a\0b", 3);
  CHECK(!plan_of(merged_host(), args).fault.empty());
}

TEST_CASE("one process per command, with nothing inherited") {
  auto spec = spec_of(merged_host(), office_args(), command("echo hi"));
  CHECK(spec.argv
        == words{"/usr/bin/prlimit", "--nofile=4096", "--fsize=2147483648",
                 "--core=0", "--", "/usr/bin/bwrap", "--args", "3", "--",
                 "/usr/bin/setsid", "/bin/sh", "-c", "echo hi"});
  CHECK(spec.env.empty());
  CHECK(spec.cwd == "/");
  CHECK(spec.input == stdin_kind::null);
  CHECK(spec.new_session);
  CHECK(spec.on_exit == on_exit_rule::kill_rest);
  CHECK(spec.exec_tag.empty());
  CHECK(spec.cap_out == limits::exec_output_bytes);
  CHECK(spec.label == "bwrap " + key);
}

TEST_CASE("the process limit is there only where the kernel counts") {
  auto config = merged_host();
  config.limit_processes = true;
  auto argv = spec_of(config, office_args(), command("true")).argv;
  CHECK(argv[4] == "--nproc=8192");
  CHECK(argv[5] == "--");
  CHECK(limits_line(config) == "process limit: shared; memory, cpu: none");
  config.limit_processes = false;
  CHECK(limits_line(config) == "process limit: none; memory, cpu: none");
}

TEST_CASE("no limit is higher than the node's own") {
  auto config = merged_host();
  config.limit_processes = true;
  config.open_files = 1024;
  config.written_file_bytes = 1u << 20;
  config.processes = 100;
  auto argv = spec_of(config, office_args(), command("true")).argv;
  CHECK(
    words(argv.begin() + 1, argv.begin() + 5)
    == words{"--nofile=1024", "--fsize=1048576", "--core=0", "--nproc=100"});
  CHECK(limits_line(config)
        == "process limit: shared; memory, cpu: none; open files: only 1024, "
           "the node's own limit; bytes of a file: only 1048576, the node's "
           "own limit; processes: only 100, the node's own limit");
}

TEST_CASE("descriptors: arguments, status, filter, then every source") {
  auto config = merged_host();
  config.extra_env = {{"TOKEN", "hunter2", true}};
  auto spec = spec_of(config, office_args(), command("true"));
  REQUIRE(spec.fds.size() == 12);
  for (size_t i = 0; i < spec.fds.size(); ++i)
    CHECK(spec.fds[i].child_fd == static_cast<int32_t>(i) + 3);
  auto args = fd_of(spec, 3);
  CHECK(args->kind == fd_kind::bytes);
  std::string joined;
  for (const auto& word :
       bwrap_arguments(plan_of(config, office_args()), "/workspace/" + key))
    joined += word + '\0';
  CHECK(args->bytes == joined);
  CHECK(fd_of(spec, 4)->kind == fd_kind::pipe_out);
  CHECK(fd_of(spec, 5)->bytes == "FILTER");
  CHECK(fd_of(spec, 6)->bytes == "agent:x:1000:1000::/root:/bin/sh\n");
  struct source {
    int32_t number;
    const char* root;
    std::string path;
    bool directory;
  };
  const source sources[] = {
    {9, "/host/state", "run/tmp/" + key, true},
    {10, "/host/state", "conversations/" + key + "/home", true},
    {11, "/host/ws", key, true},
    {12, "/host/ws", key + "/sessions", true},
    {13, "/host/ws", key + "/attachments", true},
    {14, "/host/ws", key + "/log.jsonl", false},
  };
  for (const auto& each : sources) {
    CAPTURE(each.number);
    auto fd = fd_of(spec, each.number);
    REQUIRE(fd != nullptr);
    CHECK(fd->kind == fd_kind::open_beneath);
    CHECK(fd->root == each.root);
    CHECK(fd->path == each.path);
    auto flags = O_PATH | O_NOFOLLOW | (each.directory ? O_DIRECTORY : 0);
    CHECK(fd->flags == flags);
  }
  // A secret travels in the memory file alone.
  for (const auto& word : spec.argv)
    CHECK(word.find("hunter2") == std::string::npos);
}

TEST_CASE("where a command starts") {
  struct row {
    std::string name;
    std::string cwd;
    std::string want;
  };
  const row rows[] = {
    {"default", "", "/workspace/" + key},
    {"absolute", "/tmp", "/tmp"},
    {"relative", "sub/dir", "/workspace/" + key + "/sub/dir"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto text = command("true");
    text.cwd = each.cwd;
    auto spec = spec_of(merged_host(), office_args(), text);
    auto args = fd_of(spec, 3)->bytes;
    auto want = std::string("--chdir\0", 8) + each.want + '\0';
    CHECK(args.find(want) != std::string::npos);
  }
}

TEST_CASE("commands that cannot be an argument are refused") {
  auto profile = make_bwrap_profile(merged_host(), office_args());
  auto nul = command(std::string("a\0b", 3));
  CHECK(profile->command(nul).fault == errc::bad_request);
  auto cwd = command("true");
  cwd.cwd = std::string("/a\0b", 4);
  CHECK(profile->command(cwd).fault == errc::bad_request);
  auto longest = command(std::string(limits::exec_command_bytes, 'x'));
  CHECK(profile->command(longest).fault == errc::none);
  longest.command += 'x';
  auto refused = profile->command(longest);
  CHECK(refused.fault == errc::bad_request);
  CHECK(refused.sentence.find("131071") != std::string::npos);
}

TEST_CASE("standard input is given as bytes") {
  auto text = command("cat");
  text.has_stdin = true;
  text.stdin_bytes = "data";
  auto spec = spec_of(merged_host(), office_args(), text);
  CHECK(spec.input == stdin_kind::bytes);
  CHECK(spec.input_bytes == "data");
}

TEST_CASE("a profile tells its paths, its network and its sources") {
  auto profile =
    make_bwrap_profile(merged_host(), office_args("trusted", "full"));
  CHECK(profile->paths()
        == path_context{"/host/ws", "/workspace", "/workspace/" + key, true});
  CHECK(profile->info().backend == "bwrap");
  CHECK(profile->info().network == "none");
  CHECK(profile->info().refusal.empty());
  CHECK(profile->info().global_memory_path == "/host/ws/MEMORY.md");
  CHECK(profile->label() == "executor/" + key);
  auto isolated = make_bwrap_profile(merged_host(), office_args());
  CHECK(isolated->info().global_memory_path.empty());
}

TEST_CASE("home and tmp are made below the state directory") {
  auto jobs = make_bwrap_profile(merged_host(), office_args())->preparation();
  REQUIRE(jobs.size() == 6);
  auto& home = jobs[4];
  auto& tmp = jobs[5];
  CHECK(home.root == "/host/state");
  CHECK(home.path == "conversations/" + key + "/home");
  CHECK(home.mode == 0700);
  CHECK(home.op == file_op::ensure_directory);
  CHECK(tmp.path == "run/tmp/" + key);
  CHECK(tmp.mode == 0700);
  auto ws = office_args().ws;
  CHECK(empty_tmp_job(ws, key).op == file_op::empty_directory);
  CHECK(empty_tmp_job(ws, key).path == "run/tmp/" + key);
  auto boot = boot_tmp_jobs(ws);
  REQUIRE(boot.size() == 2);
  CHECK(boot[1].op == file_op::empty_directory);
  CHECK(boot[1].path == "run/tmp");
}

TEST_CASE("the system call filter is a program of whole instructions") {
  auto filter = build_seccomp_filter();
  REQUIRE(filter);
  CHECK(filter->size() % 8 == 0);
  CHECK(filter->size() > 40 * 8);
  CHECK(*build_seccomp_filter() == *filter);
}
