#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/office/story.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

delivered faulty(delivery_fault fault,
                 failure_certainty certainty = failure_certainty::definite,
                 int64_t after_ms = 0) {
  delivered result;
  result.fault = fault;
  result.certainty = certainty;
  result.retry_after_ms = after_ms;
  return result;
}

} // namespace

TEST_CASE("a message is taken, run, answered and logged") {
  office_world world;
  office_node node{world};
  CHECK(node.say("m1", "hi") == "taken");
  REQUIRE(node.sessions->tickets.size() == 1);
  CHECK(node.sessions->tickets[0].event.text == "hi");
  CHECK(node.sessions->tickets[0].attempt == 1);
  CHECK(node.run("m1", "r1") == "ok");
  CHECK(node.produce("m1", "r1", "hello ann") == "ok");
  CHECK(world.shown == texts{"hello ann"});
  CHECK(world.ledger()
        == texts{"m1 accepted", "m1 running", "m1 produced", "m1 sending",
                 "m1 sent"});
  auto log = world.log();
  REQUIRE(log.size() == 2);
  CHECK(log[0].ts == "m1");
  CHECK(log[0].user_name == "ann");
  CHECK(log[0].display_name == "Ann");
  CHECK(log[0].session_key == "local");
  CHECK_FALSE(log[0].from_bot);
  CHECK(log[1].user == "bot");
  CHECK(log[1].from_bot);
  CHECK(log[1].ts == "ref-1");
  CHECK(log[1].text == "hello ann");
  CHECK(log[1].reply_to == "m1");
  CHECK(log[1].session_key == "local");
  REQUIRE(node.gate->closed.size() == 1);
  CHECK(node.gate->closed[0].message_id == "m1");
  CHECK(node.gate->closed[0].outcome == "sent");
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("the answer replaces the interim message by one edit") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  CHECK(node.produce("m1", "r1", "done", "p1") == "ok");
  CHECK(world.shown == texts{"edit[p1] done"});
  CHECK(world.ledger()[3] == "m1 sending(edit)");
  CHECK(world.log()[1].ts == "p1");
}

TEST_CASE("a transport without edits gets a post") {
  office_world world;
  office_node node{world, [](gate_script& gate) {
                     gate.streaming = false;
                   }};
  node.say("m1");
  node.run("m1", "r1");
  node.produce("m1", "r1", "done", "p1");
  CHECK(world.shown == texts{"done"});
}

TEST_CASE("a transport that asks no gate is recorded afterwards") {
  office_world world;
  office_node node{world, [](gate_script& gate) {
                     gate.asks_gate = false;
                   }};
  node.sessions->automatic = true;
  CHECK(node.say("m1") == "taken");
  CHECK(world.ledger().back() == "m1 sent");
  CHECK(world.ledger()[3] == "m1 sending");
}

TEST_CASE("a message offered twice is one message, also after a restart") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    CHECK(node.say("m1") == "taken");
    CHECK(node.say("m1") == "duplicate");
    auto aside = node.message("m2", "aside");
    aside.trigger = trigger_class::log_only;
    CHECK(node.offer(aside) == "logged");
    CHECK(node.offer(aside) == "duplicate");
    CHECK(node.sessions->tickets.size() == 1);
  }
  office_node node{world};
  CHECK(node.say("m1") == "duplicate");
  CHECK(node.say("m2") == "duplicate");
  CHECK(node.sessions->tickets.empty());
  CHECK(world.count("answer to m1") == 1);
  CHECK(world.log().size() == 3);
}

TEST_CASE("two copies on their way to the disk share one fate") {
  office_world world;
  office_node node{world};
  auto first = node.self->request(node.offices_handle, caf::infinite,
                                  atom::intake_v, node.message("m1"));
  auto second = node.self->request(node.offices_handle, caf::infinite,
                                   atom::intake_v, node.message("m1"));
  node.settle();
  texts outcomes;
  auto note = [&](const intake_reply& reply) {
    outcomes.push_back(to_string(reply.outcome));
  };
  auto fail = [](const caf::error& reason) {
    FAIL(sentence_of(reason));
  };
  first.receive(note, fail);
  second.receive(note, fail);
  CHECK(outcomes == texts{"taken", "duplicate"});
  CHECK(node.sessions->tickets.size() == 1);
  CHECK(world.log().size() == 1);
}

TEST_CASE("a full disk takes nothing, and a later offer is taken") {
  office_world world;
  office_node node{world};
  CHECK(node.say("m0") == "taken");
  node.journal_log->broken = true;
  CHECK(node.say("m1") == "disk");
  CHECK(node.sessions->tickets.size() == 1);
  node.journal_log->broken = false;
  CHECK(node.sessions->tickets.size() == 1);
  CHECK(node.say("m1") == "taken");
  CHECK(node.sessions->tickets.size() == 2);
  CHECK(world.log().size() == 2);
}

TEST_CASE("a message is in the ledger and in the chat log, or in neither") {
  office_world world;
  office_node node{world};
  CHECK(node.say("m0") == "taken");
  // Whatever breaks after so many appends: no file is ahead of the other.
  node.journal_log->breaks_after = 0;
  CHECK(node.say("m1") == "disk");
  CHECK(world.ledger() == texts{"m0 accepted"});
  CHECK(world.log().size() == 1);
  node.journal_log->broken = false;
  node.journal_log->breaks_after = 1;
  CHECK(node.say("m1") == "taken");
  CHECK(world.ledger() == texts{"m0 accepted", "m1 accepted"});
  CHECK(world.log().size() == 2);
  node.journal_log->broken = false;
  node.journal_log->breaks_after = -1;
  node.run("m0", "r0");
  node.produce("m0", "r0", "a0");
  node.run("m1", "r1");
  node.produce("m1", "r1", "a1");
  CHECK(world.shown == texts{"a0", "a1"});
}

TEST_CASE("a chat log that cannot be written takes no message at all") {
  office_world world;
  std::filesystem::create_directories(world.log_path());
  office_node node{world};
  CHECK(node.say("m1") != "taken");
  CHECK(world.ledger().empty());
  CHECK(node.sessions->tickets.empty());
}

