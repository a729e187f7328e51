#include "tests/continuation/whole_node.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::continuation;

namespace {

/// The workspace of the predecessor under the program itself.
struct fixture_home : e2e::home {
  fixture_home() {
    for (const auto& path : {state, workspace})
      std::filesystem::remove_all(path);
    copy_fixture(state, workspace);
  }

  std::map<std::string, std::string> tree() const {
    return read_tree({state, workspace});
  }
};

const std::string registry = "0/office-registry.json";

} // namespace

TEST_CASE("without a platform the predecessor's workspace is refused, whole") {
  fixture_home place;
  auto before = place.tree();
  auto first = place.converse("hello\n");
  INFO(first.err);
  CHECK(first.code == 1);
  CHECK(first.out.empty());
  CHECK(e2e::contains(
    first.err, "bureau cannot start: conversations of an older version need an "
               "operator.\n"));
  CHECK(e2e::contains(first.err,
                      "claim each one with: bureau office claim <id> "
                      "<platform>\n  - 100000\n  - 100001\n"));
  // What was found is noted down; nothing else is added, moved or changed.
  auto after = place.tree();
  CHECK(e2e::count(after[registry], "\"needs-owner\"") == 2);
  after.erase(registry);
  CHECK(after == before);
  auto refused_once = place.tree();
  auto second = place.converse("hello\n");
  CHECK(second.code == 1);
  // Lines of the log before it have times.
  auto refusal = [](const std::string& text) {
    return text.substr(text.find("bureau cannot start"));
  };
  CHECK(refusal(second.err) == refusal(first.err));
  CHECK(place.tree() == refused_once);
}

TEST_CASE("a platform that is enabled and has no token owns its workspace") {
  fixture_home place;
  e2e::write_file(place.state + "/settings.json",
                  R"({"platforms":{"telegram":{"enabled":true}}})");
  auto before = place.tree();
  auto first = place.converse("");
  INFO(first.err);
  CHECK(first.code == 0);
  auto after = place.tree();
  for (const auto& [old_name, name] :
       {std::pair{"1/100000", "1/v1-telegram-100000-9acaaed617f8f1bb"},
        std::pair{"1/100001", "1/v1-telegram-100001-8c774b68562d5edb"}}) {
    CAPTURE(std::string{name});
    size_t moved = 0;
    for (const auto& [path, content] : before) {
      if (!path.starts_with(old_name))
        continue;
      ++moved;
      CHECK_FALSE(after.contains(path));
      CHECK(after[name + path.substr(std::string{old_name}.size())] == content);
    }
    CHECK(moved == 5);
  }
  CHECK(e2e::count(after[registry], "\"committed\"") == 2);
  CHECK(place.converse("").code == 0);
  CHECK(place.tree() == after);
}
