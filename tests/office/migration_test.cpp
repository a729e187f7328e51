#include "actors/office/migration.hpp"
#include "actors/office/office_command.hpp"
#include "config/os/durable.hpp"
#include "tests/office/disk.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace bureau;
using namespace bureau::offices;
using namespace bureau::test;
using enum bureau::platform_id;

namespace {

using ids = std::vector<std::string>;
const std::string key = "v1-slack-c123-f1bbf4ab194ff2ea";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct migration_disk : office_disk {
  migration_run run(std::vector<platform_id> enabled = {slack}) {
    return migrate(ports(), root, state, enabled);
  }

  migration_status status_of(const std::string& raw_id) {
    auto registry = store();
    auto record = find_migration(registry->state(), raw_id);
    REQUIRE(record != nullptr);
    return record->status;
  }

  std::string office_dir(const office_address& address) const {
    return root + "/" + office_key(address);
  }

  migration_request request(const std::string& raw_id,
                            std::optional<platform_id> owner = {}) const {
    return {raw_id, root + "/" + raw_id, root, owner};
  }

  command_result office_list() {
    return run_office_command(ports(), {"list", "", "", "", root}, state);
  }

  command_result office_claim(const std::string& id,
                              const std::string& platform) {
    return run_office_command(ports(), {"claim", id, platform, "", root},
                              state);
  }
};

} // namespace

TEST_CASE_FIXTURE(migration_disk, "an empty workspace has nothing to move") {
  auto result = run();
  CHECK(result.fault == "");
  CHECK(result.summary == migration_summary{});
  CHECK(result.registry.enabled_platforms == std::vector<platform_id>{slack});
  CHECK(boot_refusal(result.summary, state) == "");
}

TEST_CASE_FIXTURE(migration_disk, "a workspace that is not there is empty") {
  std::filesystem::remove_all(root);
  CHECK(run().fault == "");
}

TEST_CASE_FIXTURE(migration_disk,
                  "legacy directories move with what is in them, once") {
  legacy("C123");
  legacy("D900");
  std::filesystem::create_directories(root + "/skills/x");
  std::filesystem::create_directories(root + "/events");
  put_file(root + "/MEMORY.md", "m");
  auto result = run();
  CHECK(result.fault == "");
  CHECK(result.summary.migrated == ids{"C123", "D900"});
  CHECK(get_file(root + "/" + key + "/log.jsonl") == "C123\n");
  CHECK_FALSE(exists(root + "/C123"));
  CHECK(get_file(root + "/MEMORY.md") == "m");
  CHECK(exists(root + "/skills/x"));
  CHECK(status_of("C123") == migration_status::committed);
  CHECK(find_office(result.registry, {slack, "D900"}) != nullptr);
  auto again = run();
  CHECK(again.fault == "");
  CHECK(again.summary == migration_summary{});
}

TEST_CASE_FIXTURE(migration_disk, "an ambiguous id waits for the operator") {
  legacy("900100");
  legacy("-1001234567890");
  auto result = run({discord, telegram});
  CHECK(result.fault == "");
  CHECK(result.summary.unowned == ids{"900100"});
  CHECK(result.summary.migrated == ids{"-1001234567890"});
  CHECK(exists(root + "/900100"));
  CHECK(exists(office_dir({telegram, "-1001234567890"})));
  auto text = boot_refusal(result.summary, state);
  CHECK(contains(text, "office claim <id> <platform>"));
  CHECK(contains(text, "\n  - 900100\n"));
}

TEST_CASE_FIXTURE(migration_disk, "the form of an id tells its platform") {
  for (auto name : {"C0AB12CD3", "D0EF45GH6", "GH_livingbio_genv-queue_1652"})
    legacy(name);
  auto result = run({slack, github});
  CHECK(result.summary.migrated
        == ids{"C0AB12CD3", "D0EF45GH6", "GH_livingbio_genv-queue_1652"});
  CHECK(exists(office_dir({github, "GH_livingbio_genv-queue_1652"})));
}

