#include "tests/session_store/tree_support.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <chrono>

using namespace bureau;
using namespace bureau::test;

namespace {

/// u1 ← a2 ← u3 ← c4 (keeps u3) ← u5
std::string compacted() {
  return lines(
    {header_line, user_entry("u1", "", "one"),
     assistant_entry("a2", "u1", "two"), user_entry("u3", "a2", "three"),
     compaction_entry("c4", "u3", "S1", "u3"), user_entry("u5", "c4", "five")});
}

} // namespace

TEST_CASE("a new session writes a header and one line per entry") {
  seeded_entropy chance;
  session_header header;
  header.id = "7b54cf90-1c2d-4e5f-8a9b-0c1d2e3f4a5b";
  header.timestamp = "2026-05-01T09:00:01.000Z";
  header.cwd = "/workspace/K";
  auto tree = session_tree::create(header);
  CHECK(tree.needs_rewrite());
  CHECK(tree.leaf().empty());
  std::string file;
  auto first = append_to(tree, {said_by_user("hello")}, file, chance);
  auto second = append_to(tree, {said_by_user("again")}, file, chance);
  auto all = split(file);
  REQUIRE(all.size() == 3);
  CHECK(all[0] == header_line);
  auto line = parsed(all[1]);
  CHECK(line.at("type") == "message");
  CHECK(line.at("parentId").is_null());
  CHECK(line.at("id").as_string().size() == 8);
  CHECK(line.at("timestamp") == "2026-01-01T00:00:00.000Z");
  CHECK(parsed(all[2]).at("parentId") == line.at("id"));
  CHECK(tree.leaf() == second.at(0));
  CHECK(said(tree.context())
        == std::vector<std::string>{"user:hello", "user:again"});
  CHECK(tree.context().entry_ids
        == std::vector<std::string>{first.at(0), second.at(0)});
  auto again = good_tree(file);
  CHECK(again.context() == tree.context());
  CHECK_FALSE(again.needs_rewrite());
}

TEST_CASE("a batch hangs together under the leaf") {
  seeded_entropy chance;
  auto tree = good_tree(compacted());
  auto file = compacted();
  auto ids = append_to(
    tree, {run_cause_entry("m1"), said_by_user("x"), said_by_user("y")}, file,
    chance);
  REQUIRE(ids.size() == 3);
  auto all = split(file);
  CHECK(parsed(all[6]).at("parentId") == "u5");
  CHECK(parsed(all[7]).at("parentId").as_string() == ids[0]);
  CHECK(parsed(all[8]).at("parentId").as_string() == ids[1]);
  CHECK(good_tree(file).context() == tree.context());
}

TEST_CASE("forward references, several roots and blank lines are legal") {
  auto tree = good_tree(
    lines({header_line, "", user_entry("b", "a", "child"), "   ",
           user_entry("a", "", "parent"), user_entry("r", "", "root two")}));
  CHECK(said(tree.context()) == std::vector<std::string>{"user:root two"});
  CHECK(tree.branch(tree.find("b"))
        == std::vector<uint32_t>{tree.find("a"), tree.find("b")});
  CHECK(tree.branch(session_tree::none).empty());
  CHECK(tree.branch(99).empty());
}

TEST_CASE("a leaf record moves where the next entry hangs") {
  struct row {
    const char* name;
    const char* target;
    const char* parent;
  };
  const row rows[] = {{"to the first entry", "\"u1\"", "\"u1\""},
                      {"before the first entry", "null", "null"}};
  for (const auto& [name, target, parent] : rows) {
    CAPTURE(name);
    seeded_entropy chance;
    auto file = lines(
      {header_line, user_entry("u1", "", "one"), user_entry("u2", "u1", "two"),
       entry("leaf", "l3", "u2", std::string{R"("targetId":)"} + target)});
    auto tree = good_tree(file);
    append_to(tree, {said_by_user("x")}, file, chance);
    CHECK(split(file)[4].find(std::string{R"("parentId":)"} + parent)
          != std::string::npos);
    CHECK(good_tree(file).context() == tree.context());
  }
}

