#include "config/os/posix_file_system.hpp"
#include "config/settings_file.hpp"
#include "tests/support/scratch_directory.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace bureau;
using namespace bureau::config;
using namespace bureau::test;

namespace {

reading<settings_document>
read(const std::string& text,
     settings_file_kind kind = settings_file_kind::global) {
  return parse_settings(text, "/s/settings.json", kind);
}

settings_document document(const std::string& text) {
  auto result = read(text);
  INFO(result.fault);
  REQUIRE(result);
  return result.value;
}

} // namespace

TEST_CASE("a malformed file is one sentence with its place and what to do") {
  struct row {
    const char* name;
    const char* text;
    const char* sentence;
  };
  for (auto [name, text, sentence] : {
         row{"top level", "[]",
             "/s/settings.json:1:1: Malformed settings file: expected a JSON "
             "object at the top level. Begin the file with { and end it with "
             "}."},
         row{"number for a text", "{\n  \"sandbox\": {\"cpus\": 2}\n}",
             "/s/settings.json:2:23: Malformed settings file: /sandbox/cpus: "
             "Expected string. Write it in quotes."},
         row{"unknown word", R"({"llm":{"thinkingLevel":"on"}})",
             "/s/settings.json:1:25: Malformed settings file: "
             "/llm/thinkingLevel: Expected union value. Use one of off, "
             "minimal, low, medium, high, xhigh, max."},
         row{"group of another type", R"({"queue":true})",
             "/s/settings.json:1:10: Malformed settings file: /queue: Expected "
             "object. Write an object in braces."},
         row{"fraction", R"({"queue":{"cap":1.5}})",
             "/s/settings.json:1:17: Malformed settings file: /queue/cap: "
             "Expected integer. Write a whole number."},
         row{"out of range", R"({"queue":{"cap":0}})",
             "/s/settings.json:1:17: Malformed settings file: /queue/cap: "
             "Expected integer from 1 to 1000. Choose a number in this range."},
         row{"element of a list", R"({"packages":["a",1]})",
             "/s/settings.json:1:18: Malformed settings file: /packages/1: "
             "Expected string. Correct this entry."},
         row{"text for a flag", R"({"outbox":{"pacing":"yes"}})",
             "/s/settings.json:1:21: Malformed settings file: /outbox/pacing: "
             "Expected boolean. Use true or false."},
         row{"null", R"({"sandbox":{"memory":null}})",
             "/s/settings.json:1:22: Malformed settings file: /sandbox/memory: "
             "Expected string. Write it in quotes."},
         row{"negative price", R"({"budget":{"run":{"maxCostUsd":-1}}})",
             "/s/settings.json:1:32: Malformed settings file: "
             "/budget/run/maxCostUsd: Expected number above 0, at most "
             "1000000000. Write a number such as 2.5, or remove the member."},
         row{"a cap that would be none",
             R"({"budget":{"run":{"maxCostUsd":0}}})",
             "/s/settings.json:1:32: Malformed settings file: "
             "/budget/run/maxCostUsd: Expected number above 0, at most "
             "1000000000. Write a number such as 2.5, or remove the member."},
         row{"member of a map", R"({"mcp":{"servers":{"a":1}}})",
             "/s/settings.json:1:24: Malformed settings file: /mcp/servers/a: "
             "Expected object. Correct this member."},
         row{"removed feature",
             R"({"sandbox":{"gondolin":{"remote":{}},"cpus":2}})",
             "/s/settings.json:1:34: sandbox.gondolin.remote is no longer "
             "supported; use gondolin:default and remove the remote setting. "
             "Remove the member."},
       }) {
    CAPTURE(std::string{name});
    CHECK(read(text).fault == sentence);
    CHECK(read(text, settings_file_kind::conversation).fault == sentence);
  }
}

TEST_CASE("text that is not JSON is told with line and column") {
  auto fault = read("{\n  invalid json }").fault;
  CHECK(fault.starts_with("/s/settings.json:2:"));
  CHECK(fault.find("Malformed settings file: ") != std::string::npos);
  CHECK(fault.ends_with(". Correct the JSON there."));
  CHECK(read("").fault.starts_with("/s/settings.json:1:1: Malformed"));
}