TEST_CASE_FIXTURE(migration_disk,
                  "an id of a platform that is off is unowned") {
  legacy("GH_octo_widgets_5");
  CHECK(run({slack}).summary.unowned == ids{"GH_octo_widgets_5"});
}

TEST_CASE_FIXTURE(migration_disk,
                  "a claimed directory moves at the next boot") {
  legacy("900100");
  CHECK(run({discord, telegram}).summary.unowned == ids{"900100"});
  auto claim = office_claim("900100", "telegram");
  CHECK(claim.exit_code == 0);
  CHECK(contains(claim.out, "Claimed 900100 for telegram"));
  CHECK(status_of("900100") == migration_status::prepared);
  auto result = run({discord, telegram});
  CHECK(result.summary.migrated == ids{"900100"});
  CHECK(exists(office_dir({telegram, "900100"})));
}

TEST_CASE_FIXTURE(migration_disk, "a move that was cut goes on") {
  struct row {
    const char* name;
    bool renamed;
  };
  for (auto row : {row{"before the rename", false}, row{"after it", true}}) {
    CAPTURE(row.name);
    migration_disk disk;
    disk.legacy("C123");
    auto registry = disk.store();
    CHECK(registry->enable(slack) == "");
    CHECK(registry->prepare(disk.request("C123")) == "");
    CHECK(registry->move("C123") == "");
    if (row.renamed)
      std::filesystem::rename(disk.root + "/C123", disk.root + "/" + key);
    auto result = disk.run();
    CHECK(result.fault == "");
    CHECK(result.summary.recovered == ids{"C123"});
    CHECK(disk.status_of("C123") == migration_status::committed);
    CHECK(exists(disk.root + "/" + key));
    CHECK(find_office(result.registry, {slack, "C123"}) != nullptr);
  }
}

TEST_CASE_FIXTURE(migration_disk, "a move with both sides or none has failed") {
  for (auto both : {true, false}) {
    CAPTURE(both);
    migration_disk disk;
    disk.legacy("C123");
    auto registry = disk.store();
    CHECK(registry->enable(slack) == "");
    CHECK(registry->prepare(disk.request("C123")) == "");
    CHECK(registry->move("C123") == "");
    if (both)
      std::filesystem::create_directories(disk.root + "/" + key);
    else
      std::filesystem::remove_all(disk.root + "/C123");
    for (auto round : {1, 2}) {
      CAPTURE(round);
      auto result = disk.run();
      CHECK(result.fault == "");
      CHECK(result.summary.failed == ids{"C123"});
      CHECK(
        contains(boot_refusal(result.summary, disk.state), "manual repair"));
      CHECK(contains(boot_refusal(result.summary, disk.state),
                     "office-registry.json"));
    }
  }
}

TEST_CASE_FIXTURE(migration_disk, "a legacy directory must not come back") {
  legacy("C123");
  CHECK(run().fault == "");
  legacy("C123");
  CHECK(contains(run().fault, "reappeared after migration"));
}

TEST_CASE_FIXTURE(migration_disk, "a symlink in the place of an office") {
  std::filesystem::create_directories(scratch / "elsewhere");
  std::filesystem::create_directory_symlink(scratch / "elsewhere",
                                            root + "/.x");
  std::filesystem::create_directory_symlink(scratch / "elsewhere",
                                            root + "/skills");
  CHECK(run().fault == "");
  std::filesystem::create_directory_symlink(scratch / "elsewhere",
                                            root + "/C123");
  CHECK(contains(run().fault, "must not be a symlink"));
}

TEST_CASE_FIXTURE(migration_disk, "what is no office is left alone") {
  std::filesystem::create_directories(root + "/pi-mono/src");
  put_file(root + "/notes.txt", "n");
  std::filesystem::create_directories(root + "/" + key);
  auto result = run();
  CHECK(result.fault == "");
  CHECK(result.summary == migration_summary{});
  CHECK(result.ignored == ids{"pi-mono"});
  CHECK(exists(root + "/pi-mono/src"));
}