TEST_CASE("a chat log that is a link, or has a second name, is refused") {
  office_world world;
  { office_node{world}.say("m0"); }
  auto log = world.log_path();
  auto content = get_file(log);
  auto elsewhere = world.scratch / "elsewhere";
  struct row {
    const char* name;
    std::function<void()> place;
  };
  const row rows[] = {
    {"symlink",
     [&] {
       std::filesystem::create_symlink(elsewhere, log);
     }},
    {"hard link",
     [&] {
       std::filesystem::create_hard_link(elsewhere, log);
     }},
    {"fifo",
     [&] {
       ::mkfifo(log.c_str(), 0600);
     }},
  };
  for (const auto& row : rows) {
    CAPTURE(std::string{row.name});
    put_file(elsewhere, content);
    std::filesystem::remove(log);
    row.place();
    office_node node{world};
    node.sessions->automatic = true;
    CHECK(node.say("m1") == "denied");
    CHECK(node.sessions->tickets.empty());
    CHECK(get_file(elsewhere) == content);
    // As soon as the operator has put it right, the conversation goes on.
    std::filesystem::remove(log);
    put_file(log, content);
    auto id = std::string{"after "} + row.name;
    CHECK(node.say(id) == "taken");
    CHECK(get_file(elsewhere) == content);
  }
}

TEST_CASE("the directories of an office are made again when they are deleted") {
  office_world world;
  office_node node{world};
  node.sessions->automatic = true;
  auto office = std::filesystem::path{world.log_path()}.parent_path();
  auto own = std::filesystem::path{world.ledger_path()}.parent_path();
  CHECK(node.say("m0") == "taken");
  auto registry = get_file(world.state + "/office-registry.json");
  for (const auto& gone : {office, own}) {
    CAPTURE(gone.string());
    std::filesystem::remove_all(gone);
    auto id = "after " + gone.filename().string() + gone.parent_path().string();
    CHECK(node.say(id) == "taken");
    CHECK(node.say("second " + id) == "taken");
    CHECK(node.say("m0") == "duplicate");
    CHECK(world.count("answer to " + id) == 1);
    CHECK(world.count("answer to second " + id) == 1);
    CHECK(std::filesystem::status(gone).permissions()
          == std::filesystem::perms::owner_all);
    CHECK(world.log().back().reply_to == "second " + id);
    CHECK(world.ledger().back() == "second " + id + " sent");
  }
  // A line of the log alone, and the record that is there already.
  std::filesystem::remove_all(office);
  auto aside = node.message("m2", "aside");
  aside.trigger = trigger_class::log_only;
  CHECK(node.offer(aside) == "logged");
  CHECK(world.log().size() == 1);
  CHECK(get_file(world.state + "/office-registry.json") == registry);
}

TEST_CASE("a directory that cannot be made again takes no message") {
  office_world world;
  office_node node{world};
  CHECK(node.say("m0") == "taken");
  auto office = std::filesystem::path{world.log_path()}.parent_path();
  std::filesystem::remove_all(office);
  put_file(office.string(), "in the way");
  CHECK(node.say("m1") == "disk");
  CHECK(get_file(office.string()) == "in the way");
  std::filesystem::remove(office);
  CHECK(node.say("m1") == "taken");
}

TEST_CASE("a full disk leaves no empty line behind") {
  office_world world;
  office_node node{world};
  node.journal_log->broken = true;
  CHECK(node.say("m1") == "disk");
  node.journal_log->broken = false;
  CHECK(node.say("m1") == "taken");
  CHECK(get_file(world.log_path()).front() == '{');
  CHECK(get_file(world.ledger_path()).front() == '{');
}

TEST_CASE("torn ends of both files are mended before the next line") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    node.say("m1");
  }
  put_file(world.log_path(), get_file(world.log_path()) + R"({"date":"20)");
  put_file(world.ledger_path(), get_file(world.ledger_path()) + R"({"v":1,)");
  office_node node{world};
  node.sessions->automatic = true;
  CHECK(node.say("m2") == "taken");
  CHECK(world.log().back().reply_to == "m2");
  CHECK(world.ledger().back() == "m2 sent");
}

TEST_CASE("messages with a foreign identity leave no trace") {
  office_world world;
  office_node node{world};
  auto wrong = node.message("m1");
  wrong.event.session_key = "other:1";
  CHECK(node.offer(wrong) == "bad_identity");
  wrong = node.message("m1");
  wrong.event.address.conversation_id = "a/b";
  CHECK(node.offer(wrong) == "bad_identity");
  // Legal as an id, and never as the key of a session.
  wrong = node.message("m1");
  wrong.event.address.conversation_id = "a:b";
  wrong.event.session_key.clear();
  CHECK(node.offer(wrong) == "bad_identity");
  for (auto id : {std::string{}, std::string(2000, 'x'), std::string{"\xff"}}) {
    wrong = node.message(id);
    CHECK(node.offer(wrong) == "bad_identity");
  }
  wrong = node.message("m1");
  wrong.event.target = json_text{"{"};
  CHECK(node.offer(wrong) == "bad_identity");
  CHECK(get_file(world.log_path()) == "");
  // No record, no directory, no office.
  CHECK_FALSE(std::filesystem::exists(world.state + "/office-registry.json"));
  CHECK((!std::filesystem::exists(world.root)
         || std::filesystem::is_empty(world.root)));
  CHECK_FALSE(std::filesystem::exists(world.state + "/conversations"));
  CHECK(node.describe().offices_active == 0);
  CHECK(std::count(node.counted->begin(), node.counted->end(),
                   "intake console refused")
        == 7);
}

TEST_CASE("what a killed process left in an office's directories goes") {
  office_world world;
  { office_node{world}.say("m0"); }
  auto own = std::filesystem::path{world.ledger_path()}.parent_path();
  auto sessions =
    std::filesystem::path{world.log_path()}.parent_path() / "sessions";
  std::filesystem::create_directory(sessions);
  auto hex = std::string{".0123456789abcdef.tmp"};
  auto ours = "." + std::to_string(::getpid());
  const std::filesystem::path left[] = {own / (".ledger.jsonl.1" + hex),
                                        sessions / (".current.77" + hex),
                                        // Of a former life with our number.
                                        sessions / (".old" + ours + hex)};
  const std::filesystem::path kept[] = {sessions / (".new" + ours + hex),
                                        sessions / ".hidden.tmp",
                                        sessions / "current"};
  for (const auto& path : left)
    put_file(path, "half");
  for (const auto& path : kept)
    put_file(path, "kept");
  auto since = [](int64_t ms) {
    return std::filesystem::file_time_type::clock::from_sys(
      std::chrono::sys_time<std::chrono::milliseconds>{
        std::chrono::milliseconds{ms}});
  };
  office_node node{world, {}, false};
  std::filesystem::last_write_time(left[2],
                                   since(node.wall->now_ms() - 3'600'000));
  std::filesystem::last_write_time(kept[0],
                                   since(node.wall->now_ms() - 3'599'000));
  CHECK(node.say("m1") == "taken");
  for (const auto& path : left)
    CHECK_FALSE(std::filesystem::exists(path));
  for (const auto& path : kept)
    CHECK(get_file(path) == "kept");
}

