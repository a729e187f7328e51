#include "config/cli.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::config;

namespace {

using args = std::vector<std::string>;

cli_plan plan_of(const args& given) {
  auto result = parse_command_line(given);
  INFO(result.usage_error);
  REQUIRE(result);
  return result.plan;
}

std::string error_of(const args& given) {
  return parse_command_line(given).usage_error;
}

} // namespace

TEST_CASE("no argument runs the node with defaults") {
  auto plan = plan_of({});
  CHECK(plan.what == command::run);
  CHECK_FALSE(plan.state_dir);
  CHECK_FALSE(plan.workspace);
  CHECK_FALSE(plan.run.sandbox);
  CHECK_FALSE(plan.run.headless);
  CHECK_FALSE(plan.run.console);
  CHECK_FALSE(plan.run.json);
  CHECK_FALSE(plan.run.log_file);
}

TEST_CASE("the first word selects the command") {
  CHECK(plan_of({"run"}).what == command::run);
  CHECK(plan_of({"env"}).what == command::env);
  CHECK(plan_of({"status"}).what == command::status);
  CHECK(plan_of({"shutdown"}).what == command::shutdown);
  CHECK(plan_of({"version"}).what == command::version);
  CHECK(plan_of({"help"}).what == command::help);
  CHECK(plan_of({"office", "list"}).what == command::office);
  CHECK(plan_of({"jobs", "list"}).what == command::jobs);
  CHECK(plan_of({"--help"}).what == command::help);
  CHECK(plan_of({"-h"}).what == command::help);
  CHECK(plan_of({"--version"}).what == command::version);
  CHECK(plan_of({"-v"}).what == command::version);
  CHECK(plan_of({"-V"}).what == command::version);
  CHECK(plan_of({"--version", "--help"}).what == command::help);
  CHECK(plan_of({"--onboard", "--version"}).what == command::version);
  // Only the first word: later ones are the workspace.
  auto later = plan_of({"/some/dir", "env"});
  CHECK(later.what == command::run);
  CHECK(later.workspace == "env");
}

TEST_CASE("both spellings of a flag mean the same and the last value wins") {
  struct row {
    args given;
    const char* state_dir;
    const char* console;
    const char* log;
  };
  for (const auto& [given, state_dir, console, log] :
       {row{{"--state-dir", "/s", "--console", "a", "--log", "l"},
            "/s",
            "a",
            "l"},
        row{{"--state-dir=/s", "--console=a", "--log=l"}, "/s", "a", "l"},
        row{{"--state-dir=/x", "--console=b", "--state-dir", "/s", "--console",
             "a", "--log=l"},
            "/s",
            "a",
            "l"},
        row{{"run", "--log=-l", "--state-dir=-s", "--console=-a"},
            "-s",
            "-a",
            "-l"}}) {
    auto plan = plan_of(given);
    CHECK(plan.state_dir == state_dir);
    CHECK(plan.run.console == console);
    CHECK(plan.run.log_file == log);
  }
}

TEST_CASE("words around flags are the workspace and the last one wins") {
  CHECK(plan_of({"--sandbox=host", "/tmp/w"}).workspace == "/tmp/w");
  CHECK(plan_of({"/a", "--headless", "/b"}).workspace == "/b");
  CHECK(plan_of({"--state-dir", "/s", "/w", "--sandbox", "host"}).workspace
        == "/w");
  CHECK(plan_of({"--", "-odd"}).workspace == "-odd");
  CHECK(plan_of({"run", "env"}).workspace == "env");
}

TEST_CASE("the sandbox value is parsed with the plan") {
  CHECK(plan_of({"--sandbox", "host"}).run.sandbox->type == sandbox_type::host);
  CHECK(plan_of({"--sandbox=image:a:b"}).run.sandbox->image == "a:b");
  CHECK(plan_of({"--sandbox=bad:x", "--sandbox=bwrap"}).run.sandbox->type
        == sandbox_type::bwrap);
  CHECK(error_of({"--sandbox=bogus:nope"}).find("Invalid sandbox type")
        != std::string::npos);
}