TEST_CASE_FIXTURE(migration_disk, "a directory without marks can be claimed") {
  std::filesystem::create_directories(root + "/C123");
  CHECK(run().summary == migration_summary{});
  CHECK(office_claim("C123", "slack").exit_code == 0);
  CHECK(run().summary.migrated == ids{"C123"});
}

TEST_CASE_FIXTURE(migration_disk, "vault directories take the office key") {
  legacy("C123");
  auto vaults = state + "/vaults";
  for (auto name : {"c123-588a5f4edc2e", "shared/claw", "u1-ancient"})
    std::filesystem::create_directories(vaults + "/" + name);
  put_file(vaults + "/c123-588a5f4edc2e/env", "A=1");
  auto result = run();
  CHECK(result.summary.vault_keys_migrated == ids{"C123"});
  CHECK(get_file(vaults + "/" + key + "/env") == "A=1");
  CHECK(names(vaults) == ids{"shared", "u1-ancient", key});
}

TEST_CASE_FIXTURE(migration_disk, "two vaults of one office are a conflict") {
  legacy("C123");
  std::filesystem::create_directories(state + "/vaults/c123-588a5f4edc2e");
  std::filesystem::create_directories(state + "/vaults/" + key);
  auto result = run();
  CHECK(result.summary.vault_conflicts == ids{"C123"});
  CHECK(names(state + "/vaults").size() == 2);
  CHECK(contains(boot_refusal(result.summary, state), state + "/vaults"));
}

TEST_CASE_FIXTURE(migration_disk, "host state moves as one tree") {
  legacy("C123");
  auto old = state + "/conversations/C123";
  std::filesystem::create_directories(old + "/extension-data");
  put_file(old + "/settings.json", "{}");
  auto result = run();
  CHECK(result.summary.state_dirs_migrated == ids{"C123"});
  CHECK(exists(state + "/conversations/" + key + "/extension-data"));
  CHECK_FALSE(exists(old));
  std::filesystem::create_directories(old);
  auto again = run();
  CHECK(again.summary.state_dir_conflicts == ids{"C123"});
  CHECK(contains(boot_refusal(again.summary, state), state + "/conversations"));
}

TEST_CASE_FIXTURE(migration_disk, "offices with one raw id share no old tree") {
  auto registry = store();
  CHECK(registry->record({discord, "900100"}) == "");
  CHECK(registry->record({telegram, "900100"}) == "");
  std::filesystem::create_directories(state + "/vaults/900100-4898e8707d52");
  std::filesystem::create_directories(state + "/conversations/900100");
  auto result = run({discord, telegram});
  CHECK(result.summary.vault_conflicts == ids{"900100"});
  CHECK(result.summary.state_dir_conflicts == ids{"900100"});
  CHECK(exists(state + "/conversations/900100"));
}

TEST_CASE_FIXTURE(migration_disk, "a target in the way fails the migration") {
  legacy("C123");
  std::filesystem::create_directories(root + "/" + key);
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  CHECK(contains(registry->prepare(request("C123")), "already exists"));
  CHECK(status_of("C123") == migration_status::failed);
  CHECK(exists(root + "/C123"));
}

TEST_CASE_FIXTURE(migration_disk, "sources that cannot be prepared") {
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  put_file(root + "/C1", "file");
  std::filesystem::create_directories(scratch / "elsewhere");
  std::filesystem::create_directory_symlink(scratch / "elsewhere",
                                            root + "/C2");
  legacy("C3");
  std::filesystem::create_directory_symlink(root, scratch / "link");
  auto link = scratch / "link";
  CHECK(contains(registry->prepare(request("C1")), "regular directory"));
  CHECK(contains(registry->prepare(request("C2")), "regular directory"));
  CHECK(contains(registry->prepare(request("C9")), "regular directory"));
  CHECK(contains(registry->prepare({"C3", root + "/x", root, {}}), "must be"));
  CHECK(contains(registry->prepare({"C3", link + "/C3", link, {}}),
                 "Workspace root"));
  CHECK(contains(registry->prepare(request("a/b")), "path separator"));
  CHECK(contains(registry->prepare(request("C3", discord)), "not enabled"));
  CHECK(store()->state().migrations.empty());
}

