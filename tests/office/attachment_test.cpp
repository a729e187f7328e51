#include "actors/office/ledger_core.hpp"
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

namespace fs = std::filesystem;

namespace {

using texts = std::vector<std::string>;

/// A message with files; the reference of a file is its name.
intake_request with_files(const office_node& node, const std::string& id,
                          const texts& names, const std::string& key = {}) {
  auto result = node.message(id, "look", key);
  for (const auto& name : names)
    result.event.attachments.push_back({name, {}, name, {}});
  return result;
}

std::string office_dir(const office_world& world) {
  return world.root + "/" + office_key(world.address());
}

/// Names in the directory of attachments.
texts files_in(const office_world& world) {
  texts result;
  auto dir = office_dir(world) + "/attachments";
  if (fs::is_directory(fs::symlink_status(dir)))
    for (const auto& entry : fs::directory_iterator{dir})
      result.push_back(entry.path().filename());
  std::sort(result.begin(), result.end());
  return result;
}

/// `id` or `id: original=path …` of the lines that people wrote.
texts logged(const office_world& world) {
  texts result;
  for (const auto& line : world.log()) {
    if (line.user == "bot")
      continue;
    auto text = line.ts;
    for (const auto& item : line.attachments)
      text += " " + item.original + "="
              + item.local_path.substr(item.local_path.find('/') + 1);
    result.push_back(text);
  }
  return result;
}

texts tickets(const office_node& node) {
  texts result;
  for (const auto& ticket : node.sessions->tickets)
    result.push_back(ticket.event.message_id);
  return result;
}

constexpr auto stamp = "1767225600000";

std::string saved(const std::string& name, const std::string& file) {
  return name + "=attachments/" + stamp + "_" + file;
}

} // namespace

TEST_CASE("a file is on the disk before the log names it and the turn begins") {
  office_world world;
  office_node node{world};
  node.gate->files["a b.txt"] = "content";
  node.gate->holds_fetches = true;
  CHECK(node.offer(with_files(node, "m1", {"a b.txt"})) == "taken");
  CHECK(world.ledger() == texts{"m1 accepted"});
  CHECK(world.log().empty());
  CHECK(node.sessions->tickets.empty());
  REQUIRE(node.gate->fetches.size() == 1);
  const auto& fetch = node.gate->fetches[0];
  CHECK(fetch.conversation == world.address());
  CHECK(fetch.message_id == "m1");
  CHECK(fetch.root == world.root);
  CHECK(fetch.max_bytes == limits::attachment_bytes);
  node.arrive("a b.txt");
  CHECK(logged(world) == texts{"m1 " + saved("a b.txt", "a_b.txt")});
  auto file = office_dir(world) + "/attachments/" + stamp + "_a_b.txt";
  CHECK(get_file(file) == "content");
  CHECK(files_in(world).size() == 1);
  struct stat facts {};
  ::lstat((office_dir(world) + "/attachments").c_str(), &facts);
  CHECK((facts.st_mode & 07777u) == 0700);
  REQUIRE(node.sessions->tickets.size() == 1);
  const auto& item = node.sessions->tickets[0].event.attachments.at(0);
  CHECK(world.root + "/" + item.local_path == file);
  CHECK(item.ref.empty());
  CHECK(item.fault.empty());
  CHECK(world.log()[0].display_name == "Ann");
  CHECK(world.shown.empty());
  node.run("m1", "r1");
  node.produce("m1", "r1", "seen");
  CHECK(world.ledger()
        == texts{"m1 accepted", "m1 accepted", "m1 running", "m1 produced",
                 "m1 sending", "m1 sent"});
}

TEST_CASE("a message that is logged after a restart has its sender's name") {
  office_world world;
  {
    office_node node{world, [](gate_script& gate) {
                       gate.holds_fetches = true;
                     }};
    CHECK(node.offer(with_files(node, "m1", {"x"})) == "taken");
    CHECK(node.say("m2", "after it") == "taken");
    node.cut();
  }
  office_node node{world, [](gate_script& gate) {
                     gate.files["x"] = "x";
                   }};
  REQUIRE(world.log().size() == 2);
  CHECK(world.log()[0].display_name == "Ann");
  CHECK(world.log()[1].display_name == "Ann");
}

