#include "config/boot_config.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace bureau;
using namespace bureau::config;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

using boot_reading = reading<std::shared_ptr<const boot_config>>;
using variables = std::map<std::string, std::string>;

/// A start of the node, with everything it is told.
struct start {
  std::vector<std::string> args;
  variables env;
  std::string settings = "{}";
  os::machine_facts machine;

  start() {
    machine.working_dir = "/cwd";
    machine.home = "/home/passwd";
    machine.euid = 1000;
    machine.stdin_is_terminal = true;
  }

  boot_reading read() const {
    auto plan = parse_command_line(args);
    INFO(plan.usage_error);
    REQUIRE(plan);
    auto file =
      parse_settings(settings, "/s/settings.json", settings_file_kind::global);
    INFO(file.fault);
    REQUIRE(file);
    environment environ{env};
    std::string fault;
    auto state_dir = resolve_state_dir(plan.plan, environ, machine, fault);
    REQUIRE(fault == "");
    return make_boot_config(plan.plan, state_dir, environ, file.value, machine);
  }

  std::shared_ptr<const boot_config> boot() const {
    auto result = read();
    INFO(result.fault);
    REQUIRE(result);
    return result.value;
  }

  bool warns(std::string_view part) const {
    for (const auto& warning : read().warnings)
      if (warning.find(part) != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

TEST_CASE_FIXTURE(start, "nothing given is a console node in the home") {
  auto config = boot();
  CHECK(config->state_dir == "/home/passwd/.bureau");
  CHECK(config->workspace_root == "/home/passwd/.bureau/workspace");
  CHECK_FALSE(config->workspace_explicit);
  CHECK(config->sandbox.type == sandbox_type::bwrap);
  CHECK(config->console);
  CHECK(config->console_name == "local");
  CHECK_FALSE(config->headless);
  CHECK_FALSE(config->http.serve);
  CHECK(config->http_idle_timeout == 300s);
  CHECK(config->shutdown_timeout == 30s);
  CHECK(config->session_idle_timeout == 1h);
  CHECK(config->sessions_max_cached == 500);
  CHECK(config->intake_max_age == 24h);
  CHECK(config->intake_max_text_bytes == 262'144);
  CHECK(config->events_catch_up == 24h);
  CHECK(config->outbox_pacing);
  CHECK(config->log_file == "");
  CHECK(config->platforms.size() == 4);
  CHECK(config->place().skills_dir == "/home/passwd/.bureau/workspace/skills");
  CHECK(read().warnings.empty());
}

TEST_CASE("the state directory has one precedence") {
  struct row {
    const char* name;
    std::vector<std::string> args;
    variables env;
    const char* want;
  };
  for (const auto& [name, args, env, want] : {
         row{"flag", {"--state-dir=/f"}, {{"STATE_DIR", "/e"}}, "/f"},
         row{"last flag", {"--state-dir=/f", "--state-dir", "/g"}, {}, "/g"},
         row{"relative flag", {"--state-dir=a/../b"}, {}, "/cwd/b"},
         row{"plain variable",
             {},
             {{"STATE_DIR", "/e"}, {"BUREAU_STATE_DIR", "/b"}},
             "/e"},
         row{"our variable",
             {},
             {{"BUREAU_STATE_DIR", "/b"}, {"MIKAN_STATE_DIR", "/m"}},
             "/b"},
         row{"old variable", {}, {{"MIKAN_STATE_DIR", "rel"}}, "/cwd/rel"},
         row{"home", {}, {{"HOME", "/h/"}}, "/h/.bureau"},
         row{"blank home", {}, {{"HOME", " "}}, "/home/passwd/.bureau"},
       }) {
    CAPTURE(std::string{name});
    os::machine_facts machine;
    machine.working_dir = "/cwd";
    machine.home = "/home/passwd";
    std::string fault;
    CHECK(resolve_state_dir(parse_command_line(args).plan, environment{env},
                            machine, fault)
          == want);
    CHECK(fault == "");
  }
  std::string fault;
  CHECK(resolve_state_dir({}, environment{}, {}, fault) == "");
  CHECK(fault.find("--state-dir") != std::string::npos);
}

TEST_CASE_FIXTURE(start, "a legacy spelling is read with one warning") {
  env = {{"MIKAN_STATE_DIR", "/m"}};
  CHECK(boot()->state_dir == "/m");
  CHECK(warns("rename it to BUREAU_STATE_DIR"));
  CHECK(read().warnings.size() == 1);
}

TEST_CASE_FIXTURE(start, "the workspace is the last word, a setting or below "
                         "the state") {
  args = {"--state-dir=/s", "w"};
  CHECK(boot()->workspace_root == "/cwd/w");
  CHECK(boot()->workspace_explicit);
  args = {"--state-dir=/s"};
  settings = R"({"workspace":{"dir":"ws"}})";
  CHECK(boot()->workspace_root == "/s/ws");
  CHECK(boot()->workspace_explicit);
}

TEST_CASE("the state directory must not lie in the workspace") {
  struct row {
    const char* state;
    const char* workspace;
    bool fine;
  };
  for (auto [state, workspace, fine] :
       {row{"/s", "/s/workspace", true}, row{"/work-state", "/work", true},
        row{"/work", "/work", false}, row{"/work/state", "/work", false},
        row{"/s", "/", false}, row{"/work/../s", "/work", true}}) {
    CAPTURE(std::string{state});
    CAPTURE(std::string{workspace});
    CHECK(check_placement(state, workspace).empty() == fine);
    for (auto sandbox : {"--sandbox=host", "--sandbox=bwrap"}) {
      start attempt;
      attempt.args = {std::string{"--state-dir="} + state, workspace, sandbox};
      CHECK(static_cast<bool>(attempt.read()) == fine);
    }
  }
}

TEST_CASE("links cannot hide that the state lies in the workspace") {
  scratch_directory dir;
  os::posix_file_system fs;
  REQUIRE(::mkdir((dir / "work").c_str(), 0700) == 0);
  REQUIRE(::mkdir((dir / "work/state").c_str(), 0700) == 0);
  REQUIRE(::symlink("work/state", (dir / "elsewhere").c_str()) == 0);
  CHECK(check_placement(dir / "elsewhere", dir / "work") == "");
  CHECK(check_placement_on_disk(fs, dir / "elsewhere", dir / "work") != "");
  // Neither has to exist.
  CHECK(check_placement_on_disk(fs, dir / "elsewhere/new", dir / "work") != "");
  CHECK(check_placement_on_disk(fs, dir / "s", dir / "w/x/y") == "");
  CHECK(check_placement_on_disk(fs, dir / "s", dir.path()) != "");
}

TEST_CASE_FIXTURE(start, "a sandbox that cannot run yet stops the boot") {
  for (auto value :
       {"container:c", "image:i", "gondolin:default", "cloudflare:x"}) {
    CAPTURE(std::string{value});
    args = {std::string{"--sandbox="} + value};
    CHECK(read().fault
          == std::string{"The sandbox "} + value
               + " cannot run in this version; use bwrap (the default) or "
                 "host.");
  }
  args = {};
  settings = R"({"sandbox":{"default":"image:i"}})";
  CHECK(
    read().fault
    == "/s/settings.json:1:23: sandbox.default is image:i, which cannot run "
       "in this version. Use bwrap (the default) or host.");
  settings = "{\n\"sandbox\":{\"default\":\"bogus\"}}";
  CHECK(read().fault
        == "/s/settings.json:2:22: sandbox.default is 'bogus', which is no "
           "sandbox. Use bwrap (the default) or host.");
  args = {"--sandbox=host"};
  CHECK(boot()->sandbox.type == sandbox_type::host);
  CHECK(warns("no boundary"));
}

TEST_CASE_FIXTURE(start, "a predecessor's sandbox mode changes nothing") {
  settings = R"({"sandbox":{"mode":"host"}})";
  CHECK(boot()->sandbox.type == sandbox_type::bwrap);
}

TEST_CASE_FIXTURE(start, "read-only paths of the sandbox are absolute") {
  settings = R"({"sandbox":{"bwrap":{"readOnly":["/opt/tools"]}}})";
  CHECK(boot()->sandbox_read_only == std::vector<std::string>{"/opt/tools"});
  for (auto path : {"opt", "/", "/opt/.."}) {
    CAPTURE(std::string{path});
    settings =
      std::string{R"({"sandbox":{"bwrap":{"readOnly":[")"} + path + R"("]}}})";
    CHECK_FALSE(read());
  }
}

TEST_CASE("when the console runs") {
  struct row {
    const char* name;
    std::vector<std::string> args;
    bool terminal;
    bool platform;
    bool console;
  };
  for (const auto& [name, args, terminal, platform, console] : {
         row{"terminal", {}, true, false, true},
         row{"terminal with platform", {}, true, true, true},
         row{"pipe without platform", {}, false, false, true},
         // No platform has an adapter in this version, so none may keep the
         // console from answering.
         row{"service with platform", {}, false, true, true},
         row{"asked for", {"--console=x"}, false, true, true},
         row{"asked for by a program", {"--json"}, false, true, true},
         row{"headless", {"--headless"}, true, false, false},
         row{"headless service", {"--headless"}, false, true, false},
       }) {
    CAPTURE(std::string{name});
    start attempt;
    attempt.args = args;
    attempt.machine.stdin_is_terminal = terminal;
    if (platform)
      attempt.env["TELEGRAM_BOT_TOKEN"] = "t";
    CHECK(attempt.boot()->console == console);
    CHECK(attempt.warns("nobody can write") == attempt.boot()->headless);
    CHECK_FALSE(attempt.warns("set a platform token"));
    CHECK(attempt.warns("this version cannot speak it") == platform);
    CHECK(attempt.read().warnings.size()
          == size_t{attempt.boot()->headless} + size_t{platform});
  }
}

TEST_CASE_FIXTURE(start, "the console's conversation may be a setting") {
  settings = R"({"console":{"conversation":"lab"}})";
  CHECK(boot()->console_name == "lab");
  args = {"--console", "x"};
  CHECK(boot()->console_name == "x");
  args = {};
  settings = R"({"console":{"headless":true}})";
  CHECK(boot()->headless);
  args = {"--console=x"};
  CHECK(boot()->console);
  args = {};
  settings = R"({"console":{"conversation":"Not Good"}})";
  CHECK(read().fault.find("console.conversation") != std::string::npos);
}

TEST_CASE("the web server exists when it was asked for, and binds safely") {
  struct row {
    const char* name;
    variables env;
    bool serve;
    const char* host;
    int port;
    const char* url;
  };
  for (const auto& [name, env, serve, host, port, url] : {
         row{"nothing", {}, false, "127.0.0.1", 8181, ""},
         row{"port", {{"LINK_PORT", "9000"}}, true, "127.0.0.1", 9000, ""},
         row{"any port", {{"LINK_PORT", "0"}}, true, "127.0.0.1", 0, ""},
         row{"url",
             {{"LINK_URL", "https://Bot.Example.com/"}},
             true,
             "127.0.0.1",
             8181,
             "https://bot.example.com"},
         row{"url with path and port",
             {{"LINK_URL", "https://b.example:444/x/"}},
             true,
             "127.0.0.1",
             8181,
             "https://b.example:444/x"},
         row{"loopback host",
             {{"LINK_PORT", "1"}, {"LINK_HOST", "[::1]"}},
             true,
             "::1",
             1,
             ""},
         row{"public host behind https",
             {{"LINK_URL", "https://b.example"}, {"LINK_HOST", "0.0.0.0"}},
             true,
             "0.0.0.0",
             8181,
             "https://b.example"},
         row{"our spelling",
             {{"BUREAU_LINK_PORT", "5"}},
             true,
             "127.0.0.1",
             5,
             ""},
       }) {
    CAPTURE(std::string{name});
    start attempt;
    attempt.env = env;
    auto config = attempt.boot();
    CHECK(config->http.serve == serve);
    CHECK(config->http.bind_host == host);
    CHECK(config->http.port == port);
    CHECK(config->http.public_url == url);
  }
}

TEST_CASE("a wrong web setting stops the boot and is named") {
  struct row {
    variables env;
    const char* part;
  };
  for (const auto& [env, part] : {
         row{{{"LINK_PORT", "x"}},
             "LINK_PORT is 'x'; it must be a whole number from 0 to 65535."},
         row{{{"LINK_PORT", "65536"}}, "LINK_PORT is '65536'"},
         row{{{"LINK_PORT", "-1"}}, "LINK_PORT"},
         row{{{"MIKAN_LINK_PORT", "80x"}}, "MIKAN_LINK_PORT is '80x'"},
         row{{{"LINK_URL", "bot.example.com"}}, "LINK_URL is no URL"},
         row{{{"LINK_URL", "ftp://x"}}, "LINK_URL must look like"},
         row{{{"LINK_URL", "https://u@x"}}, "LINK_URL must look like"},
         row{{{"LINK_URL", "https://x/?a"}}, "LINK_URL must look like"},
         row{{{"LINK_URL", "https://x:99999"}}, "port"},
         row{{{"LINK_URL", "https:///x"}}, "names no host"},
         row{{{"LINK_PORT", "1"}, {"LINK_HOST", "0.0.0.0"}},
             "LINK_HOST is 0.0.0.0, which other machines can reach"},
         row{{{"LINK_URL", "http://x"}, {"LINK_HOST", "10.0.0.1"}},
             "LINK_HOST is 10.0.0.1"},
         row{{{"HTTP_IDLE_TIMEOUT", "soon"}}, "HTTP_IDLE_TIMEOUT is 'soon'"},
         row{{{"HTTPS_PROXY", "gopher://x"}},
             "HTTPS_PROXY is a proxy of an unknown kind; it must begin"},
         row{{{"HTTP_PROXY", "http://a b"}}, "HTTP_PROXY is no proxy URL"},
         row{{{"OPERATORS", "telegram"}}, "OPERATORS has the entry 'telegram'"},
         row{{{"OPERATORS", "irc:1"}}, "irc:1"},
         row{{{"TELEGRAM_API_ROOT", "x"}}, "TELEGRAM_API_ROOT is no URL"},
       }) {
    start attempt;
    attempt.env = env;
    auto fault = attempt.read().fault;
    CAPTURE(std::string{part});
    CAPTURE(fault);
    CHECK(fault.find(part) != std::string::npos);
  }
}

TEST_CASE("a wrong value of the settings is told with its place") {
  struct row {
    const char* settings;
    const char* sentence;
  };
  for (auto [settings, sentence] : {
         row{R"({"console":{"conversation":"Not Good"}})",
             "/s/settings.json:1:28: console.conversation is 'Not Good'. Use 1 "
             "to 32 characters of a-z, 0-9 and '-'."},
         row{R"({"observer":{"bind":"0.0.0.0"}})",
             "/s/settings.json:1:21: observer.bind is 0.0.0.0, which other "
             "machines can reach. That needs observer.tls.ca, .cert and .key, "
             "or bind 127.0.0.1."},
         row{R"({"operators":["console:a","irc:1"]})",
             "/s/settings.json:1:27: operators has the entry 'irc:1'. Write "
             "<platform>:<userId>, for example telegram:4711."},
         row{R"({"platforms":{"telegram":{"allowFrom":[1,""]}}})",
             "/s/settings.json:1:42: platforms.telegram.allowFrom has a blank "
             "entry. Remove it or write the id."},
         row{R"({"web":{"url":"bot"}})",
             "/s/settings.json:1:15: web.url is no URL: "},
         row{R"({"web":{"port":1,"host":"0.0.0.0"}})",
             "/s/settings.json:1:25: web.host is 0.0.0.0, which other machines "
             "can reach. That needs LINK_URL (web.url) with https, or bind "
             "127.0.0.1."},
         row{R"({"http":{"proxy":"gopher://user:SECRET@x"}})",
             "/s/settings.json:1:18: http.proxy is a proxy of an unknown kind. "
             "It must begin with http://, https:// or socks5://."},
         row{R"({"sandbox":{"default":"container:x"}})",
             "/s/settings.json:1:23: sandbox.default is container:x, which "
             "cannot run in this version. Use bwrap (the default) or host."},
         row{R"({"sandbox":{"bwrap":{"readOnly":["/a","b"]}}})",
             "/s/settings.json:1:39: sandbox.bwrap.readOnly holds 'b'. Give "
             "absolute paths below /."},
       }) {
    start attempt;
    attempt.settings = settings;
    CHECK(attempt.read().fault.starts_with(sentence));
    CHECK(attempt.read().fault.find("SECRET") == std::string::npos);
    CHECK(attempt.read().fault.find('\n') == std::string::npos);
  }
}

TEST_CASE_FIXTURE(start, "a variable without effect is warned about") {
  env = {{"BUREAU_OPERATORS", "console:a"}};
  CHECK(warns("BUREAU_OPERATORS is set but has no effect in this version"));
  CHECK(read().warnings.size() == 1);
}

TEST_CASE_FIXTURE(start,
                  "the environment wins over the settings, name by name") {
  settings = R"({"web":{"port":7000,"metricsToken":"m"},
    "http":{"idleTimeoutMs":5000,"httpsProxy":"http://p:1"},
    "llm":{"apiKeys":{"openai":"k"}},"operators":["slack:U1"],
    "log":{"file":"node.log","level":"debug"}})";
  auto config = boot();
  CHECK(config->http.serve);
  CHECK(config->http.port == 7000);
  CHECK(config->http.metrics_token.reveal() == "m");
  CHECK(config->http_idle_timeout == 5s);
  CHECK(config->proxies.https.reveal() == "http://p:1");
  CHECK(config->variable("OPENAI_API_KEY") == "k");
  CHECK(config->operators == std::vector<std::string>{"slack:U1"});
  CHECK(config->log_file == "/home/passwd/.bureau/node.log");
  CHECK(config->log_level == "debug");
  env = {{"LINK_PORT", "0"},         {"OPENAI_API_KEY", "e"},
         {"HTTP_IDLE_TIMEOUT", "0"}, {"OPERATORS", "telegram:1, github:x"},
         {"MY_API_KEY", "custom"},   {"NO_PROXY", "a,b"}};
  args = {"--log", "l.txt"};
  config = boot();
  CHECK(config->http.port == 0);
  CHECK(config->http_idle_timeout == 0s);
  CHECK(config->variable("OPENAI_API_KEY") == "e");
  CHECK(config->variable("MY_API_KEY") == "custom");
  CHECK(config->variable("NO_API_KEY") == "");
  CHECK(config->operators
        == std::vector<std::string>{"telegram:1", "github:x"});
  CHECK(config->proxies.none_for == "a,b");
  CHECK(config->log_file == "/cwd/l.txt");
  env["HTTP_IDLE_TIMEOUT"] = "disabled";
  CHECK(boot()->http_idle_timeout == 0s);
}

TEST_CASE_FIXTURE(start, "a platform is enabled by credentials or by name") {
  auto telegram = [this] {
    return *boot()->platform(platform_id::telegram);
  };
  CHECK_FALSE(telegram().enabled);
  settings = R"({"platforms":{"telegram":{"enabled":true}}})";
  CHECK(telegram().enabled);
  CHECK_FALSE(telegram().credentials);
  CHECK(telegram().missing == std::vector<std::string>{"TELEGRAM_BOT_TOKEN"});
  CHECK(warns("Telegram is configured, but this version cannot speak it"));
  env = {{"TELEGRAM_BOT_TOKEN", "t"}};
  CHECK(telegram().credentials);
  CHECK(warns("Telegram is configured, but this version cannot speak it"));
  CHECK(read().warnings.size() == 1);
  settings = R"({"platforms":{"telegram":{"enabled":false}}})";
  CHECK_FALSE(telegram().enabled);
  CHECK(read().warnings.empty());
  settings = R"({"platforms":{"telegram":{"token":"t"}}})";
  env = {};
  CHECK(telegram().enabled);
  settings = "{}";
  env = {{"SLACK_APP_TOKEN", "x"}};
  CHECK_FALSE(boot()->platform(platform_id::slack)->enabled);
  CHECK(warns("Slack is configured, but this version cannot speak it"));
  env = {};
  settings = R"({"platforms":{"slack":{"allowFrom":["U1"]}}})";
  CHECK(warns("Slack is configured, but this version cannot speak it"));
}

TEST_CASE_FIXTURE(start, "contradictory access lists stop the boot") {
  env = {{"TELEGRAM_ALLOW_FROM", "1, 2"}};
  auto ids = boot()->platform(platform_id::telegram)->allow_from.ids;
  CHECK(ids == std::vector<std::string>{"1", "2"});
  env = {{"TELEGRAM_ALLOW_FROM", "*"}};
  CHECK(boot()->platform(platform_id::telegram)->allow_from.everybody);
  env = {{"TELEGRAM_ALLOW_FROM", "*,1"}};
  CHECK(read().fault.find("TELEGRAM_ALLOW_FROM has * beside other entries")
        != std::string::npos);
  env = {{"TELEGRAM_ALLOW_FROM", "1,,2"}};
  CHECK(read().fault.find("TELEGRAM_ALLOW_FROM has a blank entry")
        != std::string::npos);
  env = {};
  settings = R"({"platforms":{"telegram":{"groups":["-5","*"]}}})";
  CHECK(read().fault.find("platforms.telegram.groups has *")
        != std::string::npos);
  settings = R"({"platforms":{"telegram":{"groups":[-5],"allowFrom":[7],
    "access":"allowlist"}}})";
  CHECK(boot()->platform(platform_id::telegram)->groups.ids
        == std::vector<std::string>{"-5"});
  CHECK(boot()->platform(platform_id::telegram)->access == "allowlist");
}

