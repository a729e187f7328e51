#include "tests/session_store/store_world.hpp"
#include "tests/session_store/tree_support.hpp"

#include "messages/limits.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

using namespace bureau;
using namespace bureau::test;

namespace {

using list = std::vector<std::string>;

const std::string february = "2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl";

} // namespace

TEST_CASE_FIXTURE(store_world, "a damaged session is refused and not touched") {
  struct row {
    const char* name;
    std::string text;
  };
  auto good = user_entry("u1", "", "x");
  const row rows[] = {
    {"no header", "garbage\n" + good + "\n"},
    {"a bad line", lines({header_line, "{\"type\":", good})},
    {"a future version",
     lines({R"({"type":"session","version":4,"id":"x"})", good})},
    {"no id in the header", lines({R"({"type":"session"})", good})},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    put_main(february, row.text);
    put_session("17.1.jsonl", row.text);
    for (auto key : {"C123", "C123:17.1"}) {
      auto opened = open(spawn(key));
      CHECK(opened.code == errc::corrupt);
      CHECK(opened.sentence.find(".jsonl") != std::string::npos);
      CHECK(opened.sentence.find("line ") != std::string::npos);
    }
    CHECK(current_text() == row.text);
    CHECK(pointer() == february);
    CHECK(text("17.1.jsonl") == row.text);
  }
}

TEST_CASE_FIXTURE(store_world, "a garbled thread file is not overwritten") {
  put_session("17.1.jsonl", "garbage");
  CHECK(open(spawn("C123:17.1")).code == errc::corrupt);
  CHECK(text("17.1.jsonl") == "garbage");
}

TEST_CASE_FIXTURE(store_world, "a torn tail is replaced by the next entry") {
  put_main(february, std::string{header_line} + "\n{\"type\":\"mess");
  auto store = spawn();
  REQUIRE(open(store));
  auto torn = current_text();
  CHECK(torn.find("{\"type\":\"mess") != std::string::npos);
  auto ids = say(store, "one");
  REQUIRE(ids);
  CHECK(split_lines(current_text()).size() == 2);
  // The rewrite is announced to the journal before it happens.
  REQUIRE(journal->seals.size() == 1);
  CHECK(journal->seals[0].second == place.key + "/sessions/" + february);
  CHECK(journal->written.empty());
  // What was cut off is kept where it harms nobody.
  REQUIRE(archived() == list{"2026-01-01T00-00-00-000Z_" + february + ".torn"});
  CHECK(get_file(path("archive/" + archived()[0])) == "{\"type\":\"mess");
  say(store, "two");
  CHECK(journal->written.size() == 1);
  CHECK(archived().size() == 1);
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
}

TEST_CASE_FIXTURE(store_world, "a missing last line break is mended first") {
  auto whole = lines({header_line, user_entry("u1", "", "one")});
  whole.pop_back();
  put_main(february, whole);
  auto store = spawn();
  REQUIRE(open(store));
  CHECK(current_text() == whole);
  say(store, "two");
  CHECK(split_lines(current_text()).size() == 3);
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
}

TEST_CASE_FIXTURE(store_world,
                  "an old version is rewritten by the first append") {
  auto old =
    lines({R"({"type":"session","id":"v1"})",
           R"({"type":"message","message":{"role":"user","content":"one"}})"});
  put_main(february, old);
  auto store = spawn();
  REQUIRE(open(store));
  CHECK(current_text() == old);
  say(store, "two");
  CHECK(current_text().find("\"version\":3") != std::string::npos);
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
}

TEST_CASE_FIXTURE(store_world,
                  "an entry larger than a frame is still one unit") {
  auto store = spawn();
  REQUIRE(open(store));
  say(store, "one");
  auto big = std::string(limits::journal_frame_bytes + 100, 'x');
  REQUIRE(append(store, {run_cause_entry("m"), user_says(big)}));
  say(store, "three");
  auto context = open(spawn());
  REQUIRE(context.value.messages.size() == 3);
  CHECK(texts(context.value).at(1) == big);
  CHECK(texts(context.value).at(2) == "three");
  // It has a frame of its own: the file is not written anew for it.
  CHECK(journal->seals.empty());
}

