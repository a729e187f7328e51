#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/store_core.hpp"
#include "tests/session_store/store_world.hpp"
#include "tests/session_store/tree_support.hpp"

#include <caf/all.hpp>

#include <filesystem>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

using list = std::vector<std::string>;

session_header header_of(const std::string& text) {
  auto line = first_line(text);
  REQUIRE(line);
  auto header = parse_session_header(*line);
  REQUIRE(header);
  return *header;
}

std::string header_text(const char* id, const char* time,
                        const char* more = "") {
  return std::string{R"({"type":"session","version":3,"id":")"} + id
         + R"(","timestamp":")" + time + R"(","cwd":"/x")" + more + "}\n";
}

// (ensure, office_address) → office ⇒ told to the test
// The others answer nothing of use.
struct watched_registry_state {
  using pointer = registry_actor::stateful_pointer<watched_registry_state>;
  static inline const char* name = "watched_registry";
  std::function<void(const office_address&)> told;

  explicit watched_registry_state(pointer) {}

  void init(std::function<void(const office_address&)> ear) {
    told = std::move(ear);
  }

  registry_actor::behavior_type make_behavior() {
    return {
      [this](atom::ensure, const office_address& address) {
        told(address);
        return office{};
      },
      [](atom::list) { return office_inventory{}; },
      [](atom::claim, const office_address&) { return caf::ok_atom_v; },
      [](atom::status) { return status_line{}; },
    };
  }
};

const std::string february = "2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl";
const std::string march = "2026-03-01T00-00-00-000Z_bbbbbbbb.jsonl";

} // namespace

// -- resolving ----------------------------------------------------------------

