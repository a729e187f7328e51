#include "actors/office/open_list.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/ledger_record.hpp"
#include "messages/codec/registry_file.hpp"
#include "messages/identity/office_address.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>

using namespace bureau;
using namespace bureau::offices;

namespace {

/// Calls `look` with the text cut at every place and with every byte replaced
/// by some that matter to a parser.
void damage(const std::string& text,
            const std::function<void(const std::string&)>& look) {
  for (size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    look(text.substr(0, at));
    for (auto byte : {char(text[at] ^ 0x10), char(text[at] ^ 0x01), '\0',
                      '\xff', '"', '\n', '{', '9'}) {
      auto changed = text;
      changed[at] = byte;
      look(changed);
    }
  }
}

size_t lines_in(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'))
         + (text.empty() || text.ends_with('\n') ? 0u : 1u);
}

registry_state sample_registry() {
  registry_state state;
  state.enabled_platforms = {platform_id::slack, platform_id::telegram};
  state.offices = {
    {{platform_id::slack, "C123"}, "2026-01-01T00:00:00.000Z"},
    {{platform_id::telegram, "-100"}, "2026-01-01T00:00:00.000Z"}};
  migration_record moved;
  moved.raw_id = "C9";
  moved.workspace_root = "/w";
  moved.source_dir = "/w/C9";
  moved.status = migration_status::needs_owner;
  moved.updated_at = "2026-01-01T00:00:00.000Z";
  state.migrations = {moved};
  return state;
}

} // namespace

TEST_CASE("a damaged registry is a fault, never a smaller one") {
  auto state = sample_registry();
  auto text = print_registry(state);
  REQUIRE(parse_registry(text, "r").state == state);
  damage(text, [&](const std::string& changed) {
    auto read = parse_registry(changed, "r");
    if (!read) {
      CHECK(read.fault.starts_with("r:"));
      return;
    }
    CHECK(read.state.offices.size() == state.offices.size());
    CHECK(read.state.migrations.size() == state.migrations.size());
    CHECK(read.state.enabled_platforms.size()
          == state.enabled_platforms.size());
  });
}

TEST_CASE("a damaged ledger loses at most the lines that were touched") {
  std::string text;
  for (auto id : {"m1", "m2", "m3"}) {
    ledger_record line;
    line.at = "2026-01-01T00:00:00.000Z";
    line.id = id;
    line.event.address = {platform_id::slack, "C123"};
    line.event.message_id = id;
    line.event.session_key = "C123";
    line.event.text = "hello";
    text += print_ledger_line(line);
  }
  REQUIRE(read_ledger(text).records.size() == 3);
  damage(text, [&](const std::string& changed) {
    auto contents = read_ledger(changed);
    // A changed byte may join two lines; one that is cut is torn, not skipped.
    CHECK(contents.records.size() + 2
          >= std::min<size_t>(lines_in(changed), 3));
    CHECK(contents.records.size() <= 3);
  });
}

TEST_CASE("what a replay touched is on the list before its frames go") {
  auto disk = std::make_shared<test::faulty_file_system>(
    std::make_shared<os::posix_file_system>());
  test::scratch_directory scratch;
  test::seeded_entropy chance;
  auto state = scratch.path();
  auto one = office_key({platform_id::slack, "C1"});
  auto two = office_key({platform_id::slack, "C2"});
  auto path = scratch / std::string{open_list_name};
  test::put_file(path, print_open_list({one}));
  std::string fault;
  auto extend = [&](const std::string& key) {
    return extend_open_list(*disk, chance, state,
                            {"conversations/" + key + "/ledger.jsonl"}, fault)
      .keys;
  };
  disk->fail_named("rename", ENOSPC);
  extend(two);
  CHECK(fault.find("No space left") != std::string::npos);
  disk->heal();
  fault.clear();
  CHECK(extend(two) == std::vector<std::string>{one, two});
  CHECK(fault == "");
  CHECK(test::get_file(path) == print_open_list({one, two}));
  // Nothing new is no reason to write.
  disk->heal();
  extend(one);
  for (const auto& operation : disk->operations())
    CHECK_FALSE(operation.starts_with("rename"));
}

TEST_CASE("a damaged list of unfinished offices is never taken for empty") {
  os::posix_file_system disk;
  test::scratch_directory scratch;
  auto state = scratch.path();
  auto with = office_key({platform_id::slack, "C1"});
  auto without = office_key({platform_id::slack, "C2"});
  auto path = scratch / std::string{open_list_name};
  CHECK(load_open_list(disk, state).keys.empty());
  for (const auto& key : {with, without})
    std::filesystem::create_directories(state + "/conversations/" + key);
  test::put_file(state + "/conversations/" + with + "/ledger.jsonl", "{}\n");
  auto text = print_open_list({with});
  test::put_file(path, text);
  CHECK(load_open_list(disk, state).keys == std::vector<std::string>{with});
  damage(text, [&](const std::string& changed) {
    test::put_file(path, changed);
    auto list = load_open_list(disk, state);
    CHECK(list.keys.size() == 1);
    if (parse_open_list(changed))
      CHECK(list.warning.empty());
    else
      CHECK(list.keys == std::vector<std::string>{with});
  });
}
