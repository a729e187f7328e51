#include "adapters/models/transcript_core.hpp"
#include "tests/models/model_support.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using models::call_id_rule;
using models::normal_call_id;
using models::normal_transcript;
using test::assistant_of;
using test::call_of;
using test::result_of;

namespace {

content_block thought(std::string text, std::string signature,
                      bool redacted = false) {
  content_block result;
  result.kind = block_kind::thinking;
  result.text = std::move(text);
  result.signature = std::move(signature);
  result.redacted = redacted;
  return result;
}

content_block image() {
  content_block result;
  result.kind = block_kind::image;
  result.mime_type = "image/png";
  result.data = "AAAA";
  return result;
}

model_descriptor lab() {
  return test::lab_request("openai-completions").choice.model;
}

/// A short picture of a transcript: one letter a message and what is in it.
std::string picture(const std::vector<transcript_message>& messages) {
  std::string result;
  for (const auto& message : messages) {
    if (!result.empty())
      result += " ";
    if (message.role == message_role::user)
      result += "u(" + text_of(message) + ")";
    else if (message.role == message_role::tool_result)
      result += (message.is_error ? "x(" : "r(") + message.tool_call_id + ")";
    else {
      result += "a(" + text_of(message);
      for (const auto& block : message.content)
        if (block.kind == block_kind::tool_call)
          result += "+" + block.id;
      result += ")";
    }
  }
  return result;
}

std::string picture_of(const std::vector<transcript_message>& messages) {
  return picture(normal_transcript(messages, lab(), call_id_rule::chat));
}

} // namespace

