#include "sandbox/probe.hpp"

#include "tests/sandbox/sandbox_story.hpp"

using namespace bureau;
using bureau::test::contains;
using bureau::test::process_script;
using bureau::test::sandbox_story;

namespace {

const std::string options = "--bind-fd --ro-bind-fd --disable-userns "
                            "--json-status-fd --perms --size";

bool has_word(const proc_spec& spec, const char* word) {
  return std::ranges::find(spec.argv, word) != spec.argv.end();
}

struct probe_story : sandbox_story {
  /// bubblewrap's answers to --version and --help.
  void installed(std::string version, std::string help = options) {
    process_script script;
    script.out = "bubblewrap " + std::move(version) + "\n";
    processes->script(script, [](const proc_spec& spec) {
      return has_word(spec, "--version");
    });
    script.out = std::move(help);
    processes->script(
      script, [](const proc_spec& spec) { return has_word(spec, "--help"); });
  }

  sandbox::probe_report run() {
    std::vector<sandbox::probe_report> reports;
    sandbox::probe_bwrap(
      *system, deps, config.bwrap, args.ws,
      [&](const sandbox::probe_report& report) { reports.push_back(report); });
    advance(std::chrono::seconds{10});
    REQUIRE(reports.size() == 1);
    return reports[0];
  }
};

} // namespace

TEST_CASE_FIXTURE(probe_story, "a working sandbox passes its probe") {
  installed("0.8.0");
  processes->script(ended(0));
  auto report = run();
  CHECK(report.ok);
  CHECK(report.version == "0.8.0");
  CHECK(report.failure.empty());
  CHECK(report.limits == "process limit: none; memory, cpu: none");
  REQUIRE(processes->specs.size() == 3);
  auto& spec = processes->specs[2];
  CHECK(spec.argv.back() == "true");
  // Every source of the profile exists, none of a real office was touched.
  for (const auto& fd : spec.fds)
    if (fd.kind == fd_kind::open_beneath)
      CHECK(std::filesystem::exists(fd.root + "/" + fd.path));
  CHECK(!std::filesystem::exists(args.ws.state_dir + "/conversations"));
  CHECK(std::filesystem::is_empty(args.ws.root));
}

TEST_CASE_FIXTURE(probe_story, "without bubblewrap the probe says so") {
  process_script refused;
  refused.refuse = make_failure(errc::spawn_failed,
                                "cannot start /usr/bin/bwrap: it is missing");
  processes->script(refused);
  auto report = run();
  CHECK(!report.ok);
  CHECK(contains(report.failure, "cannot start /usr/bin/bwrap"));
  CHECK(contains(report.failure, "Install the package bubblewrap"));
}

TEST_CASE_FIXTURE(probe_story, "an old or reduced build is refused") {
  installed("0.4.1");
  auto old = run();
  CHECK(!old.ok);
  CHECK(old.version == "0.4.1");
  CHECK(contains(old.failure, "0.4.1 is too old"));
  installed("0.9.0", "--ro-bind");
  auto reduced = run();
  CHECK(!reduced.ok);
  CHECK(contains(reduced.failure, "--bind-fd"));
}

TEST_CASE_FIXTURE(probe_story, "nonsense instead of a version is a failure") {
  process_script script;
  script.out = "hello\n";
  processes->script(script);
  auto report = run();
  CHECK(!report.ok);
  CHECK(contains(report.failure, "hello"));
}

TEST_CASE_FIXTURE(probe_story, "a sandbox that cannot start is explained") {
  installed("0.8.0");
  process_script broken;
  broken.code = 1;
  broken.err = "bwrap: Can't mount proc on /newroot/proc: Operation not "
               "permitted\n";
  broken.extra = {""};
  processes->script(broken);
  auto report = run();
  CHECK(!report.ok);
  CHECK(contains(report.failure, "Can't mount proc"));
  CHECK(contains(report.failure, "systempaths=unconfined"));
}

TEST_CASE_FIXTURE(probe_story, "a missing prlimit is told") {
  installed("0.8.0");
  process_script refused;
  refused.refuse = make_failure(errc::spawn_failed,
                                "cannot start /usr/bin/prlimit: it is missing");
  processes->script(refused);
  CHECK(contains(run().failure, "install util-linux"));
}

TEST_CASE_FIXTURE(probe_story, "a sandbox that hangs fails in two seconds") {
  installed("0.8.0");
  processes->script(held());
  auto report = run();
  CHECK(!report.ok);
  CHECK(contains(report.failure, "timed out after 2 seconds"));
  CHECK(processes->running.empty());
}

TEST_CASE_FIXTURE(probe_story, "an unusable state directory is told") {
  std::filesystem::remove(args.ws.state_dir);
  test::put_file(args.ws.state_dir, "not a directory");
  installed("0.8.0");
  auto report = run();
  CHECK(!report.ok);
  CHECK(contains(report.failure, "state directory"));
}