TEST_CASE("later messages of the key wait in order, other keys do not") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->holds_fetches = true;
  CHECK(node.offer(with_files(node, "m1", {"x"}, "local:1")) == "taken");
  CHECK(node.say("m2", "more", "local:1") == "taken");
  CHECK(node.say("m3", "other", "local:2") == "taken");
  CHECK(node.offer(with_files(node, "m4", {"x"}, "local:1")) == "taken");
  CHECK(node.say("m2", "more", "local:1") == "duplicate");
  auto button = node.message("m5", "pressed", "local:1");
  button.event.origin = turn_origin::action;
  CHECK(node.offer(button) == "taken");
  CHECK(logged(world) == texts{"m3"});
  CHECK(tickets(node) == texts{"m3"});
  node.arrive("x");
  CHECK(logged(world) == texts{"m3", "m1 " + saved("x", "x"), "m2"});
  CHECK(tickets(node) == texts{"m3", "m1", "m2"});
  node.arrive("x");
  CHECK(
    logged(world)
    == texts{"m3", "m1 " + saved("x", "x"), "m2", "m4 " + saved("x", "x-2")});
  CHECK(tickets(node) == texts{"m3", "m1", "m2", "m4", "m5"});
  // Nothing is in the way any more: one frame again.
  CHECK(node.say("m6", "last", "local:1") == "taken");
  auto ledger = world.ledger();
  CHECK(std::count(ledger.begin(), ledger.end(), "m6 accepted") == 1);
}

TEST_CASE("two messages on their way to the disk keep their order") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  auto send = [&](const intake_request& what) {
    caf::anon_send(caf::actor_cast<caf::actor>(node.offices_handle),
                   atom::intake_v, what);
  };
  send(with_files(node, "m1", {"x"}));
  send(node.message("m2"));
  node.settle();
  CHECK(logged(world) == texts{"m1 " + saved("x", "x"), "m2"});
  CHECK(tickets(node) == texts{"m1", "m2"});
}

TEST_CASE("a new thread waits for the message of its parent that fetches") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"x"}));
  CHECK(node.say("m2", "in a thread", "local:m1") == "taken");
  CHECK(logged(world) == texts{"m2"});
  CHECK(tickets(node).empty());
  node.sessions->automatic = true;
  node.arrive("x");
  CHECK(tickets(node) == texts{"m1", "m2"});
}

TEST_CASE("a file that does not come is told to the user and to the model") {
  office_world world;
  office_node node{world};
  node.gate->files["fine.txt"] = "fine";
  node.gate->fetch_failures["big.bin"] =
    make_failure(errc::too_large, "the file is larger than allowed");
  node.gate->fetch_failures["odd.txt"] =
    make_failure(errc::transport, "The platform answered 500.");
  CHECK(
    node.offer(with_files(node, "m1", {"big.bin", "fine.txt", "odd.txt", "no"}))
    == "taken");
  CHECK(world.shown
        == texts{"I could not save `big.bin` (larger than 20 MB), `odd.txt` "
                 "(The platform answered 500), `no` (no longer there)."});
  CHECK(logged(world) == texts{"m1 " + saved("fine.txt", "fine.txt")});
  REQUIRE(node.sessions->tickets.size() == 1);
  const auto& items = node.sessions->tickets[0].event.attachments;
  REQUIRE(items.size() == 4);
  CHECK(items[0].fault == "larger than 20 MB");
  CHECK(items[1].fault.empty());
  CHECK(items[3].fault == "no longer there");
  CHECK(files_in(world).size() == 1);
  // What was said is in the log, as any other notice.
  CHECK(world.log().back().text == world.shown[0]);
}

