#include "messages/codec/artifact_record.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/text/sha256.hpp"
#include "tests/e2e/e2e_support.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace bureau;
using namespace bureau::e2e;

namespace {

/// A home whose models.json points at a provider.
struct model_home : home {
  model_home(const std::string& url, const std::string& api) {
    auto base = api == "openai-completions" ? url + "/v1" : url;
    write_file(
      state + "/models.json",
      R"({"providers":{"lab":{"api":")" + api + R"(","baseUrl":")" + base
        + R"(","apiKey":"t0p-secret-key","models":[{"id":"tiny"}]}}})");
  }
};

void answers_from_the_model(const std::string& api) {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"weather"},
     "response":{"content":"It is sunny in the laboratory, as it always is."}}]})"};
  model_home place{mock.url(), api};
  auto run = place.converse("how is the weather?\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "It is sunny in the laboratory, as it always is."));
  CHECK_FALSE(contains(run.out + run.err, "t0p-secret-key"));
  CHECK_FALSE(contains(place.session() + place.log(), "t0p-secret-key"));
  auto session = place.session();
  CHECK(contains(session, "\"api\":\"" + api + "\""));
  CHECK(contains(session, "\"provider\":\"lab\""));
  CHECK(contains(session, "\"model\":\"tiny\""));
  CHECK(contains(mock.journal(), "\"stream\":true"));
}

/// Instants of the requests that came in, Unix milliseconds.
std::vector<int64_t> times_of(const provider& mock) {
  const std::string mark = "\"timestamp\":";
  auto journal = mock.journal();
  std::vector<int64_t> result;
  for (auto at = journal.find(mark); at != std::string::npos;
       at = journal.find(mark, at + 1))
    result.push_back(std::atoll(journal.c_str() + at + mark.size()));
  std::sort(result.begin(), result.end());
  return result;
}

/// A provider that speaks Anthropic's api and sends, as its first answer, a
/// stream with a broken event in its middle.
class stumbling_provider {
public:
  stumbling_provider() {
    REQUIRE(server_.read_until("\n"));
    url_ =
      "http://127.0.0.1:" + server_.out().substr(0, server_.out().find('\n'));
  }
  const std::string& url() const { return url_; }

private:
  static constexpr const char* script = R"js(
const event = (type, rest) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const delta = (text) => event('content_block_delta',
  { index: 0, delta: { type: 'text_delta', text } });
const begin = event('message_start', { message: { id: 'm', model: 'tiny',
    usage: { input_tokens: 1, output_tokens: 1 } } })
  + event('content_block_start',
    { index: 0, content_block: { type: 'text', text: '' } });
const end = event('content_block_stop', { index: 0 })
  + event('message_delta', { delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 2 } })
  + event('message_stop', {});
let asked = 0;
require('http').createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(asked++ > 0
      ? begin + delta('well put') + end
      : begin + delta('half a')
        + 'event: content_block_delta\ndata: {"type":"content_bl\n\n'
        + delta(' never seen') + end);
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
)js";

  program server_{{"/usr/bin/env", "node", "-e", script}};
  std::string url_;
};

void uses_a_tool(const std::string& api) {
  provider mock{R"json({"fixtures":[
    {"match":{"userMessage":"compute","hasToolResult":false},
     "response":{"toolCalls":[{"id":"call_1","name":"bash",
       "arguments":{"label":"multiply","command":"echo $((6*7))"}}]
}
},
    {"match":{"userMessage":"compute","hasToolResult":true},
     "response":{"content":"The product is forty-two."}}]
})json"};
  model_home place{mock.url(), api};
  auto run = place.converse("compute it\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "The product is forty-two."));
  CHECK(place.roles()
        == std::vector<std::string>{"user", "assistant", "toolResult",
                                    "assistant"});
  // The model saw the result of the command.
  CHECK(contains(mock.journal(), "42"));
  CHECK(contains(place.session(), "call_1"));
}

} // namespace

TEST_CASE("an OpenAI-style provider answers") {
  answers_from_the_model("openai-completions");
}

TEST_CASE("an Anthropic-style provider answers") {
  answers_from_the_model("anthropic-messages");
}