TEST_CASE("a directory full of leftovers is swept in parts") {
  office_world world;
  { office_node{world}.say("m0"); }
  auto own = std::filesystem::path{world.ledger_path()}.parent_path();
  for (int i = 100; i < 200; ++i)
    put_file(own / (".x.77.0000000000000" + std::to_string(i) + ".tmp"),
             "half");
  auto count = [&] {
    return std::distance(std::filesystem::directory_iterator{own},
                         std::filesystem::directory_iterator{});
  };
  auto before = count();
  { office_node{world}.say("m1"); }
  CHECK(before - count() == 64);
  { office_node{world}.say("m2"); }
  CHECK(count() == 1);
}

// -- stop ---------------------------------------------------------------------

TEST_CASE("stop ends the running turn and leaves what waits") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m2");
  node.run("m1", "r1");
  CHECK(node.say("s1", "stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.sessions->stops[0].message_id == "m1");
  CHECK(node.sessions->stops[0].session_key == "local");
  CHECK(node.sessions->stops[0].target.text == R"({"to":"s1"})");
  CHECK(node.fail_turn("m1", "stopped") == "ok");
  CHECK(node.fail_turn("m1", "stopped") == "ok");
  CHECK(world.ledger().back() == "m1 dead(stopped, told)");
  CHECK(node.describe().open_entries == 1);
  CHECK(world.shown.empty());
  CHECK(world.log().back().ts == "s1");
  CHECK(node.say("s1", "stop") == "duplicate");
}

TEST_CASE("stop names the first waiting turn when none runs") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m2");
  CHECK(node.say("s1", "/stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.sessions->stops[0].message_id == "m1");
}

TEST_CASE("stop without a turn says so to whoever addressed it") {
  office_world world;
  office_node node{world};
  CHECK(node.say("s1", "stop") == "stopped");
  CHECK(world.shown == texts{"_Nothing running._"});
  auto aside = node.message("s2", "stop");
  aside.magic_addressed = false;
  CHECK(node.offer(aside) == "stopped");
  CHECK(world.shown.size() == 1);
  CHECK(world.log().size() == 3);
}

// What the bot says besides its answers is part of the conversation; the next
// turn's history brings it to the model.
TEST_CASE("a visible notice is a line of the chat log") {
  office_world world;
  office_node node{world};
  node.say("s1", "stop");
  auto lines = world.log();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].user == "bot");
  CHECK(lines[1].from_bot);
  CHECK(lines[1].text == "_Nothing running._");
  CHECK(lines[1].reply_to == "s1");
  CHECK(lines[1].session_key.empty());
  CHECK_FALSE(lines[1].ts.empty());
}

TEST_CASE("stop closes a turn that no session has yet") {
  office_world world;
  office_node node{world, {}, false};
  CHECK(node.say("m1") == "taken");
  CHECK(node.say("s1", "stop") == "stopped");
  CHECK(world.ledger().back() == "m1 dead(stopped, told)");
  node.attach();
  CHECK(node.sessions->tickets.empty());
}