TEST_CASE_FIXTURE(store_world,
                  "pointers that name no session are passed over") {
  auto good = header_text("keep", "2026-02-01T00:00:00.000Z");
  struct row {
    const char* name;
    std::string pointer;
    std::string file;
    std::string text;
  };
  const row rows[] = {
    {"dangling", "gone.jsonl", "", ""},
    {"escaping", "../outside.jsonl", "../outside.jsonl", good},
    {"absolute", path("x.jsonl"), "x.jsonl", good},
    {"an empty file", february, february, ""},
    {"a blank file", february, february, " \n"},
    {"another object", february, february, R"({"hello":"world"})"},
    {"no pointer at all", "", february, good},
    {"a pointer that points at itself", "current", "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    std::filesystem::remove_all(place.sessions_dir);
    std::filesystem::create_directories(place.sessions_dir);
    if (!row.file.empty())
      put_file(path(row.file), row.text);
    put_file(path("current"), row.pointer);
    logged("1", "from the log");
    auto context = open(spawn());
    REQUIRE(context);
    CHECK(context.value.session_id != "keep");
    CHECK(texts(context.value).at(0) == "from the log");
    CHECK(is_main_file_name(pointer()));
    CHECK(pointer() != row.pointer);
    if (!row.file.empty())
      CHECK(text(row.file) == row.text);
    std::filesystem::remove(place.log_path);
  }
}

TEST_CASE_FIXTURE(store_world, "links are never followed to a session") {
  namespace stdfs = std::filesystem;
  put_session("real.jsonl", header_text("real", "2026-02-01T00:00:00.000Z"));
  stdfs::create_symlink(path("real.jsonl"), path(february));
  put_file(path("current"), february);
  auto top = open(spawn());
  REQUIRE(top);
  CHECK(top.value.session_id != "real");
  stdfs::create_symlink(path("real.jsonl"), path("17.1.jsonl"));
  auto thread = open(spawn("C123:17.1"));
  CHECK(thread.code == errc::denied);
  CHECK(thread.sentence.find("17.1.jsonl") != std::string::npos);
  CHECK(split_lines(text("real.jsonl")).size() == 1);
  // A second name of a file has a second writer in waiting.
  stdfs::create_hard_link(path("real.jsonl"), path("18.1.jsonl"));
  CHECK(open(spawn("C123:18.1")).code == errc::denied);
  CHECK(reset(spawn("C123:17.1")).code == errc::denied);
}

TEST_CASE_FIXTURE(store_world, "what stands in the place of the pointer is no "
                               "session and in nobody's way") {
  namespace stdfs = std::filesystem;
  stdfs::create_directories(place.sessions_dir);
  auto victim = disk / "victim";
  put_file(victim, "theirs");
  for (auto how : {"open", "reset"}) {
    CAPTURE(how);
    auto begin = [&] {
      return how == std::string{"open"} ? open(spawn()) : reset(spawn());
    };
    stdfs::remove_all(place.sessions_dir);
    stdfs::create_directories(place.sessions_dir);
    stdfs::create_symlink(victim, path("current"));
    REQUIRE(begin());
    CHECK(get_file(victim) == "theirs");
    CHECK(files().size() == 2);
    CHECK(open(spawn()).value.session_id == header_of(current_text()).id);
    stdfs::remove(path("current"));
    stdfs::create_directory(path("current"));
    put_file(path("current/note"), "kept");
    REQUIRE(begin());
    CHECK(open(spawn()).value.session_id == header_of(current_text()).id);
    CHECK(get_file(path("archive/2026-01-01T00-00-00-000Z_current.torn/note"))
          == "kept");
  }
}

// The clock moves between any two of its readings.
TEST_CASE_FIXTURE(store_world, "a file is named after the time in its header") {
  struct restless_clock final : wall_clock {
    mutable int64_t now = 1'767'225'600'000;
    int64_t now_ms() const override { return now += 1000; }
    int offset_minutes(int64_t) const override { return 0; }
  };
  services.wall = std::make_shared<restless_clock>();
  auto store = spawn();
  for (auto how : {"open", "reset"}) {
    CAPTURE(how);
    REQUIRE((how == std::string{"open"} ? open(store) : reset(store)));
    auto header = header_of(current_text());
    auto time = header.timestamp;
    for (auto& c : time)
      if (c == ':' || c == '.')
        c = '-';
    CHECK(pointer() == time + "_" + header.id.substr(0, 8) + ".jsonl");
  }
}

TEST_CASE_FIXTURE(store_world, "a directory that was deleted is the "
                               "registry's to make") {
  namespace stdfs = std::filesystem;
  size_t asked = 0;
  auto make = [&](const office_address& address) {
    CHECK(address == place.address);
    CHECK_FALSE(stdfs::exists(place.dir));
    ++asked;
    stdfs::create_directories(place.dir);
  };
  services.registry =
    kit::spawn_stateful<registry_actor, watched_registry_state>(
      *system, std::function<void(const office_address&)>{make});
  stdfs::remove_all(place.dir);
  REQUIRE(open(spawn()));
  CHECK(asked == 1);
  CHECK(stdfs::exists(place.sessions_dir));
}

TEST_CASE_FIXTURE(store_world, "a link in the place of the office is refused") {
  namespace stdfs = std::filesystem;
  auto store = spawn();
  REQUIRE(open(store));
  REQUIRE(say(store, "one"));
  // An agent renames its office and leads to another directory with the same
  // names in it.
  auto victim = disk / "victim";
  stdfs::rename(place.dir, victim);
  stdfs::create_directory_symlink(victim, place.dir);
  auto before = get_file(victim + "/sessions/current");
  auto text = get_file(victim + "/sessions/" + before);
  CHECK_FALSE(say(store, "two"));
  CHECK(reset(store).code == errc::denied);
  CHECK(open(spawn()).code == errc::denied);
  CHECK(open(spawn("C123:17.1")).code == errc::denied);
  CHECK(get_file(victim + "/sessions/current") == before);
  CHECK(get_file(victim + "/sessions/" + before) == text);
  CHECK_FALSE(stdfs::exists(victim + "/sessions/17.1.jsonl"));
}

TEST_CASE_FIXTURE(store_world, "files derived from history are not resumed") {
  put_main(february,
           header_text("old", "2026-02-01T00:00:00.000Z",
                       R"(,"source":{"kind":"platform-history","file":"x"})"));
  auto context = open(spawn());
  REQUIRE(context);
  CHECK(context.value.session_id != "old");
  CHECK(pointer() != february);
  CHECK(current_text().find("platform-history") == std::string::npos);
}

TEST_CASE_FIXTURE(store_world, "a session stays current however old it is") {
  put_main(february, header_text("old", "2025-02-01T00:00:00.000Z"));
  CHECK(open(spawn()).value.session_id == "old");
  CHECK(pointer() == february);
}

TEST_CASE_FIXTURE(store_world, "header-only files keep their id and header") {
  auto header =
    header_text("kept", "2026-02-01T00:00:00.000Z", R"(,"mine":[1,2])");
  put_main(february, header);
  auto store = spawn();
  CHECK(open(store).value.session_id == "kept");
  CHECK(current_text() == header);
  say(store, "one");
  CHECK(split_lines(current_text()).size() == 2);
  CHECK(current_text().substr(0, header.size()) == header);
}

TEST_CASE_FIXTURE(store_world, "suffixes that are no file names are refused") {
  for (auto key : {"C123:../other", "C123:foo/bar", "C123:", "C123:.."}) {
    CAPTURE(key);
    auto store = spawn(key);
    CHECK(open(store).code == errc::bad_identity);
    CHECK(reset(store).code == errc::bad_identity);
    CHECK_FALSE(locate(store, "m").value.recorded);
  }
  CHECK(files().empty());
}

// -- threads ------------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "threads and top level are different sessions") {
  auto top = open(spawn());
  auto one = open(spawn("C123:1000.0001"));
  auto two = open(spawn("C123:1000.0002"));
  CHECK(one.value.path == path("1000.0001.jsonl"));
  CHECK(top.value.session_id != one.value.session_id);
  CHECK(one.value.session_id != two.value.session_id);
  CHECK(open(spawn("C123:1000.0001")).value.session_id == one.value.session_id);
}