TEST_CASE("wrong usage is one sentence that names the argument") {
  struct row {
    args given;
    const char* part;
  };
  for (const auto& [given, part] :
       {row{{"--sandox=host"}, "Unknown flag: --sandox=host."},
        row{{"--worker-token", "x"}, "Unknown flag: --worker-token."},
        row{{"-x"}, "Unknown flag: -x."},
        row{{"--state-dir"}, "--state-dir needs a value."},
        row{{"--state-dir="}, "--state-dir needs a value."},
        row{{"--state-dir", ""}, "--state-dir needs a value."},
        row{{"--state-dir", "--headless"}, "begins with '-'"},
        row{{"--state-dir", "-s"}, "write it as --state-dir=-s."},
        row{{"--sandbox"}, "--sandbox needs a value."},
        row{{"--console", "Bad Name"}, "'Bad Name' is no name"},
        row{{"--console=" + std::string(33, 'a')}, "1 to 32 characters"},
        row{{"--console=a", "--headless"}, "contradict"},
        row{{"run", "--json", "--headless"}, "contradict"},
        row{{""}, "empty word"},
        row{{"--onboard"}, "`bureau onboard` is not available"},
        row{{"--download=C1"}, "`bureau download` is not available"},
        row{{"observe"}, "`bureau observe` is not available"},
        row{{"ext", "install", "--sandbox=bad"}, "`bureau ext` is not"},
        row{{"env", "x"}, "`env` takes no argument 'x'"},
        row{{"version", "x"}, "`version` takes no argument 'x'"},
        row{{"office"}, "Usage: bureau office list"},
        row{{"office", "claim", "C1"}, "Usage: bureau office list"},
        row{{"office", "claim", "C1", "irc"}, "Unknown platform 'irc'"},
        row{{"office", "claim", "C1", "console"}, "Unknown platform 'console'"},
        row{{"office", "frobnicate"}, "Usage: bureau office list"},
        row{{"office", "list", "x"}, "Usage: bureau office list"},
        row{{"office", "list", "--x"}, "Unknown flag: --x."},
        row{{"office", "list", "--state-dir"}, "--state-dir needs a value."},
        row{{"office", "claim", "--", "--x"}, "Usage: bureau office list"},
        row{{"office", "show"}, "Usage: bureau office list"},
        row{{"office", "show", "slack"}, "Usage: bureau office list"},
        row{{"office", "show", "slack", ""}, "Usage: bureau office list"},
        row{{"office", "show", "irc", "C1"}, "Unknown platform 'irc'"},
        row{{"status", "x"}, "`status` takes no argument 'x'"},
        row{{"status", "--jsn"}, "Unknown flag: --jsn."},
        row{{"jobs"}, "Usage: bureau jobs list"},
        row{{"jobs", "show"}, "Usage: bureau jobs list"},
        row{{"jobs", "end", "x"}, "Usage: bureau jobs list"},
        row{{"jobs", "show", "x", "--state=running"}, "Usage: bureau jobs"},
        row{{"shutdown", "x"}, "`shutdown` takes no argument 'x'"},
        row{{"shutdown", "--timeout"}, "--timeout needs a value."},
        row{{"shutdown", "--timeout=-1"}, "seconds from 0 to 86400, not '-1'"},
        row{{"shutdown", "--timeout=86401"}, "from 0 to 86400"},
        row{{"shutdown", "--timeout", "1.5"}, "whole number of seconds"},
        row{{"shutdown", "--timeout", "5s"}, "whole number of seconds"},
        row{{"shutdown", "--timeout", "99999999999999999999"},
            "whole number of seconds"}}) {
    auto sentence = error_of(given);
    CAPTURE(given.front());
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
  }
}

TEST_CASE("every word of a later version is refused, not taken as a path") {
  for (auto word : {"observe", "scenario", "settings", "link", "pair",
                    "packages", "ext", "sandbox", "onboard", "download"}) {
    CAPTURE(std::string{word});
    CHECK(error_of({word}).find("is not available in this version")
          != std::string::npos);
    CHECK(plan_of({"./" + std::string{word}}).workspace
          == "./" + std::string{word});
  }
}

TEST_CASE("office commands carry their places") {
  auto list =
    plan_of({"office", "list", "--state-dir", "/s", "--workspace=/w"});
  CHECK(list.office.action == office_action::list);
  CHECK(list.state_dir == "/s");
  CHECK(list.workspace == "/w");
  auto claim =
    plan_of({"office", "--state-dir=/s", "claim", "-100", "telegram"});
  CHECK(claim.office.action == office_action::claim);
  CHECK(claim.office.raw_id == "-100");
  CHECK(claim.office.platform == platform_id::telegram);
  auto ended = plan_of({"office", "claim", "--", "-100", "telegram"});
  CHECK(ended.office.raw_id == "-100");
  CHECK(plan_of({"office", "claim", "--", "--x", "slack"}).office.raw_id
        == "--x");
}

