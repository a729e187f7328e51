#include "messages/codec/json_support.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

using namespace bureau;
using namespace bureau::e2e;

TEST_CASE("two lines through a pipe are a complete conversation") {
  home place;
  auto run = place.converse("hello\nrun: echo $((6*7))\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "offline"));
  CHECK(contains(run.out, "42"));
  auto log = lines_of(place.log());
  REQUIRE(log.size() == 4);
  for (const auto& line : log)
    CHECK(json::parse(line));
  auto session = lines_of(place.session());
  CHECK(session.size() >= 6);
  for (const auto& line : session)
    CHECK(json::parse(line));
  CHECK(place.roles()
        == std::vector<std::string>{"user", "assistant", "user", "assistant",
                                    "toolResult", "assistant"});
}

TEST_CASE("the log says who said what and what was answered") {
  home place;
  place.converse("hello\n");
  auto log = lines_of(place.log());
  REQUIRE(log.size() == 2);
  auto question = json::parse(log[0]).value.as_object();
  auto answer = json::parse(log[1]).value.as_object();
  CHECK(json::text_or_empty(question, "text") == "hello");
  CHECK(json::bool_member(question, "isMessagingBot") == false);
  CHECK(json::text_or_empty(answer, "user") == "bot");
  CHECK(json::bool_member(answer, "isMessagingBot") == true);
  CHECK(json::text_or_empty(answer, "replyTo")
        == json::text_or_empty(question, "ts"));
  CHECK(json::text_or_empty(answer, "sessionKey") == "local");
}

TEST_CASE("a conversation continues where it stopped") {
  home place;
  place.converse("hello\n");
  auto first = place.session();
  auto run = place.converse("again\n");
  CHECK(run.code == 0);
  auto second = place.session();
  CHECK(second.starts_with(first));
  CHECK(lines_of(place.log()).size() == 4);
  CHECK(place.roles().size() == 4);
}

TEST_CASE("the tools read, write and list the office") {
  home place;
  auto run = place.converse("write: notes.txt remember the milk\n"
                            "read: notes.txt\n"
                            "run: cat notes.txt; ls\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(count(run.out, "remember the milk") >= 2);
  CHECK(read_file(place.office() + "/notes.txt") == "remember the milk");
}

TEST_CASE("activity shows files as the office sees them, and no secret") {
  home place;
  auto run = place.converse("write: notes.txt milk\n"
                            "run: echo token=abc123 > note\n");
  INFO(run.err);
  CHECK(contains(run.err, "📝 Writing notes.txt\n"));
  CHECK(contains(run.err, "🖥️ Running echo token=[redacted] > note\n"));
  CHECK_FALSE(contains(run.err, "abc123"));
}

TEST_CASE("a failing command is told with its exit code") {
  home place;
  auto run = place.converse("run: echo oops >&2; exit 3\n");
  CHECK(run.code == 0);
  CHECK(contains(run.out, "oops"));
  CHECK(contains(run.out, "3"));
}

TEST_CASE("replies go to stdout and everything else to stderr") {
  home place;
  auto run = place.converse("run: echo only-reply\n");
  CHECK(contains(run.out, "only-reply"));
  CHECK_FALSE(contains(run.out, "["));
  CHECK(contains(run.err, "offline"));
}

TEST_CASE("broken UTF-8 and a very long line are survived") {
  home place;
  auto run = place.converse("caf\xe9 \xff\xfe\n" + std::string(1'000'000, 'x')
                            + "\nrun: echo still-here\n");
  INFO(run.err.substr(0, 2000));
  CHECK(run.code == 0);
  CHECK(contains(run.out, "still-here"));
  auto log = place.log();
  CHECK(contains(log, "caf\xEF\xBF\xBD"));
  for (const auto& line : lines_of(log))
    CHECK(json::parse(line));
  CHECK(log.size() < 700'000);
}

TEST_CASE("empty input is an empty conversation") {
  home place;
  auto run = place.converse("");
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  run = place.converse("\n   \n\n");
  CHECK(run.code == 0);
  CHECK(run.out.empty());
}

TEST_CASE("stop ends a command at once and the next line still runs") {
  home place;
  program node{place.command(), place.environment};
  node.write("run: echo begun > begun; sleep 4711\n");
  auto begun = place.office() + "/begun";
  for (int i = 0; i < 600 && read_file(begun).empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  CHECK_FALSE(read_file(begun).empty());
  node.write("stop\nrun: echo after; pgrep -f 4711 | wc -l\n");
  node.close_input();
  CHECK(node.wait() == 0);
  INFO(node.err());
  auto all = node.out() + node.err();
  CHECK(contains(all, "Stopping"));
  CHECK(contains(all, "Stopped."));
  CHECK(contains(node.out(), "after"));
  CHECK(none_left("sleep 4711"));
}

TEST_CASE("a stop reaches the running turn however many lines wait") {
  home place;
  program node{place.command({"--json"}), place.environment};
  node.write("run: echo begun > begun; sleep 4715\n");
  auto begun = place.office() + "/begun";
  for (int i = 0; i < 600 && read_file(begun).empty(); ++i)
    node.read_until("never printed", milliseconds{50});
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += "number " + std::to_string(i) + "\n";
  node.write(lines + "stop\n");
  node.close_input();
  CHECK(node.wait() == 0);
  INFO(node.err());
  CHECK(count(node.out(), R"("kind":"error")") == 1);
  CHECK(count(node.out(), R"("kind":"finish")") == 61);
  CHECK(none_left("sleep 4715"));
}

TEST_CASE("many lines are answered in their order") {
  home place;
  std::string input;
  for (int i = 0; i < 30; ++i)
    input += "run: echo number-" + std::to_string(i) + "-\n";
  auto run = place.converse(input);
  CHECK(run.code == 0);
  size_t last = 0;
  for (int i = 0; i < 30; ++i) {
    auto pos = run.out.find("number-" + std::to_string(i) + "-");
    INFO(i);
    REQUIRE(pos != std::string::npos);
    CHECK(pos >= last);
    last = pos;
  }
}

TEST_CASE("state is private") {
  home place;
  place.converse("hello\n");
  struct stat info {};
  REQUIRE(::stat(place.state.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(::stat((place.state + "/office-registry.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a secret of the node is nowhere in the world of a command") {
  home place;
  place.environment["OPENAI_API_KEY"] = "planted-k3y-77";
  place.environment["SOME_PASSWORD"] = "planted-p4ss-77";
  write_file(place.state + "/settings.json",
             R"({"llm":{"provider":"offline","model":"offline"}})");
  auto run = place.converse(
    "run: env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr "
    "'\\0' ' '; ls -l /proc/self/fd; find / -xdev -type f -size -100k "
    "2>/dev/null "
    "| grep -v '^/\\(usr\\|proc\\)' | xargs cat 2>/dev/null | grep -c "
    "planted-\n");
  INFO(run.err);
  CHECK(run.code == 0);
  // The last command counts the lines of files that hold a planted value.
  CHECK(contains(run.out, "PATH="));
  CHECK_FALSE(contains(run.out, "k3y-77"));
  CHECK_FALSE(contains(run.out, "p4ss-77"));
  CHECK_FALSE(contains(run.err, "k3y-77"));
}

TEST_CASE("a program reads frames, and one end for every message") {
  home place;
  place.flags.push_back("--json");
  auto run = place.converse("hello\nrun: echo $((6*7))\n");
  INFO(run.err);
  CHECK(run.code == 0);
  std::vector<std::string> answers;
  std::vector<int64_t> lines;
  auto events = 0;
  for (const auto& line : lines_of(run.out)) {
    CAPTURE(line);
    auto parsed = contracts::parse_frame(line);
    REQUIRE(parsed);
    auto frame = contracts::read_frame(*parsed);
    auto metadata = json::member(*parsed, "metadata");
    REQUIRE(metadata != nullptr);
    REQUIRE(metadata->is_object());
    const auto& fields = metadata->get_object();
    CHECK_FALSE(json::text_or_empty(fields, "messageId").empty());
    CHECK(json::text_or_empty(fields, "conversationId") == "console:local");
    events += frame.kind == contracts::frame_kind::event ? 1 : 0;
    CHECK(frame.kind != contracts::frame_kind::error);
    CHECK(frame.kind != contracts::frame_kind::unknown);
    if (frame.kind != contracts::frame_kind::finish)
      continue;
    answers.push_back(frame.text.value_or(""));
    lines.push_back(json::int_member(fields, "line").value_or(0));
  }
  CHECK(lines == std::vector<int64_t>{1, 2});
  REQUIRE(answers.size() == 2);
  CHECK(contains(answers[0], "offline"));
  CHECK(contains(answers[1], "42"));
  CHECK(events >= 2);
}