TEST_CASE_FIXTURE(store_world, "a thread's parent is the session of its time") {
  put_main(february, header_text("feb", "2026-02-01T00:00:00.000Z"), false);
  put_main(march, header_text("mar", "2026-03-01T00:00:00.000Z"));
  open(spawn("C123:1771545600.0")); // 2026-02-20
  auto header = header_of(text("1771545600.0.jsonl"));
  CHECK(header.parent_session == path(february));
  CHECK(header.parent_session_id == "feb");
  // Neither a number nor a time with a session before it: the current one.
  open(spawn("C123:rc-7"));
  CHECK(header_of(text("rc-7.jsonl")).parent_session_id == "mar");
  open(spawn("C123:17"));
  CHECK(header_of(text("17.jsonl")).parent_session_id == "mar");
  // Only younger ones: the current one.
  open(spawn("C123:1750000000.0"));
  CHECK(header_of(text("1750000000.0.jsonl")).parent_session_id == "mar");
  // Far in the future: the newest.
  open(spawn("C123:1356789012345678901"));
  CHECK(header_of(text("1356789012345678901.jsonl")).parent_session_id
        == "mar");
}

TEST_CASE_FIXTURE(store_world, "a parent is chosen by its header, not its "
                               "name") {
  // The newest name has the oldest header, and the oldest name the one that
  // fits.
  put_main("2026-02-03T00-00-00-000Z_cccccccc.jsonl",
           header_text("liar", "2026-01-10T00:00:00.000Z"));
  put_main("2026-02-02T00-00-00-000Z_bbbbbbbb.jsonl",
           header_text("young", "2026-02-25T00:00:00.000Z"), false);
  put_main("2020-02-01T00-00-00-000Z_aaaaaaaa.jsonl",
           header_text("right", "2026-02-19T00:00:00.000Z"), false);
  put_main("2030-02-01T00-00-00-000Z_dddddddd.jsonl",
           header_text("older", "2026-02-18T00:00:00.000Z"), false);
  open(spawn("C123:1771545600.0")); // 2026-02-20
  CHECK(header_of(text("1771545600.0.jsonl")).parent_session_id == "right");
}

TEST_CASE_FIXTURE(store_world, "a parent may be older than many sessions") {
  put_main("2020-02-01T00-00-00-000Z_aaaaaaaa.jsonl",
           header_text("right", "2026-02-19T00:00:00.000Z"));
  for (int i = 0; i < 300; ++i)
    put_main("2026-03-01T00-00-00-000Z_" + std::to_string(10'000'000 + i)
               + ".jsonl",
             header_text("young", "2026-03-01T00:00:00.000Z"));
  open(spawn("C123:1771545600.0")); // 2026-02-20
  CHECK(header_of(text("1771545600.0.jsonl")).parent_session_id == "right");
}

TEST_CASE_FIXTURE(store_world,
                  "without a top-level session there is no parent") {
  open(spawn("C123:1771545600.0"));
  auto header = header_of(text("1771545600.0.jsonl"));
  CHECK(header.parent_session.empty());
  CHECK(header.parent_session_id.empty());
  CHECK(files() == list{"1771545600.0.jsonl"});
}