TEST_CASE("calls and results are paired in the right places") {
  auto user = [](const char* text) {
    return user_message(text, 0);
  };
  auto two =
    assistant_of({call_of("A", "read", "{}"), call_of("B", "read", "{}")},
                 stop_reason::tool_use);
  auto stub = assistant_of({}, stop_reason::aborted);
  struct row {
    const char* name;
    std::vector<transcript_message> messages;
    const char* expected;
  };
  const row rows[] = {
    {"all answered",
     {user("q"), two, result_of("A", "1"), result_of("B", "2"), user("n")},
     "u(q) a(+A+B) r(A) r(B) u(n)"},
    {"results in another order keep it",
     {two, result_of("B", "2"), result_of("A", "1")},
     "a(+A+B) r(B) r(A)"},
    {"a missing result is made after the real ones (case 18)",
     {user("q"), two, result_of("A", "1"), stub, user("n")},
     "u(q) a(+A+B) r(A) x(B) u(n)"},
    {"missing results at the end", {two}, "a(+A+B) x(A) x(B)"},
    {"missing results before the next answer",
     {two, assistant_of({text_block("t")})},
     "a(+A+B) x(A) x(B) a(t)"},
    {"a result after a message moves up to its call",
     {two, result_of("A", "1"), user("steer"), result_of("B", "2")},
     "a(+A+B) r(A) r(B) u(steer)"},
    {"a result of a call that was dropped is dropped",
     {user("q"),
      assistant_of({call_of("A", "read", "{}")}, stop_reason::aborted),
      result_of("A", "1"), user("n")},
     "u(q) u(n)"},
    {"a second result of one call is dropped",
     {two, result_of("A", "1"), result_of("A", "again"), result_of("B", "2")},
     "a(+A+B) r(A) r(B)"},
    {"a failed answer is dropped",
     {user("q"), assistant_of({text_block("half")}, stop_reason::error),
      user("n")},
     "u(q) u(n)"},
    {"the same id in two turns pairs twice",
     {assistant_of({call_of("A", "read", "{}")}), result_of("A", "1"),
      assistant_of({call_of("A", "read", "{}")}), result_of("A", "2")},
     "a(+A) r(A) a(+A) r(A)"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    CHECK(picture_of(x.messages) == x.expected);
  }
}

TEST_CASE("a synthetic result says that there is none") {
  auto result = normal_transcript({assistant_of({call_of("A", "read", "{}")})},
                                  lab(), call_id_rule::chat);
  REQUIRE(result.size() == 2);
  CHECK(result[1].is_error);
  CHECK(result[1].tool_name == "read");
  CHECK(text_of(result[1]) == "No result provided.");
}

TEST_CASE("the result of a prefix is a prefix of the result") {
  std::vector<transcript_message> messages = {
    user_message("q", 0),
    assistant_of({thought("t", ""), call_of("a|1", "read", "{}")}),
    result_of("a|1", "1"),
    assistant_of({text_block("t")}),
    user_message("n", 0),
  };
  auto whole = normal_transcript(messages, lab(), call_id_rule::chat);
  for (auto size : {1u, 3u, 4u, 5u}) {
    std::vector<transcript_message> part(messages.begin(),
                                         messages.begin() + size);
    auto result = normal_transcript(part, lab(), call_id_rule::chat);
    REQUIRE(result.size() <= whole.size());
    for (size_t i = 0; i < result.size(); ++i)
      CHECK(result[i] == whole[i]);
  }
}

TEST_CASE("blocks of another model lose what only it understands") {
  auto own = assistant_of({thought("t", "sig"), thought("", "sig"),
                           thought("", ""), thought("[r]", "enc", true),
                           text_block("x"), call_of("c", "read", "{}")});
  own.content[4].signature = "ts";
  own.content[5].signature = "gs";
  SUBCASE("the same model keeps them, but not the empty block") {
    auto result = normal_transcript({own}, lab(), call_id_rule::chat);
    const auto& content = result[0].content;
    REQUIRE(content.size() == 5);
    CHECK(content[0] == own.content[0]);
    CHECK(content[1].signature == "sig");
    CHECK(content[2].redacted);
    CHECK(content[3].signature == "ts");
    CHECK(content[4].signature == "gs");
  }
  SUBCASE("another model gets text (case 73)") {
    own.model = "other";
    auto result = normal_transcript({own}, lab(), call_id_rule::chat);
    const auto& content = result[0].content;
    REQUIRE(content.size() == 3);
    CHECK(content[0] == text_block("t"));
    CHECK(content[1] == text_block("x"));
    CHECK(content[2].signature.empty());
  }
}

TEST_CASE("images of a model that reads none collapse into one note") {
  auto user = user_message("look", 0);
  user.content.push_back(image());
  user.content.push_back(image());
  user.content.push_back(text_block("and"));
  user.content.push_back(image());
  auto result = result_of("A", "shot");
  result.content.push_back(image());
  std::vector<transcript_message> messages = {
    user, assistant_of({call_of("A", "read", "{}")}), result};
  SUBCASE("left out") {
    auto seen = normal_transcript(messages, lab(), call_id_rule::chat);
    REQUIRE(seen[0].content.size() == 4);
    CHECK(seen[0].content[1].text == seen[0].content[3].text);
    CHECK(seen[0].content[1].kind == block_kind::text);
    REQUIRE(seen[2].content.size() == 2);
    CHECK(seen[2].content[1].text != seen[0].content[1].text);
  }
  SUBCASE("kept by a model that reads them") {
    auto model = lab();
    model.image_input = true;
    auto seen = normal_transcript(messages, model, call_id_rule::chat);
    CHECK(seen[0].content.size() == 5);
    CHECK(seen[2].content[1].kind == block_kind::image);
  }
}

TEST_CASE("custom messages and summaries are read as a user's words") {
  auto custom = user_message("note", 0);
  custom.role = message_role::custom;
  transcript_message summary;
  summary.role = message_role::compaction_summary;
  summary.summary = "we met";
  auto branch = summary;
  branch.role = message_role::branch_summary;
  auto seen =
    normal_transcript({summary, branch, custom}, lab(), call_id_rule::chat);
  REQUIRE(seen.size() == 3);
  for (const auto& message : seen)
    CHECK(message.role == message_role::user);
  CHECK(text_of(seen[0]).find("we met") != std::string::npos);
  CHECK(text_of(seen[0]) != text_of(seen[1]));
  CHECK(text_of(seen[2]) == "note");
}

TEST_CASE("ids follow the rule of the provider") {
  std::string long_id(438, 'x');
  struct row {
    const char* name;
    std::string id;
    call_id_rule rule;
    std::string expected;
  };
  const row rows[] = {
    {"anthropic", "call_1|fc_1", call_id_rule::anthropic, "call_1_fc_1"},
    {"chat", "call_1|fc_1", call_id_rule::chat, "call_1"},
    {"anthropic cuts", long_id, call_id_rule::anthropic, std::string(64, 'x')},
    {"anthropic keeps", "toolu_01-A", call_id_rule::anthropic, "toolu_01-A"},
    {"chat keeps others", long_id, call_id_rule::chat, long_id},
    {"openai cuts", long_id, call_id_rule::chat_openai, std::string(40, 'x')},
    {"chat sanitises the part", "a b|c", call_id_rule::chat, "a_b"},
    {"nine keeps nine", "abcDEF123", call_id_rule::nine_alphanumerics,
     "abcDEF123"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    CHECK(normal_call_id(x.id, x.rule) == x.expected);
  }
  auto nine = normal_call_id("call_1|fc_1", call_id_rule::nine_alphanumerics);
  CHECK(nine.size() == 9);
  CHECK(nine.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz")
        == std::string::npos);
  CHECK(normal_call_id(nine, call_id_rule::nine_alphanumerics) == nine);
}

TEST_CASE("ids that a cut makes equal stay apart, results follow") {
  std::string left(70, 'x');
  auto right = left;
  left += "1";
  right += "2";
  auto seen = normal_transcript(
    {assistant_of({call_of(left, "read", "{}"), call_of(right, "read", "{}")}),
     result_of(right, "2"), result_of(left, "1")},
    lab(), call_id_rule::anthropic);
  REQUIRE(seen.size() == 3);
  auto first = seen[0].content[0].id;
  auto second = seen[0].content[1].id;
  CHECK(first.size() <= 64);
  CHECK(second.size() <= 64);
  CHECK(first != second);
  CHECK(seen[1].tool_call_id == second);
  CHECK(seen[2].tool_call_id == first);
}

TEST_CASE("estimates count quarters of UTF-16 units (case 57)") {
  CHECK(models::estimate_tokens(user_message("hello", 0)) == 2);
  auto picture_only = user_message("", 0);
  picture_only.content = {image()};
  CHECK(models::estimate_tokens(picture_only) == 1200);
  CHECK(models::estimate_tokens(
          assistant_of({call_of("c", "read", R"({"path":"a.txt"})")}))
        == 5);
}