TEST_CASE("one half of the model pair without the other is malformed") {
  CHECK(read("{\n\"llm\": {\"provider\": \"openai\"}}").fault
        == "/s/settings.json:2:21: Malformed settings file: /llm/provider: "
           "llm.provider and llm.model name a model together, but llm.model is "
           "not set. Add llm.model or remove llm.provider.");
  CHECK(read(R"({"llm":{"model":"m","provider":"  "}})")
          .fault.find("llm.provider is not set")
        != std::string::npos);
  CHECK(read(R"({"llm":{"provider":"","model":""}})"));
  CHECK(read(R"({"llm":{"thinkingLevel":"low"}})"));
}

TEST_CASE("unknown keys are kept and warned about with their place") {
  auto result = read(R"({"sandbox":{"mode":"host"},
 "future":{"x":1}, "llm.provider":"a", "queue":{"cap":3}})");
  REQUIRE(result);
  REQUIRE(result.warnings.size() == 3);
  CHECK(
    result.warnings[0]
    == "/s/settings.json:1:20: the setting /sandbox/mode is unknown and has "
       "no effect. Correct its spelling or remove it.");
  CHECK(result.warnings[1].starts_with(
    "/s/settings.json:2:11: the setting /future is unknown"));
  CHECK(result.warnings[2].find("/llm.provider") != std::string::npos);
  CHECK(result.value.root().contains("future"));
  CHECK(result.value.root().at("sandbox").as_object().contains("mode"));
  CHECK(result.value.integer("queue.cap") == 3);
}

TEST_CASE("a foreign file cannot flood the log") {
  std::string text = "{";
  for (auto i = 0; i < 100; ++i)
    text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  auto result = read(text + '}');
  REQUIRE(result);
  CHECK(result.warnings.size() == 21);
  CHECK(result.warnings.back()
        == "/s/settings.json: 80 further warnings are left out");
}

TEST_CASE("a key of the node has no effect in the file of a conversation") {
  auto text = R"({"log":{"level":"debug"},"sandbox":{"default":"host"}})";
  auto result = read(text, settings_file_kind::conversation);
  REQUIRE(result);
  CHECK(result.warnings.size() == 2);
  CHECK(read(text).warnings.empty());
  settings_document global;
  layered_settings layered{global, &result.value};
  CHECK(layered.text("sandbox.default") == "bwrap:default");
  CHECK(layered.text("log.level") == "info");
}

TEST_CASE("a setting that this version does nothing with is warned about") {
  auto result =
    read(R"({"queue":{"mode":"steer"},"slack":{"replyMode":"thread"},
 "budget":{"officeDaily":{"maxTokens":5},"run":{"maxTokens":5}},
 "autoReply":{"enabled":false},"mcp":{"servers":{}}})");
  REQUIRE(result);
  REQUIRE(result.warnings.size() == 3);
  CHECK(result.warnings[0]
        == "/s/settings.json:1:48: the setting /slack/replyMode is accepted "
           "but has no effect in this version. Remove it, or do not rely on "
           "it.");
  CHECK(result.warnings[1].starts_with(
    "/s/settings.json:2:39: the setting /budget/officeDaily/maxTokens is "
    "accepted but has no effect"));
  CHECK(result.warnings[2].find("/mcp/servers") != std::string::npos);
  // One in the file of a conversation as well, and a list of fallbacks.
  CHECK(read(R"({"packages":["a"],"llm":{"fallbacks":[]}})",
             settings_file_kind::conversation)
          .warnings.size()
        == 2);
  for (auto mode : {"steer", "collect", "interrupt", "reject"}) {
    CAPTURE(mode);
    auto text = std::string{R"({"queue":{"mode":")"} + mode
                + R"(","overflow":"collect"}})";
    CHECK(read(text).warnings.empty());
  }
}

TEST_CASE("keys in the settings belong to built-in providers") {
  auto result = read(R"({"llm":{"apiKeys":{"openai":"k","lab":"SECRET"}}})");
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].starts_with(
    "/s/settings.json:1:39: the setting /llm/apiKeys/lab has no effect"));
  CHECK(result.warnings[0].find("auth.json") != std::string::npos);
  CHECK(result.warnings[0].find("SECRET") == std::string::npos);
}

