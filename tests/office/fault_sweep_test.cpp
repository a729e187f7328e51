#include "actors/io/journal_replay.hpp"
#include "actors/io/journal_writer.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/open_list.hpp"
#include "config/os/durable.hpp"
#include "messages/codec/registry_file.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/office/story.hpp"
#include "tests/support/long_campaign.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

using namespace bureau;
using namespace bureau::test;

namespace {

using texts = std::vector<std::string>;

// The journal's own writer in an actor without a thread: everything of the
// journal but the grouping of what waits.
//
// (append, journal_record) → offset   ⇒ one append
// (append, journal_batch) → offsets   ⇒ one group
// (seal, journal_root, path) → ok     ⇒ seal
// (mark, key, unfinished)             ⇒ mark
// (status) → status_line              ⇒ empty
// (stop) → ok                         ⇒ ok
struct written_journal_state {
  using pointer = journal_actor::stateful_pointer<written_journal_state>;
  static inline const char* name = "written_journal";
  pointer self;
  std::unique_ptr<io::journal_writer> writer;
  /// A checkpoint after every append, instead of none.
  bool checkpoints = false;

  explicit written_journal_state(pointer me) : self(me) {}

  void init(std::shared_ptr<file_system> disk, std::string state,
            std::string root, bool forgets) {
    checkpoints = forgets;
    writer = std::make_unique<io::journal_writer>(
      std::move(disk), std::move(state), std::move(root));
  }

  void checkpoint() {
    if (!checkpoints)
      return;
    writer->begin_checkpoint();
    while (writer->checkpoint_step(1))
      ;
  }

  caf::result<std::vector<uint64_t>> commit(const journal_batch& records) {
    std::vector<io::journal_append> batch;
    for (const auto& record : records)
      batch.push_back({record, 0, 1, 0, {}});
    writer->commit(batch);
    checkpoint();
    std::vector<uint64_t> offsets;
    for (const auto& append : batch) {
      if (append.failure)
        return append.failure;
      offsets.push_back(append.offset);
    }
    return offsets;
  }

  journal_actor::behavior_type make_behavior() {
    return {
      [this](atom::append,
             const journal_record& record) -> caf::result<uint64_t> {
        std::vector<io::journal_append> batch{{record, 0, 0, 0, {}}};
        writer->commit(batch);
        checkpoint();
        if (batch[0].failure)
          return batch[0].failure;
        return batch[0].offset;
      },
      [this](atom::append, const journal_batch& records) {
        return commit(records);
      },
      [this](atom::seal, journal_root root,
             const std::string& path) -> caf::result<caf::ok_atom> {
        if (auto failure = writer->seal({root, path}))
          return failure;
        return caf::ok_atom_v;
      },
      [this](atom::mark, const std::string& key, bool unfinished) {
        writer->mark(key, unfinished);
        if (!unfinished)
          checkpoint();
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

/// A world with the real journal, and what must hold in it at any time.
struct swept_world : office_world {
  bool checkpoints = false;

  swept_world() {
    journal = [this](caf::actor_system& system,
                     std::shared_ptr<file_system> disk) {
      return kit::spawn_stateful<journal_actor, written_journal_state>(
        system, std::move(disk), state, root, checkpoints);
    };
  }

  void replay() {
    auto report = io::replay_journal(*real, state, root);
    CHECK_FALSE(report.failure);
    std::vector<std::string> paths;
    for (const auto& target : report.touched)
      if (target.root == journal_root::state)
        paths.push_back(target.path);
    replayed = offices::keys_of_replayed(paths);
  }

  /// Names of all files below a directory that a writer left half-way.
  static std::vector<std::string> remains(const std::string& dir) {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{dir})
      if (os::is_temporary_name(entry.path().filename().string(), {}))
        result.push_back(entry.path().string());
    return result;
  }

  size_t logged(const std::string& id) const {
    auto lines = log();
    return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const log_record& line) { return line.ts == id; }));
  }

  size_t answered(const std::string& id) const {
    auto lines = log();
    return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const log_record& line) {
        return line.reply_to == id && !line.session_key.empty();
      }));
  }

  /// Each file is an old content or a new one, never a mixture.
  void check_files() const {
    auto ledger_text = read_ledger(get_file(ledger_path()));
    CHECK(ledger_text.skipped == 0);
    CHECK_FALSE(ledger_text.torn);
    CHECK(read_log(get_file(log_path()), "log").warnings.empty());
    auto registry = state + "/office-registry.json";
    if (std::filesystem::exists(registry))
      CHECK(parse_registry(get_file(registry), "r").fault == "");
    auto list = state + "/ledger-open.json";
    if (std::filesystem::exists(list))
      CHECK(parse_open_list(get_file(list)).has_value());
    CHECK(remains(state).empty());
    CHECK(remains(root).empty());
  }
};

size_t first_place(int error) {
  return is_long_run() || error == EIO ? 1 : error == ENOSPC ? 4 : 7;
}