TEST_CASE("a leaf is moved by a record that survives reopening") {
  seeded_entropy chance;
  auto file = compacted();
  auto tree = good_tree(file);
  auto plan = tree.plan_leaf("u1", start_ms, chance);
  REQUIRE(plan.fault.code == errc::none);
  file += plan.bytes;
  tree.commit(plan);
  CHECK(tree.leaf() == "u1");
  CHECK(good_tree(file).leaf() == "u1");
  plan = tree.plan_leaf("", start_ms, chance);
  file += plan.bytes;
  tree.commit(plan);
  CHECK(tree.leaf().empty());
  CHECK(good_tree(file).leaf().empty());
  CHECK(tree.plan_leaf("nobody", start_ms, chance).fault.code
        == errc::bad_request);
  // Nor may a leaf record itself become the leaf.
  CHECK(tree.plan_leaf(plan.ids.at(0), start_ms, chance).fault.code
        == errc::bad_request);
}

TEST_CASE("a branch that is left may be summed up under the new leaf") {
  struct row {
    const char* target;
    const char* from;
    std::vector<std::string> said;
  };
  const row rows[] = {
    {"u1", "u1", {"user:one", "branchSummary:so far", "user:next"}},
    {"", "root", {"branchSummary:so far", "user:next"}}};
  for (const auto& [target, from, expected] : rows) {
    CAPTURE(target);
    seeded_entropy chance;
    auto file = lines({header_line, user_entry("u1", "", "one"),
                       user_entry("u2", "u1", "two")});
    auto tree = good_tree(file);
    auto plan = tree.plan_branch(
      target, json_text{R"({"summary":"so far","details":{"n":1}})"}, start_ms,
      chance);
    REQUIRE(plan.fault.code == errc::none);
    REQUIRE(plan.ids.size() == 2);
    file += plan.bytes;
    tree.commit(plan);
    CHECK(tree.leaf() == plan.ids.at(1));
    auto summary = parsed(split(file).at(4));
    CHECK(json::text_or_empty(summary, "fromId") == from);
    CHECK(json::member(summary, "details") != nullptr);
    append_to(tree, {said_by_user("next")}, file, chance);
    CHECK(said(tree.context()) == expected);
    CHECK(good_tree(file).context() == tree.context());
  }
  seeded_entropy chance;
  auto tree = good_tree(lines({header_line, user_entry("u1", "", "one")}));
  CHECK(tree.plan_branch("u1", json_text{"[]"}, start_ms, chance).fault.code
        == errc::bad_request);
}

TEST_CASE("the name of a session is written on one line") {
  struct row {
    const char* given;
    const char* written;
  };
  const row rows[] = {{R"({"name":"  a\r\n\nb \n c\r"})", "a b   c"},
                      {R"({"name":" \n "})", ""},
                      {R"({"name":"plain"})", "plain"},
                      {R"({"name":7,"x":"a\nb"})", ""}};
  for (const auto& [given, written] : rows) {
    CAPTURE(given);
    session_entry entry;
    entry.kind = entry_kind::session_info;
    entry.fields.text = given;
    auto line = parsed(print_session_entry(entry, "id", "", start_ms));
    CHECK(json::text_or_empty(line, "name") == written);
  }
}

TEST_CASE("contexts begin with the last compaction") {
  auto tree = good_tree(compacted());
  CHECK(said(tree.context())
        == std::vector<std::string>{"compactionSummary:S1", "user:three",
                                    "user:five"});
  CHECK(tree.context().entry_ids == std::vector<std::string>{"c4", "u3", "u5"});
  CHECK(tree.context().provider == "openai");
  CHECK(tree.context().model == "g1");
  CHECK(tree.context().thinking_level == "off");
  CHECK(tree.context().messages[0].tokens_before == 9);
  // An entry's own time serves where a message has none.
  CHECK(tree.context().messages[0].timestamp_ms == 1'777'626'002'000);
  CHECK(tree.context().messages[1].timestamp_ms == 5);
}

