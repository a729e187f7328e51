#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/store_core.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
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

/// A files actor that never answers.
struct mute_state {
  files_actor::stateful_pointer<mute_state> self;
  std::vector<caf::typed_response_promise<file_outcome>> kept;
  static inline const char* name = "mute";
  explicit mute_state(files_actor::stateful_pointer<mute_state> me)
    : self(me) {}
  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job&) {
        kept.push_back(self->make_response_promise<file_outcome>());
        return kept.back();
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

const std::string february = "2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl";
const std::string march = "2026-03-01T00-00-00-000Z_bbbbbbbb.jsonl";

} // namespace

TEST_CASE_FIXTURE(store_world, "a first open creates file, pointer, session") {
  auto store = spawn();
  auto opened = open(store);
  REQUIRE(opened);
  CHECK(opened.value.messages.empty());
  CHECK(opened.value.leaf.empty());
  auto name = pointer();
  CHECK(session::is_main_file_name(name));
  CHECK(files() == list{name, "current"});
  auto header = header_of(text(name));
  CHECK(header.id == opened.value.session_id);
  CHECK(name.find("_" + header.id.substr(0, 8) + ".jsonl")
        != std::string::npos);
  CHECK(header.cwd == "/workspace/" + place.key);
  CHECK(header.timestamp == "2026-01-01T00:00:00.000Z");
  CHECK(header.parent_session.empty());
  CHECK(opened.value.path == path(name));
  CHECK(split_lines(text(name)).size() == 1);
  // Private, as is the pointer.
  for (auto file : {name, std::string{"current"}}) {
    auto mode = std::filesystem::status(path(file)).permissions();
    CHECK((mode & std::filesystem::perms{077}) == std::filesystem::perms::none);
  }
}

TEST_CASE_FIXTURE(store_world, "appends reach the file one line each") {
  auto store = spawn();
  REQUIRE(open(store));
  auto first = say(store, "one");
  auto second = say(store, "two");
  REQUIRE(second);
  auto all = split_lines(current_text());
  REQUIRE(all.size() == 3);
  CHECK(all[1].find("\"parentId\":null") != std::string::npos);
  CHECK(all[2].find("\"parentId\":\"" + first.value.at(0) + "\"")
        != std::string::npos);
  CHECK(journal->written.size() == 2);
  CHECK(journal->written[0].level == durability::lazy);
  CHECK(journal->written[0].root == journal_root::workspace);
  CHECK(journal->written[0].path == place.key + "/sessions/" + pointer());
  auto context = load(store);
  CHECK(texts(context.value) == list{"one", "two"});
  CHECK(context.value.leaf == second.value.at(0));
  CHECK(context.value.entry_ids == list{first.value.at(0), second.value.at(0)});
}

TEST_CASE_FIXTURE(store_world, "a batch is one record of the journal") {
  auto store = spawn();
  REQUIRE(open(store));
  auto ids = append(store, {run_cause_entry("m1"), user_says("hi")});
  REQUIRE(ids);
  CHECK(ids.value.size() == 2);
  REQUIRE(journal->written.size() == 1);
  CHECK(split_lines(journal->written[0].bytes).size() == 2);
  auto report = locate(store, "m1");
  CHECK(report.value.recorded);
  CHECK(report.value.admitted);
  CHECK_FALSE(report.value.worked);
  CHECK(load(store).value.handled_messages == list{"m1"});
  CHECK(append(store, {}).value.empty());
}

TEST_CASE_FIXTURE(store_world, "a restart finds what was written") {
  {
    auto store = spawn();
    REQUIRE(open(store));
    say(store, "one");
    say(store, "two");
  }
  auto before = current_text();
  auto context = open(spawn());
  CHECK(texts(context.value) == list{"one", "two"});
  CHECK(current_text() == before);
  CHECK(files().size() == 2);
}