const std::string answer = "answer to m1";
const std::string labelled =
  "(sent again after a restart; you may see this twice)\n\nanswer to m1";

} // namespace

TEST_CASE("one fault of the disk anywhere on a message's way") {
  for (size_t write_limit : {size_t{1} << 30, size_t{60}}) {
    for (auto error : {EIO, ENOSPC, EINTR}) {
      auto through = false;
      // Each error has places of its own when not all of them are tried.
      for (size_t n = first_place(error); !through; n += stride(9)) {
        REQUIRE(n < 2000);
        CAPTURE(write_limit);
        CAPTURE(error);
        CAPTURE(n);
        swept_world world;
        // What a restart knows it knows from frames, or from the list alone.
        world.checkpoints = write_limit == 60;
        {
          office_node node{world};
          node.sessions->automatic = true;
          node.disk->fail_at(n, error);
          node.disk->shorten_writes(write_limit);
          auto first = node.say("m1");
          through = node.disk->operations().size() < n;
          node.disk->heal();
          world.check_files();
          // The adapter offers again what was not taken.
          CAPTURE(first);
          if (first != "taken") {
            auto again = node.say("m1");
            CAPTURE(again);
            CHECK((again == "taken" || again == "duplicate"));
          }
          node.advance(std::chrono::seconds{4});
          world.check_files();
        }
        world.replay();
        office_node node{world, {}, false};
        node.sessions->automatic = true;
        node.attach();
        node.advance(limits::delivery_retry_delay * 4);
        CHECK(node.describe().open_entries == 0);
        CHECK(node.say("m1") == "duplicate");
        CHECK(world.logged("m1") == 1);
        CHECK(world.count(answer) <= 1);
        CHECK(world.shown.size() >= 1);
        CHECK((world.shown.size() == 1 || world.count(labelled) == 1));
        CHECK(world.answered("m1")
              == world.count(answer) + world.count(labelled));
        auto list =
          parse_open_list(get_file(world.state + "/ledger-open.json"));
        CHECK((!world.checkpoints || (list && list->empty())));
        world.check_files();
      }
    }
  }
}

namespace {

/// A ledger that the end of one more turn makes worth compacting, its size
/// bound included.
std::string long_ledger(int64_t now) {
  std::string text;
  for (size_t i = 0; text.size() <= limits::ledger_compact_bytes; ++i) {
    ledger_record line;
    line.at = text::iso_utc(now);
    line.id = "old-" + std::to_string(i);
    line.event.message_id = line.id;
    line.event.address = {platform_id::console, "local"};
    line.event.session_key = "local";
    line.event.text = std::string(4000, 'x');
    text += print_ledger_line(line);
    line.event = {};
    line.state = ledger_state::dead;
    line.why = "stopped";
    line.told = true;
    text += print_ledger_line(line);
  }
  return text;
}

} // namespace

TEST_CASE("one fault of the disk anywhere in the compaction of a ledger") {
  for (auto error : {EIO, ENOSPC, EINTR}) {
    auto through = false;
    for (size_t n = first_place(error); !through; n += stride(9)) {
      REQUIRE(n < 2000);
      CAPTURE(error);
      CAPTURE(n);
      swept_world world;
      {
        office_node first{world};
        first.say("m0");
        first.run("m0", "r0");
        auto old = long_ledger(first.wall->now_ms());
        put_file(world.ledger_path(), get_file(world.ledger_path()) + old);
      }
      {
        // What was running is told about, closed, and then the ledger is long.
        office_node node{world, {}, false};
        node.sessions->automatic = true;
        node.disk->fail_at(n, error);
        node.attach();
        through = node.disk->operations().size() < n;
        node.disk->heal();
        world.check_files();
        auto said = node.say("m1");
        CAPTURE(said);
        if (said != "taken")
          CHECK(node.say("m1") == "taken");
        node.advance(limits::delivery_retry_delay * 4);
        world.check_files();
        if (through)
          CHECK(get_file(world.ledger_path()).size()
                < limits::ledger_compact_bytes / 2);
      }
      world.replay();
      office_node node{world, {}, false};
      node.sessions->automatic = true;
      node.attach();
      node.advance(limits::delivery_retry_delay * 4);
      CHECK(node.say("m0") == "duplicate");
      CHECK(node.say("m1") == "duplicate");
      CHECK(node.say("old-0") == "duplicate");
      CHECK(node.say("old-100") == "duplicate");
      CHECK(node.describe().open_entries == 0);
      CHECK(world.shown.size() >= 2);
      world.check_files();
    }
  }
}

// A power cut left half a line; the line that was to end it is refused.
TEST_CASE("a torn end is mended by the first line that the disk takes") {
  swept_world world;
  { office_node{world}.say("m0"); }
  world.replay();
  for (const auto& path : {world.ledger_path(), world.log_path()})
    put_file(path, get_file(path) + R"({"v":1,"at":"2026)");
  {
    office_node node{world};
    node.disk->fail_named("sync_data", EIO);
    CHECK(node.say("m1") == "disk");
    CHECK(node.say("m2") == "disk");
    node.disk->heal();
    CHECK(node.say("m1") == "taken");
    CHECK(node.say("m2") == "taken");
  }
  CHECK(world.ledger() == texts{"m0 accepted", "m1 accepted", "m2 accepted"});
  CHECK(world.logged("m1") == 1);
  CHECK(world.logged("m2") == 1);
}

