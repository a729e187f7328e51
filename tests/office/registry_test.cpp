#include "actors/office/registry_store.hpp"
#include "config/os/durable.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/registry_file.hpp"
#include "tests/office/disk.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::offices;
using namespace bureau::test;
using enum bureau::platform_id;

namespace {

const std::string good = R"({
  "version": 1,
  "enabledPlatforms": ["discord", "slack"],
  "offices": [
    {"platform": "slack", "conversationId": "C123",
     "recordedAt": "2026-05-01T09:00:00.000Z"}
  ],
  "migrations": [
    {"rawConversationId": "C123", "sourceDir": "/w/C123",
     "workspaceRoot": "/w", "ownerPlatform": "slack",
     "targetDir": "/w/v1-slack-c123-f1bbf4ab194ff2ea",
     "status": "committed", "updatedAt": "2026-05-01T09:00:00.120Z"}
  ]
})";

std::string replaced(std::string text, const std::string& from,
                     const std::string& to) {
  auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string fault_of(const std::string& text) {
  return parse_registry(text, "r.json").fault;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a registry file round-trips in its own form") {
  auto parsed = parse_registry(good, "r.json");
  REQUIRE(parsed);
  CHECK(parsed.state.enabled_platforms
        == std::vector<platform_id>{discord, slack});
  REQUIRE(parsed.state.migrations.size() == 1);
  CHECK(parsed.state.migrations[0].owner == slack);
  auto text = print_registry(parsed.state);
  CHECK(parse_registry(text, "r.json").state == parsed.state);
  CHECK(text == json::print_pretty(json::parse(good).value) + "\n");
  CHECK(print_registry({})
        == "{\n  \"version\": 1,\n  \"enabledPlatforms\": [],\n  "
           "\"offices\": [],\n  \"migrations\": []\n}\n");
}

TEST_CASE("names with quotes and other scripts survive in a registry") {
  registry_state state;
  state.offices.push_back({{slack, "a \"b\" \u65e5"}, "2026-01-01"});
  CHECK(parse_registry(print_registry(state), "f").state == state);
}

TEST_CASE("what makes a registry file unreadable") {
  struct row {
    const char* name;
    std::string text;
    const char* fault;
  };
  auto office = [](const std::string& entry) {
    return R"({"version":1,"enabledPlatforms":[],"offices":[)" + entry
           + R"(],"migrations":[]})";
  };
  const std::string record =
    R"({"platform":"slack","conversationId":"C1","recordedAt":"t"})";
  const row rows[] = {
    {"zero bytes", "", "Invalid office registry JSON"},
    {"cut", good.substr(0, good.size() / 2), "Invalid office registry JSON"},
    {"list", "[]", "Invalid office registry version"},
    {"version", replaced(good, "\"version\": 1", "\"version\": 2"),
     "Invalid office registry version"},
    {"platforms text", replaced(good, R"(["discord", "slack"])", R"("slack")"),
     "Invalid office registry shape"},
    {"unknown platform", replaced(good, "discord", "matrix"),
     "Unsupported platform"},
    {"console listed", replaced(good, "discord", "console"),
     "Unsupported platform"},
    {"platform twice", replaced(good, "discord", "slack"),
     "Duplicate enabled platform"},
    {"offices object",
     R"({"version":1,"enabledPlatforms":[],"offices":{},"migrations":[]})",
     "Invalid office registry shape"},
    {"no migrations", R"({"version":1,"enabledPlatforms":[]})",
     "Invalid office registry shape"},
    {"office twice", office(record + "," + record), "Duplicate office record"},
    {"office id", office(replaced(record, "C1", "a/b")), "path separator"},
    {"office platform", office(replaced(record, "slack", "web")),
     "unsupported platform"},
    {"office date",
     office(R"({"platform":"slack","conversationId":"C1","recordedAt":1})"),
     "recordedAt"},
    {"target edited",
     replaced(good, "/w/v1-slack-c123-f1", "/w/v1-slack-c123-f2"),
     "does not match"},
    {"source elsewhere", replaced(good, "/w/C123", "/x/C123"),
     "\"sourceDir\" must be"},
    {"relative source", replaced(good, "\"/w/C123\"", "\"w/C123\""),
     "must be absolute"},
    {"failed without error", replaced(good, "committed", "failed"),
     "needs an \"error\""},
    {"needs-owner with owner", replaced(good, "committed", "needs-owner"),
     "must have no owner"},
    {"owner not enabled",
     replaced(good, "\"discord\", \"slack\"", "\"discord\""), "not enabled"},
    {"unknown status", replaced(good, "committed", "done"), "unknown status"},
    {"status missing", replaced(good, "\"status\": \"committed\", ", ""),
     "\"status\" must be a string"},
    {"target without owner",
     replaced(replaced(good, "\"ownerPlatform\": \"slack\",", ""), "committed",
              "failed"),
     "needs an \"ownerPlatform\""},
    {"prepared without target",
     replaced(replaced(good,
                       "\"targetDir\": \"/w/v1-slack-c123-"
                       "f1bbf4ab194ff2ea\",",
                       ""),
              "committed", "prepared"),
     "needs an owner and a target"},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    auto fault = fault_of(row.text);
    CAPTURE(fault);
    CHECK(contains(fault, row.fault));
    CHECK(fault.starts_with("r.json:"));
  }
  auto two = replaced(good, "\"migrations\": [", "\"migrations\": [");
  auto start = two.find("    {\"rawConversationId\"");
  auto entry = two.substr(start, two.find("\n  ]", start) - start);
  two.insert(start, entry + ",\n");
  CHECK(contains(fault_of(two), "Duplicate office migration"));
}

TEST_CASE("a fault names the line where it is") {
  auto fault = fault_of(replaced(good, "C123\",\n", "a/b\",\n"));
  CHECK(fault.starts_with("r.json:5:"));
}

TEST_CASE("files older than office records have none") {
  auto parsed = parse_registry(
    R"({"version":1,"enabledPlatforms":[],"migrations":[],"extra":1})", "f");
  CHECK(parsed);
  CHECK(parsed.state == registry_state{});
}

TEST_CASE_FIXTURE(office_disk, "opening an absent registry writes nothing") {
  auto registry = store();
  CHECK(registry->state() == registry_state{});
  CHECK_FALSE(exists(registry_path()));
  CHECK(mode_of(state) == 0700);
}

TEST_CASE_FIXTURE(office_disk, "enabled platforms are kept sorted") {
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  CHECK(registry->enable(discord) == "");
  CHECK(store()->state().enabled_platforms
        == std::vector<platform_id>{discord, slack});
  auto before = get_file(registry_path());
  CHECK(registry->enable(slack) == "");
  CHECK(registry->enable(console) == "");
  CHECK(get_file(registry_path()) == before);
}

TEST_CASE_FIXTURE(office_disk, "two writers lose nothing of each other") {
  legacy("C1");
  legacy("-9");
  auto one = store();
  auto two = store();
  CHECK(one->enable(slack) == "");
  CHECK(two->enable(telegram) == "");
  CHECK(one->prepare({"C1", root + "/C1", root, slack}) == "");
  CHECK(two->prepare({"-9", root + "/-9", root, telegram}) == "");
  auto fresh = store();
  CHECK(fresh->state().enabled_platforms.size() == 2);
  CHECK(fresh->state().migrations.size() == 2);
}

TEST_CASE_FIXTURE(office_disk, "a record of another process needs a reload") {
  auto one = store();
  auto two = store();
  CHECK(two->record({slack, "C1"}) == "");
  CHECK(find_office(one->state(), {slack, "C1"}) == nullptr);
  CHECK(one->reload() == "");
  CHECK(find_office(one->state(), {slack, "C1"}) != nullptr);
}

TEST_CASE_FIXTURE(office_disk, "an office is recorded once") {
  auto registry = store();
  CHECK(registry->record({slack, "C1"}) == "");
  auto first = *find_office(registry->state(), {slack, "C1"});
  wall.now += 1000;
  auto before = get_file(registry_path());
  CHECK(registry->record({slack, "C1"}) == "");
  CHECK(get_file(registry_path()) == before);
  CHECK(*find_office(registry->state(), {slack, "C1"}) == first);
  CHECK(first.recorded_at == "2026-01-01T00:00:00.000Z");
  CHECK(registry->record({discord, "900100"}) == "");
  CHECK(registry->record({telegram, "900100"}) == "");
  CHECK(registry->state().offices.size() == 3);
}

TEST_CASE_FIXTURE(office_disk, "a registry behind a symlink is refused") {
  std::filesystem::create_directories(state);
  put_file(scratch / "real.json", good);
  std::filesystem::create_symlink(scratch / "real.json", registry_path());
  registry_store registry{ports(), state};
  CHECK(contains(registry.open(), "must be a regular file"));
}

TEST_CASE_FIXTURE(office_disk, "a failed write changes neither side") {
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  auto before = registry->state();
  for (auto operation : {"write", "sync", "rename"}) {
    CAPTURE(operation);
    fs.fail_named(operation, ENOSPC);
    CHECK(registry->record({slack, "C1"}) != "");
    fs.heal();
    CHECK(registry->state() == before);
    CHECK(store()->state() == before);
    CHECK(names(state) == std::vector<std::string>{"office-registry.json"});
  }
}

TEST_CASE("whatever fails once, registry and file are the same") {
  size_t in_place = 0;
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    office_disk disk;
    auto registry = disk.store();
    REQUIRE(registry->enable(slack) == "");
    disk.fs.fail_at(n, EIO);
    auto fault = registry->record({slack, "C1"});
    auto reached = disk.fs.operations().size() >= n;
    disk.fs.heal();
    CHECK(registry->state() == disk.store()->state());
    if (!fault.empty() && !registry->state().offices.empty()) {
      ++in_place;
      // It may not last: it is written again before it counts.
      disk.fs.fail_named("rename", EIO);
      CHECK(registry->record({slack, "C1"}) != "");
      disk.fs.heal();
    }
    CHECK(registry->record({slack, "C1"}) == "");
    CHECK(disk.store()->state().offices.size() == 1);
    // And then it costs nothing any more.
    disk.fs.fail_from(1, EIO);
    CHECK(registry->record({slack, "C1"}) == "");
    disk.fs.heal();
    if (!reached)
      break;
  }
  CHECK(in_place > 0);
}