TEST_CASE("stop reaches a turn that is still on its way to the disk") {
  office_world world;
  office_node node{world};
  node.say("m0");
  node.run("m0", "r0");
  node.produce("m0", "r0", "a0");
  auto first = node.self->request(node.offices_handle, caf::infinite,
                                  atom::intake_v, node.message("m1"));
  auto stop = node.self->request(node.offices_handle, caf::infinite,
                                 atom::intake_v, node.message("s1", "stop"));
  node.settle();
  first.receive(
    [](const intake_reply& reply) {
      CHECK(reply.outcome == intake_outcome::taken);
    },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  stop.receive(
    [](const intake_reply& reply) {
      CHECK(reply.outcome == intake_outcome::stopped);
    },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  auto told = world.count("_Stopped._") + node.sessions->stops.size();
  CHECK(told == 1);
  CHECK(world.count("_Nothing running._") == 0);
}

TEST_CASE("a stop has happened even when the log is full") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.journal_log->broken = true;
  CHECK(node.say("s1", "stop") == "stopped");
  CHECK(node.sessions->stops.size() == 1);
}

TEST_CASE("stop from the top finds the only thread that runs") {
  office_world world;
  office_node node{world};
  node.say("m1", "hi", "local:t1");
  node.run("m1", "r1", 1, "local:t1");
  CHECK(node.say("s1", "stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.sessions->stops[0].session_key == "local:t1");
  CHECK(node.say("s2", "stop", "local:t2") == "stopped");
  CHECK(node.sessions->stops.size() == 1);
  CHECK(world.count("_Nothing running._") == 1);
}

// -- delivery -----------------------------------------------------------------

TEST_CASE("a retryable failure is repeated with growing waits") {
  office_world world;
  office_node node{world};
  for (int i = 0; i < 3; ++i)
    node.gate->outcomes.push_back(faulty(delivery_fault::retryable));
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(world.shown.empty());
  node.advance(999ms);
  CHECK(node.gate->operations.size() == 1);
  node.advance(1ms);
  CHECK(node.gate->operations.size() == 2);
  node.advance(2s);
  CHECK(node.gate->operations.size() == 3);
  node.advance(4s);
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(world.ledger().back() == "m1 sent");
}

TEST_CASE("the wait of a platform is kept") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(
    faulty(delivery_fault::retryable, failure_certainty::definite, 30'000));
  node.sessions->automatic = true;
  node.say("m1");
  node.advance(29'999ms);
  CHECK(world.shown.empty());
  node.advance(1ms);
  CHECK(world.shown.size() == 1);
}

TEST_CASE("an answer that fails for a day is given up") {
  office_world world;
  office_node node{world};
  for (int i = 0; i < 4000; ++i)
    node.gate->outcomes.push_back(faulty(delivery_fault::retryable));
  node.sessions->automatic = true;
  node.say("m1");
  node.advance(25h);
  CHECK(world.ledger().back() == "m1 dead(undeliverable)");
  CHECK(node.gate->closed.back().outcome == "undeliverable");
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("a permanent failure ends the answer") {
  office_world world;
  office_node node{world};
  // The text as it is, and the last resort.
  for (int i = 0; i < 2; ++i)
    node.gate->outcomes.push_back(faulty(delivery_fault::permanent));
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(world.ledger().back() == "m1 dead(undeliverable)");
  REQUIRE(node.gate->operations.size() == 2);
  CHECK(node.gate->operations[0].markdown);
  CHECK_FALSE(node.gate->operations[1].markdown);
}

TEST_CASE("rounds of attempts go on with growing waits") {
  office_world world;
  office_node node{world};
  for (int i = 0; i < 9; ++i)
    node.gate->outcomes.push_back(faulty(delivery_fault::retryable));
  node.sessions->automatic = true;
  node.say("m1");
  node.advance(7s);
  CHECK(node.gate->operations.size() == 4);
  node.advance(14'999ms);
  CHECK(node.gate->operations.size() == 4);
  node.advance(1ms);
  CHECK(node.gate->operations.size() == 5);
  node.advance(7s);
  CHECK(node.gate->operations.size() == 8);
  node.advance(30s);
  CHECK(node.gate->operations.size() == 9);
  node.advance(1s);
  CHECK(world.shown == texts{"answer to m1"});
}

TEST_CASE("markup that is refused goes out as plain text") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(faulty(delivery_fault::reformat_plain));
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(world.shown == texts{"answer to m1"});
  REQUIRE(node.gate->operations.size() == 2);
  CHECK_FALSE(node.gate->operations[1].markdown);
  CHECK(world.ledger().back() == "m1 sent");
}

TEST_CASE("a message that shows its answer already is done") {
  office_world world;
  office_node node{world};
  auto same = faulty(delivery_fault::not_modified);
  node.gate->outcomes.push_back(same);
  node.sessions->automatic = true;
  node.sessions->provisional = "p1";
  node.say("m1");
  CHECK(node.gate->operations.size() == 1);
  CHECK(world.ledger().back() == "m1 sent");
  CHECK(world.log().back().ts == "p1");
}

TEST_CASE("a draft that somebody deleted is replaced by a new message") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(faulty(delivery_fault::recreate));
  node.sessions->automatic = true;
  node.sessions->provisional = "p1";
  node.say("m1");
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(world.log().back().ts == "ref-1");
}

TEST_CASE("a long answer goes out in pieces, each once") {
  office_world world;
  auto narrow = [](gate_script& gate) {
    gate.max_length = 7;
  };
  const texts pieces = {"answer", "to m1"};
  SUBCASE("in order") {
    office_node node{world, narrow};
    node.sessions->automatic = true;
    node.say("m1");
    CHECK(world.shown == pieces);
    REQUIRE(node.gate->operations.size() == 2);
    CHECK(node.gate->operations[1].continues == "ref-1");
    CHECK(world.log().back().text == "answer to m1");
    CHECK(world.log().back().ts == "ref-1");
  }
  SUBCASE("over a restart") {
    {
      office_node node{world, narrow};
      node.gate->outcomes = {delivered{}, faulty(delivery_fault::retryable)};
      node.sessions->automatic = true;
      node.say("m1");
      CHECK(world.shown == texts{"answer"});
      node.cut();
    }
    office_node node{world, narrow};
    CHECK(world.shown == pieces);
    CHECK(node.gate->operations[0].continues == "ref-1");
  }
  SUBCASE("one that is uncertain again, with a label") {
    office_node node{world, narrow};
    node.gate->outcomes = {delivered{}, faulty(delivery_fault::retryable,
                                               failure_certainty::unknown)};
    node.sessions->automatic = true;
    node.say("m1");
    node.advance(1s);
    CHECK(world.shown
          == texts{"answer", "(sent again; you may see this twice)\n\nto m1"});
  }
  CHECK(world.ledger().back() == "m1 sent");
}

TEST_CASE("an answer in a thread is logged in it") {
  office_world world;
  office_node node{world};
  node.sessions->automatic = true;
  node.say("m1", "hi", "local:t1");
  CHECK(world.log().back().user == "bot");
  CHECK(world.log().back().thread_ts == "t1");
  node.say("m2");
  CHECK(world.log().back().reply_to == "m2");
  CHECK(world.log().back().thread_ts.empty());
}

TEST_CASE("an edit whose message is gone becomes a post") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(faulty(delivery_fault::permanent));
  node.sessions->automatic = true;
  node.sessions->provisional = "p1";
  node.say("m1");
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(node.gate->operations.size() == 2);
}

TEST_CASE("an uncertain post is sent once more, with a label") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(
    faulty(delivery_fault::retryable, failure_certainty::unknown));
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(world.ledger().back() == "m1 ambiguous");
  node.advance(1s);
  CHECK(world.shown
        == texts{"(sent again; you may see this twice)\n\nanswer to m1"});
  auto ledger = world.ledger();
  CHECK(ledger[ledger.size() - 2] == "m1 sending(labelled)");
  CHECK(ledger.back() == "m1 sent");
  CHECK(world.log().back().text == "answer to m1");
}

TEST_CASE("a second uncertainty is the last") {
  office_world world;
  office_node node{world};
  for (int i = 0; i < 2; ++i)
    node.gate->outcomes.push_back(
      faulty(delivery_fault::retryable, failure_certainty::unknown));
  node.sessions->automatic = true;
  node.say("m1");
  node.advance(1min);
  CHECK(world.ledger().back() == "m1 dead(undeliverable)");
  CHECK(node.gate->operations.size() == 2);
}

TEST_CASE("answers of one session keep their order") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(faulty(delivery_fault::retryable));
  node.sessions->automatic = true;
  node.say("m1");
  node.say("m2");
  CHECK(world.shown.empty());
  node.say("m3", "hi", "local:t1");
  CHECK(world.shown == texts{"answer to m3"});
  node.advance(1s);
  CHECK(world.shown == texts{"answer to m3", "answer to m1", "answer to m2"});
}

TEST_CASE("an answer that its transport dropped was stopped") {
  office_world world;
  office_node node{world};
  node.gate->outcomes.push_back(faulty(delivery_fault::dropped));
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(world.ledger().back() == "m1 dead(stopped, told)");
}

TEST_CASE("a silent answer is closed and never sent") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    node.sessions->silent = {"m1"};
    CHECK(node.say("m1") == "taken");
    CHECK(world.ledger().back() == "m1 sent(silent)");
    CHECK(node.gate->closed.back().outcome == "silent");
  }
  office_node node{world};
  CHECK(world.shown.empty());
  CHECK(world.log().size() == 1);
}

TEST_CASE("an answer closes the messages that it covers") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m2");
  node.run("m1", "r1");
  node.say("m3");
  CHECK(node.produce("m1", "r1", "all", "", {"m2", "m3"}) == "ok");
  auto ledger = world.ledger();
  CHECK(std::count(ledger.begin(), ledger.end(), "m2 sent(collected)") == 1);
  CHECK(std::count(ledger.begin(), ledger.end(), "m3 sent(steered)") == 1);
  CHECK(node.describe().open_entries == 0);
  CHECK(node.gate->closed.size() == 3);
}

TEST_CASE("the gate opens only for the answer that is due") {
  office_world world;
  office_node node{world};
  CHECK(node.may_send("m1", "r1") == "aborted");
  node.gate->stall_before_gate = true;
  node.say("m1");
  CHECK(node.may_send("m1", "r1") == "aborted");
  node.run("m1", "r1");
  CHECK(node.may_send("m1", "r1") == "aborted");
  node.produce("m1", "r1", "a");
  CHECK(node.may_send("m1", "other") == "aborted");
  CHECK(node.may_send("m1", "r1") == "ok");
  CHECK(node.may_send("m1", "r1") == "ok");
  CHECK(world.ledger().back() == "m1 sending");
}

