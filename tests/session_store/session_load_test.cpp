#include "tests/session_store/tree_support.hpp"

#include "messages/codec/json_support.hpp"

using namespace bureau;
using namespace bureau::test;

TEST_CASE("blank and missing files are new sessions that write nothing yet") {
  for (auto text : {"", "\n", "  \r\n\t \n"}) {
    seeded_entropy chance;
    auto tree = good_tree(text);
    CHECK_FALSE(tree.on_disk());
    CHECK(tree.header().id.size() == 36);
    CHECK(tree.header().cwd == "/cwd");
    CHECK(tree.context().messages.empty());
    CHECK(tree.context().thinking_level == "off");
    CHECK(tree.context().provider.empty());
    CHECK(tree.context().active_tools.empty());
    auto id = tree.header().id;
    std::string file;
    append_to(tree, {said_by_user("hi")}, file, chance);
    auto all = split(file);
    REQUIRE(all.size() == 2);
    CHECK(parsed(all[0]).at("id").as_string() == id);
    CHECK(parsed(all[0]).at("version") == 3);
  }
}

TEST_CASE("damage refuses to open and names the line") {
  struct row {
    const char* name;
    std::string text;
    const char* what;
    size_t line;
  };
  auto good = user_entry("u1", "", "x");
  const row rows[] = {
    {"garbage in front", lines({"not json", good}), "session header", 1},
    {"another object in front", lines({R"({"hello":"world"})", good}),
     "session header", 1},
    {"an entry in front", lines({good, good}), "session header", 1},
    {"a single malformed line", "garbage", "session header", 1},
    {"a header without id", lines({R"({"type":"session","version":3})"}),
     "with an id", 1},
    {"a header with a numeric id",
     lines({R"({"type":"session","version":3,"id":5})"}), "with an id", 1},
    {"a malformed line in the middle",
     lines({header_line, "", "{\"type\":", good}), "no JSON object", 3},
    {"an entry without type in the middle",
     lines({header_line, R"({"id":"x"})", good}), "no JSON object", 2},
    {"a last line without id",
     lines({header_line, good, R"({"type":"custom"})"}), "has no id", 3},
    {"an id twice", lines({header_line, good, good}), "given before", 3},
    {"the id of a leaf record twice",
     lines(
       {header_line, good, entry("leaf", "u1", "u1", R"("targetId":null)")}),
     "given before", 3},
    {"an unknown parent", lines({header_line, user_entry("a", "zz", "x")}),
     "does not exist", 2},
    {"itself as parent", lines({header_line, user_entry("a", "a", "x")}),
     "itself", 2},
    {"a parent of a wrong type",
     lines({header_line, R"({"type":"custom","id":"a","parentId":5})"}),
     "parentId", 2},
    {"no parent member", lines({header_line, R"({"type":"custom","id":"a"})"}),
     "parentId", 2},
    {"a circle of two",
     lines({header_line, user_entry("a", "b", "x"), user_entry("b", "a", "y")}),
     "circle", 2},
    {"a circle behind a tail",
     lines({header_line, user_entry("t", "a", "x"), user_entry("a", "b", "x"),
            user_entry("b", "c", "y"), user_entry("c", "a", "y")}),
     "circle", 3},
    {"a second header", lines({header_line, good, header_line}),
     "second session header", 3},
    {"a leaf record as parent",
     lines({header_line, good, entry("leaf", "l", "u1", R"("targetId":null)"),
            user_entry("b", "l", "x")}),
     "does not exist", 4},
    {"a leaf with an unknown target",
     lines({header_line, good, entry("leaf", "l", "u1", R"("targetId":"z")")}),
     "target", 3},
    {"a leaf without target",
     lines({header_line, good, entry("leaf", "l", "u1")}), "target", 3},
    {"a compaction that keeps what is unknown",
     lines({header_line, good, compaction_entry("c", "u1", "s", "zz")}),
     "first kept entry of the compaction", 3},
    {"a compaction without kept entry",
     lines({header_line, good, entry("compaction", "c", "u1")}),
     "first kept entry of the compaction", 3},
    {"a compaction that keeps itself",
     lines({header_line, good, compaction_entry("c", "u1", "s", "c")}),
     "no ancestor", 3},
    {"a compaction that keeps a sibling",
     lines({header_line, good, user_entry("s", "u1", "x"),
            compaction_entry("c", "u1", "s", "s")}),
     "no ancestor", 4},
    {"a version from the future",
     lines({R"({"type":"session","version":4,"id":"a"})"}),
     "unsupported session version 4", 1},
    {"a version that is no number",
     lines({R"({"type":"session","version":"3","id":"a"})"}), "version", 1},
    {"version zero", lines({R"({"type":"session","version":0,"id":"a"})"}),
     "version", 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto opened = open_tree(row.text);
    REQUIRE_FALSE(opened);
    CHECK(opened.fault.code == errc::corrupt);
    CHECK(opened.fault.line == row.line);
    CHECK_MESSAGE(opened.fault.what.find(row.what) != std::string::npos,
                  opened.fault.what);
    auto sentence = describe(opened.fault, "/w/K/sessions/x.jsonl");
    CHECK(sentence.find("/w/K/sessions/x.jsonl") != std::string::npos);
    CHECK(sentence.find("line " + std::to_string(row.line))
          != std::string::npos);
  }
}

TEST_CASE("a torn last line is set aside and gone after the next append") {
  struct row {
    const char* name;
    const char* tail;
  };
  const row rows[] = {
    {"cut in a string", R"({"type":"mess)"},
    {"an array", "[1,2]"},
    {"an object without type", R"({"id":"x"})"},
    {"a type that is no string", R"({"type":5,"id":"x","parentId":null})"},
    {"two objects glued together", R"({"type":"a"}{"type":"b"})"},
    {"bytes that are no text", "\xFF\xFE"},
  };
  for (const auto& [name, tail] : rows)
    for (auto end : {"", "\n", "\n\n  "}) {
      CAPTURE(name);
      seeded_entropy chance;
      auto file = std::string{header_line} + "\n" + tail + end;
      auto tree = good_tree(file);
      CHECK(tree.torn_tail() == tail);
      CHECK(tree.nodes().empty());
      CHECK(tree.needs_rewrite());
      CHECK(tree.disk_size() == file.size());
      append_to(tree, {said_by_user("hi")}, file, chance);
      CHECK(split(file).size() == 2);
      CHECK(split(file)[0] == header_line);
      CHECK_FALSE(tree.needs_rewrite());
      CHECK(said(good_tree(file).context())
            == std::vector<std::string>{"user:hi"});
    }
}

TEST_CASE("a complete last line without a line break is not glued to") {
  seeded_entropy chance;
  auto file = lines({header_line, user_entry("u1", "", "one")});
  file.pop_back();
  auto tree = good_tree(file);
  CHECK(tree.needs_rewrite());
  append_to(tree, {said_by_user("two")}, file, chance);
  CHECK(split(file).size() == 3);
  CHECK(said(good_tree(file).context())
        == std::vector<std::string>{"user:one", "user:two"});
}

TEST_CASE("files without ids get them, in a chain") {
  seeded_entropy chance;
  auto file = lines(
    {R"({"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x","extra":{"k":[1]}})",
     R"({"type":"message","message":{"role":"user","content":"u"},"timestamp":"2025-01-01T00:00:01.000Z"})",
     R"({"type":"message","message":{"role":"assistant","content":"a","provider":"p","model":"m"},"timestamp":"2025-01-01T00:00:02.000Z"})",
     R"({"type":"compaction","summary":"S","tokensBefore":1,"firstKeptEntryIndex":1,"timestamp":"2025-01-01T00:00:03.000Z"})"});
  auto tree = good_tree(file);
  CHECK(tree.header().version == 1);
  CHECK(tree.needs_rewrite());
  REQUIRE(tree.nodes().size() == 3);
  CHECK(tree.nodes()[0].parent == session_tree::none);
  CHECK(tree.nodes()[1].parent == 0);
  CHECK(tree.nodes()[2].parent == 1);
  CHECK(said(tree.context())
        == std::vector<std::string>{"compactionSummary:S", "user:u",
                                    "assistant:a"});
  append_to(tree, {said_by_user("new")}, file, chance);
  auto all = split(file);
  REQUIRE(all.size() == 5);
  CHECK(parsed(all[0]).at("version") == 3);
  CHECK(parsed(all[0]).at("extra").is_object());
  CHECK(parsed(all[3]).at("firstKeptEntryId") == parsed(all[1]).at("id"));
  CHECK_FALSE(parsed(all[3]).contains("firstKeptEntryIndex"));
  auto again = good_tree(file);
  CHECK_FALSE(again.needs_rewrite());
  CHECK(again.context() == tree.context());
}

TEST_CASE("an index that points nowhere keeps from the first entry on") {
  for (auto index : {"0", "7", "-1", "3"}) {
    CAPTURE(index);
    auto tree = good_tree(
      lines({R"({"type":"session","id":"old"})",
             R"({"type":"message","message":{"role":"user","content":"a"}})",
             R"({"type":"message","message":{"role":"user","content":"b"}})",
             std::string{R"({"type":"compaction","summary":"S",)"}
               + R"("firstKeptEntryIndex":)" + index + "}"}));
    CHECK(
      said(tree.context())
      == std::vector<std::string>{"compactionSummary:S", "user:a", "user:b"});
  }
}

TEST_CASE("the old role of hook messages is read and rewritten") {
  seeded_entropy chance;
  auto file = lines(
    {R"({"type":"session","version":2,"id":"old"})",
     entry(
       "message", "h", "",
       R"("message":{"role":"hookMessage","customType":"t","content":"hm","display":false})")});
  auto before = file;
  auto tree = good_tree(file);
  CHECK(said(tree.context()) == std::vector<std::string>{"custom:hm"});
  CHECK(file == before);
  append_to(tree, {said_by_user("x")}, file, chance);
  CHECK(file.find("hookMessage") == std::string::npos);
  CHECK(file.find(R"("version":3)") != std::string::npos);
  CHECK(good_tree(file).context() == tree.context());
}

TEST_CASE("foreign members and types survive a rewrite verbatim") {
  seeded_entropy chance;
  auto strange_header = std::string{
    R"({"type":"session","version":3,"id":"h1","timestamp":"t","cwd":"/c","mine":{"deep":[1.50,"x"]}})"};
  auto strange = entry("xyz", "x1", "", R"("n":1.0E2)");
  auto file = strange_header + "\n" + strange + "\n{\"torn";
  auto tree = good_tree(file);
  append_to(tree, {said_by_user("x")}, file, chance);
  CHECK(split(file)[0] == strange_header);
  CHECK(split(file)[1] == strange);
}

TEST_CASE("a tolerant reader passes over what it cannot use") {
  auto opened =
    open_tree(lines({"garbage", header_line, user_entry("u1", "", "one"),
                     "{\"type\":", user_entry("u1", "", "again"),
                     user_entry("u2", "zz", "two"), user_entry("x", "y", "x"),
                     user_entry("y", "x", "y"),
                     entry("leaf", "l", "u1", R"("targetId":"zz")"),
                     header_line, R"({"type":"custom"})", "{\"torn"}),
              session_tree::mode::tolerant);
  REQUIRE(opened);
  CHECK(opened.tree->nodes().size() == 5);
  CHECK(opened.tree->skipped() == 6);
  CHECK(opened.tree->find("u2") != session_tree::none);
  // The circle is cut somewhere, so that walking up ends.
  CHECK(opened.tree->branch(opened.tree->find("x")).size() <= 2);
  CHECK_FALSE(open_tree(lines({R"({"type":"session","version":9,"id":"a"})"}),
                        session_tree::mode::tolerant));
}

TEST_CASE("ancestry is decided in logarithmic steps") {
  // 20 000 entries with a compaction after every tenth, each keeping the first
  // entry of all: a walk per compaction would take 20 million steps.
  std::string text = std::string{header_line} + "\n";
  text += user_entry("e0", "", "x") + "\n";
  for (int i = 1; i < 20'000; ++i) {
    auto id = "e" + std::to_string(i);
    auto parent = "e" + std::to_string(i - 1);
    text += i % 10 == 0
              ? compaction_entry(id.c_str(), parent.c_str(), "s", "e0")
              : user_entry(id.c_str(), parent.c_str(), "x");
    text += "\n";
  }
  auto tree = good_tree(std::move(text));
  CHECK(tree.branch().size() == 20'000);
}

TEST_CASE("a header that lost its version does not cost the ids") {
  auto whole =
    lines({R"({"type":"session","vershon":3,"id":"h"})",
           user_entry("u1", "", "one"), user_entry("u2", "u1", "two"),
           entry("leaf", "l", "u2", R"("targetId":"u1")")});
  auto tree = good_tree(whole);
  CHECK(tree.leaf() == "u1");
  CHECK(tree.find("u2") == 1);
  CHECK(tree.nodes()[1].parent == 0);
}