TEST_CASE_FIXTURE(office_disk, "a written registry is private and complete") {
  auto registry = store();
  CHECK(registry->record({slack, "C1"}) == "");
  CHECK(mode_of(registry_path()) == 0600);
  auto text = get_file(registry_path());
  CHECK(text.ends_with("}\n"));
  CHECK(names(state) == std::vector<std::string>{"office-registry.json"});
}

TEST_CASE_FIXTURE(office_disk, "a lease of a living process is waited for") {
  auto registry = store();
  auto lock = state + "/.office-registry.lock";
  std::filesystem::create_directories(lock);
  put_file(lock + "/owner", "4243:0123456789abcdef\n");
  struct stat facts {};
  ::lstat(lock.c_str(), &facts);
  wall.now = facts.st_mtim.tv_sec * 1000 + 120'000;
  lease.timeout = std::chrono::milliseconds{50};
  registry_store late{ports(), state};
  CHECK(contains(late.enable(slack), "Timed out acquiring"));
  CHECK(pauses == 2);
  CHECK(exists(lock));
  CHECK_FALSE(exists(registry_path()));
}

TEST_CASE_FIXTURE(office_disk, "a lease of a dead process is taken over") {
  auto registry = store();
  auto lock = state + "/.office-registry.lock";
  std::filesystem::create_directories(lock);
  put_file(lock + "/owner", "77:0123456789abcdef\n");
  CHECK(registry->enable(slack) == "");
  CHECK(pauses == 0);
  CHECK(names(state) == std::vector<std::string>{"office-registry.json"});
}