TEST_CASE_FIXTURE(migration_disk, "a status changes its time only once") {
  legacy("C123");
  auto registry = store();
  auto at = [&] {
    return find_migration(registry->state(), "C123")->updated_at;
  };
  CHECK(registry->enable(slack) == "");
  CHECK(registry->prepare(request("C123")) == "");
  auto prepared = at();
  wall.now += 1000;
  CHECK(registry->prepare(request("C123")) == "");
  CHECK(at() == prepared);
  CHECK(registry->move("C123") == "");
  auto moving = at();
  CHECK(moving == "2026-01-01T00:00:01.000Z");
  wall.now += 1000;
  CHECK(registry->move("C123") == "");
  CHECK(at() == moving);
}

TEST_CASE_FIXTURE(migration_disk, "transitions that are refused") {
  legacy("900100");
  legacy("C123");
  auto registry = store();
  CHECK(registry->enable(discord) == "");
  CHECK(registry->enable(telegram) == "");
  CHECK(registry->enable(slack) == "");
  CHECK(registry->prepare(request("900100")) == "");
  CHECK(contains(registry->move("900100"), "still needs an owner"));
  CHECK(contains(registry->commit("900100"), "cannot commit from needs-owner"));
  CHECK(registry->prepare(request("C123")) == "");
  CHECK(contains(registry->commit("C123"), "cannot commit from prepared"));
  CHECK(contains(registry->fail("C123", "  "), "needs a reason"));
  CHECK(contains(registry->move("C9"), "no office migration"));
  CHECK(registry->move("C123") == "");
  CHECK(contains(registry->commit("C123"), "must be a regular directory"));
  std::filesystem::create_directories(root + "/" + key);
  CHECK(contains(registry->commit("C123"), "must be absent"));
  CHECK(status_of("C123") == migration_status::moving);
  CHECK(registry->fail("C123", " first ") == "");
  CHECK(registry->fail("C123", "second") == "");
  CHECK(registry->move("C123") == "");
  auto record = find_migration(registry->state(), "C123");
  CHECK(record->status == migration_status::failed);
  CHECK(record->error == "first");
}

TEST_CASE_FIXTURE(migration_disk, "a target that appears before the move") {
  legacy("C123");
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  CHECK(registry->prepare(request("C123")) == "");
  std::filesystem::create_directories(root + "/" + key);
  CHECK(contains(registry->move("C123"), "appeared before moving"));
  CHECK(status_of("C123") == migration_status::failed);
}

TEST_CASE_FIXTURE(migration_disk, "a committed migration cannot fail") {
  legacy("C123");
  CHECK(run().fault == "");
  CHECK(contains(store()->fail("C123", "no"), "cannot be marked failed"));
}

TEST_CASE_FIXTURE(migration_disk, "an office missing from the inventory") {
  legacy("C123");
  CHECK(run().fault == "");
  auto state_now = store()->state();
  state_now.offices.clear();
  put_file(registry_path(), print_registry(state_now));
  auto result = run();
  CHECK(find_office(result.registry, {slack, "C123"}) != nullptr);
  CHECK(find_office(store()->state(), {slack, "C123"}) != nullptr);
}