TEST_CASE("a value that turns out wrong later still has its place") {
  auto file = document("{\n \"operators\": [\"console:x\",\n  \"irc:1\"]}");
  CHECK(file.fault("operators", "has the entry 'irc:1'", "Correct it", "/1")
        == "/s/settings.json:3:3: operators has the entry 'irc:1'. Correct "
           "it.");
}

TEST_CASE("conversation settings lie over global ones, leaf by leaf") {
  auto global = document(R"({"queue":{"cap":5,"mode":"steer"},
    "output":{"mode":"final"},"sandbox":{"boost":{"cpus":"2","memory":"4g"}},
    "llm":{"thinkingLevel":"high"}})");
  auto own = document(R"({"queue":{"cap":7},"sandbox":{"boost":{"cpus":"3"}},
    "packages":["a","b"]})");
  layered_settings layered{global, &own};
  CHECK(layered.integer("queue.cap") == 7);
  CHECK(layered.text("queue.mode") == "steer");
  CHECK(layered.text("queue.overflow") == "refuse");
  CHECK(layered.text("output.mode") == "final");
  CHECK(layered.text("sandbox.boost.cpus") == "3");
  CHECK(layered.text("sandbox.boost.memory") == "4g");
  CHECK(layered.text("llm.thinkingLevel") == "high");
  CHECK(layered.list("packages") == std::vector<std::string>{"a", "b"});
  CHECK(layered.boolean("outbox.pacing"));
  CHECK_FALSE(layered.integer("budget.run.maxTokens"));
  layered_settings alone{global, nullptr};
  CHECK(alone.integer("queue.cap") == 5);
  CHECK(alone.list("packages").empty());
}

TEST_CASE("defaults are those of the decisions") {
  settings_document none;
  layered_settings layered{none, nullptr};
  CHECK(layered.text("queue.mode") == "follow-up");
  CHECK(layered.integer("queue.cap") == 20);
  CHECK(layered.text("output.mode") == "stream");
  CHECK(layered.text("output.toolResults") == "none");
  CHECK(layered.integer("history.recentDays") == 14);
  CHECK(layered.integer("history.maxTopLevelMessages") == 200);
  CHECK(layered.integer("history.threadSeedTopLevel") == 10);
  CHECK(layered.text("sandbox.default") == "bwrap:default");
  CHECK(layered.text("sandbox.network") == "none");
  CHECK(layered.integer("sessions.maxCached") == 500);
  CHECK(layered.integer("sessions.idleTimeoutMs") == 3'600'000);
  CHECK(layered.integer("shutdown.timeoutMs") == 30'000);
  CHECK(layered.integer("intake.maxAgeHours") == 24);
  CHECK(layered.integer("intake.maxTextBytes") == 262'144);
  CHECK(layered.integer("events.catchUpHours") == 24);
  CHECK(layered.text("llm.thinkingLevel") == "off");
  CHECK_FALSE(layered.boolean("autoReply.enabled"));
  CHECK(layered.boolean("observer.enabled"));
  CHECK(layered.effective_door() == door{"isolated", "conversation"});
}

TEST_CASE("every default of the schema is a value the schema accepts") {
  for (const auto& spec : settings_schema()) {
    CAPTURE(std::string{spec.path});
    if (spec.standard.empty())
      continue;
    auto quoted =
      spec.kind == value_kind::text || spec.kind == value_kind::choice;
    std::string text{spec.standard};
    if (quoted)
      text = '"' + text + '"';
    std::string path{spec.path};
    auto closing = std::string{};
    for (auto dot = path.find('.'); dot != std::string::npos;
         dot = path.find('.', dot + 4)) {
      path.replace(dot, 1, "\":{\"");
      closing += '}';
    }
    auto whole = "{\"" + path + "\":" + text + closing + '}';
    CAPTURE(whole);
    auto result = read(whole);
    CHECK(result.fault == "");
    CHECK((spec.inert || result.warnings.empty()));
  }
}

TEST_CASE("the door is layered by leaf and an isolated one has no layout") {
  struct row {
    const char* name;
    const char* global;
    const char* own;
    door want;
  };
  for (
    const auto& [name, global, own, want] : {
      row{"nothing", "{}", "{}", {"isolated", "conversation"}},
      row{
        "trusted global",
        R"({"sandbox":{"workspace":{"doorPolicy":"trusted","layout":"full"}}})",
        "{}",
        {"trusted", "full"}},
      row{
        "isolated over trusted",
        R"({"sandbox":{"workspace":{"doorPolicy":"trusted","layout":"full"}}})",
        R"({"sandbox":{"workspace":{"doorPolicy":"isolated"}}})",
        {"isolated", "conversation"}},
      row{"layout without door",
          "{}",
          R"({"sandbox":{"workspace":{"layout":"full"}}})",
          {"isolated", "conversation"}},
      row{"legacy private",
          "{}",
          R"({"sandbox":{"image":{"workspaceMount":"private"}}})",
          {"trusted", "shared-support"}},
      row{"legacy full",
          R"({"sandbox":{"image":{"workspaceMount":"full"}}})",
          "{}",
          {"trusted", "full"}},
      row{"explicit leaves win over the legacy one of their file",
          "{}",
          R"({"sandbox":{"image":{"workspaceMount":"full"},
                 "workspace":{"layout":"conversation"}}})",
          {"trusted", "shared-support"}},
      row{"trusted without a layout",
          R"({"sandbox":{"workspace":{"doorPolicy":"trusted"}}})",
          "{}",
          {"trusted", "shared-support"}},
      row{"trusted with the layout of an isolated one",
          R"({"sandbox":{"workspace":{"doorPolicy":"trusted",
                 "layout":"conversation"}}})",
          "{}",
          {"trusted", "shared-support"}},
      row{"legacy leaf of the conversation over the global door",
          R"({"sandbox":{"workspace":{"doorPolicy":"isolated"}}})",
          R"({"sandbox":{"image":{"workspaceMount":"private"}}})",
          {"trusted", "shared-support"}},
    }) {
    CAPTURE(std::string{name});
    auto below = document(global);
    auto over = document(own);
    CHECK(layered_settings{below, &over}.effective_door() == want);
  }
}