// In a container every life of the node has the same number.
TEST_CASE_FIXTURE(office_disk, "a lease of our own number is a former life's") {
  auto registry = store();
  auto lock = state + "/.office-registry.lock";
  std::filesystem::create_directories(lock);
  put_file(lock + "/owner", "4242:0123456789abcdef\n");
  CHECK(registry->enable(slack) == "");
  CHECK(pauses == 0);
  CHECK(names(state) == std::vector<std::string>{"office-registry.json"});
}

// Whatever is cut, the next one need not wait for a minute.
TEST_CASE("a process that is killed anywhere in its lease blocks nobody") {
  for (size_t n = 1; n < 100; ++n) {
    CAPTURE(n);
    office_disk disk;
    auto registry = disk.store();
    disk.fs.fail_from(n, EIO);
    registry->enable(slack);
    auto through = disk.fs.operations().size() < n;
    disk.fs.heal();
    CHECK(disk.store()->enable(slack) == "");
    CHECK(disk.pauses == 0);
    CHECK(sweep_lease_remains(disk.fs, disk.chance, disk.wall, disk.lease,
                              disk.state)
          == "");
    os::sweep_stale_temporaries(disk.fs, disk.state);
    CHECK(disk.names(disk.state)
          == std::vector<std::string>{"office-registry.json"});
    if (through)
      return;
  }
  FAIL("the lease never got through");
}

