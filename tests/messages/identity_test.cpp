#include "messages/codec/conversation_names.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/identity/workspace.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace bureau;
using enum bureau::platform_id;

namespace {

std::string repeat(std::string_view unit, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += unit;
  return result;
}

key_result derive(std::string id, std::string ts,
                  std::optional<std::string> thread = {},
                  std::optional<std::string> key = {}) {
  return derive_session_key(
    {std::move(id), std::move(key), std::move(thread), std::move(ts)});
}

} // namespace

TEST_CASE("office keys of all platforms and spellings") {
  struct row {
    platform_id platform;
    std::string id;
    const char* key;
  };
  const row rows[] = {
    {slack, "C123", "v1-slack-c123-f1bbf4ab194ff2ea"},
    {slack, "c123", "v1-slack-c123-a5aa8f406f8d24b8"},
    {discord, "C123", "v1-discord-c123-05ca1f0838967333"},
    {slack, "C1", "v1-slack-c1-4feb881cb4826d55"},
    {slack, "C77", "v1-slack-c77-ace00909a09337b5"},
    {slack, "C0AAAAAA1", "v1-slack-c0aaaaaa1-3d55f6d07612555a"},
    {slack, "C0123456789", "v1-slack-c0123456789-e1e23ba88e70c365"},
    {slack, "D0EF45GH6", "v1-slack-d0ef45gh6-38df6ce6558d1b35"},
    {telegram, "-1001234567890", "v1-telegram-1001234567890-53db752ab26cabc6"},
    {telegram, "1001234567890", "v1-telegram-1001234567890-ea507c74cbc5c61f"},
    {telegram, "900100", "v1-telegram-900100-8fb34be2027a6a93"},
    {discord, "900100", "v1-discord-900100-b10464d1bf2ef9ec"},
    {telegram, "0", "v1-telegram-0-1454a082bbf4571b"},
    {discord, "123456789012345678",
     "v1-discord-123456789012345678-5002c92f98e8f28b"},
    {github, "GH_octo_widgets_5",
     "v1-github-gh-octo-widgets-5-63965720d695df7b"},
    {github, "GH_livingbio_genv-queue_1652",
     "v1-github-gh-livingbio-genv-queue-1652-86e202fa60f2e56e"},
    {github, "GH_a_b_c_9", "v1-github-gh-a-b-c-9-e0a38e418801497f"},
    {slack, "foo:bar", "v1-slack-foo-bar-e23f8e605a9f3134"},
    {slack, "foo.bar", "v1-slack-foo-bar-df2d66041124169e"},
    {slack, "..-outside", "v1-slack-outside-28a245eb245f5934"},
    {slack, "C-1__2..3", "v1-slack-c-1-2-3-0c5082ca2e19527c"},
    {slack, "---", "v1-slack-conversation-6c6802e3dbe32811"},
    {slack, " ", "v1-slack-conversation-d7737d4d090c0537"},
    {slack, "\u00a0", "v1-slack-conversation-93c719ac0cce42ba"},
    {slack, "Caf\u00e9", "v1-slack-caf-be31dce763ba7cad"},
    {slack, "Cafe\u0301", "v1-slack-cafe-1108bb4eb71f54d1"},
    {slack, "\u65e5\u672c\u8a9e", "v1-slack-conversation-438e4032127c5c44"},
    {slack, "\U0001F600room\U0001F600", "v1-slack-room-393a4597693982a1"},
    {slack, "\u212Aelvin", "v1-slack-kelvin-08ed535fc1264daa"},
    {slack, "\u0130stanbul", "v1-slack-i-stanbul-50a951de1ae618e8"},
    {slack, "STRASSE\u00df", "v1-slack-strasse-465ead338ffcd808"},
    {slack, "C123\u2028x", "v1-slack-c123-x-50f45b519a786980"},
    {discord, repeat("a", 300),
     "v1-discord-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-ae2c2a96107ca7ed"},
    {slack, "abcdefghijklmnopqrstuvwxyz12345-tail",
     "v1-slack-abcdefghijklmnopqrstuvwxyz12345-3b1262054aed0eba"},
    {slack, "abcdefghijklmnopqrstuvwxyz1234567",
     "v1-slack-abcdefghijklmnopqrstuvwxyz123456-f4d14bf79e3df236"},
    {slack, "v1-slack-c123-f1bbf4ab194ff2ea",
     "v1-slack-v1-slack-c123-f1bbf4ab194ff2ea-e08ef1f88f2d32f0"},
    {console, "local", "v1-console-local-aeb48c12d1f82266"},
    {telegram, "100000", "v1-telegram-100000-9acaaed617f8f1bb"},
    {telegram, "100001", "v1-telegram-100001-8c774b68562d5edb"},
  };
  std::set<std::string> seen;
  for (auto& row : rows) {
    CAPTURE(row.id);
    CHECK(check_conversation_id(row.id) == address_fault::none);
    CHECK(office_key({row.platform, row.id}) == row.key);
    CHECK(is_office_key(row.key));
    CHECK(seen.insert(row.key).second);
  }
}