TEST_CASE_FIXTURE(store_world, "damaged files are no parents") {
  put_main(march, "garbage\n");
  put_main("2026-02-10T00-00-00-000Z_cccccccc.jsonl", "{\"type\":", false);
  put_main(february, header_text("feb", "2026-02-01T00:00:00.000Z"), false);
  open(spawn("C123:1771545600.0"));
  CHECK(header_of(text("1771545600.0.jsonl")).parent_session_id == "feb");
}

TEST_CASE_FIXTURE(store_world, "a header longer than one piece is still read") {
  auto pad = R"(,"pad":")" + std::string(20'000, 'p') + "\"";
  put_main(february,
           header_text("feb", "2026-02-01T00:00:00.000Z", pad.c_str()));
  open(spawn("C123:1771545600.0"));
  CHECK(header_of(text("1771545600.0.jsonl")).parent_session_id == "feb");
}

TEST_CASE_FIXTURE(store_world, "a thread starts with its root and replies") {
  logged("1", "talk");
  logged("10", "root");
  logged("11", "reply", "10");
  logged("12", "later talk");
  logged("13", "current", "10");
  auto store = spawn("C123:10");
  auto context = open(store, "13");
  CHECK(texts(context.value) == list{"talk", "root", "reply"});
  auto before = text("10.jsonl");
  CHECK(open(spawn("C123:10"), "13").value == context.value);
  CHECK(text("10.jsonl") == before);
}

TEST_CASE_FIXTURE(store_world, "a thread file that is there skips the start") {
  logged("1", "talk");
  logged("10", "root");
  put_session("10.jsonl", header_text("pre", "2026-01-01T00:00:00.000Z"));
  logged("13", "current", "10");
  auto context = open(spawn("C123:10"), "13");
  CHECK(context.value.session_id == "pre");
  CHECK(texts(context.value) == list{"root"});
}

TEST_CASE_FIXTURE(store_world, "an empty thread file does not count") {
  put_session("10.jsonl", "");
  auto context = open(spawn("C123:10"));
  REQUIRE(context);
  CHECK(header_of(text("10.jsonl")).id == context.value.session_id);
}

// -- reset --------------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "a reset of the top level flips the pointer") {
  logged("1", "before");
  auto store = spawn();
  REQUIRE(open(store));
  say(store, "old talk");
  auto old_name = pointer();
  auto old_text = current_text();
  advance(5s);
  auto fresh = reset(store);
  REQUIRE(fresh);
  CHECK(fresh.value.messages.empty());
  CHECK(pointer() != old_name);
  CHECK(text(old_name) == old_text);
  auto all = split_lines(current_text());
  REQUIRE(all.size() == 2);
  CHECK(all[1].find(R"("messageCount":0,"lastMessageId":"1","resetAt":)"
                    R"("2026-01-01T00:00:05.000Z")")
        != std::string::npos);
  // What was said before never comes back, what is said now does.
  advance(1s);
  logged("2", "late from before", {}, 3000);
  logged("3", "after");
  CHECK(texts(open(store).value) == list{"after"});
  CHECK(texts(open(spawn()).value) == list{"after"});
  say(store, "new talk");
  CHECK(text(old_name) == old_text);
}

TEST_CASE_FIXTURE(store_world, "a reset needs neither session nor log") {
  auto store = spawn();
  auto fresh = reset(store);
  REQUIRE(fresh);
  CHECK(current_text().find("lastMessageId") == std::string::npos);
  CHECK(open(spawn()).value.session_id == fresh.value.session_id);
  CHECK(split_lines(current_text()).size() == 2);
}