TEST_CASE_FIXTURE(store_world, "a file system that became read-only is a "
                               "fault of the disk") {
  auto store = spawn();
  SUBCASE("when a session begins") {
    fs->fail_named("rename_below", EROFS);
    auto opened = open(store);
    CHECK(opened.code == errc::disk);
    fs->heal();
    CHECK(open(store));
  }
  SUBCASE("when it goes on") {
    REQUIRE(open(store));
    fs->fail_named("write_at", EROFS);
    CHECK(say(store, "one").code == errc::disk);
    fs->heal();
    CHECK(say(store, "one"));
  }
}

TEST_CASE_FIXTURE(store_world, "a failed append leaves the leaf where it was") {
  auto store = spawn();
  REQUIRE(open(store));
  auto first = say(store, "one");
  auto before = current_text();
  journal->broken = true;
  auto failed = say(store, "lost");
  CHECK(failed.code == errc::disk);
  CHECK(load(store).value.leaf == first.value.at(0));
  CHECK(say(store, "lost too").code == errc::disk);
  CHECK(current_text() == before);
  journal->broken = false;
  REQUIRE(say(store, "two"));
  CHECK(
    split_lines(current_text())[2].find("\"parentId\":\"" + first.value.at(0))
    != std::string::npos);
  CHECK(texts(load(store).value) == list{"one", "two"});
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
}

TEST_CASE_FIXTURE(store_world,
                  "what a failed write left behind is a side branch") {
  auto store = spawn();
  REQUIRE(open(store));
  auto first = say(store, "one");
  journal->broken = true;
  CHECK(say(store, "lost?").code == errc::disk);
  journal->broken = false;
  // The bytes reached the file after all, as the journal may say "disk" for.
  {
    std::ofstream out{path(pointer()), std::ios::app};
    out << user_entry("ffffffff", first.value.at(0).c_str(), "lost?") << "\n";
  }
  REQUIRE(say(store, "two"));
  CHECK(texts(load(store).value) == list{"one", "two"});
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
  CHECK(current_text().find("lost?") != std::string::npos);
}

TEST_CASE_FIXTURE(store_world,
                  "half a line of a failed write is cleaned away") {
  auto store = spawn();
  REQUIRE(open(store));
  say(store, "one");
  journal->broken = true;
  CHECK(say(store, "lost").code == errc::disk);
  journal->broken = false;
  {
    std::ofstream out{path(pointer()), std::ios::app};
    out << "{\"type\":\"message\",\"mess";
  }
  REQUIRE(say(store, "two"));
  CHECK(split_lines(current_text()).size() == 3);
  CHECK(texts(open(spawn()).value) == list{"one", "two"});
}

TEST_CASE_FIXTURE(store_world, "a foreign line is noticed, kept and read") {
  auto store = spawn();
  REQUIRE(open(store));
  auto first = say(store, "one");
  {
    std::ofstream out{path(pointer()), std::ios::app};
    out << user_entry("ffffffff", first.value.at(0).c_str(), "foreign") << "\n";
  }
  auto noticed = say(store, "two");
  CHECK(noticed.code == errc::conflict);
  CHECK(noticed.sentence.find(path(pointer())) != std::string::npos);
  CHECK(say(store, "x").code == errc::not_ready);
  auto context = open(store);
  REQUIRE(context);
  CHECK(current_text().find("foreign") != std::string::npos);
  REQUIRE(say(store, "three"));
  CHECK(texts(open(spawn()).value).back() == "three");
}

