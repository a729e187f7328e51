#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau::e2e;

namespace {

/// A workspace of an older version on two platforms.
struct old_place : home {
  old_place() {
    write_file(state + "/settings.json", R"({"platforms":{
      "telegram":{"enabled":true},"discord":{"enabled":true}}})");
    std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  }

  void legacy(const std::string& id) const {
    write_file(workspace + "/" + id + "/log.jsonl", "");
  }

  /// `bureau office …`, from another directory than either.
  result office_command(std::vector<std::string> words) const {
    std::vector<std::string> argv = {
      BUREAU_BINARY, "office", "--state-dir", state, "--workspace", workspace};
    argv.insert(argv.end(), words.begin(), words.end());
    program command{argv};
    auto code = command.wait();
    return {code, command.out(), command.err()};
  }
};

} // namespace

TEST_CASE("an operator claims a conversation, and the next start moves it") {
  old_place place;
  place.legacy("900100");
  // Nothing tells whose digits these are.
  auto refused = place.converse("hello\n");
  INFO(refused.err);
  CHECK(refused.code == 1);
  CHECK(contains(refused.err, "  - 900100\n"));
  CHECK(contains(refused.err, "office claim <id> <platform>"));
  auto list = place.office_command({"list"});
  CHECK(list.code == 0);
  CHECK(list.out
        == "Enabled platforms: discord, telegram\nOffices (0):\n"
           "Pending migrations (1):\n  needs-owner  900100\n");
  auto claim = place.office_command({"claim", "900100", "telegram"});
  INFO(claim.err);
  CHECK(claim.code == 0);
  CHECK(contains(claim.out, "Claimed 900100 for telegram."));
  CHECK(contains(place.office_command({"list"}).out, "  prepared  900100\n"));
  auto other = place.office_command({"claim", "900100", "discord"});
  CHECK(other.code == 1);
  CHECK(contains(other.err, "already claimed for telegram"));
  CHECK(place.converse("hello\n").code == 0);
  CHECK_FALSE(std::filesystem::exists(place.workspace + "/900100"));
  CHECK(std::filesystem::exists(
    place.workspace + "/v1-telegram-900100-8fb34be2027a6a93/log.jsonl"));
  list = place.office_command({"list"});
  CHECK(contains(list.out, "  telegram  900100\n"));
  CHECK_FALSE(contains(list.out, "Pending"));
}

TEST_CASE("ids that look like flags are claimed") {
  old_place place;
  CHECK(place.converse("hello\n").code == 0);
  // Without a log or sessions a start leaves them alone.
  for (auto id : {"-1001234567890", "-5"})
    std::filesystem::create_directories(place.workspace + "/" + id);
  auto plain = place.office_command({"claim", "-1001234567890", "telegram"});
  INFO(plain.err);
  CHECK(plain.code == 0);
  CHECK(place.office_command({"claim", "--", "-5", "telegram"}).code == 0);
  CHECK(place.converse("hello\n").code == 0);
  auto list = place.office_command({"list"}).out;
  CHECK(contains(list, "  telegram  -1001234567890\n"));
  CHECK(contains(list, "  telegram  -5\n"));
}

TEST_CASE("claims that are refused say why and change nothing") {
  old_place place;
  CHECK(place.converse("hello\n").code == 0);
  place.legacy("C1");
  auto before = read_file(place.state + "/office-registry.json");
  struct row {
    std::vector<std::string> words;
    int code;
    const char* part;
  };
  const row rows[] = {
    {{"claim", "C1", "slack"}, 1, "not enabled"},
    {{"claim", "missing", "telegram"}, 1, "must be a regular directory"},
    {{"claim", "a/b", "telegram"}, 1, "path separator"},
    {{"claim", "C1"}, 2, "Usage: bureau office list"},
    {{"claim", "C1", "irc"}, 2, "Unknown platform 'irc'"},
    {{}, 2, "Usage: bureau office list"},
  };
  for (const auto& row : rows) {
    auto result = place.office_command(row.words);
    CAPTURE(result.err);
    CHECK(result.code == row.code);
    CHECK(contains(result.err, row.part));
    CHECK(result.out.empty());
  }
  CHECK(read_file(place.state + "/office-registry.json") == before);
}

TEST_CASE("beside a running node offices are listed, and claimed by it") {
  old_place place;
  program node{place.command(), place.environment};
  node.write("run: echo up\n");
  REQUIRE(node.read_until("up"));
  auto list = place.office_command({"list"});
  CHECK(list.code == 0);
  CHECK(contains(list.out, "  console  local\n"));
  place.legacy("900100");
  auto refused = place.office_command({"claim", "900100", "slack"});
  CHECK(refused.code == 1);
  CHECK(contains(refused.err, "not enabled"));
  node.close_input();
  CHECK(node.wait() == 0);
}

TEST_CASE("a claim beside a running node is carried out at the next start") {
  old_place place;
  {
    program node{place.command(), place.environment};
    node.write("run: echo up\n");
    REQUIRE(node.read_until("up"));
    place.legacy("900100");
    auto claim = place.office_command({"claim", "900100", "telegram"});
    INFO(claim.err);
    CHECK(claim.code == 0);
    CHECK(contains(claim.out, "Claimed 900100 for telegram"));
    auto record = read_file(place.state + "/office-registry.json");
    CHECK(contains(record, "\"prepared\""));
    auto elsewhere = place.office_command(
      {"claim", "900100", "telegram", "--workspace", "/nowhere"});
    CHECK(elsewhere.code == 1);
    node.close_input();
    CHECK(node.wait() == 0);
  }
  CHECK(place.converse("hello\n").code == 0);
  CHECK(contains(read_file(place.state + "/office-registry.json"),
                 "\"committed\""));
}

TEST_CASE("a platform that is switched off keeps the directories it owns") {
  old_place place;
  place.legacy("-5");
  write_file(place.state + "/settings.json",
             R"({"platforms":{"telegram":{"enabled":false}}})");
  place.environment["TELEGRAM_BOT_TOKEN"] = "123:abc";
  auto result = place.converse("hello\n");
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(contains(read_file(place.state + "/office-registry.json"),
                 "\"committed\""));
}

TEST_CASE("a conversation goes on when somebody deletes its directory") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo one\n");
  REQUIRE(node.read_until("one"));
  std::filesystem::remove_all(place.office());
  node.write("still there?\n");
  node.close_input();
  CHECK(node.wait() == 0);
  INFO(node.err());
  CHECK(contains(place.log(), "still there?"));
  CHECK(contains(place.session(), "still there?"));
}