TEST_CASE_FIXTURE(start, "the observer leaves this machine only with its own "
                         "certificates") {
  settings = R"({"observer":{"bind":"0.0.0.0"}})";
  CHECK(read().fault.find("observer.bind is 0.0.0.0") != std::string::npos);
  settings = R"({"observer":{"bind":"0.0.0.0","tls":{"ca":"a","cert":"b",
    "key":"c"}}})";
  CHECK(boot()->observer.bind == "0.0.0.0");
  settings = R"({"observer":{"enabled":false,"bind":"0.0.0.0"}})";
  CHECK_FALSE(boot()->observer.enabled);
}

TEST_CASE_FIXTURE(start, "root is warned") {
  machine.euid = 0;
  CHECK(warns("runs as root"));
}

TEST_CASE("the files of the state directory are loaded together") {
  scratch_directory dir;
  os::posix_file_system fs;
  auto empty = load_snapshot(fs, dir.path());
  REQUIRE(empty);
  CHECK(empty.value.settings->root().empty());
  CHECK(empty.value.models->providers.empty());
  put_file(dir / "settings.json", R"({"odd":1})");
  put_file(dir / "models.json", R"({"providers":{"p":1}})");
  put_file(dir / "auth.json", R"({"x":{}})");
  auto all = load_snapshot(fs, dir.path());
  REQUIRE(all);
  CHECK(all.warnings.size() == 3);
  for (auto name : {"settings.json", "models.json", "auth.json"}) {
    CAPTURE(std::string{name});
    auto before = get_file(dir / name);
    put_file(dir / name, "{");
    auto broken = load_snapshot(fs, dir.path());
    CHECK(broken.fault.starts_with((dir / name) + ":1:2: Malformed "));
    CHECK(get_file(dir / name) == "{");
    put_file(dir / name, before);
  }
}

