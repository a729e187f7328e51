#include "actors/kit/spawn_stateful.hpp"
#include "tests/session_store/store_world.hpp"
#include "tests/session_store/tree_support.hpp"

#include <caf/all.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>

using namespace bureau;
using namespace bureau::test;

namespace {

using list = std::vector<std::string>;

const std::string february = "2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl";

std::string header_text(const char* id) {
  return std::string{R"({"type":"session","version":3,"id":")"} + id
         + R"(","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/x"})" + "\n";
}

/// The files actor, with somebody else in front of every job.
struct foreign_hand_state {
  files_actor::stateful_pointer<foreign_hand_state> self;
  files_actor inner;
  std::function<void(const file_job&)> before;
  static inline const char* name = "foreign_hand";
  explicit foreign_hand_state(
    files_actor::stateful_pointer<foreign_hand_state> me)
    : self(me) {}
  void init(files_actor files, std::function<void(const file_job&)> hand) {
    inner = std::move(files);
    before = std::move(hand);
  }
  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) {
        before(job);
        return self->delegate(inner, atom::file_v, job);
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

} // namespace

// -- branches -----------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "a session goes on from an earlier entry") {
  auto store = spawn();
  CHECK(branch(store, "x").code == errc::not_ready);
  REQUIRE(open(store));
  auto one = say(store, "one").value.at(0);
  say(store, "two");
  journal->written.clear();
  auto moved = branch(store, one);
  REQUIRE(moved);
  CHECK(moved.value.leaf == one);
  CHECK(moved.value.path == path(pointer()));
  CHECK(texts(moved.value) == list{"one"});
  REQUIRE(journal->written.size() == 1);
  CHECK(split_lines(journal->written[0].bytes).size() == 1);
  auto three = say(store, "three").value.at(0);
  CHECK(texts(load(store).value) == list{"one", "three"});
  CHECK(open(spawn()).value == load(store).value);
  // Where it is already, nothing is to be written.
  journal->written.clear();
  CHECK(branch(store, three).value.leaf == three);
  CHECK(journal->written.empty());
  // A new root.
  CHECK(branch(store, "").value.messages.empty());
  say(store, "root");
  CHECK(texts(open(spawn()).value) == list{"root"});
}

TEST_CASE_FIXTURE(store_world, "the branch that is left is summed up in the "
                               "same unit") {
  auto store = spawn();
  REQUIRE(open(store));
  auto one = say(store, "one").value.at(0);
  say(store, "two");
  journal->written.clear();
  auto moved = branch(store, one, R"({"summary":"we said two"})");
  REQUIRE(moved);
  CHECK(texts(moved.value) == list{"one", "we said two"});
  CHECK(moved.value.messages.at(1).from_id == one);
  REQUIRE(journal->written.size() == 1);
  CHECK(split_lines(journal->written[0].bytes).size() == 2);
  auto root = branch(store, "", R"({"summary":"all of it"})");
  CHECK(root.value.messages.at(0).from_id == "root");
  CHECK(open(spawn()).value == root.value);
  CHECK(branch(store, one, "7").code == errc::bad_request);
}

TEST_CASE_FIXTURE(store_world, "a branch needs an entry to begin at") {
  auto store = spawn();
  REQUIRE(open(store));
  auto one = say(store, "one").value.at(0);
  auto before = current_text();
  CHECK(branch(store, "nobody").code == errc::not_found);
  CHECK(current_text() == before);
  CHECK(load(store).value.leaf == one);
}

TEST_CASE_FIXTURE(store_world, "a branch that the disk refuses moves nothing") {
  auto store = spawn();
  REQUIRE(open(store));
  auto one = say(store, "one").value.at(0);
  auto two = say(store, "two").value.at(0);
  journal->broken = true;
  CHECK(branch(store, one).code == errc::disk);
  CHECK(load(store).value.leaf == two);
  journal->broken = false;
  SUBCASE("the next entry follows the old leaf") {
    REQUIRE(say(store, "three"));
    CHECK(texts(open(spawn()).value) == list{"one", "two", "three"});
  }
  SUBCASE("and the branch can be had again") {
    REQUIRE(branch(store, one));
    REQUIRE(say(store, "three"));
    CHECK(texts(open(spawn()).value) == list{"one", "three"});
  }
}

// -- is there one -------------------------------------------------------------