TEST_CASE("what the adapter put there is looked at") {
  office_world world;
  office_node node{world};
  auto outside = world.scratch / "outside";
  put_file(outside, "secret");
  struct row {
    const char* name;
    std::function<void(const std::string&)> plant;
    const char* fault;
  };
  const row rows[] = {
    {"larger than announced",
     [](const std::string& path) {
       put_file(path, "");
       fs::resize_file(path, limits::attachment_bytes + 1);
     },
     "larger than 20 MB"},
    {"a link",
     [&](const std::string& path) { fs::create_symlink(outside, path); },
     "access to it was denied"},
    {"a second name",
     [&](const std::string& path) { fs::create_hard_link(outside, path); },
     "access to it was denied"},
    {"a directory", [](const std::string& path) { fs::create_directory(path); },
     "access to it was denied"},
    {"a pipe", [](const std::string& path) { ::mkfifo(path.c_str(), 0600); },
     "access to it was denied"},
    {"nothing", [](const std::string&) {}, "no longer there"},
  };
  node.gate->files["x"] = "x";
  for (const auto& [name, plant, fault] : rows) {
    CAPTURE(name);
    node.gate->plant = plant;
    node.sessions->tickets.clear();
    CHECK(node.offer(with_files(node, name, {"x"})) == "taken");
    REQUIRE(node.sessions->tickets.size() == 1);
    CHECK(node.sessions->tickets[0].event.attachments[0].fault == fault);
    CHECK(logged(world).back() == name);
    CHECK(get_file(outside) == "secret");
  }
  // A directory is not a file of ours to remove.
  auto left = files_in(world);
  CHECK(left.size() == 1);
}

TEST_CASE("a largest file is taken") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->plant = [](const std::string& path) {
    put_file(path, "");
    fs::resize_file(path, limits::attachment_bytes);
  };
  node.offer(with_files(node, "m1", {"x"}));
  CHECK(logged(world) == texts{"m1 " + saved("x", "x")});
}

TEST_CASE("links in the place of the directory or of a file are not followed") {
  office_world world;
  { office_node{world}.say("m0"); }
  auto outside = world.scratch / "outside";
  fs::create_directory(outside);
  auto dir = office_dir(world) + "/attachments";
  SUBCASE("the directory") {
    fs::create_directory_symlink(outside, dir);
    office_node node{world};
    node.gate->files["x"] = "x";
    CHECK(node.offer(with_files(node, "m1", {"x"})) == "taken");
    CHECK(node.gate->fetches.empty());
    CHECK(world.shown
          == texts{"I could not save `x` (the directory for files cannot be "
                   "used)."});
    CHECK(tickets(node).back() == "m1");
    CHECK(logged(world) == texts{"m0", "m1"});
  }
  SUBCASE("the final name") {
    fs::create_directory(dir);
    fs::create_symlink(outside + "/taken", dir + "/" + stamp + "_x");
    office_node node{world};
    node.gate->files["x"] = "x";
    node.offer(with_files(node, "m1", {"x"}));
    CHECK(logged(world) == texts{"m0", "m1 " + saved("x", "x-2")});
  }
  SUBCASE("the final name, while it is fetched") {
    office_node node{world};
    node.gate->files["x"] = "x";
    node.gate->holds_fetches = true;
    node.offer(with_files(node, "m1", {"x"}));
    fs::create_symlink(outside + "/taken", dir + "/" + stamp + "_x");
    node.arrive("x");
    CHECK(logged(world) == texts{"m0", "m1"});
    CHECK(node.sessions->tickets.back().event.attachments[0].fault
          == "the disk did not take it");
  }
  CHECK(fs::is_empty(outside));
}

TEST_CASE("on Slack a message without its files starts no run") {
  office_world world;
  world.platform = platform_id::slack;
  office_node node{world};
  node.gate->files["a"] = "a";
  node.gate->files["b"] = "b";
  node.gate->fetch_failures["b"] = make_failure(errc::not_found, "gone");
  node.gate->holds_fetches = true;
  CHECK(node.offer(with_files(node, "m1", {"a", "b"})) == "taken");
  CHECK(node.say("m2") == "taken");
  node.arrive("a");
  node.arrive("b");
  CHECK(logged(world) == texts{"m1", "m2"});
  CHECK(world.log()[0].text == "look");
  CHECK(tickets(node) == texts{"m2"});
  CHECK(files_in(world).empty());
  auto ledger = world.ledger();
  CHECK(std::count(ledger.begin(), ledger.end(), "m1 dead(attachment, told)")
        == 1);
  CHECK(world.shown
        == texts{"I could not save `b` (no longer there). So I did not start; "
                 "send the message again."});
  REQUIRE(node.gate->closed.size() == 1);
  CHECK(node.gate->closed[0].outcome == "attachment");
  node.gate->fetch_failures.clear();
  node.gate->holds_fetches = false;
  CHECK(node.offer(with_files(node, "m3", {"a", "b"})) == "taken");
  CHECK(tickets(node) == texts{"m2", "m3"});
  CHECK(files_in(world).size() == 2);
}

