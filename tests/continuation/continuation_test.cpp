#include "messages/identity/workspace.hpp"
#include "tests/continuation/whole_node.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::continuation;

namespace {

/// The fixture with a provider in the place of the one it was written with.
struct old_home {
  explicit old_home(const std::string& url) {
    copy_fixture(state, workspace);
    auto models = e2e::read_file(state + "/models.json");
    std::string old = "http://127.0.0.1:8082";
    models.replace(models.find(old), old.size(), url);
    e2e::write_file(state + "/models.json", models);
  }

  std::map<std::string, std::string> tree() const {
    return read_tree({state, workspace});
  }

  std::string office(const std::string& id) const {
    return make_office(make_workspace(workspace, state),
                       {platform_id::telegram, id})
      .dir;
  }

  e2e::temp_dir dir;
  std::string state = dir / "state";
  std::string workspace = dir / "workspace";
};

} // namespace

TEST_CASE("conversations of the predecessor go on where they stopped") {
  e2e::provider mock{R"({"fixtures":[
    {"match":{"userMessage":"what did I say"},
     "response":{"content":"You said hello a few times."}}]})"};
  old_home place{mock.url()};
  struct row {
    const char* id;
    const char* file;
    std::vector<std::string> context;
  };
  const row rows[] = {
    {"100000",
     "2026-11-30T10-05-57-299Z_0e9c74b1.jsonl",
     {"hello tok-1-end", "answer for tok-1-end done", "hello tok-151-end",
      "answer for tok-151-end done"}},
    {"100001",
     "2026-11-30T10-05-57-330Z_5ae12f21.jsonl",
     {"hello tok-2-end", "answer for tok-2-end done", "hello tok-152-end",
      "answer for tok-152-end done"}},
  };
  std::map<std::string, std::string> before;
  for (const auto& row : rows)
    before[row.id] =
      e2e::read_file(place.workspace + "/" + row.id + "/sessions/" + row.file);
  {
    whole_node node{place.state, place.workspace};
    for (const auto& row : rows)
      CHECK(node.ask(row.id, "9001", "what did I say?")
            == "You said hello a few times.");
  }
  auto requests = mock.journal();
  for (const auto& row : rows) {
    CAPTURE(row.id);
    for (const auto& text : row.context)
      CHECK(e2e::contains(requests, text));
    // The old session file was continued, not replaced.
    auto after = e2e::read_file(place.office(row.id) + "/sessions/" + row.file);
    CHECK(before[row.id].size() > 100);
    CHECK(after.starts_with(before[row.id]));
    CHECK(e2e::contains(after, "You said hello a few times."));
  }
}

TEST_CASE("a second boot changes nothing") {
  old_home place{"http://127.0.0.1:9"};
  { whole_node node{place.state, place.workspace}; }
  auto first = place.tree();
  { whole_node node{place.state, place.workspace}; }
  CHECK(place.tree() == first);
}