TEST_CASE_FIXTURE(store_world, "nothing works on a closed store but opening") {
  auto store = spawn();
  CHECK(say(store, "x").code == errc::not_ready);
  CHECK(load(store).code == errc::not_ready);
  REQUIRE(open(store));
  say(store, "one");
  CHECK(close(store) == errc::none);
  CHECK(close(store) == errc::none);
  CHECK(say(store, "x").code == errc::not_ready);
  CHECK(texts(open(store).value) == list{"one"});
}

TEST_CASE_FIXTURE(store_world, "requests sent together are done in order") {
  auto store = spawn();
  auto sender = caf::scoped_actor{*system};
  auto opened =
    sender->request(store, caf::infinite, atom::open_v, session_open{});
  std::vector<decltype(sender->request(store, caf::infinite, atom::append_v,
                                       session_append{}))>
    appends;
  for (auto text : {"a", "b", "c"})
    appends.push_back(sender->request(store, caf::infinite, atom::append_v,
                                      session_append{{user_says(text)}}));
  auto closed = sender->request(store, caf::infinite, atom::close_v);
  settle();
  auto fail = [](const caf::error& reason) {
    FAIL(sentence_of(reason));
  };
  opened.receive([](const session_context&) {}, fail);
  for (auto& pending : appends)
    pending.receive(
      [](const std::vector<std::string>& ids) { CHECK(ids.size() == 1); },
      fail);
  closed.receive([](caf::ok_atom) {}, fail);
  CHECK(texts(open(store).value) == list{"a", "b", "c"});
}

TEST_CASE_FIXTURE(store_world, "a store bounds what waits in it") {
  // A files actor that never answers holds the first request.
  services.files = kit::spawn_stateful<files_actor, mute_state>(*system);
  auto store = spawn();
  auto sender = caf::scoped_actor{*system};
  sender->send(store, atom::open_v, session_open{});
  for (size_t i = 0; i < limits::session_store_waiting; ++i)
    sender->send(store, atom::load_v);
  auto refused = sender->request(store, caf::infinite, atom::load_v);
  settle();
  refused.receive([](const session_context&) { FAIL("not refused"); },
                  [](const caf::error& reason) {
                    CHECK(code_of(reason) == errc::queue_full);
                  });
  // Open promises hold an actor; only an exit ends these two.
  caf::anon_send_exit(store, caf::exit_reason::kill);
  caf::anon_send_exit(services.files, caf::exit_reason::kill);
}

TEST_CASE_FIXTURE(store_world, "whoever waits is told when a store ends") {
  services.files = kit::spawn_stateful<files_actor, mute_state>(*system);
  auto store = spawn();
  auto sender = caf::scoped_actor{*system};
  auto opened =
    sender->request(store, caf::infinite, atom::open_v, session_open{});
  auto waiting = sender->request(store, caf::infinite, atom::load_v);
  settle();
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  settle();
  auto told = [](const caf::error& reason) {
    CHECK(code_of(reason) == errc::shutting_down);
  };
  auto wrong = [](const session_context&) {
    FAIL("answered");
  };
  opened.receive(wrong, told);
  waiting.receive(wrong, told);
  caf::anon_send_exit(services.files, caf::exit_reason::kill);
}

// -- history ------------------------------------------------------------------

TEST_CASE_FIXTURE(store_world, "a new session starts from the chat log") {
  logged("1", "too old", {}, 30 * 86'400'000ll);
  logged("2", "question");
  logged("3", "current");
  logged("4", "queued");
  auto context = open(spawn(), "3");
  CHECK(texts(context.value) == list{"question"});
  // Header, history and marker are one write: no moment has half of them.
  CHECK(split_lines(current_text()).size() == 3);
  CHECK(journal->asked.empty());
}

TEST_CASE_FIXTURE(store_world, "an open session learns what was said since") {
  logged("1", "one");
  auto store = spawn();
  REQUIRE(open(store, "1"));
  append(store, {run_cause_entry("1"), user_says("one")});
  logged("2", "chatter");
  logged("3", "current");
  auto context = open(store, "3");
  CHECK(texts(context.value) == list{"one", "chatter"});
  auto before = current_text();
  CHECK(open(store, "3").value == context.value);
  CHECK(open(spawn(), "3").value == context.value);
  CHECK(current_text() == before);
}