TEST_CASE("what causes no turn is logged without files, and none is fetched") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  auto aside = with_files(node, "m1", {"x"});
  aside.trigger = trigger_class::log_only;
  CHECK(node.offer(aside) == "logged");
  auto stop = with_files(node, "m2", {"x"});
  stop.event.text = "stop";
  CHECK(node.offer(stop) == "stopped");
  auto old = with_files(node, "m3", {"x"});
  old.event.sent_ms -= std::chrono::milliseconds{48h}.count();
  CHECK(node.offer(old) == "logged");
  CHECK(logged(world) == texts{"m1", "m2", "m3"});
  CHECK(node.gate->fetches.empty());
  CHECK_FALSE(fs::exists(office_dir(world) + "/attachments"));
}

TEST_CASE("a fetch that takes too long is given up, and comes too late") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"x"}));
  node.advance(limits::attachment_timeout);
  CHECK(tickets(node) == texts{"m1"});
  CHECK(node.sessions->tickets[0].event.attachments[0].fault
        == "it did not arrive within 120 seconds");
  node.arrive("x");
  CHECK(logged(world) == texts{"m1"});
  // The rest of it goes when the office opens again.
  CHECK(files_in(world).size() == 1);
  node.cut();
  office_node next{world};
  next.say("m2");
  CHECK(files_in(world).empty());
}

TEST_CASE("few files are fetched at one time, of one message so many") {
  office_world world;
  office_node node{world};
  node.gate->holds_fetches = true;
  texts names;
  for (size_t i = 0; i < limits::attachments_per_message + 2; ++i) {
    names.push_back("f" + std::to_string(i));
    node.gate->files[names.back()] = "x";
  }
  node.offer(with_files(node, "m1", names));
  CHECK(node.gate->fetches.size() == limits::attachments_in_flight);
  node.arrive("f2");
  CHECK(node.gate->fetches.size() == limits::attachments_in_flight + 1);
  for (size_t i = 0; i < limits::attachments_per_message; ++i)
    node.arrive("f" + std::to_string(i));
  CHECK(node.gate->fetches.size() == limits::attachments_per_message);
  CHECK(world.log()[0].attachments.size() == limits::attachments_per_message);
  CHECK(world.shown
        == texts{"I could not save `f20` (only the first 20 files of a message "
                 "are taken), `f21` (only the first 20 files of a message are "
                 "taken)."});
}

// -- stop
// -----------------------------------------------------------------------

TEST_CASE("a stop while files come closes the turn in place") {
  office_world world;
  office_node node{world};
  node.gate->files["a"] = "a";
  node.gate->files["b"] = "b";
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"a", "b"}));
  node.say("m2");
  node.arrive("a");
  put_file(world.root + "/" + node.gate->fetches.at(1).path, "half");
  CHECK(node.say("s1", "stop") == "stopped");
  CHECK(files_in(world).size() == 1);
  CHECK(world.shown == texts{"_Stopped._"});
  // The stop word waits for nobody.
  CHECK(logged(world) == texts{"m1 " + saved("a", "a"), "s1", "m2"});
  CHECK(tickets(node) == texts{"m2"});
  auto ledger = world.ledger();
  CHECK(std::count(ledger.begin(), ledger.end(), "m1 dead(stopped, told)")
        == 1);
  node.arrive("b");
  CHECK(files_in(world) == texts{std::string{stamp} + "_a"});
  CHECK(logged(world).size() == 3);
  // And after a restart nothing of it begins again.
  node.cut();
  office_node next{world};
  CHECK(next.say("m1") == "duplicate");
  CHECK(tickets(next) == texts{"m2"});
  CHECK(next.gate->fetches.empty());
}

