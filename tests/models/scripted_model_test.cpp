#include "tests/models/model_support.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_model.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace std::chrono_literals;
using test::scripted_model;

namespace {

struct scripted_story : test::node_fixture {
  scripted_model model{wall};
  std::shared_ptr<test::sink_record> heard =
    std::make_shared<test::sink_record>();
  model_sink_actor sink = test::spawn_recorder(*system, heard);
  model_call_actor call;

  ~scripted_story() {
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
    settle();
  }

  void start(std::string text = "hi", std::string session = {}) {
    model_request request;
    request.choice = scripted_model::choice();
    request.messages = {user_message(std::move(text), 0)};
    request.session_id = std::move(session);
    call = model.factory()(*system, request, sink);
    settle();
  }

  const stream_end& last() const {
    REQUIRE_FALSE(heard->ends.empty());
    return heard->ends.back();
  }
};

} // namespace

TEST_CASE_FIXTURE(scripted_story, "replies come in the order of the script") {
  model.push(test::says("hello world, this is a longer text than one delta"))
    .push(test::calls("read", R"({"path":"a.txt"})"));
  start();
  CHECK(heard->text() == "hello world, this is a longer text than one delta");
  CHECK(last().message.stop == stop_reason::stop);
  for (const auto& event : heard->events)
    CHECK(event.delta.size() <= 20);
  start();
  CHECK(last().message.stop == stop_reason::tool_use);
  CHECK(last().message.content[0].id == "call_1");
  start();
  CHECK(last().message.stop == stop_reason::error);
  CHECK(last().message.content.empty());
  CHECK(model.call_count() == 3);
  CHECK(model.open_calls() == 0);
}

TEST_CASE_FIXTURE(scripted_story,
                  "failures are typed or read from their text") {
  model.push(test::fails("529 overloaded"))
    .push(test::fails(model_error_class::quota, "no money", 402))
    .push(test::cut_after("0123456789", 4));
  start();
  CHECK(last().failure.error == model_error_class::overloaded);
  CHECK(heard->events.empty());
  start();
  CHECK(last().failure.error == model_error_class::quota);
  CHECK(last().failure.http_status == 402);
  start();
  CHECK(last().failure.error == model_error_class::truncated);
  CHECK(text_of(last().message) == "0123");
}

TEST_CASE_FIXTURE(scripted_story, "delays pass on the virtual clock") {
  auto slow = test::says("0123456789012345678901234567890123456789");
  slow.first_delay = 2s;
  slow.delta_delay = 1s;
  model.push(slow);
  start();
  CHECK(heard->events.empty());
  advance(2s);
  CHECK(heard->text().size() == 12);
  advance(1s);
  CHECK(heard->text().size() > 12);
  self->send<caf::message_priority::high>(call, atom::cancel_v);
  settle();
  CHECK(last().message.stop == stop_reason::aborted);
  CHECK(text_of(last().message) == heard->text());
  CHECK(model.cancelled() == 1);
}

TEST_CASE_FIXTURE(scripted_story, "a hanging reply waits for its cancel") {
  model.push(test::hangs_after("thinking"));
  start();
  advance(1h);
  CHECK(heard->ends.empty());
  CHECK(model.open_calls() == 1);
  self->send<caf::message_priority::high>(call, atom::cancel_v);
  settle();
  CHECK(text_of(last().message) == "thinking");
  CHECK(model.open_calls() == 0);
}

TEST_CASE_FIXTURE(scripted_story, "a deaf reply ends only with its sink") {
  auto deaf = test::hangs_after("x");
  deaf.deaf = true;
  model.push(deaf);
  start();
  self->send<caf::message_priority::high>(call, atom::cancel_v);
  settle();
  CHECK(heard->ends.empty());
  CHECK(model.cancelled() == 1);
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  settle();
  CHECK(model.open_calls() == 0);
}

TEST_CASE_FIXTURE(scripted_story, "the cache estimate follows the session") {
  model.otherwise([](const model_request&) { return test::says("abcdefgh"); });
  start("one two three four", "s");
  auto first = last().message.spent;
  CHECK(first.input == 0);
  CHECK(first.cache_read == 0);
  CHECK(first.cache_write > 0);
  CHECK(first.output == 2);
  start("one two three four five", "s");
  auto second = last().message.spent;
  CHECK(second.cache_read == first.cache_write);
  CHECK(second.total_tokens
        == second.cache_read + second.cache_write + second.output);
  start("one two three four five");
  CHECK(last().message.spent.input > 0);
  CHECK(last().message.spent.cache_read == 0);
}
