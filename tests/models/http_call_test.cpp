#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "adapters/models/provider_factory.hpp"
#include "messages/model/error_text.hpp"
#include "tests/models/model_support.hpp"
#include "tests/support/fake_http.hpp"
#include "tests/support/metric_recorder.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <utility>

using namespace bureau;
using namespace std::chrono_literals;
using test::http_script;
using test::lab_request;

namespace {

/// A client that says nothing about its transfers.
struct quiet_log {
  bool takes = false;
  size_t cancels = 0;
};

struct quiet_state {
  http_client_actor::stateful_pointer<quiet_state> self;
  std::shared_ptr<quiet_log> log;
  kit::promise_guard<caf::ok_atom> waiting;
  static inline const char* name = "quiet_http";

  explicit quiet_state(http_client_actor::stateful_pointer<quiet_state> me)
    : self(me) {}

  void init(std::shared_ptr<quiet_log> shared) { log = std::move(shared); }

  caf::result<caf::ok_atom> start() {
    if (log->takes)
      return caf::ok_atom_v;
    auto promise = self->make_response_promise<caf::ok_atom>();
    waiting.keep(promise);
    return promise;
  }

  http_client_actor::behavior_type make_behavior() {
    return {
      [this](atom::start, const http_request&, const http_sink_actor&) {
        return start();
      },
      [](atom::ack, const http_ack&) {},
      [this](atom::cancel, const http_cancel&) { ++log->cancels; },
      [](atom::fetch, const http_request&) -> caf::result<http_response> {
        return make_failure(errc::bad_request, "not here");
      },
      [](atom::status) {
        return status_line{"http", "ok", ""};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

http_client_actor spawn_quiet(caf::actor_system& system,
                              std::shared_ptr<quiet_log> log) {
  return kit::spawn_stateful<http_client_actor, quiet_state>(system,
                                                             std::move(log));
}

/// A node with a fake network, one model call and what its sink heard.
struct call_story : test::node_fixture {
  std::shared_ptr<test::http_probe> net = std::make_shared<test::http_probe>();
  http_client_actor client = test::spawn_fake_http(*system, net);
  std::shared_ptr<std::vector<metric_sample>> samples =
    std::make_shared<std::vector<metric_sample>>();
  metrics_actor metrics = test::spawn_metric_recorder(*system, samples);
  std::shared_ptr<test::sink_record> heard =
    std::make_shared<test::sink_record>();
  model_sink_actor sink = test::spawn_recorder(*system, heard);
  models::provider_options options;
  model_call_actor call;
  size_t downs = 0;

  ~call_story() {
    net.reset();
    for (auto actor : {caf::actor_cast<caf::actor>(sink),
                       caf::actor_cast<caf::actor>(client),
                       caf::actor_cast<caf::actor>(metrics)})
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    settle();
  }

  void start(const model_request& request) {
    auto factory =
      models::make_model_factory(client, options, wall, chance, metrics);
    call = factory(*system, request, sink);
    self->monitor(call);
    settle();
  }

  void start_lab() { start(lab_request("openai-completions")); }

  /// The id of the only transfer.
  uint64_t transfer() const {
    REQUIRE(net->requests.size() == 1);
    return net->requests[0].id;
  }

  /// Whether the call actor has ended.
  bool gone() {
    settle();
    while (self->has_next_message())
      self->receive([this](caf::down_msg&) { ++downs; });
    return downs > 0;
  }

  const stream_end& end() const {
    REQUIRE(heard->ends.size() == 1);
    return heard->ends[0];
  }

  void cancel() {
    self->send<caf::message_priority::high>(call, atom::cancel_v);
    settle();
  }

  std::vector<int64_t> values(metric id,
                              std::vector<std::string> labels) const {
    std::vector<int64_t> result;
    for (const auto& sample : *samples)
      if (sample.id == id && sample.labels == labels)
        result.push_back(sample.value);
    return result;
  }
};

/// What the log was told.
class log_lines {
public:
  log_lines() {
    kit::log::set_level(kit::log::level::warning);
    kit::log::to_sink([lines = lines_](kit::log::level, std::string_view line) {
      lines->emplace_back(line);
    });
  }
  log_lines(const log_lines&) = delete;
  log_lines& operator=(const log_lines&) = delete;
  ~log_lines() {
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::off);
  }
  const std::vector<std::string>& all() const { return *lines_; }

private:
  std::shared_ptr<std::vector<std::string>> lines_ =
    std::make_shared<std::vector<std::string>>();
};

http_script open_stream(std::string first = {}) {
  http_script script;
  script.hold = true;
  if (!first.empty())
    script.chunks = {std::move(first)};
  return script;
}

http_script answer(uint32_t status, std::string body,
                   std::vector<header_field> headers = {}) {
  http_script script;
  script.status = status;
  script.headers = std::move(headers);
  script.chunks = {std::move(body)};
  return script;
}

std::string chat_piece(const std::string& text) {
  return R"(data: {"choices":[{"delta":{"content":")" + text + "\"}}]}\n\n";
}

const std::string hello = chat_piece("Hel");

} // namespace

TEST_CASE_FIXTURE(call_story, "a call streams its answer and ends itself") {
  for (auto api : {"openai-completions", "anthropic-messages"}) {
    CAPTURE(api);
    auto chat = std::string{api} == "openai-completions";
    net->script(
      answer(200, chat ? test::recorded_chat() : test::recorded_anthropic()));
    start(lab_request(api));
    CHECK(end().failure.error == model_error_class::none);
    CHECK(end().message.content.size() == 2);
    CHECK(end().message.timestamp_ms == test::start_ms);
    CHECK(heard->events.front().kind == stream_kind::start);
    CHECK(heard->text() == "Hi");
    CHECK(gone());
    const auto& request = net->requests.back();
    CHECK(request.method == "POST");
    CHECK(request.reason == "model");
    CHECK(request.redirects == 0);
    CHECK((request.id >> 32) == call.id());
    CHECK(request.url.ends_with(chat ? "/chat/completions" : "/v1/messages"));
    CHECK(
      net->acked[request.id]
      == (chat ? test::recorded_chat() : test::recorded_anthropic()).size());
    CHECK(net->cancels.empty());
    heard->events.clear();
    heard->ends.clear();
    downs = 0;
  }
}

TEST_CASE_FIXTURE(call_story, "bytes are acknowledged after they were used") {
  net->script(open_stream(hello));
  start_lab();
  CHECK(heard->text() == "Hel");
  CHECK(net->acked[transfer()] == hello.size());
  // More than a window at once flows only because of the acknowledgements.
  std::string flood;
  while (flood.size() < 2 * limits::stream_window_bytes)
    flood += hello;
  net->push(transfer(), flood);
  settle();
  CHECK(net->acked[transfer()] == hello.size() + flood.size());
  cancel();
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "what a busy sink has not used stays outside") {
  net->script(open_stream(hello));
  start_lab();
  auto came = hello.size();
  for (auto word : {"lo", ", ", "you"}) {
    net->push(transfer(), chat_piece(word));
    came += chat_piece(word).size();
  }
  // The call takes all of it in one turn, before the sink has one.
  scheduler.run_once();
  CHECK(net->acked[transfer()] == hello.size());
  settle();
  CHECK(net->acked[transfer()] == came);
  CHECK(heard->text() == "Hello, you");
  // Two starts and "Hel", "lo", and the rest in one piece.
  CHECK(heard->events.size() == 5);
  cancel();
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "cancel keeps what had arrived") {
  net->script(open_stream(hello));
  start_lab();
  cancel();
  CHECK(end().message.stop == stop_reason::aborted);
  CHECK(end().failure.error == model_error_class::cancelled);
  CHECK(end().message.error_message == "The request was aborted.");
  REQUIRE(end().message.content.size() == 1);
  CHECK(end().message.content[0].text == "Hel");
  CHECK(net->cancels == std::vector<uint64_t>{transfer()});
  CHECK(gone());
  CHECK(heard->ends.size() == 1);
}

TEST_CASE_FIXTURE(call_story, "cancel before the first byte") {
  net->script(open_stream());
  start_lab();
  cancel();
  CHECK(end().message.stop == stop_reason::aborted);
  CHECK(end().message.content.empty());
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story,
                  "a call ends with its sink, and its transfer too") {
  net->script(open_stream(hello));
  start_lab();
  CHECK(net->open.size() == 1);
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  CHECK(gone());
  CHECK(net->open.empty());
  CHECK(heard->ends.empty());
}

TEST_CASE_FIXTURE(call_story, "a call lives on when its handle is dropped") {
  net->script(open_stream(hello));
  start_lab();
  call = nullptr;
  net->push(transfer(), "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},"
                        "\"finish_reason\":\"stop\"}]}\n\n");
  net->finish(transfer());
  settle();
  CHECK(heard->text() == "Hello");
  CHECK(end().message.stop == stop_reason::stop);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "the first byte has a deadline") {
  options.idle_timeout = 30s;
  auto quiet = std::make_shared<quiet_log>();
  auto fake = std::exchange(client, spawn_quiet(*system, quiet));
  caf::anon_send_exit(fake, caf::exit_reason::user_shutdown);
  SUBCASE("the request was taken") {
    quiet->takes = true;
    start_lab();
    advance(29'999ms);
    CHECK(heard->ends.empty());
    advance(1ms);
    CHECK(end().failure.code == "timeout");
    CHECK(end().message.error_message->find("30 s for the first byte")
          != std::string::npos);
  }
  SUBCASE("the client does not even answer") {
    start_lab();
    advance(limits::mailbox_timeout - 1ms);
    CHECK(heard->ends.empty());
    advance(1ms);
  }
  CHECK(end().failure.error == model_error_class::network);
  CHECK(heard->events.empty());
  CHECK(quiet->cancels == 1);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a pause after the head has a deadline") {
  options.idle_timeout = 30s;
  net->script(open_stream());
  start_lab();
  advance(29'999ms);
  CHECK(heard->ends.empty());
  advance(1ms);
  CHECK(end().failure.error == model_error_class::network);
  CHECK(end().message.error_message->find("30 s for more of the answer")
        != std::string::npos);
  CHECK(net->cancels.size() == 1);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "every byte moves the deadline of a pause") {
  options.idle_timeout = 30s;
  net->script(open_stream(hello));
  start_lab();
  for (int i = 0; i < 3; ++i) {
    advance(29s);
    net->push(transfer(), ": still here\n\n");
    settle();
  }
  CHECK(heard->ends.empty());
  advance(30s);
  CHECK(end().failure.error == model_error_class::network);
  CHECK(end().message.content[0].text == "Hel");
  CHECK(end().message.error_message->find("more of the answer")
        != std::string::npos);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "signs of life do not stand for an answer") {
  options.idle_timeout = 30s;
  std::string sign;
  SUBCASE("comments") {
    sign = ": keepalive\n\n";
    net->script(open_stream(hello));
    start_lab();
  }
  SUBCASE("pings") {
    sign = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    net->script(open_stream(
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
      "{\"id\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n"));
    start(lab_request("anthropic-messages"));
  }
  for (auto waited = 0s; waited < 119s; waited += 1s) {
    advance(1s);
    net->push(transfer(), sign);
    settle();
  }
  CHECK(heard->ends.empty());
  advance(1s);
  CHECK(end().message.error_message
        == "The model provider lab kept its connection open but had not sent "
           "more of the answer after 120 s. Try again or choose another "
           "model.");
  CHECK_FALSE(is_retryable(end().failure.error));
  CHECK(net->cancels.size() == 1);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a slow answer goes on as long as it grows") {
  options.idle_timeout = 30s;
  net->script(open_stream(hello));
  start_lab();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) {
      advance(29s);
      net->push(transfer(), ": thinking\n\n");
      settle();
    }
    net->push(transfer(), hello);
    settle();
  }
  CHECK(heard->ends.empty());
  cancel();
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "pauses may be unlimited, a call may not") {
  options.idle_timeout = 0ms;
  net->script(open_stream(hello));
  start_lab();
  advance(limits::model_call_timeout - 1ms);
  CHECK(heard->ends.empty());
  advance(1ms);
  CHECK(end().message.error_message->find("the end of the answer after 3600 s")
        != std::string::npos);
  CHECK_FALSE(is_retryable(end().failure.error));
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a finished call frees its transfer in time") {
  net->script(open_stream(test::recorded_chat()));
  start_lab();
  CHECK(end().message.stop == stop_reason::tool_use);
  CHECK_FALSE(gone());
  SUBCASE("the transfer ends by itself") {
    net->finish(transfer());
    CHECK(gone());
    CHECK(net->cancels.empty());
  }
  SUBCASE("the server keeps it open") {
    advance(limits::model_linger);
    CHECK(gone());
    CHECK(net->cancels.size() == 1);
  }
  SUBCASE("a cancel changes nothing any more") {
    cancel();
    CHECK(gone());
  }
  CHECK(heard->ends.size() == 1);
}

TEST_CASE_FIXTURE(call_story, "refusals of the provider are typed failures") {
  SUBCASE("429 with Retry-After in seconds") {
    net->script(answer(429, R"({"error":{"message":"slow down"}})",
                       {{"Retry-After", "7", false}}));
    start_lab();
    CHECK(end().failure.error == model_error_class::rate_limit);
    CHECK(end().failure.retry_after_ms == 7000);
    CHECK(
      end().message.error_message->find("429: slow down; it asks to wait 7 s")
      != std::string::npos);
    CHECK(end().message.error_class == "rate_limit");
  }
  SUBCASE("429 with Retry-After as a date") {
    net->script(answer(
      429, "", {{"Retry-After", "Thu, 01 Jan 2026 00:00:09 GMT", false}}));
    start_lab();
    CHECK(end().failure.retry_after_ms == 9000);
  }
  SUBCASE("a redirect") {
    net->script(answer(302, "<html>moved</html>",
                       {{"Location", "https://login.example/?s=1", false}}));
    start_lab();
    CHECK(end().failure.error == model_error_class::bad_request);
    CHECK(end().message.error_message->find("302, a redirect to https://login")
          != std::string::npos);
  }
  SUBCASE("413 without a body is an overflow") {
    net->script(answer(413, ""));
    start_lab();
    CHECK(end().failure.error == model_error_class::overflow);
  }
  SUBCASE("a refusal whose connection breaks") {
    auto script = answer(500, "half");
    script.error = http_error::reset;
    net->script(script);
    start_lab();
    CHECK(end().failure.error == model_error_class::server);
    CHECK(end().failure.http_status == 500);
  }
  SUBCASE("a refusal without end") {
    net->script(answer(401, std::string(1u << 20, 'x')));
    start_lab();
    CHECK(end().failure.error == model_error_class::auth);
  }
  SUBCASE("a refusal that stalls") {
    options.idle_timeout = 30s;
    auto script = answer(503, "wait");
    script.hold = true;
    net->script(script);
    start_lab();
    advance(30s);
    CHECK(end().failure.error == model_error_class::overloaded);
  }
  CHECK(heard->events.empty());
  CHECK(end().message.stop == stop_reason::error);
  CHECK(end().message.content.empty());
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "transfers that break are typed failures") {
  auto script = answer(200, hello);
  SUBCASE("reset") {
    script.error = http_error::reset;
    net->script(script);
    start_lab();
    CHECK(end().failure.error == model_error_class::network);
    CHECK(end().message.content[0].text == "Hel");
  }
  SUBCASE("cut") {
    script.error = http_error::truncated;
    net->script(script);
    start_lab();
    CHECK(end().failure.error == model_error_class::truncated);
  }
  SUBCASE("a clean end too early") {
    net->script(script);
    start_lab();
    CHECK(end().failure.error == model_error_class::truncated);
  }
  SUBCASE("a malformed chunk") {
    net->script(answer(200, hello + "data: {oops\n\n"));
    start_lab();
    CHECK(end().failure.error == model_error_class::protocol);
    CHECK(end().message.content[0].text == "Hel");
  }
  SUBCASE("nobody there") {
    start_lab();
    CHECK(end().failure.error == model_error_class::network);
    CHECK(end().failure.http_status == 0);
  }
  SUBCASE("the client refuses") {
    script.refuse = make_failure(errc::queue_full, "too many transfers");
    net->script(script);
    start_lab();
    CHECK(end().failure.error == model_error_class::network);
    CHECK(end().message.error_message->find("too many transfers")
          != std::string::npos);
  }
  SUBCASE("the client is ending") {
    script.refuse = make_failure(errc::shutting_down, "http is ending");
    net->script(script);
    start_lab();
    CHECK(end().message.stop == stop_reason::aborted);
  }
  CHECK(gone());
  CHECK(heard->ends.size() == 1);
}

TEST_CASE_FIXTURE(call_story, "an answer that is no stream") {
  SUBCASE("an error under 200") {
    net->script(answer(200,
                       R"({"error":{"message":"no","code":"server_error"}})",
                       {{"Content-Type", "application/json", false}}));
    start_lab();
    CHECK(end().failure.error == model_error_class::server);
  }
  SUBCASE("a page") {
    net->script(answer(200, "<html>log in</html>",
                       {{"content-type", "text/html; charset=utf-8", false}}));
    start_lab();
    CHECK(end().failure.error == model_error_class::protocol);
    CHECK(end().message.error_message->find("text/html") != std::string::npos);
  }
  CHECK(heard->events.empty());
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "calls that cannot begin send one failure") {
  auto request = lab_request("openai-completions");
  SUBCASE("an unknown api") {
    request.choice.model.api = "carrier-pigeon";
    start(request);
    CHECK(end().failure.error == model_error_class::bad_request);
    CHECK(end().message.error_message->find("carrier-pigeon")
          != std::string::npos);
  }
  SUBCASE("no credential") {
    request.choice.model.base_url = "https://lab.invalid";
    request.choice.api_key = {};
    start(request);
    CHECK(end().failure.error == model_error_class::auth);
    CHECK(end().message.error_message->find("lab") != std::string::npos);
  }
  CHECK(net->requests.empty());
  CHECK(heard->events.empty());
  CHECK(end().message.stop == stop_reason::error);
  CHECK(end().message.timestamp_ms == test::start_ms);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a failed call is logged once, an abort is not") {
  log_lines lines;
  SUBCASE("refused by the provider") {
    net->script(answer(429, "key k-1234567890 asks too often"));
    start_lab();
    REQUIRE(lines.all().size() == 1);
    auto line = lines.all()[0];
    CHECK(line.find("lab/tiny failed: rate_limit, HTTP 429")
          != std::string::npos);
    CHECK(line.find("asks too often") != std::string::npos);
    CHECK(line.find("k-1234567890") == std::string::npos);
  }
  SUBCASE("never sent") {
    auto request = lab_request("anthropic-messages");
    request.choice.model.base_url.clear();
    start(request);
    REQUIRE(lines.all().size() == 1);
    CHECK(lines.all()[0].find("providers.lab.baseUrl") != std::string::npos);
  }
  SUBCASE("cancelled") {
    net->script(open_stream());
    start_lab();
    cancel();
    CHECK(lines.all().empty());
  }
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a key never shows in an error") {
  net->script(answer(401, "key k-1234567890 is wrong"));
  start_lab();
  CHECK(end().message.error_message->find("k-1234567890") == std::string::npos);
  CHECK(end().message.error_message->find("[redacted]") != std::string::npos);
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a call is measured") {
  auto request = lab_request("openai-completions");
  request.choice.model.rates = {{1'000'000, 2'000'000, 0, 0, 0}};
  net->script(open_stream());
  start(request);
  advance(1500ms);
  net->push(transfer(), test::recorded_chat());
  net->finish(transfer());
  settle();
  CHECK(values(metric::llm_calls, {"lab", "tiny", "ok"})
        == std::vector<int64_t>{1});
  CHECK(values(metric::llm_first_token, {"lab"})
        == std::vector<int64_t>{1'500'000});
  CHECK(values(metric::llm_tokens, {"lab", "tiny", "input"})
        == std::vector<int64_t>{12});
  CHECK(values(metric::llm_tokens, {"lab", "tiny", "output"})
        == std::vector<int64_t>{7});
  CHECK(values(metric::llm_tokens, {"lab", "tiny", "cache_read"})
        == std::vector<int64_t>{5});
  CHECK(values(metric::llm_cost, {"lab", "tiny"})
        == std::vector<int64_t>{12 + 14});
  // 12 read, 7 written and 5 cached of 128 000, in millionths.
  CHECK(values(metric::context_utilization, {"lab", "tiny"})
        == std::vector<int64_t>{187});
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a failed call is measured by its class") {
  net->script(answer(529, ""));
  start_lab();
  CHECK(values(metric::llm_calls, {"lab", "tiny", "overloaded"})
        == std::vector<int64_t>{1});
  CHECK(values(metric::llm_first_token, {"lab"}).empty());
  CHECK(gone());
}

TEST_CASE_FIXTURE(call_story, "a call works without anybody measuring") {
  auto factory = models::make_model_factory(client, options, wall, chance, {});
  net->script(answer(200, test::recorded_chat()));
  call = factory(*system, lab_request("openai-completions"), sink);
  settle();
  CHECK(end().message.stop == stop_reason::tool_use);
}

TEST_CASE_FIXTURE(call_story, "an exit ends the call as aborted") {
  net->script(open_stream(hello));
  start_lab();
  caf::anon_send_exit(call, caf::exit_reason::user_shutdown);
  CHECK(gone());
  CHECK(end().message.stop == stop_reason::aborted);
  CHECK(net->open.empty());
}