TEST_CASE("a stop that overtakes the disk leaves the line of the message") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  auto send = [&](const intake_request& what) {
    caf::anon_send(caf::actor_cast<caf::actor>(node.offices_handle),
                   atom::intake_v, what);
  };
  node.say("m0");
  node.run("m0", "r0");
  node.produce("m0", "r0", "done");
  send(with_files(node, "m1", {"x"}));
  send(node.message("s1", "stop"));
  node.settle();
  CHECK(tickets(node) == texts{"m0"});
  auto lines = logged(world);
  std::sort(lines.begin(), lines.end());
  CHECK(lines == texts{"m0", "m1", "s1"});
  CHECK(node.describe().open_entries == 0);
}

// -- restart
// ----------------------------------------------------------------------

TEST_CASE("a restart fetches again what the log does not have") {
  office_world world;
  {
    office_node node{world};
    node.gate->files["a"] = "a";
    node.gate->files["b"] = "b";
    node.gate->holds_fetches = true;
    node.offer(with_files(node, "m1", {"a", "b"}));
    node.say("m2");
    node.arrive("a");
    put_file(world.root + "/" + node.gate->fetches.at(1).path, "half");
    node.cut();
  }
  CHECK(logged(world).empty());
  CHECK(files_in(world).size() == 2);
  office_node node{world, {}, false};
  node.gate->files["a"] = "a";
  node.gate->files["b"] = "b";
  node.attach();
  CHECK(node.gate->fetches.size() == 2);
  CHECK(logged(world)
        == texts{"m1 " + saved("a", "a-2") + " " + saved("b", "b"), "m2"});
  CHECK(tickets(node) == texts{"m1", "m2"});
  CHECK(files_in(world)
        == texts{std::string{stamp} + "_a", std::string{stamp} + "_a-2",
                 std::string{stamp} + "_b"});
}

TEST_CASE("a restart takes from the ledger what has been logged") {
  office_world world;
  {
    office_node node{world};
    node.gate->files["a"] = "a";
    node.offer(with_files(node, "m1", {"a", "gone"}));
    node.cut();
  }
  office_node node{world};
  CHECK(node.gate->fetches.empty());
  CHECK(logged(world) == texts{"m1 " + saved("a", "a")});
  REQUIRE(node.sessions->tickets.size() == 1);
  const auto& items = node.sessions->tickets[0].event.attachments;
  CHECK(items[0].local_path.ends_with("_a"));
  CHECK(items[1].fault == "no longer there");
}

TEST_CASE("a restart takes from the log what the ledger does not know") {
  office_world world;
  {
    office_node node{world};
    node.gate->files["a"] = "a";
    node.offer(with_files(node, "m1", {"a", "gone"}));
    node.cut();
  }
  auto ledger = get_file(world.ledger_path());
  put_file(world.ledger_path(), ledger.substr(0, ledger.find('\n') + 1));
  for (auto restart = 0; restart < 2; ++restart) {
    office_node node{world};
    CHECK(node.gate->fetches.empty());
    CHECK(logged(world) == texts{"m1 " + saved("a", "a")});
    REQUIRE(node.sessions->tickets.size() == 1);
    const auto& items = node.sessions->tickets[0].event.attachments;
    CHECK(items[0].local_path.ends_with("_a"));
    CHECK(items[1].fault == "it was not saved");
    node.cut();
  }
}

TEST_CASE("what waited behind files is logged once, whenever the node ends") {
  office_world world;
  {
    office_node node{world};
    node.gate->files["x"] = "x";
    node.gate->holds_fetches = true;
    node.offer(with_files(node, "m1", {"x"}));
    node.say("m2");
    node.say("m3");
    // The line of m1 is the last that the disk takes.
    node.journal_log->breaks_after = 1;
    node.arrive("x");
    CHECK(logged(world) == texts{"m1 " + saved("x", "x")});
    node.cut();
  }
  office_node node{world};
  CHECK(logged(world) == texts{"m1 " + saved("x", "x"), "m2", "m3"});
  CHECK(tickets(node) == texts{"m1", "m2", "m3"});
}