TEST_CASE(
  "a file that the model attaches is kept, and named where it cannot be "
  "shown") {
  provider mock{R"json({"fixtures":[
    {"match":{"userMessage":"report","hasToolResult":false},
     "response":{"toolCalls":[
       {"id":"call_1","name":"write",
        "arguments":{"label":"draft","path":"report.md","content":"# All well"}},
       {"id":"call_2","name":"attach",
        "arguments":{"label":"hand over","path":"report.md"}}]}},
    {"match":{"userMessage":"report","hasToolResult":true},
     "response":{"content":"Here is the report."}}]
})json"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("report please\n");
  INFO(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(
    run.out, "Here is the report.\n\n⚠️ Attachment not delivered on this "
             "destination: report.md (text/markdown, 10 bytes)."));
  CHECK_FALSE(contains(place.log(), "Attachment not delivered"));
  auto index = lines_of(read_file(place.state + "/artifacts/index.jsonl"));
  REQUIRE(index.size() == 1);
  auto record = parse_artifact_line(index[0]);
  REQUIRE(record);
  CHECK(record->conversation_id == "console:local");
  CHECK(record->integrity_id == "sha256:" + text::sha256_hex("# All well"));
  std::string digest{digest_of(record->integrity_id)};
  auto path =
    place.state + "/artifacts/sha256/" + digest.substr(0, 2) + "/" + digest;
  CHECK(read_file(path) == "# All well");
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600);
}

TEST_CASE("a program gets the text as it is, and a file beside it") {
  provider mock{R"json({"fixtures":[
    {"match":{"userMessage":"report","hasToolResult":false},
     "response":{"toolCalls":[
       {"id":"call_1","name":"read",
        "arguments":{"label":"look","path":"no-such-file"}},
       {"id":"call_2","name":"write",
        "arguments":{"label":"draft","path":"report.md","content":"# All well"}},
       {"id":"call_3","name":"attach",
        "arguments":{"label":"hand over","path":"report.md"}}]}},
    {"match":{"userMessage":"report","hasToolResult":true},
     "response":{"content":"Here is the report."}}]
})json"};
  model_home place{mock.url(), "openai-completions"};
  place.flags.push_back("--json");
  auto run = place.converse("report please\n");
  INFO(run.out, run.err);
  CHECK(run.code == 0);
  std::map<std::string, int> events;
  std::map<std::string, contracts::stream_event> calls;
  std::vector<contracts::stream_frame> ends;
  for (const auto& line : lines_of(run.out)) {
    CAPTURE(line);
    auto parsed = contracts::parse_frame(line);
    REQUIRE(parsed);
    auto frame = contracts::read_frame(*parsed);
    if (frame.kind == contracts::frame_kind::finish)
      ends.push_back(frame);
    if (frame.kind != contracts::frame_kind::event)
      continue;
    ++events[to_string(frame.event.kind)];
    if (frame.event.kind == contracts::stream_event_kind::tool_call_completed)
      calls[frame.event.id] = frame.event;
  }
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].text.value_or("") == "Here is the report.");
  REQUIRE(ends[0].parts.size() == 1);
  auto file = caf::get_if<contracts::attachment_part>(&ends[0].parts[0]);
  REQUIRE(file != nullptr);
  CHECK(file->name == "report.md");
  auto metadata = json::parse(ends[0].metadata.text);
  auto outcomes = json::member(metadata.value.as_object(), "replyPartOutcomes");
  REQUIRE(outcomes != nullptr);
  CHECK(contracts::is_outcomes(*outcomes));
  CHECK(
    contains(read_file(place.state + "/conversations/"
                       + place.office().substr(place.office().rfind('/') + 1)
                       + "/ledger.jsonl"),
             "replyPartOutcomes"));
  REQUIRE(calls.size() == 3);
  CHECK(calls["call_1"].is_error.value_or(false));
  CHECK_FALSE(calls["call_3"].is_error.value_or(true));
  for (const auto& [id, call] : calls) {
    CAPTURE(id);
    REQUIRE(call.history);
    CHECK(call.history->persisted);
    CHECK_FALSE(call.arguments.empty());
  }
  CHECK(events["tool_call_started"] == 3);
  CHECK(events["provider_status"] >= 4);
  CHECK(events["usage_update"] >= 1);
  CHECK(events["runtime_telemetry"] == 1);
}