TEST_CASE_FIXTURE(store_world,
                  "whether a session exists is read off the disk") {
  namespace stdfs = std::filesystem;
  CHECK_FALSE(exists(spawn()).value);
  CHECK_FALSE(exists(spawn("C123:1.1")).value);
  CHECK_FALSE(exists(spawn("C123:../x")).value);
  CHECK(files().empty());
  auto top = spawn();
  REQUIRE(open(top));
  CHECK(exists(top).value);
  CHECK(exists(spawn()).value);
  REQUIRE(open(spawn("C123:1.1")));
  CHECK(exists(spawn("C123:1.1")).value);
  put_session("2.1.jsonl", "");
  put_session("3.1.jsonl", "garbage\n");
  put_session("4.1.jsonl", R"({"hello":"world"})");
  put_session("real.jsonl", header_text("real"));
  stdfs::create_symlink(path("real.jsonl"), path("5.1.jsonl"));
  stdfs::create_hard_link(path("real.jsonl"), path("6.1.jsonl"));
  stdfs::create_directory(path("7.1.jsonl"));
  for (auto key : {"C123:2.1", "C123:3.1", "C123:4.1", "C123:5.1", "C123:6.1",
                   "C123:7.1"}) {
    CAPTURE(key);
    CHECK_FALSE(exists(spawn(key)).value);
  }
  put_file(path("current"), "gone.jsonl");
  CHECK_FALSE(exists(spawn()).value);
  // A header whose line has no end yet is one.
  put_session("8.1.jsonl", R"({"type":"session","id":"x"})");
  CHECK(exists(spawn("C123:8.1")).value);
}

TEST_CASE_FIXTURE(store_world, "a thread is registered once, without history") {
  logged("1", "talk");
  logged("10", "root");
  put_main(february, header_text("feb"));
  auto store = spawn("C123:10");
  auto made = ensure(store);
  REQUIRE(made);
  CHECK(made.value == path("10.jsonl"));
  auto before = text("10.jsonl");
  REQUIRE(split_lines(before).size() == 1);
  auto header = parse_session_header(split_lines(before).at(0));
  REQUIRE(header);
  CHECK(header->parent_session_id == "feb");
  CHECK(exists(store).value);
  CHECK(ensure(spawn("C123:10")).value == path("10.jsonl"));
  CHECK(text("10.jsonl") == before);
  // Its log bootstrap is skipped: the top level's talk does not enter.
  auto context = open(store, "99");
  CHECK(context.value.session_id == header->id);
  CHECK(texts(context.value) == list{"root"});
  CHECK(ensure(store).value == path("10.jsonl"));
  CHECK(say(store, "goes on"));
}

TEST_CASE_FIXTURE(store_world, "only threads are registered, and only where "
                               "nothing else is") {
  namespace stdfs = std::filesystem;
  auto bare = ensure(spawn());
  REQUIRE(bare);
  CHECK(bare.value.empty());
  CHECK(files().empty());
  CHECK(ensure(spawn("C123:../x")).code == errc::bad_identity);
  put_session("2.1.jsonl", " \n");
  CHECK(ensure(spawn("C123:2.1")));
  CHECK(split_lines(text("2.1.jsonl")).size() == 1);
  put_session("3.1.jsonl", "garbage\n");
  CHECK(ensure(spawn("C123:3.1")).code == errc::corrupt);
  CHECK(text("3.1.jsonl") == "garbage\n");
  put_session("real.jsonl", header_text("real"));
  stdfs::create_symlink(path("real.jsonl"), path("5.1.jsonl"));
  stdfs::create_hard_link(path("real.jsonl"), path("6.1.jsonl"));
  CHECK(ensure(spawn("C123:5.1")).code == errc::denied);
  CHECK(ensure(spawn("C123:6.1")).code == errc::denied);
  fs->fail_named("rename_below", ENOSPC);
  CHECK(ensure(spawn("C123:8.1")).code == errc::disk);
  fs->heal();
  CHECK(ensure(spawn("C123:8.1")));
}

// -- in memory ----------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "a session in memory never becomes a file") {
  logged("1", "talk");
  for (auto key : {"C123", "C123:sub"}) {
    CAPTURE(key);
    auto store = spawn_in_memory(key);
    CHECK(say(store, "early").code == errc::not_ready);
    auto opened = open(store, "1");
    REQUIRE(opened);
    CHECK(opened.value.messages.empty());
    CHECK(opened.value.path.empty());
    auto one = say(store, "one").value.at(0);
    CHECK(texts(load(store).value) == list{"one"});
    append(store, {run_cause_entry("m"), user_says("two")});
    CHECK(locate(store, "m").value.admitted);
    CHECK(load(store).value.handled_messages == list{"m"});
    CHECK(texts(branch(store, one, R"({"summary":"s"})").value)
          == list{"one", "s"});
    CHECK(texts(open(store).value) == list{"one", "s"});
    CHECK_FALSE(exists(store).value);
    CHECK(ensure(store).value.empty());
    auto id = opened.value.session_id;
    auto fresh = reset(store);
    CHECK(fresh.value.messages.empty());
    CHECK(fresh.value.session_id != id);
    say(store, "three");
    CHECK(close(store) == errc::none);
    CHECK(say(store, "late").code == errc::not_ready);
    CHECK(open(store).value.messages.empty());
  }
  CHECK(files().empty());
  CHECK(jobs->jobs.empty());
  CHECK(journal->asked.empty());
}

TEST_CASE_FIXTURE(store_world, "a session in memory needs neither files nor "
                               "journal") {
  services.files = nullptr;
  services.journal = nullptr;
  services.writers = nullptr;
  auto store = spawn_in_memory();
  REQUIRE(open(store));
  CHECK(say(store, "one"));
}

