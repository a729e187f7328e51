#include "messages/codec/json_support.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// Local paths of the files in one line of the log.
std::vector<std::string> files_of(const std::string& line) {
  std::vector<std::string> result;
  auto record = json::parse(line).value.as_object();
  for (const auto& item : record.at("attachments").as_array())
    result.push_back(json::text_or_empty(item.as_object(), "localPath"));
  return result;
}

/// Lines of the log with this text.
std::vector<std::string> said(const home& place, const std::string& text) {
  std::vector<std::string> result;
  for (const auto& line : lines_of(place.log()))
    if (json::text_or_empty(json::parse(line).value.as_object(), "text")
        == text)
      result.push_back(line);
  return result;
}

std::string ledger_of(const home& place) {
  return read_file(place.state + "/conversations/"
                   + place.office().substr(place.office().rfind('/') + 1)
                   + "/ledger.jsonl");
}

} // namespace

TEST_CASE("a file that is attached is in the office, the log and the sandbox") {
  home place;
  auto source = place.dir / "my notes.txt";
  write_file(source, "remember the milk\n");
  program node{place.command()};
  node.write("/attach \"" + source + "\" look at this\n");
  REQUIRE(node.read_until("offline"));
  auto lines = said(place, "look at this");
  REQUIRE(lines.size() == 1);
  auto files = files_of(lines[0]);
  REQUIRE(files.size() == 1);
  CHECK(files[0].ends_with("_my_notes.txt"));
  CHECK(read_file(place.workspace + "/" + files[0]) == "remember the milk\n");
  auto inside = files[0].substr(files[0].find('/') + 1);
  CHECK(inside.starts_with("attachments/"));
  node.write("read: " + inside + "\n");
  CHECK(node.read_until("remember the milk"));
  node.close_input();
  CHECK(node.wait() == 0);
  INFO(node.err());
  // The model was told where it is.
  CHECK(contains(place.session(), "/workspace/" + files[0]));
  CHECK(contains(place.session(), "<slack_attachments>"));
}

TEST_CASE("a file that cannot be attached is refused before anything is sent") {
  home place;
  auto run = place.converse("/attach " + place.dir.path() + "\n/attach "
                            + place.dir.path() + "/nothing.txt\nhello\n");
  CHECK(run.code == 0);
  CHECK(contains(run.err, "is a directory; /attach takes one file. Nothing was "
                          "sent."));
  CHECK(contains(run.err, "There is no file " + place.dir.path()
                            + "/nothing.txt. Nothing was sent."));
  CHECK(lines_of(place.log()).size() == 2);
  CHECK_FALSE(std::filesystem::exists(place.office() + "/attachments/x"));
}

TEST_CASE("a file that goes away is told to the user and to the model") {
  home place;
  auto source = place.dir / "short.txt";
  write_file(source, "x");
  {
    // Accepted, and the node killed as soon as that is durable.
    program node{place.command()};
    node.write("/attach " + source + " keep it\n");
    while (!contains(ledger_of(place), "unlogged"))
      node.read_until("nothing says this", milliseconds{1});
    node.signal(SIGKILL);
    node.wait();
  }
  std::filesystem::remove(source);
  auto had = said(place, "keep it");
  auto run = place.converse("");
  INFO(run.err);
  CHECK(run.code == 0);
  auto lines = said(place, "keep it");
  REQUIRE(lines.size() == 1);
  if (had.empty()) {
    CHECK(contains(run.err, "I could not save `short.txt` (no longer there)."));
    CHECK(files_of(lines[0]).empty());
    CHECK(contains(place.session(), "not saved: short.txt (no longer there)"));
  }
}

TEST_CASE("a node killed while it saves a file has it once after the restart") {
  home place;
  auto source = place.dir / "big.bin";
  std::string content(15u << 20, 'b');
  write_file(source, content);
  {
    program node{place.command()};
    node.write("/attach " + source + " keep it\n");
    while (!contains(ledger_of(place), "unlogged"))
      node.read_until("nothing says this", milliseconds{1});
    node.signal(SIGKILL);
    node.wait();
  }
  auto run = place.converse("");
  INFO(run.err);
  CHECK(run.code == 0);
  auto lines = said(place, "keep it");
  REQUIRE(lines.size() == 1);
  auto files = files_of(lines[0]);
  REQUIRE(files.size() == 1);
  CHECK(read_file(place.workspace + "/" + files[0]) == content);
  for (const auto& entry :
       std::filesystem::directory_iterator{place.office() + "/attachments"})
    CHECK_FALSE(entry.path().filename().string().starts_with("."));
  CHECK(place.converse("").code == 0);
  CHECK(said(place, "keep it").size() == 1);
}