TEST_CASE("the settings of all conversations are checked at boot") {
  scratch_directory dir;
  os::posix_file_system fs;
  CHECK(check_conversations(fs, dir.path()) == "");
  for (auto name : {"", "/a", "/b", "/c"})
    REQUIRE(::mkdir((dir / "conversations" + name).c_str(), 0700) == 0);
  put_file(dir / "conversations/a/settings.json", R"({"queue":{"cap":3}})");
  put_file(dir / "conversations/d", "no directory");
  CHECK(check_conversations(fs, dir.path()) == "");
  put_file(dir / "conversations/c/settings.json", "{\n\"queue\":{\"cap\":0}}");
  CHECK(check_conversations(fs, dir.path())
          .starts_with((dir / "conversations/c/settings.json") + ":2:16: "));
  put_file(dir / "conversations/b/settings.json", "{");
  CHECK(check_conversations(fs, dir.path())
          .starts_with((dir / "conversations/b/settings.json") + ":1:2: "));
}

TEST_CASE("the workspace is made only when it is the default") {
  scratch_directory dir;
  os::posix_file_system fs;
  boot_config config;
  config.workspace_root = dir / "state/workspace";
  CHECK(prepare_workspace(fs, config) == "");
  CHECK(S_ISDIR(fs.stat_name(config.workspace_root).value.st_mode));
  config.workspace_explicit = true;
  CHECK(prepare_workspace(fs, config) == "");
  config.workspace_root = dir / "other";
  CHECK(prepare_workspace(fs, config).find("No such file or directory")
        != std::string::npos);
  CHECK_FALSE(fs.stat_name(dir / "other"));
}