TEST_CASE("an office is shown by its platform and id") {
  auto plan =
    plan_of({"office", "show", "telegram", "-100", "--workspace", "/w"});
  CHECK(plan.office.action == office_action::show);
  CHECK(plan.office.platform == platform_id::telegram);
  CHECK(plan.office.raw_id == "-100");
  CHECK(plan.workspace == "/w");
  CHECK(plan_of({"office", "show", "console", "local"}).office.platform
        == platform_id::console);
}

TEST_CASE("the console can speak frames") {
  CHECK(plan_of({"run", "--json"}).run.json);
  CHECK(plan_of({"--json", "--console", "a"}).run.console == "a");
}

TEST_CASE("a notification names a conversation and its text") {
  auto plan = plan_of({"notify", "telegram:-5", "hello", "--verbatim",
                       "--key=k", "--state-dir", "/s"});
  CHECK(plan.what == command::notify);
  CHECK(plan.notify.conversation == "telegram:-5");
  CHECK(plan.notify.text == "hello");
  CHECK(plan.notify.verbatim);
  CHECK(plan.notify.key == "k");
  CHECK(plan.state_dir == "/s");
  CHECK(plan_of({"notify", "--list"}).notify.list);
  for (const args& given :
       {args{"notify"}, args{"notify", "a:b"}, args{"notify", "a:b", ""},
        args{"notify", "a:b", "c", "d"}, args{"notify", "--list", "a:b", "c"},
        args{"notify", "--list", "--verbatim"}})
    CHECK(error_of(given).find("Usage: bureau notify") != std::string::npos);
}

TEST_CASE("turns of a conversation are cancelled, one or all") {
  auto plan = plan_of({"cancel", "console:local"});
  CHECK(plan.what == command::cancel);
  CHECK(plan.cancel.conversation == "console:local");
  CHECK_FALSE(plan.cancel.all);
  CHECK(plan_of({"cancel", "console:local", "--all"}).cancel.all);
  CHECK(error_of({"cancel"}).find("Usage: bureau cancel") != std::string::npos);
}

TEST_CASE("reports of the configuration and of frames") {
  CHECK(plan_of({"config", "--json"}).what == command::config);
  CHECK(plan_of({"config", "--json"}).status.json);
  CHECK(error_of({"config", "x"}).starts_with("`config` takes no argument"));
  CHECK(plan_of({"frames"}).what == command::frames);
  CHECK(error_of({"frames", "x"}).starts_with("`frames` takes no argument"));
}

TEST_CASE("status and shutdown carry their flags") {
  auto status = plan_of({"status", "--json", "--state-dir", "/s"});
  CHECK(status.status.json);
  CHECK(status.state_dir == "/s");
  CHECK_FALSE(plan_of({"status"}).status.json);
  CHECK_FALSE(plan_of({"shutdown"}).shutdown.timeout_s);
  CHECK(plan_of({"shutdown", "--timeout", "0"}).shutdown.timeout_s == 0);
  auto shutdown =
    plan_of({"shutdown", "--timeout=5", "--state-dir=/s", "--timeout=86400"});
  CHECK(shutdown.shutdown.timeout_s == 86'400);
  CHECK(shutdown.state_dir == "/s");
}

TEST_CASE("the help text names every flag and sandbox value") {
  auto text = help_text();
  for (auto part :
       {"--state-dir", "--sandbox", "--headless", "--console", "--json",
        "--log", "WORKSPACE", "office claim", "office show",
        "bureau status [--json]", "bureau shutdown [--timeout SECONDS]", "env",
        "bwrap[:default]", "host", "container:<container-name>",
        "image:<image-name>", "gondolin:default", "firecracker:<vm-id>",
        "cloudflare:<sandbox-id>"}) {
    CAPTURE(std::string{part});
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("jobs are listed, shown and cancelled") {
  auto list = plan_of({"jobs", "list", "--state", "running", "--json"});
  CHECK(list.jobs.action == jobs_action::list);
  CHECK(list.jobs.state == "running");
  CHECK(list.jobs.json);
  auto cancel = plan_of({"jobs", "cancel", "pj-1", "--state-dir=/s"});
  CHECK(cancel.jobs.action == jobs_action::cancel);
  CHECK(cancel.jobs.id == "pj-1");
  CHECK(cancel.state_dir == "/s");
  CHECK(plan_of({"jobs", "show", "pj-1"}).jobs.action == jobs_action::show);
}