TEST_CASE("the gate stays shut while the disk refuses") {
  office_world world;
  office_node node{world};
  node.gate->stall_before_gate = true;
  node.sessions->automatic = true;
  node.say("m1");
  node.journal_log->broken = true;
  CHECK(node.may_send("m1", "run-m1-1") == "disk");
  node.journal_log->broken = false;
  CHECK(node.may_send("m1", "run-m1-1") == "ok");
}

TEST_CASE("facts that contradict the ledger are refused") {
  office_world world;
  office_node node{world};
  node.say("m1");
  CHECK(node.produce("m1", "r1", "early") == "conflict");
  CHECK(node.run("m1", "r1") == "ok");
  CHECK(node.run("m1", "r2") == "conflict");
  CHECK(node.run("m9", "r9") == "conflict");
  CHECK(node.produce("m1", "r2", "foreign") == "conflict");
  CHECK(node.fail_turn("m1", "bored") == "conflict");
  CHECK(node.produce("m1", "r1", "a") == "ok");
  CHECK(node.fail_turn("m1", "stopped") == "ok");
  CHECK(world.shown == texts{"a"});
}

TEST_CASE("a full disk fails the answer of a run and keeps the entry") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.journal_log->broken = true;
  CHECK(node.produce("m1", "r1", "a") == "disk");
  node.journal_log->broken = false;
  CHECK(node.produce("m1", "r1", "a") == "ok");
  CHECK(world.shown == texts{"a"});
}

// -- sessions -----------------------------------------------------------------

TEST_CASE("a session that dies loses its run and nothing else") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m2");
  node.run("m1", "r1");
  node.self->send_exit(node.sessions->handles["local"],
                       make_failure(errc::internal, "crash"));
  node.settle();
  CHECK(world.shown
        == texts{"I was interrupted by an internal error before I finished "
                 "this. Send it again to retry."});
  CHECK(world.ledger().back() == "m1 dead(interrupted, told)");
  CHECK(node.sessions->spawned == 2);
  REQUIRE(node.sessions->tickets.size() == 3);
  CHECK(node.sessions->tickets[2].event.message_id == "m2");
}

TEST_CASE("a message that kills every session is given up") {
  office_world world;
  office_node node{world};
  node.sessions->dies = true;
  CHECK(node.say("m1") == "taken");
  CHECK(node.sessions->spawned == limits::session_deaths);
  CHECK(world.ledger().back() == "m1 dead(interrupted, told)");
  node.sessions->dies = false;
  node.sessions->automatic = true;
  CHECK(node.say("m2") == "taken");
  CHECK(world.shown.back() == "answer to m2");
}

TEST_CASE("a notice that the platform refuses is not told") {
  office_world world;
  office_node node{world};
  node.gate->asks_gate = true;
  node.say("m1");
  node.run("m1", "r1");
  node.self->send_exit(node.transport, caf::exit_reason::kill);
  node.self->send_exit(node.sessions->handles["local"],
                       make_failure(errc::internal, "crash"));
  node.settle();
  node.advance(1min);
  CHECK(world.ledger().back() == "m1 dead(interrupted)");
}

TEST_CASE("an idle office sleeps and wakes for the next message") {
  office_world world;
  office_node node{world};
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(node.describe().offices_active == 1);
  node.advance(12min);
  CHECK(node.describe().offices_active == 0);
  CHECK(node.describe().offices_known == 1);
  CHECK(node.say("m1") == "duplicate");
  CHECK(node.say("m2") == "taken");
  CHECK(world.shown.size() == 2);
}

TEST_CASE("an office tidies up before it sleeps") {
  office_world world;
  auto place = std::make_shared<std::string>();
  world.sleep_job = [place, &world](const office& sleeper) {
    *place = sleeper.key;
    file_job job;
    job.op = file_op::ensure_directory;
    job.path = world.state + "/tidy";
    job.mode = 0700;
    return job;
  };
  office_node node{world};
  node.sessions->automatic = true;
  node.say("m1");
  CHECK(place->empty());
  node.advance(12min);
  CHECK(*place == office_key(world.address()));
  CHECK(std::filesystem::is_directory(world.state + "/tidy"));
  CHECK(node.describe().offices_active == 0);
}

TEST_CASE("an office with unfinished work does not sleep") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.advance(1h);
  CHECK(node.describe().offices_active == 1);
  CHECK(node.run("m1", "r1") == "ok");
}

TEST_CASE("an idle session ends while its office works on") {
  office_world world;
  world.threads = {"local:t1"};
  office_node node{world};
  node.say("m1", "hi", "local:t1");
  node.run("m1", "r1", 1, "local:t1");
  node.produce("m1", "r1", "a");
  node.say("m2");
  node.advance(12min);
  CHECK(node.sessions->drains == texts{"local:t1 close"});
  CHECK(node.describe().sessions.size() == 1);
  node.sessions->automatic = true;
  CHECK(node.say("m3", "hi", "local:t1") == "taken");
  CHECK(node.sessions->spawned == 3);
}

TEST_CASE("an office that cannot read its files tells the asker why") {
  office_world world;
  office_node node{world};
  node.disk->fail_named("make_directory_below", EIO);
  CHECK(node.say("m1") == "disk");
  node.disk->heal();
  CHECK(node.say("m1") == "taken");
}

TEST_CASE("an office that fails is opened again and goes on") {
  office_world world;
  office_node node{world};
  node.sessions->automatic = true;
  node.sessions->broken_factories = 1;
  auto first = node.say("m1");
  node.advance(1s);
  CHECK(first != "bad_identity");
  CHECK(world.shown == texts{"answer to m1"});
  CHECK(node.say("m1") == "duplicate");
  CHECK(std::count(node.counted->begin(), node.counted->end(), "restart office")
        == 1);
}

TEST_CASE("an office that always fails is left alone after a while") {
  office_world world;
  office_node node{world};
  node.sessions->broken_factories = 1000;
  node.say("m1");
  node.advance(10s);
  CHECK(node.sessions->broken_factories
        == 1000 - 1 - static_cast<int>(limits::office_restarts));
  node.sessions->broken_factories = 0;
  node.sessions->automatic = true;
  CHECK(node.say("m2") == "taken");
  CHECK(world.shown == texts{"answer to m1", "answer to m2"});
}

TEST_CASE("messages are counted by what became of them") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.say("m1");
  node.say("s1", "stop");
  auto wrong = node.message("m2");
  wrong.event.session_key = "x:1";
  node.offer(wrong);
  auto aside = node.message("m3");
  aside.trigger = trigger_class::candidate;
  node.offer(aside);
  node.journal_log->broken = true;
  node.say("m4");
  CHECK(*node.counted
        == texts{"intake console taken", "intake console duplicate",
                 "intake console stopped", "intake console refused",
                 "intake console logged", "intake console failed"});
}

