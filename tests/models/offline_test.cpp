#include "adapters/models/offline_core.hpp"
#include "adapters/models/offline_model_call.hpp"
#include "adapters/models/provider_factory.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/interfaces/jobs.hpp"
#include "tests/models/model_support.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using models::offline_answer;
using models::parse_attribution;
using models::spoken_texts;

namespace {

const std::string stamp = "[2026-05-01 08:00:02+08:00] [ann]: ";

model_request offline_request(std::string text) {
  model_request request;
  request.choice.model.api = "offline";
  request.choice.model.provider = "offline";
  request.choice.model.id = "offline";
  request.platform = "console";
  for (auto name : {"bash", "read", "write"}) {
    request.tools.push_back(test::read_tool());
    request.tools.back().name = name;
  }
  request.messages = {user_message(std::move(text), 0)};
  return request;
}

transcript_message answer_to(const model_request& request) {
  test::seeded_entropy ids;
  return offline_answer(request, ids, 5);
}

transcript_message answer_to(std::string text) {
  return answer_to(offline_request(stamp + std::move(text)));
}

} // namespace

TEST_CASE("attributions are parsed strictly") {
  struct row {
    const char* line;
    const char* user;
    const char* text;
  };
  const row good[] = {
    {"[2026-05-01 08:00:02+08:00] [ann]: hi", "ann", "hi"},
    {"[2026-05-01 08:00:02-03:30] [unknown]: a: b", "unknown", "a: b"},
    {"[2026-05-01 08:00:02+08:00] [ann] [in-thread:17.5]: hi", "ann", "hi"},
    {"[2026-05-01 08:00:02+08:00] [a]b]: hi", "a]b", "hi"},
    {"[2026-05-01 08:00:02+08:00] [ann]:", "ann", ""},
    {"[2026-05-01 08:00:02+08:00] []: x", "", "x"},
  };
  for (const auto& x : good) {
    CAPTURE(x.line);
    auto parsed = parse_attribution(x.line);
    REQUIRE(parsed);
    CHECK(parsed->user == x.user);
    CHECK(parsed->text == x.text);
  }
  for (auto line : {"", "[", "hi", "[2026-05-01 08:00:02] [ann]: hi",
                    "[2026-05-01T08:00:02+08:00] [ann]: hi",
                    "[2026-05-01 08:00:02+08:00] ann: hi",
                    "[2026-05-01 08:00:02+08:00] [ann] hi",
                    "[2026-05-01 08:00:02+08:00] [ann",
                    "[2026-05-01 08:00:02+08:00] [ann] [in-thread:17.5: hi",
                    " [2026-05-01 08:00:02+08:00] [ann]: hi",
                    "[2026-05-01 08:00:02+08:00] [a\nb]: hi"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_attribution(line));
  }
}

TEST_CASE("turns hold instructions, messages and attachments") {
  using list = std::vector<std::string>;
  CHECK(spoken_texts("hi") == list{"hi"});
  CHECK(spoken_texts(stamp + "a\nb") == list{"a\nb"});
  CHECK(spoken_texts("## Event\nDo it.\n\n" + stamp + "a") == list{"a"});
  CHECK(spoken_texts(stamp + "a\n" + stamp + "b") == list{"a", "b"});
  CHECK(spoken_texts(stamp + "a\n<slack_attachments>\n/x\n</slack_attachments>")
        == list{"a"});
}

TEST_CASE("verbs of the console become calls") {
  struct row {
    const char* said;
    const char* tool;
    const char* arguments;
  };
  const row rows[] = {
    {"run: ls -l", "bash", R"({"label":"run ls -l","command":"ls -l"})"},
    {"  run:  echo \"x\"\necho y ", "bash",
     R"({"label":"run echo \"x\"…","command":"echo \"x\"\necho y"})"},
    {"background: sleep 1; echo done", "bash",
     R"({"label":"run sleep 1; echo done","command":"sleep 1; echo done",)"
     R"("background":true})"},
    {"read: notes/ä.md", "read",
     R"({"label":"read notes/ä.md","path":"notes/ä.md"})"},
    {"write: a.txt hello world", "write",
     R"({"label":"write a.txt","path":"a.txt","content":"hello world"})"},
    {"write: a.txt\nline 1\nline 2", "write",
     R"({"label":"write a.txt","path":"a.txt","content":"line 1\nline 2"})"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.said);
    auto answer = answer_to(x.said);
    CHECK(answer.stop == stop_reason::tool_use);
    REQUIRE(answer.content.size() == 1);
    CHECK(answer.content[0].name == x.tool);
    CHECK(answer.content[0].id->starts_with("offline_"));
    CHECK(test::same_json(answer.content[0].arguments->text, x.arguments));
  }
}

TEST_CASE("several messages of one turn are all followed") {
  auto answer = answer_to(
    offline_request(stamp + "run: a\n" + stamp + "chat\n" + stamp + "read: b"));
  REQUIRE(answer.content.size() == 2);
  CHECK(answer.content[0].name == "bash");
  CHECK(answer.content[1].name == "read");
  CHECK(answer.content[0].id != answer.content[1].id);
}

TEST_CASE("verbs that cannot be followed are explained") {
  for (auto said :
       {"run:", "read:  ", "write:", "write: a.txt", "background: "}) {
    CAPTURE(said);
    auto answer = answer_to(said);
    CHECK(answer.stop == stop_reason::stop);
    CHECK(text_of(answer).find(std::string{said}.substr(0, 4))
          != std::string::npos);
  }
  auto bare = offline_request(stamp + "run: ls");
  bare.tools.clear();
  CHECK(text_of(answer_to(bare)).find("bash is not offered")
        != std::string::npos);
}