TEST_CASE("a kept range may hold an earlier compaction") {
  auto tree =
    good_tree(compacted()
              + lines({entry("model_change", "m6", "u5",
                             R"("provider":"anthropic","modelId":"x")"),
                       entry("thinking_level_change", "t7", "m6",
                             R"("thinkingLevel":"high")"),
                       compaction_entry("c8", "t7", "S2", "c4"),
                       user_entry("u9", "c8", "nine")}));
  auto context = tree.context();
  CHECK(said(context)
        == std::vector<std::string>{"compactionSummary:S2",
                                    "compactionSummary:S1", "user:five",
                                    "user:nine"});
  CHECK(context.provider == "anthropic");
  CHECK(context.model == "x");
  CHECK(context.thinking_level == "high");
}

TEST_CASE("a later compaction may keep the newest entry alone") {
  auto tree =
    good_tree(compacted() + lines({compaction_entry("c6", "u5", "S2", "u5")}));
  CHECK(said(tree.context())
        == std::vector<std::string>{"compactionSummary:S2", "user:five"});
}

TEST_CASE("only messages and summaries reach the model") {
  auto tree = good_tree(lines({
    header_line,
    user_entry("u", "", "hi"),
    entry("branch_summary", "b1", "u", R"("fromId":"root","summary":"BS")"),
    entry("branch_summary", "b2", "b1", R"("fromId":"u","summary":"")"),
    entry("custom", "c", "b2", R"("customType":"x","data":{"a":1})"),
    entry("custom_message", "cm", "c",
          R"("customType":"note","content":"hello","display":true)"),
    entry("label", "l", "cm", R"("targetId":"u","label":"L")"),
    entry("session_info", "s", "l", R"("name":"n")"),
    entry("active_tools_change", "t", "s", R"("activeToolNames":["bash"])"),
    entry("xyz", "x", "t", R"("whatever":[1,{"id":"no"}])"),
  }));
  auto context = tree.context();
  CHECK(
    said(context)
    == std::vector<std::string>{"user:hi", "branchSummary:BS", "custom:hello"});
  CHECK(context.messages[1].from_id == "root");
  CHECK(context.messages[2].custom_type == "note");
  CHECK(context.messages[2].display);
  CHECK(context.active_tools == std::vector<std::string>{"bash"});
  CHECK(context.provider.empty());
  CHECK(tree.leaf() == "x");
  CHECK(tree.branch().size() == 9);
}

TEST_CASE("messages made out of chat history say nothing about the model") {
  auto tree = good_tree(lines(
    {header_line,
     entry("model_change", "m", "", R"("provider":"anthropic","modelId":"x")"),
     assistant_entry("a", "m", "old", "platform-history",
                     "platform-history")}));
  CHECK(tree.context().provider == "anthropic");
  CHECK(tree.context().model == "x");
  CHECK(said(tree.context()) == std::vector<std::string>{"assistant:old"});
}

TEST_CASE("names and labels are decided by the last record of the file") {
  auto base =
    lines({header_line, user_entry("u", "", "x"),
           entry("session_info", "s1", "u", R"("name":"a")"),
           entry("session_info", "s2", "u", R"("name":" b ")"),
           entry("label", "l1", "u", R"("targetId":"u","label":"L")")});
  auto tree = good_tree(base);
  CHECK(tree.name() == "b");
  CHECK(tree.labels() == std::map<std::string, std::string>{{"u", "L"}});
  auto cleared = good_tree(
    base
    + lines({entry("session_info", "s3", "u", R"("name":"  ")"),
             entry("label", "l2", "u", R"("targetId":"u","label":" ")")}));
  CHECK(cleared.name().empty());
  CHECK(cleared.labels().empty());
}

TEST_CASE("ids with escapes are found, kept and linked") {
  seeded_entropy chance;
  auto file = lines({header_line, user_entry("a\\u0062", "", "x"),
                     user_entry("c\\\"d", "ab", "y")});
  auto tree = good_tree(file);
  CHECK(tree.find("ab") == 0);
  CHECK(tree.find("c\"d") == 1);
  CHECK(tree.nodes()[1].parent == 0);
  append_to(tree, {said_by_user("z")}, file, chance);
  CHECK(good_tree(file).branch().size() == 3);
}

