#include "actors/session/store_core.hpp"
#include "tests/session_store/tree_support.hpp"

using namespace bureau;
using namespace bureau::session;

TEST_CASE("top-level files are named after their time and id") {
  auto name =
    main_file_name(1'775'347'212'345, "7b54cf90-1c2d-4e5f-8a9b-0c1d2e3f4a5b");
  CHECK(name == "2026-04-05T00-00-12-345Z_7b54cf90.jsonl");
  CHECK(is_main_file_name(name));
}

TEST_CASE("only the exact form is a top-level file") {
  struct row {
    const char* name;
    bool is;
  };
  const row rows[] = {
    {"2026-04-05T00-00-12-345Z_7b54cf90.jsonl", true},
    {"2026-04-05t00-00-12-345z_7B54CF90.JSONL", true},
    {"2026-04-05Tx_7b54cf90.jsonl", true},
    {"2026-04-05T_7b54cf90.jsonl", false},
    {"2026-04-05T00-00-12-345Z_7b54cf9.jsonl", false},
    {"2026-04-05T00-00-12-345Z_7b54cf9g.jsonl", false},
    {"2026-04-05T00-00-12-345Z-7b54cf90.jsonl", false},
    {"x2026-04-05T00-00-12-345Z_7b54cf90.jsonl", false},
    {"2026-04-05T00-00-12-345Z_7b54cf90.jsonl.tmp", false},
    {"2026-04-05T00-00-12-345Z_7b54cf90", false},
    {"1000.0001.jsonl", false},
    {"current", false},
    {"", false},
  };
  for (const auto& [name, is] : rows) {
    CAPTURE(name);
    CHECK(is_main_file_name(name) == is);
  }
}

TEST_CASE("threads have one file, named after their suffix") {
  CHECK(thread_file_name("1000.0001") == "1000.0001.jsonl");
  CHECK(thread_file_name("a:b") == "a:b.jsonl");
  CHECK(thread_file_name(std::string(200, 'x')));
  for (auto bad : {"", ".", "..", "../other", "foo/bar", "foo\\bar", "a\nb",
                   "2026-04-05T00-00-12-345Z_7b54cf90"}) {
    CAPTURE(bad);
    CHECK_FALSE(thread_file_name(bad));
  }
  CHECK_FALSE(thread_file_name(std::string_view{"bad\0id", 6}));
  CHECK_FALSE(thread_file_name(std::string(201, 'x')));
  CHECK(archive_file_name(1'775'347'212'345, "1000.1")
        == "2026-04-05T00-00-12-345Z_1000.1.jsonl");
}

TEST_CASE("a pointer names one plain file of its directory") {
  CHECK(pointer_target(" a.jsonl\n") == "a.jsonl");
  for (auto bad : {"", "  \n", ".", "..", "../outside.jsonl", "/etc/passwd",
                   "a/b.jsonl", "a\\b", "a\nb", "current", "bad\xFF"}) {
    CAPTURE(bad);
    CHECK_FALSE(pointer_target(bad));
  }
  CHECK_FALSE(pointer_target(std::string(256, 'x')));
}

TEST_CASE("what a file holds decides whether it may be passed over") {
  auto entry = test::user_entry("u1", "", "x");
  struct row {
    const char* name;
    std::string text;
    file_state state;
  };
  const row rows[] = {
    {"nothing", "", file_state::empty},
    {"blank lines", " \n\n", file_state::empty},
    {"a session", test::lines({test::header_line, entry}), file_state::session},
    {"a header alone", std::string{"\n\n"} + test::header_line,
     file_state::session},
    {"a header without id", R"({"type":"session"})", file_state::session},
    {"another file", "hello\nworld\n", file_state::foreign},
    {"another JSON file", R"({"hello":"world"})", file_state::foreign},
    {"a lost header", test::lines({"garbage", entry}), file_state::damaged},
    {"an entry in front", entry, file_state::damaged},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(state_of(row.text) == row.state);
  }
}

TEST_CASE("possible parents of a thread are read newest first") {
  std::vector<std::string> names = {"2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl",
                                    "current",
                                    "17.1.jsonl",
                                    "2026-03-01T00-00-00-000Z_bbbbbbbb.jsonl",
                                    "2025-12-01T00-00-00-000Z_cccccccc.jsonl",
                                    "archive"};
  CHECK(parent_names(names)
        == std::vector<std::string>{"2026-03-01T00-00-00-000Z_bbbbbbbb.jsonl",
                                    "2026-02-01T00-00-00-000Z_aaaaaaaa.jsonl",
                                    "2025-12-01T00-00-00-000Z_cccccccc.jsonl"});
  for (int i = 0; i < 300; ++i)
    names.push_back("2024-01-01T00-00-00-000Z_" + std::to_string(10'000'000 + i)
                    + ".jsonl");
  CHECK(parent_names(names).size() == 303);
  CHECK(parent_names(names).front().starts_with("2026-03"));
  CHECK(thread_time("1771545600.0") == 1'771'545'600'000);
  CHECK(thread_time("17") == 17'000);
  for (auto other : {"rc-7", "issue", "", "1.2.3", "-5", "1.", ".5", "1e9"}) {
    CAPTURE(other);
    CHECK_FALSE(thread_time(other));
  }
}

TEST_CASE("the later session that is not younger than the thread is its "
          "parent") {
  parent_candidate none;
  parent_candidate old{"a", "old", 100};
  parent_candidate middle{"b", "middle", 200};
  parent_candidate young{"c", "young", 300};
  CHECK(better_parent(none, old, 250).id == "old");
  CHECK(better_parent(old, middle, 250).id == "middle");
  CHECK(better_parent(middle, old, 250).id == "middle");
  CHECK(better_parent(middle, young, 250).id == "middle");
  CHECK(better_parent(none, young, 250).id.empty());
  CHECK(better_parent(middle, young, 300).id == "young");
}

TEST_CASE("a parent has a complete header line with id and time") {
  auto line = std::string{test::header_line} + "\n";
  auto parent = read_candidate("a.jsonl", line);
  REQUIRE(parent);
  CHECK(parent->id == "7b54cf90-1c2d-4e5f-8a9b-0c1d2e3f4a5b");
  CHECK(parent->created_ms == 1'777'626'001'000);
  CHECK_FALSE(read_candidate("a.jsonl", test::header_line));
  CHECK_FALSE(read_candidate("a.jsonl", "hello\n"));
  CHECK_FALSE(read_candidate(
    "a.jsonl", "{\"type\":\"session\",\"id\":\"x\",\"timestamp\":\"?\"}\n"));
  CHECK_FALSE(read_candidate("a.jsonl", ""));
}

TEST_CASE("journal paths are relative to the workspace") {
  auto place =
    make_office(make_workspace("/w", "/s"), {platform_id::slack, "C123"});
  CHECK(journal_path(place, "a.jsonl")
        == "v1-slack-c123-f1bbf4ab194ff2ea/sessions/a.jsonl");
  CHECK(session_path(place, "a.jsonl")
        == "/w/v1-slack-c123-f1bbf4ab194ff2ea/sessions/a.jsonl");
}
