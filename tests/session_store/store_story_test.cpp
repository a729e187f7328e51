#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/log_scan_core.hpp"
#include "actors/session/store_core.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/session_store/store_world.hpp"
#include "tests/session_store/tree_support.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

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

} // namespace

TEST_CASE_FIXTURE(store_world, "a first open creates file, pointer, session") {
  auto store = spawn();
  auto opened = open(store);
  REQUIRE(opened);
  CHECK(opened.value.messages.empty());
  CHECK(opened.value.leaf.empty());
  auto name = pointer();
  CHECK(is_main_file_name(name));
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

TEST_CASE_FIXTURE(store_world, "the history reaches as far as the open says") {
  constexpr int64_t day = 86'400'000;
  logged("1", "last week", {}, 8 * day);
  logged("2", "first", {}, day);
  logged("3", "second");
  history_window reach;
  SUBCASE("in days") {
    reach.recent_days = 2;
    CHECK(texts(open(spawn(), {}, reach).value) == list{"first", "second"});
  }
  SUBCASE("in messages") {
    reach.messages = 1;
    CHECK(texts(open(spawn(), {}, reach).value) == list{"second"});
  }
  SUBCASE("of an open session too") {
    auto store = spawn();
    CHECK(texts(open(store, {}, reach).value).size() == 3);
    logged("4", "third");
    logged("5", "fourth");
    reach.messages = 1;
    CHECK(texts(open(store, {}, reach).value)
          == list{"last week", "first", "second", "fourth"});
  }
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

// -- what a sync costs --------------------------------------------------------

namespace {

/// A conversation that has gone on for a while.
class long_story : public store_world {
public:
  long_story() {
    for (int i = 0; i < 300; ++i)
      logged("old" + std::to_string(i), std::string(100, 'x'));
    store = spawn();
    REQUIRE(open(store));
    turn("1", "one");
  }

  /// A message, its run, and its answer in log and session.
  session_context turn(const std::string& id, const std::string& text) {
    logged(id, text);
    return run(id, text);
  }

  session_context run(const std::string& id, const std::string& text) {
    auto context = open(store, id);
    REQUIRE(context);
    append(store, {run_cause_entry(id), user_says(text)});
    append(store, {user_says("answer to " + id)});
    log_answer(id);
    return context.value;
  }

  void log_answer(const std::string& id) {
    log_record record;
    record.date = text::iso_utc(wall->now_ms());
    record.ts = "bot-" + id;
    record.user = "bot";
    record.text = "answer to " + id;
    record.from_bot = true;
    record.session_key = "C123";
    put_file(place.log_path, get_file(place.log_path) + print_log_line(record));
  }

  /// Bytes of the log that the jobs since the last call asked for.
  uint64_t log_bytes() {
    uint64_t result = 0;
    for (const auto& job : std::exchange(jobs->jobs, {}))
      if (job.path == place.key + "/log.jsonl" && job.op == file_op::read_range)
        result += job.length;
    return result;
  }

  session_store_actor store;
};

} // namespace

TEST_CASE_FIXTURE(long_story, "a turn reads of the log what was added to it") {
  turn("2", "two");
  log_bytes();
  for (auto id : {"3", "4", "5"}) {
    auto before = get_file(place.log_path).size();
    turn(id, "more");
    auto added = get_file(place.log_path).size() - before;
    CHECK(log_bytes() < 2 * added);
  }
}

TEST_CASE_FIXTURE(long_story, "what is said between two runs is learned once") {
  turn("2", "two");
  logged("c1", "chatter");
  logged("c2", "more chatter");
  auto context = turn("3", "three");
  auto said = texts(context);
  REQUIRE(said.size() >= 2);
  CHECK(said[said.size() - 2] == "chatter");
  CHECK(said[said.size() - 1] == "more chatter");
  turn("4", "four");
  auto whole = open(store).value;
  auto all = texts(whole);
  CHECK(std::count(all.begin(), all.end(), "chatter") == 1);
  CHECK(std::count(all.begin(), all.end(), "three") == 1);
  // A store that reads everything anew comes to the same result.
  CHECK(open(spawn()).value == whole);
}

TEST_CASE_FIXTURE(long_story, "messages that wait behind a run are not taken "
                              "over by it, and not lost when they never run") {
  logged("2", "two");
  logged("3", "three");
  logged("4", "four, stopped before it began");
  auto second = texts(run("2", "two"));
  CHECK(std::count(second.begin(), second.end(), "three") == 0);
  auto third = texts(run("3", "three"));
  CHECK(std::count(third.begin(), third.end(), "two") == 1);
  CHECK(std::count(third.begin(), third.end(), "four, stopped before it began")
        == 0);
  auto fifth = texts(turn("5", "five"));
  CHECK(fifth.back() == "four, stopped before it began");
  CHECK(std::count(fifth.begin(), fifth.end(), "three") == 1);
  CHECK(open(spawn(), "5").value.messages == open(store, "5").value.messages);
}

TEST_CASE_FIXTURE(long_story, "a run whose message is not in the log, or far "
                              "back in it, learns what is new all the same") {
  turn("2", "two");
  logged("c1", "chatter");
  SUBCASE("not in the log") {
    CHECK(texts(open(store, "event:e@1").value).back() == "chatter");
  }
  SUBCASE("far back") {
    CHECK(texts(open(store, "1").value).back() == "answer to 2");
    CHECK(texts(open(store).value).back() == "chatter");
  }
}

TEST_CASE_FIXTURE(long_story, "a log that became another one is read whole") {
  turn("2", "two");
  auto log = get_file(place.log_path);
  SUBCASE("shorter") {
    put_file(place.log_path, {});
  }
  SUBCASE("another file of that name") {
    std::filesystem::remove(place.log_path);
    put_file(disk / "other", log);
    std::filesystem::rename(disk / "other", place.log_path);
  }
  SUBCASE("other bytes in its place") {
    log.insert(0, "{}");
    put_file(place.log_path, log);
  }
  logged("c1", "chatter");
  CHECK(texts(turn("3", "three")).back() == "chatter");
  CHECK(texts(turn("4", "four")).back() == "answer to 3");
}

TEST_CASE_FIXTURE(long_story, "a line that is half written is read when it is "
                              "whole") {
  turn("2", "two");
  auto before = get_file(place.log_path);
  logged("c1", "chatter");
  auto after = get_file(place.log_path);
  put_file(place.log_path, after.substr(0, before.size() + 20));
  open(store);
  put_file(place.log_path, after);
  CHECK(texts(turn("3", "three")).back() == "chatter");
  auto all = texts(open(store).value);
  CHECK(std::count(all.begin(), all.end(), "chatter") == 1);
}

TEST_CASE_FIXTURE(long_story, "a sync that failed is made up for") {
  turn("2", "two");
  logged("c1", "chatter");
  logged("3", "three");
  journal->broken = true;
  CHECK(open(store, "3").code == errc::disk);
  journal->broken = false;
  CHECK(texts(run("3", "three")).back() == "chatter");
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
    if (job.path == place.key + "/log.jsonl" && job.op == file_op::read_range)
      CHECK(job.length <= session::log_part_bytes);
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
