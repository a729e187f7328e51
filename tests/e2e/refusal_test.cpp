#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau::e2e;

TEST_CASE("a malformed file stops the start with file, line and advice") {
  struct row {
    const char* file;
    const char* content;
    const char* place;
  };
  const row rows[] = {
    {"settings.json", "{\n  \"llm\": {\n    \"provider\": 7\n  }\n}\n",
     "settings.json:3:"},
    {"settings.json", "{\n  \"llm\": \n}\n", "settings.json:3:"},
    {"settings.json", "[]", "settings.json:1:1"},
    {"models.json", "{\n\"providers\": []}", "models.json:2:"},
    {"auth.json", "{\"a\": \n", "auth.json:2:"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.content);
    home place;
    auto path = place.state + "/" + row.file;
    write_file(path, row.content);
    std::filesystem::permissions(place.state,
                                 std::filesystem::perms::owner_all);
    auto run = place.converse("hello\n");
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK(contains(run.err, row.place));
    // A sentence about what is wrong, and one about what to do.
    CHECK(count(run.err, ". ") + count(run.err, "; ") >= 1);
    CHECK(read_file(path) == row.content);
    CHECK_FALSE(std::filesystem::exists(place.office()));
  }
}

TEST_CASE("an unknown key is kept and warned about, once") {
  home place;
  write_file(place.state + "/settings.json", "{\"colour\": \"blue\"}");
  auto run = place.converse("hello\nagain\n");
  CHECK(run.code == 0);
  CHECK(count(run.err, "colour") == 1);
}

TEST_CASE("a named model that is unknown is an error to the asking user") {
  home place;
  write_file(place.state + "/settings.json",
             R"({"llm":{"provider":"nowhere","model":"nothing"}})");
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "nowhere"));
  CHECK(lines_of(place.log()).size() == 2);
}

TEST_CASE("usage errors give exit code 2") {
  for (auto arguments :
       {std::vector<std::string>{"run", "--bogus"},
        std::vector<std::string>{"run", "--sandbox", "nonsense"},
        std::vector<std::string>{"run", "--state-dir"},
        std::vector<std::string>{"--bogus"}}) {
    std::vector<std::string> argv = {BUREAU_BINARY};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    CAPTURE(arguments.back());
    program bureau{argv};
    bureau.close_input();
    CHECK(bureau.wait() == 2);
    CHECK_FALSE(bureau.err().empty());
  }
}

TEST_CASE("help and version answer on stdout") {
  program help{{BUREAU_BINARY, "--help"}};
  CHECK(help.wait() == 0);
  CHECK(contains(help.out(), "--state-dir"));
  program version{{BUREAU_BINARY, "version"}};
  CHECK(version.wait() == 0);
  CHECK(contains(version.out(), "bureau"));
}

TEST_CASE("the state directory must not lie inside the workspace") {
  home place;
  place.state = place.workspace + "/state";
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(contains(run.err, "workspace"));
  CHECK_FALSE(std::filesystem::exists(place.state));
}

TEST_CASE("a wrong setting of any kind is one line with its place") {
  for (auto settings :
       {R"({"sandbox":{"default":"foo"}})",
        R"({"sandbox":{"default":"image:x"}})",
        R"({"console":{"conversation":"A B"}})", R"({"operators":["irc:1"]})",
        R"({"web":{"url":"ftp://x"}})", R"({"http":{"proxy":"gopher://x"}})"}) {
    CAPTURE(settings);
    home place;
    write_file(place.state + "/settings.json", settings);
    std::filesystem::permissions(place.state,
                                 std::filesystem::perms::owner_all);
    auto run = place.converse("hello\n");
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(contains(run.err, place.state + "/settings.json:1:"));
    CHECK(lines_of(run.err).size() == 1);
  }
}

TEST_CASE("a malformed file of a conversation stops the start") {
  home place;
  auto path =
    place.state
    + "/conversations/v1-console-local-aeb48c12d1f82266/settings.json";
  write_file(path, "{\n  \"queue\": {\"cap\": 0}\n}\n");
  std::filesystem::permissions(place.state, std::filesystem::perms::owner_all);
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK(contains(run.err, path + ":2:20: "));
}

TEST_CASE("a platform that cannot be spoken does not silence the node") {
  home place;
  place.environment["TELEGRAM_BOT_TOKEN"] = "1:token";
  auto run = place.converse("run: echo still here\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "still here"));
  CHECK(count(run.err, "Telegram") == 1);
  CHECK(contains(run.err, "this version cannot speak it"));
}

TEST_CASE("a headless node without a platform warns once") {
  home place;
  program node{place.command({"--headless"}), place.environment};
  REQUIRE(node.read_error_until("ready"));
  node.signal(SIGTERM);
  CHECK(node.wait() == 0);
  CHECK(count(node.err(), "leave --headless out") == 1);
  CHECK_FALSE(contains(node.err(), "token"));
  CHECK(count(node.err(), "platform") == 1);
}

TEST_CASE("the bound on a message is the one of the settings") {
  home place;
  write_file(place.state + "/settings.json",
             R"({"intake":{"maxTextBytes":1024}})");
  auto run = place.converse(std::string(3000, 'x') + "\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(place.log(), std::string(1024, 'x')));
  CHECK_FALSE(contains(place.log(), std::string(1025, 'x')));
}

TEST_CASE("a second node on one state directory names the first") {
  home place;
  program first{place.command(), place.environment};
  first.write("run: echo up\n");
  REQUIRE(first.read_until("up"));
  auto second = place.converse("hello\n");
  INFO(second.err);
  CHECK(second.code == 1);
  CHECK(contains(second.err, std::to_string(first.pid())));
  first.close_input();
  CHECK(first.wait() == 0);
  CHECK(place.converse("hello\n").code == 0);
}

TEST_CASE("the host sandbox behind an isolated door says both ways out") {
  home place;
  place.flags = {"--sandbox", "host"};
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "bwrap"));
  CHECK(contains(run.out, "trusted"));
  write_file(
    place.state + "/settings.json",
    R"({"sandbox":{"workspace":{"doorPolicy":"trusted","layout":"full"}}})");
  run = place.converse("run: echo on-the-host\n");
  INFO(run.err);
  CHECK(contains(run.out, "on-the-host"));
}

TEST_CASE("a link in the place of an office is refused, not followed") {
  home place;
  std::filesystem::create_directories(place.dir / "elsewhere");
  std::filesystem::create_directory_symlink(place.dir / "elsewhere",
                                            place.office());
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(std::filesystem::is_empty(place.dir / "elsewhere"));
  CHECK_FALSE((run.out + run.err).empty());
}