TEST_CASE_FIXTURE(start, "the report counts values of the settings as set") {
  auto file =
    parse_settings(R"({"platforms":{"telegram":{"token":"TOPSECRET"}}})", "f",
                   settings_file_kind::global);
  auto text =
    env_report_of(environment{{{"OPENAI_API_KEY", "TOPSECRET"}}}, file.value);
  CHECK(text.find("Telegram — not spoken by this version")
        != std::string::npos);
  CHECK(text.find("TOPSECRET") == std::string::npos);
}

TEST_CASE_FIXTURE(start, "the inputs of the model choice come from all three "
                         "files") {
  env = {{"LAB_API_KEY", "k"}};
  auto config = boot();
  auto models = parse_models(R"({"providers":{"lab":{"api":"openai-completions",
    "baseUrl":"https://l","models":[{"id":"tiny","reasoning":true}]}}})",
                             "m");
  auto own = parse_settings(R"({"llm":{"thinkingLevel":"low"}})", "c",
                            settings_file_kind::conversation);
  config_snapshot files{std::make_shared<settings_document>(),
                        std::make_shared<models_file>(models.value),
                        std::make_shared<auth_file>()};
  auto chosen =
    choose_model(choice_inputs_of(*config, files, &own.value, "c", 5));
  REQUIRE(chosen);
  CHECK(describe_choice(chosen.choice)
        == "model lab/tiny: first entry of models.json");
  CHECK(chosen.choice.api_key.reveal() == "k");
  CHECK(chosen.choice.thinking_level == "low");
}