TEST_CASE("ids may be numbers and lists keep blank entries for the caller") {
  auto file = document(
    R"({"platforms":{"telegram":{"allowFrom":[4711,"x ",""],"groups":["*"]}}})");
  CHECK(file.list("platforms.telegram.allowFrom")
        == std::vector<std::string>{"4711", "x", ""});
  CHECK(file.as_variable("platforms.telegram.allowFrom") == "4711,x,");
  CHECK_FALSE(file.list("platforms.slack.allowFrom"));
}

TEST_CASE("a value of any kind can stand in for a variable") {
  auto file = document(R"({"web":{"port":0,"url":" ","oauth":{"services":
    [{"id":"a"}]}},"sentry":{"enabled":false},"llm":{"apiKeys":{"x":" k "}}})");
  CHECK(file.as_variable("web.port") == "0");
  CHECK_FALSE(file.as_variable("web.url"));
  CHECK(file.as_variable("web.oauth.services") == R"([{"id":"a"}])");
  CHECK(file.as_variable("sentry.enabled") == "false");
  CHECK(file.as_variable("llm.apiKeys.x") == "k");
  CHECK_FALSE(file.as_variable("llm.apiKeys.y"));
}

TEST_CASE("an absent file is empty and an unreadable one a fault") {
  scratch_directory dir;
  os::posix_file_system fs;
  auto load = [&](const char* name) {
    return load_settings(fs, dir / name, settings_file_kind::global);
  };
  CHECK(load("none.json"));
  CHECK(load("none.json").value.root().empty());
  put_file(dir / "good.json", R"({"queue":{"cap":2}})");
  CHECK(load("good.json").value.integer("queue.cap") == 2);
  REQUIRE(::symlink("good.json", (dir / "link.json").c_str()) == 0);
  CHECK(load("link.json")
          .fault.starts_with((dir / "link.json") + ":1:1: cannot be read: "));
  CHECK_FALSE(load_settings(fs, dir.path(), settings_file_kind::global));
}

TEST_CASE("the settings of a predecessor are read as they are") {
  auto text = get_file(std::string{BUREAU_TEST_SOURCE_DIR}
                       + "/tests/golden/mikan-0.5.3/state/settings.json");
  auto result = read(text);
  REQUIRE(result);
  CHECK(model_of(result.value) == model_name{"bench", "bench"});
  CHECK(result.warnings.size() == 1);
}