TEST_CASE("a file of an answer is kept from a terminal") {
  provider mock{R"json({"fixtures":[
    {"match":{"userMessage":"report","hasToolResult":false},
     "response":{"toolCalls":[
       {"id":"call_1","name":"write",
        "arguments":{"label":"draft","path":"report.md","content":"# All well"}},
       {"id":"call_2","name":"attach",
        "arguments":{"label":"hand over","path":"report.md"}}]}},
    {"match":{"userMessage":"report","hasToolResult":true},
     "response":{"content":"Here is the report."}}]
})json"};
  model_home place{mock.url(), "openai-completions"};
  program node{place.command(), place.environment, true};
  node.write("report please\n");
  REQUIRE(node.read_until("/save 1 keeps it"));
  CHECK(contains(node.out(), "File 1: report.md (10 bytes, text/markdown)"));
  auto kept = place.dir / "kept.md";
  node.write("/save 1 " + kept + "\n");
  CHECK(node.read_until("Saved "));
  CHECK(read_file(kept) == "# All well");
  node.write("\x04");
  CHECK(node.wait() == 0);
}

TEST_CASE("no link and no path leads an attachment out of the workspace") {
  provider mock{R"json({"fixtures":[
    {"match":{"userMessage":"steal","hasToolResult":false},
     "response":{"toolCalls":[
       {"id":"call_1","name":"bash","arguments":{"label":"link",
        "command":"ln -s /etc/hostname link; ln -s /etc way; ls"}},
       {"id":"call_2","name":"attach","arguments":{"label":"a","path":"link"}},
       {"id":"call_3","name":"attach",
        "arguments":{"label":"b","path":"way/hostname"}},
       {"id":"call_4","name":"attach",
        "arguments":{"label":"c","path":"/etc/hostname"}},
       {"id":"call_5","name":"attach",
        "arguments":{"label":"d","path":"../../etc/hostname"}}]}},
    {"match":{"userMessage":"steal","hasToolResult":true},
     "response":{"content":"It did not work."}}]
})json"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("steal it\n");
  INFO(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "It did not work."));
  CHECK_FALSE(contains(run.out, "⚠️"));
  CHECK(count(place.session(), "\"isError\":true") == 4);
  CHECK(read_file(place.state + "/artifacts/index.jsonl").empty());
}

TEST_CASE("an OpenAI-style provider uses a tool") {
  uses_a_tool("openai-completions");
}

TEST_CASE("an Anthropic-style provider uses a tool") {
  uses_a_tool("anthropic-messages");
}

TEST_CASE("the key may come from the environment or auth.json") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"hello"},"response":{"content":"hi there"}}]})"};
  home place;
  write_file(place.state + "/models.json",
             R"({"providers":{"my-lab":{"api":"openai-completions","baseUrl":")"
               + mock.url() + R"(/v1","models":[{"id":"tiny"}]}}})");
  SUBCASE("environment") {
    place.environment["MY_LAB_API_KEY"] = "from-env";
  }
  SUBCASE("auth.json") {
    write_file(place.state + "/auth.json",
               R"({"my-lab":{"type":"api_key","key":"from-file"}})");
  }
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(contains(run.out, "hi there"));
}

TEST_CASE("a rate limit is waited out") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"hello","sequenceIndex":0},
     "response":{"error":{"message":"Rate limited","type":"rate_limit_error"},
                 "status":429,"retryAfter":4}},
    {"match":{"userMessage":"hello"},"response":{"content":"now it works"}}]})"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("hello\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "now it works"));
  CHECK(count(run.out, "now it works") == 1);
  // Our own first pause is at most 2.5 s: the provider's wish counts.
  auto times = times_of(mock);
  REQUIRE(times.size() == 2);
  CHECK(times[1] - times[0] >= 3900);
  CHECK(count(run.err, "lab/tiny failed: rate_limit, HTTP 429") == 1);
}