TEST_CASE("raw ids that no office can have") {
  using namespace std::string_literals;
  const std::string refused[] = {"",
                                 ".",
                                 "..",
                                 "foo/bar",
                                 "foo\\bar",
                                 "bad\0id"s,
                                 "bad\x1fid",
                                 "bad\x7fid",
                                 "bad\u0085id",
                                 "bad\u009fid",
                                 "cut\xe2\x82",
                                 "\xed\xa0\x80"};
  for (auto& id : refused) {
    CAPTURE(id);
    CHECK(check_conversation_id(id) == address_fault::invalid_conversation_id);
  }
  for (auto id : {"x\u00a0y", "a b", "...", "foo:bar", "\U0001F600"})
    CHECK(check_conversation_id(id) == address_fault::none);
}

TEST_CASE("addresses read from untrusted data") {
  struct row {
    const char* text;
    address_fault fault;
    const char* word;
  };
  const row rows[] = {
    {R"({"platform":"slack","conversationId":"C1"})", address_fault::none, ""},
    {R"({"platform":"matrix","conversationId":"C1"})",
     address_fault::unsupported_platform, "unsupported platform \"x\""},
    {R"({"platform":"Slack","conversationId":"a/b"})",
     address_fault::unsupported_platform, "unsupported platform"},
    {R"({"platform":"","conversationId":"C1"})",
     address_fault::unsupported_platform, "unsupported platform"},
    {R"({"platform":"slack","conversationId":7})",
     address_fault::conversation_id_not_string, "conversation id"},
    {R"({"platform":"slack"})", address_fault::conversation_id_not_string,
     "conversation id"},
    {R"({"conversationId":"C1"})", address_fault::platform_not_string,
     "platform"},
    {R"(["slack","C1"])", address_fault::not_an_object, "must be an object"},
    {"null", address_fault::not_an_object, "must be an object"},
    {R"({"platform":"slack","conversationId":"a/b"})",
     address_fault::invalid_conversation_id, "path separator"},
  };
  for (auto& row : rows) {
    CAPTURE(row.text);
    auto result = parse_address(json::parse(row.text).value);
    CHECK(result.fault == row.fault);
    if (row.fault != address_fault::none)
      CHECK(sentence_of(row.fault, "x", "y").find(row.word)
            != std::string::npos);
  }
}

TEST_CASE("shape of an office key") {
  const std::string key = "v1-slack-c123-f1bbf4ab194ff2ea";
  const std::string no_keys[] = {"v1-slack-c123-F1BBF4AB194FF2EA",
                                 "v1-slack--f1bbf4ab194ff2ea",
                                 "v1-slack-c123-f1bbf4ab194ff2e",
                                 "v1-slack-f1bbf4ab194ff2ea",
                                 "v2-slack-c123-f1bbf4ab194ff2ea",
                                 "v1-web-c123-f1bbf4ab194ff2ea",
                                 "v1-slack-c123-not-a-key",
                                 key + "\n",
                                 " " + key,
                                 "v1-slack-c--1-f1bbf4ab194ff2ea",
                                 "v1-slack--c-f1bbf4ab194ff2ea",
                                 "v1-slack-Caf-f1bbf4ab194ff2ea",
                                 "",
                                 "v1-"};
  for (auto& text : no_keys) {
    CAPTURE(text);
    CHECK_FALSE(is_office_key(text));
  }
  CHECK(is_office_key(key));
  CHECK(is_office_key("v1-slack-abc-c123-f1bbf4ab194ff2ea"));
  CHECK(is_office_key("v1-console-local-aeb48c12d1f82266"));
}

TEST_CASE("legacy identities") {
  struct row {
    const char* kind;
    const char* value;
    const char* identity;
  };
  const row rows[] = {
    {"conversation", "C123", "c123-588a5f4edc2e"},
    {"conversation", "900100", "900100-4898e8707d52"},
    {"conversation", "-1001234567890", "1001234567890-f62e85a39ae7"},
    {"conversation", "GH_octo_widgets_5", "gh-octo-widgets-5-2db19b2b90db"},
    {"conversation", "\u65e5\u672c", "unknown-29d6a675bc3d"},
    {"user", "U1", "u1-a4f3d4ebda88"},
    {"container", "dev", "dev-c641623a44a5"},
  };
  for (auto& row : rows)
    CHECK(legacy_identity(row.kind, row.value) == row.identity);
}