TEST_CASE("a compacted ledger knows what is not logged") {
  offices::ledger_core core{{platform_id::console, "local"}};
  ledger_record line;
  line.id = "m1";
  line.event.session_key = "local";
  line.event.attachments = {{"a", {}, "ref", {}}};
  line.unlogged = true;
  CHECK(core.apply(line, 0));
  offices::ledger_core again{{platform_id::console, "local"}};
  for (const auto& record : read_ledger(core.compacted()).records)
    again.replay(record, 0);
  REQUIRE(again.find("m1") != nullptr);
  CHECK(again.find("m1")->unlogged);
  CHECK_FALSE(again.apply(line, 0));
  line.unlogged = false;
  line.event.attachments = {{"a", "k/attachments/a", {}, {}},
                            {"b", {}, {}, "too large"}};
  CHECK(again.apply(line, 0));
  CHECK_FALSE(again.apply(line, 0));
  offices::ledger_core last{{platform_id::console, "local"}};
  for (const auto& record : read_ledger(again.compacted()).records)
    last.replay(record, 0);
  REQUIRE(last.find("m1") != nullptr);
  CHECK_FALSE(last.find("m1")->unlogged);
  CHECK(last.find("m1")->event.attachments == line.event.attachments);
}

// -- trouble
// ----------------------------------------------------------------------

TEST_CASE("a disk that takes no line of the log is tried again") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"x"}));
  node.say("m2");
  node.journal_log->broken = true;
  node.arrive("x");
  node.advance(3s);
  CHECK(logged(world).empty());
  CHECK(tickets(node).empty());
  node.journal_log->broken = false;
  node.advance(1s);
  CHECK(logged(world) == texts{"m1 " + saved("x", "x"), "m2"});
  CHECK(tickets(node) == texts{"m1", "m2"});
}

TEST_CASE("a stop while the disk takes nothing is written down later") {
  office_world world;
  office_node node{world};
  node.gate->files["x"] = "x";
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"x"}));
  node.journal_log->broken = true;
  CHECK(node.say("s1", "stop") == "stopped");
  node.journal_log->broken = false;
  node.advance(1s);
  CHECK(logged(world) == texts{"m1"});
  CHECK(world.ledger().back() == "m1 dead(stopped, told)");
  node.advance(limits::office_idle_timeout);
  CHECK(node.describe().open_entries == 0);
}

TEST_CASE("files wait for a transport, and for the one after it") {
  office_world world;
  office_node node{world, {}, false};
  node.gate->files["x"] = "x";
  CHECK(node.offer(with_files(node, "m1", {"x"})) == "taken");
  CHECK(node.gate->fetches.empty());
  node.gate->fetch_failures["x"] =
    make_failure(errc::shutting_down, "the transport is ending");
  node.attach();
  CHECK(node.gate->fetches.size() == 1);
  CHECK(logged(world).empty());
  node.gate->fetch_failures.clear();
  node.attach();
  CHECK(node.gate->fetches.size() == 2);
  CHECK(logged(world) == texts{"m1 " + saved("x", "x")});
  CHECK(tickets(node) == texts{"m1"});
}

TEST_CASE("a shutdown leaves the message for the next start") {
  office_world world;
  {
    office_node node{world};
    node.gate->files["x"] = "x";
    node.gate->holds_fetches = true;
    node.offer(with_files(node, "m1", {"x"}));
    CHECK(node.drain(drain_phase::hold).open_entries == 1);
    node.gate->fetch_failures["x"] =
      make_failure(errc::aborted, "the program is ending");
    node.arrive("x");
    CHECK(node.drain(drain_phase::close).open_entries == 1);
    CHECK(logged(world).empty());
    CHECK(world.shown.empty());
  }
  office_node node{world, {}, false};
  node.gate->files["x"] = "x";
  node.attach();
  CHECK(logged(world) == texts{"m1 " + saved("x", "x")});
  CHECK(tickets(node) == texts{"m1"});
}

TEST_CASE("a deleted office is made again for its files") {
  office_world world;
  office_node node{world};
  node.say("m0");
  fs::remove_all(office_dir(world));
  node.gate->files["x"] = "x";
  node.offer(with_files(node, "m1", {"x"}));
  CHECK(logged(world) == texts{"m1 " + saved("x", "x")});
}

TEST_CASE("an office that waits for files does not sleep") {
  office_world world;
  office_node node{world};
  node.gate->holds_fetches = true;
  node.offer(with_files(node, "m1", {"x"}));
  node.advance(limits::attachment_timeout / 2);
  CHECK(node.describe().offices_active == 1);
  CHECK(node.describe().open_entries == 1);
}