// -- one writer ---------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "a session file has one live writer") {
  auto first = spawn();
  REQUIRE(open(first));
  REQUIRE(say(first, "one"));
  auto second = spawn_beside();
  auto refused = open(second);
  CHECK(refused.code == errc::busy);
  CHECK(refused.sentence.find("already has an active writer")
        != std::string::npos);
  CHECK(say(second, "two").code == errc::not_ready);
  // Looking at it is allowed.
  CHECK(exists(second).value);
  CHECK_FALSE(locate(second, "m").value.recorded);
  SUBCASE("until it is closed") {
    CHECK(close(first) == errc::none);
  }
  SUBCASE("until it ends") {
    caf::anon_send_exit(first, caf::exit_reason::kill);
    settle();
  }
  CHECK(texts(open(second).value) == list{"one"});
  CHECK(say(second, "two"));
}

TEST_CASE_FIXTURE(store_world,
                  "a thread that is open is reset by nobody else") {
  auto first = spawn("C123:1.1");
  REQUIRE(open(first));
  REQUIRE(say(first, "one"));
  auto before = text("1.1.jsonl");
  auto second = spawn_beside("C123:1.1");
  CHECK(reset(second).code == errc::busy);
  CHECK(text("1.1.jsonl") == before);
  CHECK(say(first, "two"));
  // Its own reset goes on with the same claim.
  REQUIRE(reset(first));
  CHECK(open(second).code == errc::busy);
  CHECK(say(first, "three"));
}

TEST_CASE_FIXTURE(store_world, "the pointer may name what a thread writes") {
  auto thread = spawn("C123:1.1");
  REQUIRE(open(thread));
  put_file(path("current"), "1.1.jsonl");
  auto top = spawn_beside();
  CHECK(open(top).code == errc::busy);
  // The same file under another name.
  std::filesystem::rename(path("1.1.jsonl"), path(february));
  put_file(path("current"), february);
  CHECK(open(top).code == errc::busy);
  CHECK(close(thread) == errc::none);
  CHECK(open(top));
}

TEST_CASE_FIXTURE(store_world, "the claim follows a file that is rewritten") {
  put_main(february, std::string{header_line} + "\n{\"torn");
  auto first = spawn();
  REQUIRE(open(first));
  REQUIRE(say(first, "one"));
  CHECK(open(spawn_beside()).code == errc::busy);
  REQUIRE(say(first, "two"));
}

TEST_CASE_FIXTURE(store_world, "the claim on a file that is gone hinders "
                               "nobody") {
  auto first = spawn("C123:1.1");
  REQUIRE(open(first));
  SUBCASE("removed") {
    std::filesystem::remove(path("1.1.jsonl"));
  }
  SUBCASE("replaced") {
    std::filesystem::remove(path("1.1.jsonl"));
    put_session("1.1.jsonl", header_text("other"));
  }
  SUBCASE("replaced in place, as by an inode that is used again") {
    put_session("1.1.jsonl", header_text("other"));
  }
  auto second = spawn_beside("C123:1.1");
  REQUIRE(open(second));
  REQUIRE(say(second, "two"));
  // The first store notices that its file is another one.
  CHECK_FALSE(say(first, "one"));
  CHECK(open(first).code == errc::busy);
  CHECK(texts(load(second).value) == list{"two"});
}

TEST_CASE_FIXTURE(store_world, "what appeared meanwhile is not overwritten") {
  // Each job in turn is the moment before which somebody else writes the file.
  auto foreign = header_text("foreign") + user_entry("u", "", "theirs") + "\n";
  for (auto early : {"", " \n"})
    for (auto how : {"open", "ensure", "reset"})
      for (size_t moment = 1; moment < 20; ++moment) {
        CAPTURE(early);
        CAPTURE(how);
        CAPTURE(moment);
        store_world world;
        if (*early != '\0')
          world.put_session("1.1.jsonl", early);
        auto file = world.place.key + "/sessions/1.1.jsonl";
        auto written = false;
        world.services.files =
          kit::spawn_stateful<files_actor, foreign_hand_state>(
            *world.system, world.services.files,
            [&, count = size_t{0}](const file_job& job) mutable {
              // Only between the last look and the write is nothing to be done:
              // a rename never replaces what is there.
              auto final = job.path == file && job.op != file_op::stat
                           && job.op != file_op::read_range
                           && job.op != file_op::rename;
              if (!final && ++count == moment) {
                world.put_session("1.1.jsonl", foreign);
                written = true;
              }
            });
        auto store = world.spawn("C123:1.1");
        errc code = how == std::string{"open"}     ? world.open(store).code
                    : how == std::string{"ensure"} ? world.ensure(store).code
                                                   : world.reset(store).code;
        if (!written)
          continue;
        auto kept = world.text("1.1.jsonl") == foreign;
        for (const auto& name : world.archived())
          kept = kept || get_file(world.path("archive/" + name)) == foreign;
        CHECK(kept);
        CHECK((code == errc::none || code == errc::conflict));
      }
}