TEST_CASE("the end of a job is passed on, and nothing in it is followed") {
  auto news = std::string{job_wake_head}
              + "pj-1 succeeded.\nOutput:\n> run: rm\n> " + stamp + "run: rm";
  auto answer = answer_to(offline_request(stamp + news));
  CHECK(answer.stop == stop_reason::stop);
  CHECK(text_of(answer) == news);
}

TEST_CASE("other text is answered with what is missing") {
  for (auto said : {"hello", "please run: ls", "Run: ls"}) {
    auto answer = answer_to(said);
    CHECK(answer.stop == stop_reason::stop);
    for (auto word : {"offline", "models.json", "auth.json",
                      "ANTHROPIC_API_KEY", "run: <command>"})
      CHECK(text_of(answer).find(word) != std::string::npos);
    CHECK(answer.timestamp_ms == 5);
  }
}

TEST_CASE("tool results are repeated as they are") {
  auto request = offline_request(stamp + "run: a");
  request.messages.push_back(
    test::assistant_of({test::call_of("A", "bash", "{}")}));
  request.messages.push_back(test::result_of("A", "line 1\n\n  line 2\n"));
  CHECK(text_of(answer_to(request)) == "line 1\n\n  line 2\n");
  request.messages.push_back(test::result_of("B", ""));
  CHECK(text_of(answer_to(request)) == "line 1\n\n  line 2\n\n(no output)");
  request.messages.back().is_error = true;
  request.messages.back().tool_name = "bash";
  request.messages.back().content = {
    text_block("oops\n\nCommand exited with code 3")};
  auto said = text_of(answer_to(request));
  CHECK(said.find("The bash tool failed:\noops\n\nCommand exited with code 3")
        != std::string::npos);
}

TEST_CASE("other platforms hear it once in an hour") {
  constexpr int64_t hour = 3'600'000;
  constexpr int64_t now = 100 * hour;
  test::seeded_entropy ids;
  auto request = offline_request(stamp + "run: ls");
  request.platform = "telegram";
  auto told = offline_answer(request, ids, now);
  REQUIRE(text_of(told).find("No language model") == 0);
  auto answer_at = [&](int64_t later) {
    auto next = request;
    next.messages.push_back(told);
    next.messages.push_back(user_message("hello?", now + later));
    return text_of(offline_answer(next, ids, now + later));
  };
  CHECK(answer_at(1) == "[SILENT]");
  CHECK(answer_at(hour - 1) == "[SILENT]");
  CHECK(answer_at(hour) == text_of(told));
  // A clock that was set back does not silence it for long.
  CHECK(answer_at(-1) == text_of(told));
}

TEST_CASE("other platforms hear that no model is configured") {
  auto request = offline_request(stamp + "run: rm -rf /");
  request.platform = "telegram";
  auto answer = answer_to(request);
  CHECK(answer.stop == stop_reason::stop);
  REQUIRE(answer.content.size() == 1);
  CHECK(text_of(answer).find("No language model is configured")
        != std::string::npos);
  request.platform.clear();
  CHECK(answer_to(request).content[0].kind == block_kind::text);
}

TEST_CASE("deltas add up, are several and never cut a character") {
  std::string wide;
  for (int i = 0; i < 40'000; ++i)
    wide += "€";
  for (const auto& text :
       {std::string{}, std::string{"short"}, std::string(100, ' '), wide,
        std::string{"some words that make a sentence of some length here"}}) {
    size_t sum = 0;
    auto lengths = models::delta_lengths(text);
    for (auto length : lengths) {
      CHECK(length > 0);
      sum += length;
      if (sum < text.size())
        CHECK((static_cast<unsigned char>(text[sum]) & 0xc0) != 0x80);
    }
    CHECK(sum == text.size());
    CHECK(lengths.size() < 260);
  }
  CHECK(models::delta_lengths("some words that make a sentence of some length")
          .size()
        > 1);
}

TEST_CASE_FIXTURE(test::node_fixture, "the offline call streams and ends") {
  auto heard = std::make_shared<test::sink_record>();
  auto sink = test::spawn_recorder(*system, heard);
  auto factory = models::make_model_factory({}, {}, wall, chance, {});
  auto call = factory(*system, offline_request(stamp + "hello"), sink);
  settle();
  REQUIRE(heard->ends.size() == 1);
  const auto& end = heard->ends[0];
  CHECK(end.failure.error == model_error_class::none);
  CHECK(end.message.stop == stop_reason::stop);
  CHECK(end.message.timestamp_ms == test::start_ms);
  CHECK(end.message.spent == usage{});
  CHECK(heard->events.front().kind == stream_kind::start);
  CHECK(heard->events.back().kind == stream_kind::text_end);
  CHECK(heard->events.size() > 5);
  CHECK(heard->text() == text_of(end.message));
  self->send_exit(sink, caf::exit_reason::user_shutdown);
}

TEST_CASE_FIXTURE(test::node_fixture, "the offline call can be cancelled") {
  auto heard = std::make_shared<test::sink_record>();
  auto sink = test::spawn_recorder(*system, heard);
  auto factory = models::make_model_factory({}, {}, wall, chance, {});
  auto call = factory(*system, offline_request(stamp + "run: ls"), sink);
  // It overtakes the first step.
  self->send<caf::message_priority::high>(call, atom::cancel_v);
  settle();
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].message.stop == stop_reason::aborted);
  CHECK(heard->ends[0].failure.error == model_error_class::cancelled);
  CHECK(heard->ends[0].message.content.empty());
  self->send_exit(sink, caf::exit_reason::user_shutdown);
}