TEST_CASE_FIXTURE(store_world, "an open store looks whether its file changed") {
  auto store = spawn();
  auto id = open(store).value.session_id;
  auto first = say(store, "one");
  {
    std::ofstream out{path(pointer()), std::ios::app};
    out << user_entry("ffffffff", first.value.at(0).c_str(), "foreign") << "\n";
  }
  CHECK(texts(open(store).value) == list{"one", "foreign"});
  // Replaced by a file of the same size.
  auto swapped = current_text();
  auto name = pointer();
  std::filesystem::rename(path(name), path("aside"));
  swapped.replace(swapped.find("foreign"), 7, "FOREIGN");
  put_file(path(name), swapped);
  CHECK(texts(open(store).value) == list{"one", "FOREIGN"});
  // Gone: the pointer dangles, so a new session begins.
  std::filesystem::remove(path(name));
  CHECK(open(store).value.session_id != id);
}

TEST_CASE_FIXTURE(store_world, "a file that vanished is written again whole") {
  auto store = spawn();
  REQUIRE(open(store));
  say(store, "one");
  std::filesystem::remove(path(pointer()));
  REQUIRE(say(store, "two"));
  REQUIRE(say(store, "three"));
  CHECK(texts(open(spawn()).value) == list{"one", "two", "three"});
  CHECK(split_lines(current_text()).size() == 4);
}

TEST_CASE_FIXTURE(store_world, "a rewrite never replaces a changed file") {
  put_main(february, std::string{header_line} + "\n{\"torn");
  auto store = spawn();
  REQUIRE(open(store));
  auto foreign = std::string{header_line} + "\n{\"torn and more";
  put_file(path(february), foreign);
  CHECK(say(store, "one").code == errc::conflict);
  CHECK(current_text() == foreign);
  REQUIRE(open(store));
  REQUIRE(say(store, "one"));
  CHECK(texts(open(spawn()).value) == list{"one"});
}

TEST_CASE(
  "whatever disk operation fails while a session begins, it can begin") {
  // The disk dies at the n-th operation and comes back after a restart: there
  // is a whole session then, old or new, and the log is in it once.
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    store_world world;
    world.logged("1", "one");
    world.fs->fail_from(n, EIO);
    auto failed = world.open(world.spawn());
    auto finished = world.fs->operations().size() < n;
    world.fs->heal();
    if (finished) {
      CHECK(failed);
      CHECK(n > 10);
      break;
    }
    if (!failed)
      CHECK((failed.code == errc::disk || failed.code == errc::denied));
    auto context = world.open(world.spawn());
    REQUIRE_MESSAGE(bool{context}, context.sentence);
    CHECK(texts(context.value) == list{"one"});
    CHECK(world.open(world.spawn()).value == context.value);
    // What nobody points at is left as it is; what is pointed at is whole.
    CHECK(split_lines(world.current_text()).size() == 3);
  }
}

TEST_CASE(
  "whatever disk operation fails while a thread is reset, none is lost") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    store_world world;
    world.logged("9", "before", {}, 1000);
    auto store = world.spawn("C123:17.1");
    REQUIRE(world.open(store));
    world.say(store, "precious");
    auto old = world.text("17.1.jsonl");
    world.fs->fail_from(n, EIO);
    auto failed = world.reset(store);
    auto finished = world.fs->operations().size() < n;
    world.fs->heal();
    auto kept = world.text("17.1.jsonl") == old;
    for (const auto& name : world.archived())
      kept = kept || get_file(world.path("archive/" + name)) == old;
    CHECK(kept);
    if (finished) {
      CHECK(failed);
      CHECK(n > 10);
      break;
    }
    // After a restart there is the old session or the new one, and the new one
    // holds nothing from before.
    auto context = world.open(world.spawn("C123:17.1"));
    REQUIRE_MESSAGE(bool{context}, context.sentence);
    if (world.text("17.1.jsonl").substr(0, old.size()) == old)
      CHECK(texts(context.value).back() == "precious");
    else
      CHECK(context.value.messages.empty());
    // The store that saw the failure lets go, and goes on when asked to.
    if (!failed)
      CHECK(world.say(store, "early").code == errc::not_ready);
    REQUIRE(world.open(store));
    REQUIRE(world.say(store, "more"));
    CHECK(texts(world.open(world.spawn("C123:17.1")).value).back() == "more");
  }
}