// -- drain --------------------------------------------------------------------

TEST_CASE("a drain takes nothing new and starts no turn") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  auto report = node.drain(drain_phase::hold);
  CHECK(report.running == 1);
  CHECK(report.open_entries == 1);
  CHECK(node.say("m2") == "shutting_down");
  CHECK(node.sessions->drains == texts{"local hold"});
  CHECK(node.produce("m1", "r1", "a") == "ok");
  CHECK(world.shown == texts{"a"});
  node.drain(drain_phase::abort);
  report = node.drain(drain_phase::close);
  CHECK(report.open_entries == 0);
  CHECK(node.sessions->drains
        == texts{"local hold", "local abort", "local close"});
}

TEST_CASE("an office that opens during a drain starts nothing") {
  office_world world;
  office_node node{world};
  auto intake = node.self->request(node.offices_handle, caf::infinite,
                                   atom::intake_v, node.message("m1"));
  auto held = node.self->request(node.offices_handle, caf::infinite,
                                 atom::drain_v, drain_phase::hold);
  node.settle();
  intake.receive([](const intake_reply&) { FAIL("taken during a drain"); },
                 [](const caf::error& reason) {
                   CHECK(code_of(reason) == errc::shutting_down);
                 });
  held.receive([](const drain_report& report) { CHECK(report.running == 0); },
               [](const caf::error& reason) { FAIL(sentence_of(reason)); });
  CHECK(node.sessions->spawned == 0);
}

TEST_CASE("after the last phase the gate is shut") {
  office_world world;
  office_node node{world};
  node.gate->stall_before_gate = true;
  node.sessions->automatic = true;
  node.say("m1");
  auto report = node.drain(drain_phase::close);
  CHECK(report.delivering == 1);
  CHECK(report.sending == 0);
  CHECK(node.may_send("m1", "run-m1-1") == "shutting_down");
}

// -- metrics and bounds -------------------------------------------------------

TEST_CASE("a long ledger is rewritten and goes on") {
  office_world world;
  {
    office_node node{world};
    node.sessions->automatic = true;
    std::string text(100'000, 'x');
    for (int i = 0; i < 12; ++i)
      CHECK(node.say("m" + std::to_string(i), text) == "taken");
    CHECK(node.journal_log->seals.size() == 1);
    CHECK(get_file(world.ledger_path()).size() < 400'000);
    CHECK(world.shown.size() == 12);
  }
  office_node node{world};
  CHECK(node.say("m0") == "duplicate");
  CHECK(node.say("m11") == "duplicate");
  CHECK(world.shown.size() == 12);
}

TEST_CASE("another bot's message is logged as one") {
  office_world world;
  office_node node{world};
  auto request = node.message("m1");
  request.event.from_bot = true;
  request.event.bot_id = "B1";
  request.event.app_id = "A1";
  request.event.subtype = "bot_message";
  CHECK(node.offer(request) == "taken");
  auto line = world.log().front();
  CHECK(line.from_bot);
  CHECK(line.bot_id == "B1");
  CHECK(line.app_id == "A1");
  CHECK(line.subtype == "bot_message");
}

// -- a new session
// --------------------------------------------------------------

TEST_CASE("/new begins a fresh session and is answered at once") {
  office_world world;
  office_node node{world};
  for (auto text : {"/new", "/pi-new", "/NEW@bureau_bot please"}) {
    CAPTURE(text);
    auto before = node.sessions->resets.size();
    CHECK(node.say("m" + std::to_string(before), text) == "taken");
    CHECK(node.sessions->resets.size() == before + 1);
  }
  CHECK(node.sessions->tickets.empty());
  CHECK(world.shown
        == texts(3, "Conversation reset. Send a new message to start fresh."));
  CHECK(world.ledger().back() == "m2 sent(command)");
  // The line of what was said has the id under which the platform shows it.
  CHECK(world.log().back().reply_to == "m2");
  CHECK(world.log().back().ts == "ref-3");
  CHECK(node.describe().open_entries == 0);
  // Its end lets the next message through.
  CHECK(node.say("m9") == "taken");
  CHECK(node.sessions->tickets.size() == 1);
}

TEST_CASE("what everybody shares is not reset by one of them") {
  office_world world;
  office_node node{world};
  auto request = node.message("m1", "/new");
  request.event.kind = conversation_kind::shared;
  CHECK(node.offer(request) == "taken");
  CHECK(node.sessions->resets.empty());
  REQUIRE(world.shown.size() == 1);
  CHECK(world.shown[0].find("direct conversation only") != std::string::npos);
}

TEST_CASE("a session that cannot be reset says why") {
  office_world world;
  office_node node{world};
  node.sessions->reset_failure = make_failure(errc::disk, "The disk is full.");
  node.say("m1", "/new");
  CHECK(world.shown
        == texts{"The conversation was not reset: The disk is full."});
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("a reset that a restart interrupted is carried out by the next") {
  office_world world;
  {
    office_node node{world, {}, false};
    CHECK(node.say("m1", "/new") == "taken");
    CHECK(node.sessions->resets.empty());
  }
  office_node node{world};
  CHECK(node.sessions->resets == texts{"local"});
  CHECK(world.ledger().back() == "m1 sent(command)");
}

TEST_CASE("what a command said is not lost with the node") {
  office_world world;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.stall_before_gate = true;
                     }};
    CHECK(node.say("m1", "/new") == "taken");
    CHECK(node.sessions->resets == texts{"local"});
    CHECK(world.ledger().back() == "m1 produced");
    CHECK(world.log().size() == 1);
    node.cut();
  }
  office_node node{world};
  // It is said now, and nothing is done again.
  CHECK(node.sessions->resets.empty());
  CHECK(world.shown
        == texts{"Conversation reset. Send a new message to start fresh."});
  CHECK(world.ledger().back() == "m1 sent(command)");
  REQUIRE(world.log().size() == 2);
  CHECK(world.log().back().ts == "ref-1");
}

TEST_CASE("a command that was carried out is not again when the disk refuses") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.produce("m1", "r1", "a");
  // The message is taken, what the command says is not.
  node.journal_log->breaks_after = 1;
  CHECK(node.say("m2", "/new") == "taken");
  CHECK(node.sessions->resets == texts{"local"});
  CHECK(world.shown == texts{"a"});
  node.journal_log->broken = false;
  node.journal_log->breaks_after = -1;
  node.advance(limits::ledger_retry_delay * 2);
  CHECK(node.sessions->resets == texts{"local"});
  CHECK(world.shown.size() == 2);
  CHECK(world.ledger().back() == "m2 sent(command)");
}