TEST_CASE("a stream that is cut is asked for again") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"story","sequenceIndex":0},
     "response":{"content":"Once upon a time there was a stream that was cut."},
     "truncateAfterChunks":2},
    {"match":{"userMessage":"story"},
     "response":{"content":"Once upon a time everything arrived."}}]})"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("tell a story\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "Once upon a time everything arrived."));
  CHECK_FALSE(contains(run.out, "was cut"));
}

TEST_CASE("an Anthropic stream that is cut is asked for again") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"story","sequenceIndex":0},
     "response":{"content":"Once upon a time there was a stream that was cut."},
     "truncateAfterChunks":3},
    {"match":{"userMessage":"story"},
     "response":{"content":"Once upon a time everything arrived."}}]})"};
  model_home place{mock.url(), "anthropic-messages"};
  auto run = place.converse("tell a story\n");
  INFO(run.err);
  CHECK(contains(run.out, "Once upon a time everything arrived."));
}

TEST_CASE("malformed data ends in a clear sentence and a usable session") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"garbage"},"response":{"content":"never seen"},
     "chaos":{"malformedRate":1}},
    {"match":{"userMessage":"hello"},"response":{"content":"all is well"}}]})"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("garbage\nhello\n");
  INFO(run.out);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "all is well"));
  CHECK_FALSE(contains(run.out, "never seen"));
  CHECK(count(run.out, "The model provider lab sent a reply that could not be "
                       "read, also after 3 retries. Try again or choose "
                       "another model.")
        == 1);
  CHECK(count(run.err, "lab/tiny failed: protocol") == 4);
  CHECK(lines_of(place.log()).size() == 4);
}

TEST_CASE("a malformed event in an Anthropic stream is asked for again") {
  stumbling_provider mock;
  model_home place{mock.url(), "anthropic-messages"};
  auto run = place.converse("garbage\nhello\n");
  INFO(run.out);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(count(run.out, "well put") == 2);
  CHECK_FALSE(contains(run.out, "never seen"));
  CHECK(count(run.err, "lab/tiny failed: protocol") == 1);
  for (const auto& line : lines_of(place.session()))
    CHECK(json::parse(line));
}

TEST_CASE("a provider that cannot be called is said, and does not win") {
  home place;
  write_file(place.state + "/models.json",
             R"({"providers":{"lab":{"api":"openai-completions",
  "models":[{"id":"tiny"}]}}})");
  auto run = place.converse("run: echo offline\n");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "offline"));
  CHECK(count(run.err, place.state
                         + "/models.json:1:21: the provider lab is "
                           "not used")
        == 1);
  write_file(place.state + "/settings.json",
             R"({"llm":{"provider":"lab","model":"tiny"}})");
  run = place.converse("hello\n");
  INFO(run.out);
  CHECK(contains(run.out, place.state
                            + "/models.json has /providers/lab: "
                              "baseUrl is not set."));
}

TEST_CASE("a refused key is said to the user, without the key") {
  provider mock{R"({"fixtures":[
    {"match":{"userMessage":"hello"},
     "response":{"error":{"message":"Incorrect API key provided: t0p-secret-key",
                          "type":"authentication_error"},"status":401}}]})"};
  model_home place{mock.url(), "openai-completions"};
  auto run = place.converse("hello\n");
  CHECK(run.code == 0);
  CHECK(contains(run.out, "lab"));
  CHECK_FALSE(contains(run.out + run.err + place.session() + place.log(),
                       "t0p-secret-key"));
}

TEST_CASE("an unreachable provider is said, logged, and the session goes on") {
  model_home place{"http://127.0.0.1:" + std::to_string(unused_port()),
                   "openai-completions"};
  auto run = place.converse("hello\n");
  INFO(run.out);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "lab"));
  CHECK(count(run.err, "lab/tiny failed: network") == 4);
  CHECK(lines_of(place.log()).size() == 2);
  for (const auto& line : lines_of(place.session()))
    CHECK(json::parse(line));
  // The same office with a working model.
  write_file(place.state + "/settings.json",
             R"({"llm":{"provider":"offline","model":"offline"}})");
  run = place.converse("run: echo recovered\n");
  INFO(run.err);
  CHECK(contains(run.out, "recovered"));
}