TEST_CASE("a session too large to be copied is reset as safely as any other") {
  // The process dies at the n-th operation of the disk.
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    store_world world;
    world.logged("9", "before", "17.1", 1000);
    world.put_session("17.1.jsonl", lines({header_line}));
    std::filesystem::resize_file(world.path("17.1.jsonl"),
                                 limits::session_file_bytes + 1);
    world.fs->fail_from(n, EIO);
    auto failed = world.reset(world.spawn("C123:17.1"));
    auto finished = world.fs->operations().size() < n;
    world.fs->heal();
    auto next = world.spawn("C123:17.1");
    CHECK(world.exists(next).value);
    auto context = world.open(next);
    if (context) {
      CHECK(context.value.messages.empty());
      auto kept = false;
      for (const auto& name : world.archived())
        kept = kept
               || std::filesystem::file_size(world.path("archive/" + name))
                    > limits::session_file_bytes;
      CHECK(kept);
      CHECK(world.archived().size() == 1);
    } else {
      CHECK(context.code == errc::too_large);
    }
    REQUIRE(world.reset(next));
    CHECK(world.open(next).value.messages.empty());
    if (finished) {
      CHECK(failed);
      CHECK(n > 10);
      break;
    }
  }
}

TEST_CASE("whatever disk operation fails during an append, nothing "
          "acknowledged is lost") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    store_world world;
    world.put_main(february, std::string{header_line} + "\n{\"torn");
    auto store = world.spawn();
    REQUIRE(world.open(store));
    world.fs->fail_at(n, ENOSPC);
    list acknowledged;
    for (auto text : {"one", "two", "three"})
      if (world.say(store, text))
        acknowledged.emplace_back(text);
    auto finished = world.fs->operations().size() < n;
    world.fs->heal();
    auto context = world.load(store);
    if (!context)
      context = world.open(store);
    REQUIRE_MESSAGE(bool{context}, context.sentence);
    auto reread = world.open(world.spawn());
    REQUIRE_MESSAGE(bool{reread}, reread.sentence);
    for (const auto& text : acknowledged) {
      auto all = texts(reread.value);
      CHECK(std::find(all.begin(), all.end(), text) != all.end());
    }
    if (finished) {
      CHECK(acknowledged.size() == 3);
      break;
    }
  }
}

TEST_CASE("any byte of pointer, session or log may change") {
  for (auto what : {"current", "session", "log"})
    for (size_t step = 0; step < 40; ++step) {
      CAPTURE(what);
      CAPTURE(step);
      store_world world;
      world.put_main(february, lines({header_line, user_entry("u1", "", "one"),
                                      user_entry("u2", "u1", "two")}));
      world.logged("5", "said");
      auto file = what == std::string{"current"}   ? world.path("current")
                  : what == std::string{"session"} ? world.path(february)
                                                   : world.place.log_path;
      auto bytes = get_file(file);
      auto pos = step * bytes.size() / 40;
      bytes[pos] = static_cast<char>(bytes[pos] ^ (step % 2 ? 0xFF : 0x01));
      put_file(file, bytes);
      auto before = world.text(february);
      auto opened = world.open(world.spawn());
      if (opened) {
        // Data, a tail set aside, or, for a pointer that points nowhere, a
        // fresh start beside the old file.
        auto all = texts(opened.value);
        if (what == std::string{"current"} && world.pointer() != february)
          CHECK(all == list{"said"});
        else
          CHECK(all.size() >= 2);
      } else {
        CHECK(opened.code == errc::corrupt);
        CHECK(world.files().size() == 2);
      }
      // No entry that was in the file is gone from the disk.
      auto everything = world.text(february);
      for (const auto& aside : world.archived())
        everything += get_file(world.path("archive/" + aside)) + "\n";
      for (size_t i = 1; i < 3; ++i)
        CHECK(everything.find(split_lines(before).at(i) + "\n")
              != std::string::npos);
    }
}