TEST_CASE("session keys take themselves apart at the first colon") {
  CHECK_FALSE(is_thread_key("C123"));
  CHECK(conversation_id_of("C123") == "C123");
  CHECK_FALSE(thread_suffix_of("C123"));
  CHECK(is_thread_key("C123:1000.0001"));
  CHECK(conversation_id_of("C123:1000.0001") == "C123");
  CHECK(thread_suffix_of("C123:1000.0001") == "1000.0001");
  CHECK(conversation_id_of("C1:a:b") == "C1");
  CHECK(thread_suffix_of("C1:a:b") == "a:b");
  CHECK(make_thread_key("C1", "a:b").key == "C1:a:b");
  CHECK(make_thread_key("GH_owner_repo_42", "rc-7").key
        == "GH_owner_repo_42:rc-7");
}

TEST_CASE("parts that no session key may have") {
  using namespace std::string_literals;
  const std::string refused[] = {"",        ".",        "..",      "../other",
                                 "foo/bar", "foo\\bar", "bad\0id"s};
  for (auto& part : refused) {
    CAPTURE(part);
    CHECK(make_thread_key(part, "1").fault
          == key_fault::invalid_conversation_id);
    CHECK(check_belongs(part + ":1", part)
          == key_fault::invalid_conversation_id);
    CHECK(make_thread_key("C1", part).fault == key_fault::invalid_suffix);
    CHECK(check_belongs("C1:" + part, "C1") == key_fault::invalid_suffix);
    CHECK(derive("C1", part).fault == key_fault::invalid_suffix);
  }
  CHECK(make_thread_key("bad:id", "1").fault
        == key_fault::invalid_conversation_id);
  CHECK(check_belongs("bad:id", "bad:id")
        == key_fault::invalid_conversation_id);
  CHECK(derive("bad:id", "1").fault == key_fault::invalid_conversation_id);
}

TEST_CASE("suffixes that cannot be file names of a thread") {
  CHECK(make_thread_key("C1", repeat("x", 200)));
  CHECK(make_thread_key("C1", repeat("x", 201)).fault
        == key_fault::invalid_suffix);
  CHECK(make_thread_key("C1", "2026-04-05T00-00-12-345Z_7b54cf90").fault
        == key_fault::invalid_suffix);
  CHECK(make_thread_key("C1", "2026-04-05t0_7B54CF90").fault
        == key_fault::invalid_suffix);
  CHECK(make_thread_key("C1", "2026-04-05T_7b54cf90"));
  CHECK(make_thread_key("C1", "2026-04-05T0_7b54cf9"));
  CHECK(make_thread_key("C1", "2026-04-05T0-7b54cf90"));
}

TEST_CASE("a key belongs to one conversation") {
  CHECK(check_belongs("C1", "C1") == key_fault::none);
  CHECK(check_belongs("C1:thread-1", "C1") == key_fault::none);
  CHECK(check_belongs("C2:thread-1", "C1") == key_fault::foreign_session_key);
  CHECK(check_belongs("C1:", "C1") == key_fault::invalid_suffix);
  CHECK(check_belongs("C1:..", "C1") == key_fault::invalid_suffix);
  CHECK(check_belongs("", "C1") == key_fault::foreign_session_key);
  CHECK(check_belongs("c1", "C1") == key_fault::foreign_session_key);
}

TEST_CASE("the session key of an event") {
  CHECK(derive("C1", "9", "5", "C1").key == "C1");
  CHECK(derive("C1", "9", "5").key == "C1:5");
  CHECK(derive("C1", "9").key == "C1:9");
  CHECK(derive("C1", "9", {}, "C2:x").fault == key_fault::foreign_session_key);
  CHECK(derive("C1", "9", {}, "").fault == key_fault::foreign_session_key);
  CHECK(derive("C1", "9", "").fault == key_fault::invalid_suffix);
}

TEST_CASE("the session key that each platform selects") {
  using enum conversation_kind;
  struct row {
    const char* name;
    chat_key_options options;
    const char* key;
  };
  const row rows[] = {
    {"slack channel", {"C1", shared, "9", {}, true, true}, "C1"},
    {"slack channel thread", {"C1", shared, "9", "1.2", true, true}, "C1:1.2"},
    {"slack direct", {"D1", direct, "9", {}, true, true}, "D1"},
    {"slack direct thread", {"D1", direct, "9", "1.2", true, true}, "D1:1.2"},
    {"discord direct reply", {"55", direct, "9", "77", true, false}, "55"},
    {"discord guild reply", {"55", shared, "9", "77", true, false}, "55:77"},
    {"discord thread", {"55", shared, "9", "88", true, false}, "55:88"},
    {"discord orphan thread", {"88", shared, "9", "88", true, false}, "88:88"},
    {"telegram private reply", {"9", direct, "4", "3", false, false}, "9"},
    {"telegram group", {"-9", shared, "4", {}, false, false}, "-9:4"},
    {"telegram group reply", {"-9", shared, "6", "5", false, false}, "-9:5"},
    {"github issue", {"GH_o_r_7", shared, "99", {}, true, false}, "GH_o_r_7"},
    {"empty thread id", {"C1", shared, "9", "", true, false}, "C1:9"},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    CHECK(resolve_chat_session_key(row.options).key == row.key);
  }
  chat_key_options colon{"C:1", direct, "7", {}, false, false};
  CHECK(resolve_chat_session_key(colon).fault
        == key_fault::invalid_conversation_id);
}