// -- the ledger and the disk
// --------------------------------------------------

TEST_CASE("a line that the disk refused is written when it works again") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.run("m1", "r1");
    node.journal_log->breaks_after = 2;
    // `produced` and `sending` are taken, `sent` is not.
    CHECK(node.produce("m1", "r1", "the answer") == "ok");
    CHECK(world.shown == texts{"the answer"});
    CHECK(world.ledger().back() == "m1 sending");
    node.journal_log->broken = false;
    node.journal_log->breaks_after = -1;
    node.advance(limits::ledger_retry_delay * 2);
    CHECK(world.ledger().back() == "m1 sent");
  }
  office_node node{world};
  CHECK(world.shown == texts{"the answer"});
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("a line that the disk refused goes before the next one") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.journal_log->breaks_after = 2;
  CHECK(node.produce("m1", "r1", "the answer") == "ok");
  node.journal_log->broken = false;
  node.journal_log->breaks_after = -1;
  // In the same moment: nothing waits for the timer.
  node.say("m2");
  node.run("m2", "r2");
  auto lines = world.ledger();
  auto sent = std::find(lines.begin(), lines.end(), "m1 sent");
  auto running = std::find(lines.begin(), lines.end(), "m2 running");
  CHECK(sent < running);
  CHECK(running != lines.end());
}

TEST_CASE("a ledger that is larger than one job opens") {
  office_world world;
  { office_node{world}.say("m1"); }
  // 17 undelivered answers of 4 MiB.
  std::string text(4u << 20, 'x');
  std::string ledger;
  ledger_record line;
  line.at = "2026-01-01T00:00:00.000Z";
  line.event.session_key = "local";
  for (int i = 0; i < 17; ++i) {
    line.id = "big" + std::to_string(i);
    line.run = line.id;
    for (auto state : {ledger_state::accepted, ledger_state::running,
                       ledger_state::produced}) {
      line.state = state;
      line.text =
        state == ledger_state::produced ? std::optional{text} : std::nullopt;
      ledger += print_ledger_line(line);
    }
  }
  REQUIRE(ledger.size() > limits::file_job_bytes);
  put_file(world.ledger_path(), ledger);
  office_node node{world};
  CHECK(node.say("m2") == "taken");
  CHECK(world.shown.size() == 17);
}

// -- a stop and an answer at one moment
// ---------------------------------------

TEST_CASE("a stop that was told keeps the answer back") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  CHECK(node.say("m2", "stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.produce("m1", "r1", "too late") == "aborted");
  CHECK(node.fail_turn("m1", "stopped") == "ok");
  CHECK(world.shown.empty());
  CHECK(node.describe().open_entries == 0);
  // The next turn is another one.
  node.say("m3");
  node.run("m3", "r3");
  CHECK(node.produce("m3", "r3", "in time") == "ok");
  CHECK(world.shown == texts{"in time"});
}

TEST_CASE("a stop after the answer finds nothing") {
  office_world world;
  office_node node{world, [](gate_script& gate) {
                     gate.stall_before_gate = true;
                   }};
  node.say("m1");
  node.run("m1", "r1");
  CHECK(node.produce("m1", "r1", "done") == "ok");
  CHECK(node.say("m2", "stop") == "stopped");
  CHECK(node.sessions->stops.empty());
  CHECK(world.shown == texts{"_Nothing running._"});
  // A session that did not know of the answer yet is not contradicted.
  CHECK(node.fail_turn("m1", "stopped") == "ok");
  CHECK(world.ledger().back() == "m1 produced");
}

// -- what a run has read
// ------------------------------------------------------

TEST_CASE("what a run has read ends with it and never runs again") {
  for (auto why : {"stopped", "superseded", "interrupted"}) {
    CAPTURE(why);
    office_world world;
    {
      office_node node{world};
      node.say("m1");
      node.run("m1", "r1");
      node.say("m2");
      node.say("m3");
      // The run reads the first of them.
      CHECK(node.run("m2", "r1") == "ok");
      CHECK(node.fail_turn("m1", why) == "ok");
      CHECK(node.fail_turn("m2", why) == "ok");
      CHECK(node.describe().open_entries == 1);
      auto lines = world.ledger();
      auto dead = std::string{"("} + why + ", told)";
      CHECK(std::count(lines.begin(), lines.end(), "m1 dead" + dead) == 1);
      CHECK(std::count(lines.begin(), lines.end(), "m2 dead" + dead) == 1);
    }
    office_node node{world};
    REQUIRE(node.sessions->tickets.size() == 1);
    CHECK(node.sessions->tickets[0].event.message_id == "m3");
  }
}

TEST_CASE("what a run has read before a kill is told with its message") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.run("m1", "r1");
    node.say("m2");
    CHECK(node.run("m2", "r1") == "ok");
    node.cut();
  }
  office_node node{world};
  CHECK(node.sessions->tickets.empty());
  CHECK(world.shown.size() == 1);
  CHECK(world.count("I was interrupted by a restart before I finished this. "
                    "Send it again to retry.")
        == 1);
  CHECK(node.describe().open_entries == 0);
  CHECK(node.say("m2") == "duplicate");
}

TEST_CASE("an answer that covers what its run has read closes it") {
  office_world world;
  {
    office_node node{world};
    node.say("m1");
    node.run("m1", "r1");
    node.say("m2");
    node.run("m2", "r1");
    node.gate->stall_before_gate = true;
    CHECK(node.produce("m1", "r1", "both", {}, {"m2"}) == "ok");
    node.cut();
  }
  office_node node{world};
  CHECK(node.sessions->tickets.empty());
  CHECK(world.shown == texts{"both"});
  auto lines = world.ledger();
  CHECK(std::count(lines.begin(), lines.end(), "m2 sent(steered)") == 1);
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("a second attempt answers what the first one was to answer") {
  office_world world;
  world.recorded = {"m1"};
  {
    office_node node{world};
    node.say("m1");
    node.say("m2");
    node.run("m1", "r1");
    node.run("m2", "r1");
    node.cut();
  }
  office_node node{world};
  REQUIRE(node.sessions->tickets.size() == 1);
  const auto& ticket = node.sessions->tickets[0];
  CHECK(ticket.event.message_id == "m1");
  CHECK(ticket.attempt == 2);
  REQUIRE(ticket.collected.size() == 1);
  CHECK(ticket.collected[0].message_id == "m2");
  CHECK(node.run("m1", "r2", 2) == "ok");
  CHECK(node.run("m2", "r2", 2) == "ok");
  CHECK(node.produce("m1", "r2", "both", {}, {"m2"}) == "ok");
  CHECK(world.shown == texts{"both"});
  CHECK(node.describe().open_entries == 0);
}

// -- threads and their parent
// ---------------------------------------------------

TEST_CASE("a thread's first turn waits for its conversation's turn before it") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  CHECK(node.say("m2", "in the thread", "local:5") == "taken");
  CHECK(node.sessions->tickets.size() == 1);
  // Another conversation's message is not held up, nor is the parent's next.
  CHECK(node.say("m3") == "taken");
  CHECK(node.sessions->tickets.size() == 2);
  node.produce("m1", "r1", "done");
  REQUIRE(node.sessions->tickets.size() == 3);
  CHECK(node.sessions->tickets[2].event.message_id == "m2");
  CHECK(world.shown == texts{"done"});
}