TEST_CASE("new ids avoid all others, leaf records included") {
  // A source of chance that says the same thing 200 times.
  class stuck final : public entropy {
  public:
    uint64_t next() override {
      return ++calls_ > 200 ? calls_ : uint64_t{0xabcdef0123456789};
    }

  private:
    uint64_t calls_ = 0;
  };
  stuck chance;
  auto id = random_hex(chance, 8);
  auto file = lines({header_line, user_entry("u", "", "x"),
                     entry("leaf", id.c_str(), "u", R"("targetId":"u")")});
  auto tree = good_tree(file);
  auto plan = tree.plan_append({said_by_user("a")}, start_ms, chance);
  CHECK(plan.ids.at(0) != id);
  // A hundred tries in vain end in a full UUID.
  CHECK(plan.ids.at(0).size() == 36);
  seeded_entropy good;
  auto batch = tree.plan_append(
    std::vector<session_entry>(200, said_by_user("a")), start_ms, good);
  auto ids = batch.ids;
  std::sort(ids.begin(), ids.end());
  CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("an entry that would make the file unreadable is refused") {
  seeded_entropy chance;
  auto tree = good_tree(compacted());
  auto refuse = [&](entry_kind kind, const char* fields) {
    session_entry bad;
    bad.kind = kind;
    bad.fields.text = fields;
    auto plan = tree.plan_append({said_by_user("x"), bad}, start_ms, chance);
    CHECK(plan.fault.code == errc::bad_request);
  };
  refuse(entry_kind::compaction, R"({"summary":"s"})");
  refuse(entry_kind::compaction, R"({"summary":"s","firstKeptEntryId":"zz"})");
  refuse(entry_kind::custom, "[1]");
  refuse(entry_kind::label, "not json");
  auto file = compacted();
  session_entry good;
  good.kind = entry_kind::compaction;
  good.fields.text =
    R"({"summary":"S2","tokensBefore":1,"firstKeptEntryId":"u5"})";
  append_to(tree, {good}, file, chance);
  CHECK(said(good_tree(file).context())
        == std::vector<std::string>{"compactionSummary:S2", "user:five"});
}

TEST_CASE("the members that every entry has cannot be forged") {
  seeded_entropy chance;
  auto file = compacted();
  auto tree = good_tree(file);
  session_entry forged;
  forged.kind = entry_kind::model_change;
  forged.fields.text =
    R"({"type":"session","id":"u1","parentId":"zz","timestamp":"never","provider":"p","modelId":"m"})";
  auto ids = append_to(tree, {forged}, file, chance);
  auto again = good_tree(file);
  CHECK(again.context().provider == "p");
  CHECK(again.leaf() == ids.at(0));
  CHECK(again.nodes().size() == 6);
}

TEST_CASE("every kind of entry can be written and read back") {
  seeded_entropy chance;
  auto file = compacted();
  auto tree = good_tree(file);
  auto make = [](entry_kind kind, const char* fields) {
    session_entry result;
    result.kind = kind;
    result.fields.text = fields;
    return result;
  };
  session_entry note;
  note.kind = entry_kind::custom_message;
  note.custom_type = "note";
  note.message.role = message_role::custom;
  note.message.content.push_back(text_block("read me"));
  note.message.details = json_text{R"({"n":1})"};
  append_to(
    tree,
    {make(entry_kind::model_change, R"({"provider":"p","modelId":"m"})"),
     make(entry_kind::thinking_level_change, R"({"thinkingLevel":"low"})"),
     make(entry_kind::active_tools_change, R"({"activeToolNames":["a","b"]})"),
     make(entry_kind::branch_summary, R"({"fromId":"u1","summary":"B"})"),
     make(entry_kind::label, R"({"targetId":"u1","label":"first"})"),
     make(entry_kind::session_info, R"({"name":"talk"})"), note},
    file, chance);
  auto again = good_tree(file);
  auto context = again.context();
  CHECK(context.provider == "p");
  CHECK(context.thinking_level == "low");
  CHECK(context.active_tools == std::vector<std::string>{"a", "b"});
  CHECK(again.labels().at("u1") == "first");
  CHECK(again.name() == "talk");
  CHECK(said(context).back() == "custom:read me");
  CHECK(context.messages.back().details->text == R"({"n":1})");
  CHECK(said(context).at(3) == "branchSummary:B");
}

TEST_CASE("what the file says about the cause of a run") {
  struct row {
    const char* name;
    std::string tail;
    cause_report report;
    std::vector<std::string> handled;
  };
  auto cause = cause_line("c", "", "m1");
  auto user = user_entry("u", "c", "hi");
  const row rows[] = {
    {"nothing", "", {false, false, false}, {}},
    {"recorded alone", lines({cause}), {true, false, false}, {}},
    {"admitted", lines({cause, user}), {true, true, false}, {"m1"}},
    {"answered",
     lines({cause, user, assistant_entry("a", "u", "yes")}),
     {true, true, true},
     {"m1"}},
    {"a tool ran",
     lines({cause, user,
            entry("message", "t", "u",
                  R"("message":{"role":"toolResult","content":[]})")}),
     {true, true, true},
     {"m1"}},
    {"history made by an old writer is no work",
     lines(
       {cause, user, assistant_entry("a", "u", "x", "platform-history", "h")}),
     {true, true, false},
     {"m1"}},
    {"another message's cause",
     lines({cause_line("c", "", "m2"), user}),
     {false, false, false},
     {"m2"}},
    {"two causes share one prompt",
     lines({cause, cause_line("d", "c", "m2"), user_entry("u", "d", "hi")}),
     {true, true, false},
     {"m1", "m2"}},
    {"a later prompt is not this one's",
     lines({cause, entry("custom", "x", "c", R"("customType":"y")"),
            cause_line("d", "x", "m2"), user_entry("u", "d", "hi")}),
     {true, false, false},
     {"m2"}},
    {"work for a later prompt is work all the same",
     lines({cause, user, cause_line("d", "u", "m2"), user_entry("v", "d", "hi"),
            assistant_entry("a", "v", "yes")}),
     {true, true, true},
     {"m1", "m2"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto tree = good_tree(std::string{header_line} + "\n" + row.tail);
    auto report = tree.cause_of("m1");
    CHECK(report.recorded == row.report.recorded);
    CHECK(report.admitted == row.report.admitted);
    CHECK(report.worked == row.report.worked);
    CHECK(tree.handled_messages(0) == row.handled);
  }
}

TEST_CASE("a context names the newest handled messages only") {
  std::string text = std::string{header_line} + "\n";
  std::string parent;
  for (int i = 0; i < 100; ++i) {
    auto cause = "c" + std::to_string(i);
    auto user = "u" + std::to_string(i);
    text += cause_line(cause.c_str(), parent.c_str(),
                       ("m" + std::to_string(i)).c_str())
            + "\n";
    text += user_entry(user.c_str(), cause.c_str(), "x") + "\n";
    parent = user;
  }
  auto handled = good_tree(text).context().handled_messages;
  REQUIRE(handled.size() == limits::handled_messages);
  CHECK(handled.front() == "m36");
  CHECK(handled.back() == "m99");
}

TEST_CASE("a tree can be moved without losing its text") {
  auto tree = good_tree(lines({header_line, user_entry("u1", "", "one")}));
  seeded_entropy chance;
  auto file = lines({header_line, user_entry("u1", "", "one")});
  append_to(tree, {said_by_user("two")}, file, chance);
  auto before = tree.context();
  auto moved = std::move(tree);
  CHECK(moved.context() == before);
  CHECK(moved.rewritten() == file);
  std::vector<session_tree> many;
  many.push_back(std::move(moved));
  many.push_back(good_tree(""));
  many.push_back(good_tree(file));
  CHECK(many[0].context() == before);
}
