#include "actors/session/context_cache_core.hpp"

#include "tests/session_store/tree_support.hpp"

#include <functional>

using namespace bureau;
using namespace bureau::test;

namespace {

session_entry said_by_model(std::string text, std::string model = "g2") {
  session_entry result;
  auto& message = result.message;
  message.role = message_role::assistant;
  message.content = {text_block(std::move(text))};
  message.provider = model.empty() ? "" : "openai";
  message.model = std::move(model);
  return result;
}

session_entry of_kind(entry_kind kind, const char* fields,
                      const char* custom = "") {
  session_entry result;
  result.kind = kind;
  result.custom_type = custom;
  result.fields = json_text{fields};
  return result;
}

session_entry cause_of(const char* id) {
  auto fields = std::string{R"({"messageId":")"} + id + "\"}";
  return of_kind(entry_kind::custom, fields.c_str(), "mikan.run_cause");
}

} // namespace

TEST_CASE("a cached context is the one that the tree gives, at every step") {
  seeded_entropy chance;
  auto file =
    lines({header_line, cause_line("c0", "", "m0"),
           user_entry("u0", "c0", "one"), assistant_entry("a0", "u0", "two")});
  auto tree = good_tree(file);
  session::context_cache cache;
  auto compare = [&] {
    CHECK(cache.context(tree) == tree.context());
  };
  compare();
  compare();
  auto add = [&](const std::vector<session_entry>& entries) {
    append_to(tree, entries, file, chance);
    compare();
  };
  add({cause_of("m1"), said_by_user("three")});
  add({said_by_model("four")});
  add({said_by_model("no model", "")});
  add({said_by_user("a"), said_by_user("b")});
  add({cause_of("m2"), cause_of("m3")});
  add({said_by_user("for both")});
  SUBCASE("a message without a time") {
    auto entry = said_by_user("when?");
    entry.message.timestamp_ms = 0;
    add({entry});
  }
  SUBCASE("a change of the model") {
    add({of_kind(entry_kind::model_change,
                 R"({"provider":"lab","modelId":"tiny"})")});
    add({said_by_user("c")});
    add({said_by_model("d")});
  }
  SUBCASE("a message of an extension") {
    auto entry = of_kind(entry_kind::custom_message, "{}", "note");
    entry.message.role = message_role::custom;
    entry.message.content = {text_block("note")};
    add({entry, said_by_user("c")});
  }
  SUBCASE("a compaction") {
    add({of_kind(entry_kind::compaction,
                 R"({"summary":"so far","firstKeptEntryId":"a0"})")});
    add({said_by_user("c")});
  }
  SUBCASE("another branch") {
    REQUIRE(tree.select("a0"));
    compare();
    add({said_by_user("instead")});
    REQUIRE(tree.select(""));
    compare();
    add({said_by_user("from the start")});
  }
  SUBCASE("another tree") {
    auto other = good_tree(lines({header_line, user_entry("x", "", "other")}));
    cache.clear();
    CHECK(cache.context(other) == other.context());
  }
}

TEST_CASE("a new session begins to be cached before it is written") {
  seeded_entropy chance;
  session_header header;
  header.id = "s1";
  auto tree = session_tree::create(header);
  session::context_cache cache;
  CHECK(cache.context(tree) == tree.context());
  std::string file;
  append_to(tree, {said_by_user("one")}, file, chance);
  CHECK(cache.context(tree) == tree.context());
  CHECK(cache.context(tree).messages.size() == 1);
}

TEST_CASE("a session that is too large is not kept beside its tree") {
  seeded_entropy chance;
  auto file = lines({header_line, user_entry("u0", "", "one")});
  auto tree = good_tree(file);
  session::context_cache cache;
  CHECK(cache.context(tree) == tree.context());
  auto large = std::string(session::context_cache_bytes, 'x');
  append_to(tree, {said_by_user(std::move(large))}, file, chance);
  CHECK(cache.context(tree).messages.size() == 2);
  append_to(tree, {said_by_user("more")}, file, chance);
  CHECK(cache.context(tree).messages.size() == 3);
}