TEST_CASE("kinds told by the form of an id") {
  using enum conversation_kind;
  CHECK(infer_kind(slack, "D1") == direct);
  CHECK(infer_kind(slack, "C1") == shared);
  CHECK(infer_kind(telegram, "-9") == shared);
  CHECK(infer_kind(telegram, "9") == direct);
  CHECK(infer_kind(discord, "DM5") == direct);
  CHECK(infer_kind(discord, "55") == shared);
  CHECK(infer_kind(github, "GH_o_r_1") == shared);
  CHECK(infer_kind(console, "local") == direct);
}

TEST_CASE("id formats that claim legacy directories") {
  struct row {
    const char* id;
    std::set<platform_id> platforms;
  };
  const row rows[] = {
    {"C123", {slack}},
    {"900100", {telegram, discord}},
    {"-1001234567890", {telegram}},
    {"GH_octo_widgets_5", {github}},
    {"GH_livingbio_genv-queue_1652", {github}},
    {"GH_a_b_c_9", {github}},
    {"GH_a_9", {}},
    {"GH__b_9", {}},
    {"GH_a_b_", {}},
    {"c123", {}},
    {"C12-3", {}},
    {"local", {}},
    {"-", {}},
    {"", {}},
  };
  for (auto& row : rows)
    for (auto platform : {slack, discord, telegram, github, console}) {
      CAPTURE(row.id);
      CAPTURE(to_string(platform));
      CHECK(matches_id_format(platform, row.id)
            == row.platforms.contains(platform));
    }
}

TEST_CASE("names of console conversations") {
  for (auto name : {"local", "a", "my-room-2"})
    CHECK(is_console_name(name));
  for (auto& name : {std::string{}, repeat("a", 33), std::string{"Local"},
                     std::string{"a b"}, std::string{"a:b"}})
    CHECK_FALSE(is_console_name(name));
}

TEST_CASE("paths of a workspace and an office") {
  auto ws = make_workspace("/data/workspace", "/data/state");
  auto place = make_office(ws, {slack, "C123"});
  const std::string dir = "/data/workspace/v1-slack-c123-f1bbf4ab194ff2ea";
  CHECK(place.dir == dir);
  CHECK(place.log_path == dir + "/log.jsonl");
  CHECK(place.sessions_dir == dir + "/sessions");
  CHECK(place.attachments_dir == dir + "/attachments");
  CHECK(place.memory_path == dir + "/MEMORY.md");
  CHECK(place.skills_dir == dir + "/skills");
  CHECK(place.state_dir
        == "/data/state/conversations/v1-slack-c123-f1bbf4ab194ff2ea");
  CHECK(place == make_office(ws, {slack, "C123"}));
  CHECK(make_office(ws, {discord, "12345"}).dir
        != make_office(ws, {telegram, "12345"}).dir);
  CHECK(ws.memory_path == "/data/workspace/MEMORY.md");
  CHECK(ws.events_dir == "/data/workspace/events");
  CHECK(make_office(make_workspace("/w/", "/s"), {slack, "..-outside"}).dir
        == "/w/v1-slack-outside-28a245eb245f5934");
  CHECK(
    std::set<std::string_view>(reserved_workspace_names.begin(),
                               reserved_workspace_names.end())
    == std::set<std::string_view>{"MEMORY.md", "agents", "events", "skills"});
}

TEST_CASE("lexical paths") {
  struct row {
    const char* base;
    const char* relative;
    const char* joined;
  };
  const row rows[] = {
    {"/a//b/", "c/./d/", "/a/b/c/d"},
    {"/a", "../b", "/b"},
    {"/", "../..", "/"},
    {"a", "../../b", "../b"},
    {"", "x", "x"},
    {"/w", "", "/w"},
    {"", "", "."},
  };
  for (auto& row : rows)
    CHECK(join_path(row.base, row.relative) == row.joined);
  CHECK(is_path_inside("/work", "/work/"));
  CHECK(is_path_inside("/work/a/../b", "/work"));
  CHECK(is_path_inside("/x", "/"));
  CHECK_FALSE(is_path_inside("/work-state", "/work"));
  CHECK_FALSE(is_path_inside("/work/../etc", "/work"));
}