// Whatever step a kill interrupts, the next boot ends in the same place.
TEST_CASE("a boot that is killed anywhere is finished by the next") {
  for (size_t n = 1; n < 400; ++n) {
    CAPTURE(n);
    migration_disk disk;
    disk.legacy("C123");
    std::filesystem::create_directories(disk.state
                                        + "/vaults/c123-588a5f4edc2e");
    std::filesystem::create_directories(disk.state + "/conversations/C123");
    disk.fs.fail_from(n, EIO);
    auto first = disk.run();
    auto ended = first.fault.empty() && first.summary.migrated == ids{"C123"}
                 && first.summary.state_dirs_migrated == ids{"C123"};
    disk.fs.heal();
    auto second = disk.run();
    CHECK(second.fault == "");
    CHECK(boot_refusal(second.summary, disk.state) == "");
    CHECK(disk.pauses == 0);
    CHECK(office_disk::names(disk.state)
          == ids{"conversations", "office-registry.json", "vaults"});
    CHECK(get_file(disk.root + "/" + key + "/log.jsonl") == "C123\n");
    CHECK(office_disk::names(disk.state + "/vaults") == ids{key});
    CHECK(office_disk::names(disk.state + "/conversations") == ids{key});
    CHECK(disk.status_of("C123") == migration_status::committed);
    CHECK(find_office(second.registry, {slack, "C123"}) != nullptr);
    if (ended && n > 20)
      return;
  }
  FAIL("the run never got through");
}

// One fault of the disk ends the boot with a sentence, or it made no
// difference.
TEST_CASE("a boot with a fault anywhere moves everything or says so") {
  for (auto error : {EIO, ENOSPC, EINTR, EACCES}) {
    auto through = false;
    for (size_t n = 1; !through; ++n) {
      REQUIRE(n < 1000);
      CAPTURE(error);
      CAPTURE(n);
      migration_disk disk;
      disk.legacy("C123");
      std::filesystem::create_directories(disk.root + "/pi-mono/src");
      std::filesystem::create_directories(disk.state
                                          + "/vaults/c123-588a5f4edc2e");
      std::filesystem::create_directories(disk.state + "/conversations/C123");
      disk.fs.fail_at(n, error);
      auto first = disk.run();
      CAPTURE(first.fault);
      through = disk.fs.operations().size() < n;
      disk.fs.heal();
      CHECK(boot_refusal(first.summary, disk.state) == "");
      if (first.fault.empty()) {
        CHECK(first.summary.migrated == ids{"C123"});
        CHECK(first.summary.vault_keys_migrated == ids{"C123"});
        CHECK(first.summary.state_dirs_migrated == ids{"C123"});
        CHECK(first.ignored == ids{"pi-mono"});
      } else {
        CHECK(contains(first.fault, os::errno_text(error)));
      }
      auto second = disk.run();
      CHECK(second.fault == "");
      CHECK(boot_refusal(second.summary, disk.state) == "");
      CHECK(second.ignored == ids{"pi-mono"});
      CHECK(disk.pauses == 0);
      CHECK(office_disk::names(disk.state)
            == ids{"conversations", "office-registry.json", "vaults"});
      CHECK(get_file(disk.root + "/" + key + "/log.jsonl") == "C123\n");
      CHECK(office_disk::names(disk.root) == ids{"pi-mono", key});
      CHECK(office_disk::names(disk.state + "/vaults") == ids{key});
      CHECK(office_disk::names(disk.state + "/conversations") == ids{key});
      CHECK(disk.status_of("C123") == migration_status::committed);
      CHECK(find_office(second.registry, {slack, "C123"}) != nullptr);
    }
  }
}

// A move that stopped half-way is judged by what is on the disk; a disk that
// does not answer is no judgement.
TEST_CASE("a disk that does not answer fails no migration for good") {
  for (auto renamed : {false, true}) {
    auto through = false;
    for (size_t n = 1; !through; ++n) {
      REQUIRE(n < 1000);
      CAPTURE(renamed);
      CAPTURE(n);
      migration_disk disk;
      disk.legacy("C123");
      auto registry = disk.store();
      CHECK(registry->enable(slack) == "");
      CHECK(registry->prepare(disk.request("C123")) == "");
      CHECK(registry->move("C123") == "");
      if (renamed)
        std::filesystem::rename(disk.root + "/C123", disk.root + "/" + key);
      disk.fs.fail_at(n, EIO);
      auto first = disk.run();
      through = disk.fs.operations().size() < n;
      disk.fs.heal();
      CHECK(first.summary.failed.empty());
      CHECK(disk.run().fault == "");
      CHECK(disk.status_of("C123") == migration_status::committed);
      CHECK(get_file(disk.root + "/" + key + "/log.jsonl") == "C123\n");
    }
  }
}