TEST_CASE_FIXTURE(office_disk, "a lease without an owner grows stale") {
  auto registry = store();
  auto lock = state + "/.office-registry.lock";
  std::filesystem::create_directories(lock);
  struct stat facts {};
  ::lstat(lock.c_str(), &facts);
  auto made = facts.st_mtim.tv_sec * 1000;
  wall.now = made + 10'000;
  CHECK(contains(registry->enable(slack), "Timed out acquiring"));
  CHECK(pauses == 200);
  wall.now = made + 61'000;
  CHECK(registry->enable(slack) == "");
}

TEST_CASE_FIXTURE(office_disk, "a lease is released only while it is ours") {
  auto lock = state + "/.office-registry.lock";
  std::filesystem::create_directories(state);
  {
    registry_lease ours{fs, chance, wall, lease, state};
    REQUIRE(ours.fault() == "");
    CHECK(mode_of(lock) == 0700);
    CHECK(mode_of(lock + "/owner") == 0600);
    CHECK(get_file(lock + "/owner").starts_with("4242:"));
    put_file(lock + "/owner", "4242:fedcba9876543210\n");
  }
  CHECK(exists(lock));
  std::filesystem::remove_all(lock);
  { registry_lease ours{fs, chance, wall, lease, state}; }
  CHECK_FALSE(exists(lock));
}

TEST_CASE_FIXTURE(office_disk, "only unfinished moves are held to the disk") {
  std::filesystem::create_directories(state);
  auto gone =
    replaced(good, "\"workspaceRoot\": \"/w\"", "\"workspaceRoot\": \"/w\"");
  put_file(registry_path(), gone);
  registry_store registry{ports(), state};
  CHECK(registry.open() == "");
  put_file(registry_path(), replaced(gone, "committed", "moving"));
  CHECK(contains(registry.open(), "workspace root /w"));
}

TEST_CASE("a raw id names an office for the operator") {
  registry_state state;
  CHECK(contains(resolve_owned_address(state, "C123").fault,
                 "no office is registered"));
  CHECK(contains(resolve_owned_address(state, "a/b").fault, "path separator"));
  enable_platform(state, discord);
  CHECK(resolve_owned_address(state, "900100").address.platform == discord);
  enable_platform(state, telegram);
  CHECK(resolve_owned_address(state, "900100").fault != "");
  migration_record migration;
  migration.raw_id = "900100";
  migration.owner = telegram;
  state.migrations.push_back(migration);
  CHECK(resolve_owned_address(state, "900100").address.platform == telegram);
  record_office(state, {discord, "900100"}, "t");
  CHECK(resolve_owned_address(state, "900100").address.platform == discord);
  record_office(state, {telegram, "900100"}, "t");
  CHECK(contains(resolve_owned_address(state, "900100").fault,
                 "several platforms"));
}

TEST_CASE("a file without offices may hold lists of others, not theirs") {
  auto with = [](const std::string& more) {
    return parse_registry(R"({"version":1,"enabledPlatforms":["slack"],)" + more
                            + R"("migrations":[]})",
                          "r");
  };
  CHECK(with("").state.offices.empty());
  CHECK(with(R"("tags":["a"],"rooms":[{"id":1}],"empty":[],)"));
  // One with its name damaged.
  auto damaged = with(
    R"("offices!":[{"platform":"slack","conversationId":"C1","recordedAt":"x"}],)");
  CHECK_FALSE(damaged);
  CHECK(damaged.fault.find("\"offices\" is missing") != std::string::npos);
}

TEST_CASE("offices of finished migrations join the inventory, once") {
  registry_state state;
  for (auto id : {"C3", "C1", "C2"}) {
    migration_record record;
    record.raw_id = id;
    record.owner = slack;
    record.status = migration_status::committed;
    state.migrations.push_back(record);
  }
  state.migrations[2].status = migration_status::failed;
  record_office(state, {discord, "C3"}, "old");
  CHECK(missing_offices(state)
        == std::vector<office_address>{{slack, "C3"}, {slack, "C1"}});
  CHECK(complete_inventory(state, "new"));
  CHECK_FALSE(complete_inventory(state, "newer"));
  REQUIRE(state.offices.size() == 3);
  CHECK(state.offices[1] == office_record{{slack, "C3"}, "new"});
  CHECK(state.offices[2] == office_record{{slack, "C1"}, "new"});
}