TEST_CASE_FIXTURE(store_world, "a reset of a thread archives its file") {
  put_main(march, header_text("mar", "2026-03-01T00:00:00.000Z"));
  auto one = spawn("C123:1000.0001");
  auto two = spawn("C123:1000.0002");
  auto top = spawn();
  for (auto& store : {one, two, top}) {
    REQUIRE(open(store));
    say(store, "talk");
  }
  auto old_one = text("1000.0001.jsonl");
  auto old_two = text("1000.0002.jsonl");
  auto old_top = current_text();
  put_main(february, header_text("feb", "2026-02-01T00:00:00.000Z"));
  auto fresh = reset(one);
  REQUIRE(fresh);
  CHECK(fresh.value.messages.empty());
  CHECK(archived() == list{"2026-01-01T00-00-00-000Z_1000.0001.jsonl"});
  CHECK(get_file(path("archive/" + archived().at(0))) == old_one);
  auto header = header_of(text("1000.0001.jsonl"));
  CHECK(header.id == fresh.value.session_id);
  CHECK(header.id != header_of(old_one).id);
  // The lineage stays that of the thread, whatever is current now.
  CHECK(header.parent_session_id == "mar");
  CHECK(header.parent_session == path(march));
  CHECK(text("1000.0002.jsonl") == old_two);
  CHECK(text(march) == old_top);
  // Twice in the same millisecond loses nothing either.
  say(one, "more");
  auto second = text("1000.0001.jsonl");
  REQUIRE(reset(one));
  REQUIRE(archived().size() == 2);
  CHECK(get_file(path("archive/" + archived().at(1))) == second);
  say(one, "again");
  CHECK(texts(open(spawn("C123:1000.0001")).value) == list{"again"});
}

TEST_CASE_FIXTURE(store_world, "a reset touches nothing but the session") {
  auto memory = place.dir + "/MEMORY.md";
  put_file(memory, "remember\n");
  logged("1", "talk");
  auto log = get_file(place.log_path);
  for (auto key : {"C123", "C123:1000.0001"}) {
    CAPTURE(key);
    auto store = spawn(key);
    REQUIRE(open(store));
    REQUIRE(reset(store));
    CHECK(get_file(memory) == "remember\n");
    CHECK(get_file(place.log_path) == log);
  }
}

TEST_CASE_FIXTURE(store_world, "old headers name their parent by path alone") {
  put_main(february, header_text("feb", "2026-02-01T00:00:00.000Z"), false);
  put_main(march, header_text("mar", "2026-03-01T00:00:00.000Z"));
  auto more = R"(,"parentSession":")" + path(february) + "\"";
  put_session("rc-7.jsonl",
              header_text("old", "2026-03-02T00:00:00.000Z", more.c_str()));
  REQUIRE(reset(spawn("C123:rc-7")));
  CHECK(header_of(text("rc-7.jsonl")).parent_session_id == "feb");
}

TEST_CASE_FIXTURE(store_world, "a damaged session can be left behind") {
  auto damaged = "garbage\n" + user_entry("u", "", "precious") + "\n";
  put_main(february, damaged);
  put_session("17.1.jsonl", damaged);
  auto top = spawn();
  CHECK(open(top).code == errc::corrupt);
  REQUIRE(reset(top));
  CHECK(text(february) == damaged);
  auto thread = spawn("C123:17.1");
  CHECK(open(thread).code == errc::corrupt);
  REQUIRE(reset(thread));
  REQUIRE(archived().size() == 1);
  CHECK(get_file(path("archive/" + archived().at(0))) == damaged);
  CHECK(say(thread, "hi"));
}

// -- inspection ---------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "looking for a message writes nothing") {
  auto store = spawn();
  CHECK_FALSE(locate(store, "m1").value.recorded);
  CHECK(files().empty());
  auto damaged = lines({header_line, cause_line("c", "", "m1"), "{\"type",
                        user_entry("u", "c", "hi")});
  put_main(february, damaged);
  auto report = locate(store, "m1");
  REQUIRE(report);
  CHECK(report.value.recorded);
  CHECK(report.value.admitted);
  CHECK_FALSE(report.value.worked);
  CHECK(current_text() == damaged);
  CHECK(files() == list{february, "current"});
  put_main(february, R"({"type":"session","version":4,"id":"x"})");
  CHECK(locate(store, "m1").code == errc::corrupt);
}

TEST_CASE_FIXTURE(store_world, "looking for a message ends no reset that a "
                               "crash interrupted") {
  std::filesystem::create_directories(place.sessions_dir + "/archive");
  auto waiting = path("archive/17.1.jsonl.next");
  auto fresh = header_text("fresh", "2026-01-01T00:00:00.000Z");
  put_file(waiting, fresh);
  auto report = locate(spawn("C123:17.1"), "m1");
  REQUIRE(report);
  CHECK_FALSE(report.value.recorded);
  CHECK(files().empty());
  CHECK(get_file(waiting) == fresh);
  // The next open does.
  CHECK(open(spawn("C123:17.1")).value.session_id == "fresh");
  CHECK(files() == list{"17.1.jsonl"});
}
