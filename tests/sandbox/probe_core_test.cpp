#include "sandbox/probe_core.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::sandbox;

TEST_CASE("versions of bubblewrap") {
  struct row {
    const char* output;
    const char* text;
    bool new_enough;
  };
  const row rows[] = {
    {"bubblewrap 0.8.0\n", "0.8.0", true},
    {"bubblewrap 0.11.0", "0.11.0", true},
    {"bubblewrap 1.0", "1.0", true},
    {"bubblewrap 0.7.9\n", "0.7.9", false},
    {"bubblewrap 0.4.1\n", "0.4.1", false},
  };
  for (const auto& each : rows) {
    CAPTURE(std::string{each.output});
    auto version = parse_version(each.output);
    REQUIRE(version);
    CHECK(version->text == each.text);
    CHECK(is_new_enough(*version) == each.new_enough);
  }
  for (const auto* nonsense : {"", "bubblewrap", "bubblewrap x.y", "7", "7."}) {
    CAPTURE(std::string{nonsense});
    CHECK(!parse_version(nonsense));
  }
}

TEST_CASE("options that a build must have") {
  std::string all = "--bind-fd --ro-bind-fd --disable-userns --json-status-fd "
                    "--perms --size";
  CHECK(missing_options(all).empty());
  CHECK(missing_options("--ro-bind-fd --json-status-fd --perms --size")
        == "--bind-fd, --disable-userns");
  auto sentence = probe_outdated("0.8.0", "--bind-fd");
  CHECK(sentence.find("lacks --bind-fd") != std::string::npos);
  CHECK(sentence.find("--sandbox=host") != std::string::npos);
}

TEST_CASE("a failed probe names its cause and the ways out") {
  struct row {
    std::string name;
    const char* detail;
    kernel_facts facts;
    const char* says;
  };
  const row rows[] = {
    {"sysctl of Debian",
     "bwrap: Creating new namespace failed",
     {"0", "100", ""},
     "kernel.unprivileged_userns_clone=1"},
    {"no namespaces left",
     "bwrap: Creating new namespace failed: No space",
     {"1", "0", ""},
     "user.max_user_namespaces"},
    {"AppArmor",
     "bwrap: setting up uid map: Permission denied",
     {"", "100", "1"},
     "apparmor_restrict_unprivileged_userns=0"},
    {"AppArmor on the loopback",
     "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
     {"", "", ""},
     "AppArmor profile"},
    {"AppArmor by its setting alone",
     "bwrap: something new",
     {"", "", "1"},
     "AppArmor profile"},
    {"masked proc",
     "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
     {"1", "100", "0"},
     "systempaths=unconfined"},
    {"unit",
     "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
     {"", "", ""},
     "ProtectKernelTunables"},
    {"prlimit",
     "cannot start /usr/bin/prlimit: No such file or directory",
     {"", "", ""},
     "install util-linux"},
    {"a lower limit of the node",
     "prlimit: failed to set the NOFILE resource limit: Operation not "
     "permitted",
     {"", "", ""},
     "LimitNOFILE"},
    {"unknown", "bwrap: surprise", {"", "", ""}, "surprise"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto sentence = probe_failure(probe_step::profile, each.detail, each.facts);
    CHECK(sentence.find(each.says) != std::string::npos);
    CHECK(sentence.find("--sandbox=host") != std::string::npos);
    CHECK(sentence.find('\n') == std::string::npos);
  }
  CHECK(probe_failure(probe_step::version, "no such file", {})
          .find("Install the package bubblewrap")
        != std::string::npos);
  CHECK(probe_failure(probe_step::preparation, "disk full", {})
          .find("state directory")
        != std::string::npos);
}