TEST_CASE("what came after a thread's message does not hold it up") {
  office_world world;
  office_node node{world};
  CHECK(node.say("m1", "in the thread", "local:5") == "taken");
  node.say("m2");
  node.run("m2", "r2");
  CHECK(node.sessions->tickets.size() == 2);
  // The thread has a session now: it waits for nothing any more.
  node.say("m3", "again", "local:5");
  CHECK(node.sessions->tickets.size() == 3);
}

TEST_CASE("a thread that has a session does not wait") {
  office_world world;
  world.threads = {"local:5"};
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.say("m2", "in the thread", "local:5");
  REQUIRE(node.sessions->tickets.size() == 2);
  CHECK(node.sessions->tickets[1].event.session_key == "local:5");
}

// Case W3 of the office note.
TEST_CASE("a thread whose session appears while it waits goes on") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.say("m2", "in the thread", "local:5");
  node.say("m3", "elsewhere", "local:6");
  CHECK(node.sessions->tickets.size() == 1);
  // Nobody looks at a file that is no session.
  auto dir = world.root + "/" + office_key(world.address()) + "/sessions";
  std::filesystem::create_directories(dir);
  put_file(dir + "/5.jsonl", "{}\n");
  node.say("m4", "again", "local:5");
  CHECK(node.sessions->tickets.size() == 1);
  world.threads = {"local:5"};
  node.say("m5", "and again", "local:5");
  REQUIRE(node.sessions->tickets.size() == 4);
  for (size_t i = 1; i < 4; ++i)
    CHECK(node.sessions->tickets[i].event.session_key == "local:5");
  CHECK(node.sessions->tickets[1].event.message_id == "m2");
}

TEST_CASE("a reset of a thread waits for nobody") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  CHECK(node.say("m2", "/new", "local:5") == "taken");
  CHECK(node.sessions->resets == texts{"local:5"});
  CHECK(world.shown
        == texts{"Conversation reset. Send a new message to start fresh."});
}

// Cases W4 and S13: one raw id on two platforms is two conversations.
TEST_CASE("conversations of two platforms with one id know nothing of each "
          "other") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  world.platform = platform_id::telegram;
  node.attach();
  // No turn of the other one holds up a thread here …
  auto thread = node.message("t1");
  thread.event.session_key = "local:5";
  CHECK(node.offer(thread) == "taken");
  REQUIRE(node.sessions->tickets.size() == 2);
  CHECK(node.sessions->tickets[1].event.address.platform
        == platform_id::telegram);
  auto telegram = node.sessions->owner;
  CHECK(node.say("t2") == "taken");
  CHECK(node.sessions->tickets.size() == 3);
  CHECK(node.run("t2", "r2") == "ok");
  // … and a stop here ends nothing there.
  CHECK(node.say("t3", "stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.sessions->stops[0].message_id == "t2");
  world.platform = platform_id::console;
  CHECK(node.describe().offices_active == 2);
  CHECK(node.say("m2", "stop") == "stopped");
  REQUIRE(node.sessions->stops.size() == 2);
  CHECK(node.sessions->stops[1].message_id == "m1");
  CHECK(node.describe().open_entries == 3);
}

TEST_CASE("a parent's answer that cannot be delivered frees its threads") {
  office_world world;
  office_node node{world, [](gate_script& gate) {
                     delivered failed;
                     failed.fault = delivery_fault::retryable;
                     failed.detail = "offline";
                     gate.outcomes = {failed};
                   }};
  node.say("m1");
  node.run("m1", "r1");
  node.say("m2", "in the thread", "local:5");
  CHECK(node.sessions->tickets.size() == 1);
  node.produce("m1", "r1", "done");
  CHECK(node.sessions->tickets.size() == 2);
}

TEST_CASE("a message that waits for its parent can be stopped") {
  office_world world;
  office_node node{world};
  node.say("m1");
  node.run("m1", "r1");
  node.say("m2", "in the thread", "local:5");
  CHECK(node.say("m3", "stop", "local:5") == "stopped");
  CHECK(node.sessions->stops.empty());
  node.produce("m1", "r1", "done");
  CHECK(node.sessions->tickets.size() == 1);
  CHECK(node.describe().open_entries == 0);
}

// -- cached sessions ----------------------------------------------------------

TEST_CASE("above the cap the session that was used least recently goes") {
  office_world world;
  world.cached_sessions = 2;
  office_node node{world};
  node.sessions->automatic = true;
  for (auto key : {"local", "local:a", "local:b", "local:c"})
    CHECK(node.say(std::string{"m "} + key, "hello", key) == "taken");
  CHECK(node.sessions->spawned == 4);
  // Without a runner nothing is cached.
  for (auto key : {"local", "local:a", "local:b", "local:c"})
    node.report(key, "absent", 1);
  node.report("local", "idle", 30);
  node.report("local:a", "idle", 10);
  CHECK(node.sessions->drains.empty());
  node.report("local:b", "running", 5);
  CHECK(node.sessions->drains == texts{"local:a close"});
  // Its next turn is one of a fresh session.
  CHECK(node.say("m5", "hello", "local:a") == "taken");
  CHECK(node.sessions->spawned == 5);
  CHECK(world.count("answer to m5") == 1);
  // What runs is never let go, however old.
  node.report("local:c", "running", 40);
  CHECK(node.sessions->drains == texts{"local:a close", "local close"});
  node.report("local:a", "running", 50);
  CHECK(node.sessions->drains.size() == 2);
  node.report("local:b", "idle", 60);
  CHECK(node.sessions->drains.back() == "local:b close");
}

TEST_CASE("a session with a turn under way is not let go") {
  office_world world;
  world.cached_sessions = 1;
  office_node node{world};
  CHECK(node.say("m1", "hello", "local:a") == "taken");
  node.report("local:a", "idle", 1);
  CHECK(node.say("m2", "hello", "local:b") == "taken");
  node.report("local:b", "running", 2);
  CHECK(node.sessions->drains.empty());
  // Its turn has ended, and the next report sees to it.
  node.run("m1", "r1", 1, "local:a");
  node.produce("m1", "r1", "done");
  node.report("local:a", "idle", 3);
  CHECK(node.sessions->drains == texts{"local:a close"});
}
