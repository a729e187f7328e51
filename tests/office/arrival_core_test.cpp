#include "actors/office/arrival_core.hpp"
#include "actors/office/leftovers_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::offices;

namespace {

constexpr const char* key = "v1-telegram-5-0123456789abcdef";

conversation_event message(const std::string& id,
                           std::vector<attachment> files = {},
                           const std::string& session_key = "5") {
  conversation_event event;
  event.address = {platform_id::telegram, "5"};
  event.message_id = id;
  event.session_key = session_key;
  event.attachments = std::move(files);
  event.sent_ms = 42;
  return event;
}

attachment file(const std::string& name) {
  return {name, {}, "ref-" + name, {}};
}

std::vector<attachment> many(size_t count) {
  std::vector<attachment> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(file("f" + std::to_string(i)));
  return result;
}

std::string path(const std::string& name) {
  return std::string{key} + "/attachments/" + name;
}

} // namespace

TEST_CASE("a message goes on when each of its files has come or failed") {
  arrival_core core{key, 100};
  core.add(message("m1", {file("a b.txt"), file("c.txt")}), "Ann", true);
  CHECK(core.ready("5") == nullptr);
  CHECK_FALSE(core.next());
  core.plan("m1", {}, 7);
  auto first = core.next();
  auto second = core.next();
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(core.next());
  CHECK(first->ref == "ref-a b.txt");
  CHECK(first->name == "a b.txt");
  CHECK(first->file == "42_a_b.txt");
  CHECK(first->staging == ".42_a_b.txt.101.part");
  CHECK(is_staging_name(first->staging));
  CHECK(core.fetches(second->staging));
  core.ended(second->number, {});
  CHECK(core.ready("5") == nullptr);
  core.ended(first->number, "no longer there");
  auto ready = core.ready("5");
  REQUIRE(ready != nullptr);
  CHECK(ready->display_name == "Ann");
  CHECK(ready->event.attachments
        == std::vector<attachment>{{"a b.txt", {}, {}, "no longer there"},
                                   {"c.txt", path("42_c.txt"), {}, {}}});
  CHECK_FALSE(awaits_files(core.take("m1").event));
  CHECK(core.empty());
  CHECK_FALSE(core.blocks("5"));
}

TEST_CASE("later messages of a key stand behind, other keys do not") {
  arrival_core core{key, 0};
  core.add(message("m1", {file("a")}), {}, true);
  core.add(message("m2"), {}, true);
  core.add(message("m3", {}, "5:1"), {}, true);
  CHECK(core.blocks("5"));
  CHECK(core.ready("5") == nullptr);
  REQUIRE(core.ready("5:1") != nullptr);
  CHECK(core.ready("5:1")->event.message_id == "m3");
  core.plan("m1", {}, 0);
  core.ended(core.next()->number, {});
  CHECK(core.ready("5")->event.message_id == "m1");
  core.take("m1");
  CHECK(core.ready("5")->event.message_id == "m2");
}

TEST_CASE("files are asked for in order, a few at a time, a bound a message") {
  arrival_core core{key, 0};
  core.add(message("m1", many(limits::attachments_per_message + 1)), {}, true);
  core.add(message("m2", {file("x")}, "5:1"), {}, true);
  core.plan("m1", {}, 0);
  core.plan("m2", {}, 0);
  std::vector<file_order> asked;
  while (auto order = core.next())
    asked.push_back(*order);
  CHECK(asked.size() == limits::attachments_in_flight);
  CHECK(asked[0].name == "f0");
  core.ended(asked[0].number, {});
  auto next = core.next();
  REQUIRE(next);
  CHECK(next->name == "f4");
  CHECK_FALSE(core.next());
  for (size_t i = 1; i < asked.size(); ++i)
    core.ended(asked[i].number, {});
  core.ended(next->number, {});
  size_t rest = 0;
  while (auto order = core.next()) {
    core.ended(order->number, {});
    ++rest;
  }
  CHECK(rest == limits::attachments_per_message + 1 - 5);
  auto ready = core.ready("5");
  REQUIRE(ready != nullptr);
  CHECK(ready->event.attachments.back().fault
        == "only the first 20 files of a message are taken");
  CHECK(ready->event.attachments.back().local_path.empty());
  CHECK(core.ready("5:1") != nullptr);
}

TEST_CASE("names never meet: on the disk, in one message, in two") {
  arrival_core core{key, 0};
  core.add(message("m1", {file("a.png"), file("a.png")}), {}, true);
  core.add(message("m2", {file("a.png")}), {}, true);
  core.plan("m1", {"42_a.png"}, 0);
  core.plan("m2", {"42_a.png"}, 0);
  std::vector<std::string> names;
  while (auto order = core.next())
    names.push_back(order->file);
  CHECK(names
        == std::vector<std::string>{"42_a-2.png", "42_a-3.png", "42_a-4.png"});
  // Still under way, though nobody wants it.
  core.close("m1", "closed");
  core.add(message("m3", {file("a.png")}), {}, true);
  core.plan("m3", {}, 0);
  CHECK(core.next()->file == "42_a.png");
}