TEST_CASE("container binds follow the office key") {
  std::vector<office_record> list = {{{slack, "C123"}, ""}};
  struct row {
    const char* from;
    std::string to;
  };
  const row rows[] = {
    {"/w/C123:/workspace/C123", "/w/" + key + ":/workspace/" + key},
    {"/s/conversations/C123/extensions:/x:ro",
     "/s/conversations/" + key + "/extensions:/x:ro"},
    {"/s/vaults/c123-588a5f4edc2e/.ssh:/root/.ssh",
     "/s/vaults/" + key + "/.ssh:/root/.ssh"},
    {"/w/C1234:/workspace/C1234", "/w/C1234:/workspace/C1234"},
    {"/w:/workspace", "/w:/workspace"},
    {"/w/MEMORY.md:/workspace/MEMORY.md", "/w/MEMORY.md:/workspace/MEMORY.md"},
    {"volume", "volume"},
  };
  for (auto& row : rows) {
    CHECK(translate_bind(row.from, list, "/w", "/s") == row.to);
    CHECK(translate_bind(row.to, list, "/w", "/s") == row.to);
  }
}

TEST_CASE_FIXTURE(migration_disk, "office list shows what there is") {
  CHECK(office_list().out == "Enabled platforms: (none)\nOffices (0):\n");
  legacy("900100");
  auto registry = store();
  CHECK(registry->enable(slack) == "");
  CHECK(registry->enable(discord) == "");
  CHECK(registry->enable(telegram) == "");
  CHECK(registry->record({slack, "C123"}) == "");
  CHECK(office_list().out
        == "Enabled platforms: discord, slack, telegram\nOffices (1):\n"
           "  slack  C123\n");
  CHECK(registry->prepare(request("900100")) == "");
  auto pending = office_list();
  CHECK(pending.exit_code == 0);
  CHECK(
    contains(pending.out, "Pending migrations (1):\n  needs-owner  900100\n"));
  CHECK(registry->fail("900100", "why") == "");
  CHECK(contains(office_list().out, "  failed  900100  (why)\n"));
}

TEST_CASE_FIXTURE(migration_disk, "claims that are refused") {
  legacy("900100");
  auto registry = store();
  CHECK(registry->enable(telegram) == "");
  auto off = office_claim("900100", "discord");
  CHECK(off.exit_code == 1);
  CHECK(contains(off.err, "not enabled"));
  CHECK(office_claim("900100", "matrix").exit_code == 1);
  CHECK(office_claim("missing", "telegram").exit_code == 1);
  CHECK(office_claim("900100", "telegram").exit_code == 0);
  CHECK(registry->enable(discord) == "");
  auto other = office_claim("900100", "discord");
  CHECK(other.exit_code == 1);
  CHECK(contains(other.err, "telegram"));
  CHECK(registry->fail("900100", "broken") == "");
  auto failed = office_claim("900100", "telegram");
  CHECK(failed.exit_code == 1);
  CHECK(contains(failed.err, "broken"));
}

TEST_CASE_FIXTURE(migration_disk, "paths may be given from where one stands") {
  legacy("C123");
  CHECK(store()->enable(slack) == "");
  auto here = std::filesystem::current_path();
  office_command command{"claim", "C123", "slack",
                         std::filesystem::relative(state, here),
                         std::filesystem::relative(root, here)};
  CHECK(run_office_command(ports(), command, "/nowhere").exit_code == 0);
  CHECK(run().summary.migrated == ids{"C123"});
}

TEST_CASE_FIXTURE(migration_disk, "a broken registry refuses every command") {
  std::filesystem::create_directories(state);
  put_file(registry_path(), "{");
  auto result = office_list();
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "Invalid office registry JSON"));
  CHECK(get_file(registry_path()) == "{");
}