TEST_CASE_FIXTURE(store_world,
                  "the sync of an open is durable before it answers") {
  auto store = spawn();
  REQUIRE(open(store));
  logged("1", "news");
  REQUIRE(open(store));
  REQUIRE(journal->written.size() == 1);
  // Message and marker travel in one record.
  auto written = split_lines(journal->written[0].bytes);
  REQUIRE(written.size() == 2);
  CHECK(written[1].find("mikan.chat_sync") != std::string::npos);
}

TEST_CASE_FIXTURE(store_world,
                  "a failed sync leaves neither message nor marker") {
  auto store = spawn();
  REQUIRE(open(store));
  auto before = current_text();
  logged("1", "news");
  journal->broken = true;
  CHECK(open(store).code == errc::disk);
  CHECK(current_text() == before);
  journal->broken = false;
  CHECK(texts(open(store).value) == list{"news"});
  CHECK(split_lines(current_text()).size() == 3);
}

TEST_CASE_FIXTURE(store_world, "only the end of a long log is read") {
  std::string bulk;
  for (int i = 0; bulk.size() < limits::history_sync_bytes + 1000; ++i) {
    log_record record;
    record.date = text::iso_utc(wall->now_ms());
    record.ts = "bulk" + std::to_string(i);
    record.user = "U1";
    record.text = std::string(20'000, 'x');
    bulk += print_log_line(record);
  }
  auto store = spawn();
  REQUIRE(open(store));
  put_file(place.log_path, bulk);
  logged("last", "the last word");
  auto context = open(store);
  REQUIRE(context);
  CHECK(texts(context.value).back() == "the last word");
  CHECK(context.value.messages.size() == limits::history_messages);
  for (const auto& job : jobs->jobs)
    if (job.path == "log.jsonl" && job.op == file_op::read_range)
      CHECK(job.length
            <= limits::history_bootstrap_bytes + limits::message_text_bytes);
}

TEST_CASE_FIXTURE(store_world, "files of the reference continue") {
  namespace stdfs = std::filesystem;
  for (auto office_id : {"100000", "100001"}) {
    CAPTURE(office_id);
    auto from = std::string{BUREAU_TEST_SOURCE_DIR}
                + "/tests/golden/mikan-0.5.3/workspace/" + office_id;
    auto root = disk / ("copy-" + std::string{office_id});
    place = make_office(make_workspace(root, disk / "state"),
                        {platform_id::telegram, office_id});
    stdfs::create_directories(root);
    stdfs::copy(from, place.dir, stdfs::copy_options::recursive);
    services.journal =
      spawn_inline_journal(*system, fs, disk / "state", root, journal);
    wall->step(1'796'040'000'000 - wall->now_ms());
    auto name = pointer();
    auto before = current_text();
    auto store = spawn(office_id);
    logged("201", "hello again");
    auto context = open(store, "201");
    REQUIRE(context);
    // What the old writer had synced or answered does not come again.
    CHECK(current_text() == before);
    auto n = office_id == std::string{"100000"} ? 0 : 1;
    auto tok = [n](int number) {
      return "tok-" + std::to_string(number + n) + "-end";
    };
    CHECK(texts(context.value)
          == list{"hello " + tok(1), "answer for " + tok(1) + " done",
                  "hello " + tok(51), "hello " + tok(101),
                  "answer for " + tok(101) + " done", "hello " + tok(151),
                  "answer for " + tok(151) + " done"});
    CHECK(context.value.provider == "bench");
    append(store, {run_cause_entry("201"), user_says("hello again")});
    CHECK(pointer() == name);
    CHECK(current_text().substr(0, before.size()) == before);
    CHECK(texts(open(spawn(office_id)).value).back() == "hello again");
  }
}

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
    CHECK(session::is_main_file_name(pointer()));
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
  // Far in the future: the newest.
  open(spawn("C123:1356789012345678901"));
  CHECK(header_of(text("1356789012345678901.jsonl")).parent_session_id
        == "mar");
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