TEST_CASE("what is closed leaves out what has not come, and stays in line") {
  arrival_core core{key, 0};
  core.add(message("m1", {file("a"), file("b"), file("c")}), {}, true);
  core.add(message("m2"), {}, true);
  core.plan("m1", {}, 0);
  auto a = core.next();
  auto b = core.next();
  core.ended(a->number, {});
  core.close("m1", "the record");
  CHECK_FALSE(core.wanted(b->number));
  CHECK_FALSE(core.next());
  auto ready = core.ready("5");
  REQUIRE(ready != nullptr);
  CHECK(ready->closing == "the record");
  CHECK(ready->event.attachments[0].local_path == path("42_a"));
  CHECK(ready->event.attachments[1].local_path.empty());
  CHECK(core.drop_files("m1") == std::vector<std::string>{path("42_a")});
  core.take("m1");
  // The answer comes late.
  core.ended(b->number, {});
  CHECK(core.ready("5")->event.message_id == "m2");
}

TEST_CASE(
  "a file is asked for again, under another name, when it is put back") {
  arrival_core core{key, 0};
  core.add(message("m1", {file("a")}), {}, true);
  core.plan("m1", {}, 0);
  auto first = core.next();
  core.put_back(first->number);
  auto again = core.next();
  REQUIRE(again);
  CHECK(again->staging != first->staging);
  CHECK(again->file == first->file);
  CHECK_FALSE(core.wanted(first->number));
  CHECK(core.wanted(again->number));
}

TEST_CASE("without a directory all files fail, and the message goes on") {
  arrival_core core{key, 0};
  core.add(message("m1", {file("a"), {"b", {}, {}, {}}}), {}, true);
  core.give_up("m1", "no room");
  REQUIRE(core.ready("5") != nullptr);
  CHECK(core.ready("5")->event.attachments[0].fault == "no room");
  CHECK(core.ready("5")->event.attachments[1].fault == "no room");
}

TEST_CASE("a file without a reference cannot be fetched") {
  arrival_core core{key, 0};
  core.add(message("m1", {{"b", {}, {}, {}}, file("a")}), {}, true);
  core.plan("m1", {}, 0);
  core.ended(core.next()->number, {});
  CHECK(core.ready("5")->event.attachments[0].fault
        == "the platform offers no way to fetch it");
}

TEST_CASE("what is announced is bounded") {
  auto files = bounded_files(many(100));
  CHECK(files.size() == announced_files);
  auto named = bounded_files({{std::string(1000, 'n') + "\xFF", {}, "r", {}}});
  CHECK(named[0].name.size() == announced_name_bytes);
}

TEST_CASE("faults are said so that the user can act") {
  CHECK(file_fault(errc::too_large, "x") == "larger than 20 MB");
  CHECK(file_fault(errc::not_found, "x") == "no longer there");
  CHECK(file_fault(errc::timeout, "x")
        == "it did not arrive within 120 seconds");
  CHECK(file_fault(errc::disk, "/host/path") == "the disk did not take it");
  CHECK(file_fault(errc::transport, "The server said\n500.")
        == "The server said\uFFFD500");
  CHECK(file_fault(errc::transport, std::string(1000, 'x')).size() == 200);
}

TEST_CASE("one notice names the files that are missing") {
  auto event = message("m1", {{"ok.txt", path("ok"), {}, {}}});
  CHECK(missing_files_notice(event).empty());
  event.attachments.push_back({"a`b.png", {}, {}, "larger than 20 MB"});
  CHECK(missing_files_notice(event)
        == "I could not save `a'b.png` (larger than 20 MB).");
  for (int i = 0; i < 12; ++i)
    event.attachments.push_back({"x", {}, {}, "gone"});
  CHECK(missing_files_notice(event).ends_with(" and 3 more."));
  event.address.platform = platform_id::slack;
  CHECK(missing_files_notice(event).ends_with(
    "So I did not start; send the message again."));
}

TEST_CASE("the chat log tells which files there are") {
  log_record line;
  line.attachments = {{"b", path("1_b")}, {"a", path("1_a-2")}};
  auto files = files_in_log({file("a"), file("b"), file("a")}, line);
  CHECK(files[0].fault.empty());
  CHECK(files[0].local_path == path("1_a-2"));
  line.attachments = {{"a", path("1_a")}, {"a", path("1_a-2")}};
  files = files_in_log({file("a"), file("b"), file("a")}, line);
  CHECK(files[0].local_path == path("1_a"));
  CHECK(files[1].fault == "it was not saved");
  CHECK(files[1].ref.empty());
  CHECK(files[2].local_path == path("1_a-2"));
}

TEST_CASE("interrupted fetches are known by their names") {
  CHECK(stagings_among({"42_a.txt", ".42_a.txt.7.part", "b.part", ".x.tmp"})
        == std::vector<std::string>{".42_a.txt.7.part"});
}