TEST_CASE("what waits for a deleted directory keeps its order") {
  swept_world world;
  office_node node{world};
  CHECK(node.say("m0") == "taken");
  std::filesystem::remove_all(
    std::filesystem::path{world.log_path()}.parent_path());
  texts wanted{"m0 accepted"};
  for (int i = 1; i < 20; ++i) {
    auto id = "m" + std::to_string(i);
    caf::anon_send(caf::actor_cast<caf::actor>(node.offices_handle),
                   atom::intake_v, node.message(id));
    wanted.push_back(id + " accepted");
  }
  node.settle();
  CHECK(world.ledger() == wanted);
  CHECK(world.log().size() == 19);
  world.check_files();
}

namespace {

/// Files that are complete, and what is left of others.
struct saved_files {
  size_t whole = 0;
  size_t parts = 0;
};

saved_files files_of(const office_world& world) {
  saved_files result;
  auto dir = std::filesystem::path{world.log_path()}.parent_path();
  if (std::filesystem::exists(dir / "attachments"))
    for (const auto& entry :
         std::filesystem::directory_iterator{dir / "attachments"}) {
      auto leaf = entry.path().filename().string();
      if (leaf.starts_with("."))
        ++result.parts;
      else
        ++result.whole;
      CHECK((leaf.starts_with(".") || get_file(entry.path()) == "content"));
    }
  return result;
}

intake_request with_file(const office_node& node) {
  auto result = node.message("m1");
  result.event.attachments.push_back({"a.txt", {}, "ref", {}});
  return result;
}

} // namespace

// A message with a file and one behind it: the process dies anywhere.
TEST_CASE("a kill anywhere on the way of a message with a file") {
  auto through = false;
  for (size_t n = 1; !through; n += stride(5)) {
    REQUIRE(n < 2000);
    CAPTURE(n);
    swept_world world;
    std::string first;
    std::string second;
    {
      office_node node{world};
      node.sessions->automatic = true;
      node.gate->files["ref"] = "content";
      node.disk->fail_from(n, EIO);
      first = node.offer(with_file(node));
      second = node.say("m2");
      through = node.disk->operations().size() < n;
    }
    world.replay();
    auto logged_before = world.logged("m1");
    office_node node{world, {}, false};
    node.sessions->automatic = true;
    node.gate->files["ref"] = "content";
    node.attach();
    node.advance(limits::delivery_retry_delay * 4);
    if (first == "taken") {
      CHECK(node.say("m1") == "duplicate");
      CHECK(node.gate->fetches.size() <= 1 - logged_before);
    } else {
      auto again = node.offer(with_file(node));
      CAPTURE(again);
      CHECK((again == "taken" || again == "duplicate"));
    }
    if (second == "taken")
      CHECK(node.say("m2") == "duplicate");
    node.advance(limits::delivery_retry_delay * 4);
    CHECK(node.describe().open_entries == 0);
    CHECK(world.logged("m1") == 1);
    CHECK(world.logged("m2") == (second == "taken" ? 1 : world.logged("m2")));
    auto files = files_of(world);
    CHECK(files.whole >= 1);
    CHECK(files.parts == 0);
    for (const auto& line : world.log())
      if (line.ts == "m1") {
        REQUIRE(line.attachments.size() == 1);
        CHECK(get_file(world.root + "/" + line.attachments[0].local_path)
              == "content");
      }
    CHECK(swept_world::remains(world.root).empty());
    CHECK(read_ledger(get_file(world.ledger_path())).skipped == 0);
  }
}

TEST_CASE("one fault of the disk on the way of a message with a file") {
  auto through = false;
  for (size_t n = 1; !through; n += stride(5)) {
    REQUIRE(n < 2000);
    CAPTURE(n);
    swept_world world;
    office_node node{world};
    node.gate->files["ref"] = "content";
    node.disk->fail_at(n, EIO);
    auto first = node.offer(with_file(node));
    through = node.disk->operations().size() < n;
    node.disk->heal();
    if (first != "taken")
      CHECK(node.offer(with_file(node)) != "disk");
    node.advance(limits::delivery_retry_delay * 4);
    CHECK(node.sessions->tickets.size() == 1);
    CHECK(world.logged("m1") == 1);
    // It is there, or the user knows.
    auto told = std::any_of(
      world.shown.begin(), world.shown.end(), [](const std::string& text) {
        return text.starts_with("I could not save `a.txt`");
      });
    for (const auto& line : world.log())
      if (line.ts == "m1")
        CHECK(line.attachments.empty() == told);
    world.check_files();
  }
}
