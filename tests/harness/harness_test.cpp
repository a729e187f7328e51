#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/harness/harness_world.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

tool_script delayed(std::chrono::milliseconds delay, std::string text) {
  tool_script result;
  result.delay = delay;
  result.text = std::move(text);
  return result;
}

tool_script hanging(bool deaf = false) {
  tool_script result;
  result.hangs = true;
  result.deaf = deaf;
  return result;
}

scripted_reply calls_two(const char* first, const char* second) {
  scripted_reply result;
  result.content = {call_block(first, "{}", "c1"),
                    call_block(second, "{}", "c2")};
  return result;
}

std::vector<std::string> tool_ends(const std::vector<harness_event>& events) {
  std::vector<std::string> result;
  for (const auto& event : events)
    if (event.kind == harness_event_kind::tool_end)
      result.push_back(event.call_id);
  return result;
}

} // namespace

// -- runs ---------------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "an answer is stored, shown and settled") {
  model.push(says("hello there, how are you?"));
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "hello there, how are you?");
  CHECK(session->roles() == "user assistant");
  CHECK(session->opens == std::vector<std::string>{"m1"});
  CHECK(session->appends == std::vector<size_t>{2, 1});
  CHECK(session->facts("m1").worked);
  CHECK(event_kinds()
        == "agent_start turn_start message_start message_end message_start "
           "message_end turn_end agent_end");
  REQUIRE(model.call_count() == 1);
  const auto& asked = model.requests()[0];
  CHECK(asked.system_prompt == "You are a test bot.");
  CHECK(asked.session_id == "session-1");
  CHECK(asked.platform == "console");
  REQUIRE(asked.messages.size() == 1);
  CHECK(text_of(asked.messages[0]) == "hi");
  std::string shown;
  for (const auto& event : *events)
    shown += event.update.delta;
  CHECK(shown == "hello there, how are you?");
}

TEST_CASE_FIXTURE(harness_world, "a listener sees only what is on disk") {
  model.push(says("hello"));
  session->append_delay = 10ms;
  start();
  auto end = prompt("hi");
  CHECK(events->empty());
  CHECK(session->roles() == "user");
  advance(10ms);
  CHECK(event_kinds()
        == "agent_start turn_start message_start message_end message_start");
  CHECK(session->roles() == "user assistant");
  CHECK(end->is_open());
  advance(10ms);
  CHECK(end->outcome);
}

TEST_CASE_FIXTURE(harness_world, "a tool call and its result") {
  tools.add("echo", delayed(30ms, "pong"));
  model.push(calls("echo", R"({"text":"ping"})", "c1")).push(says("done"));
  start();
  auto end = prompt("hi");
  advance(30ms);
  REQUIRE(end->outcome);
  CHECK(session->roles() == "user assistant toolResult assistant");
  REQUIRE(tools.calls().size() == 1);
  CHECK(tools.calls()[0].arguments.text == R"({"text":"ping"})");
  CHECK(model.requests()[1].messages.size() == 3);
  CHECK(model.requests()[1].tools.size() == 1);
  CHECK(end->outcome->stats.duration_ms == 30);
  CHECK(end->outcome->stats.tool_calls == 1);
  REQUIRE(samples->size() == 2);
  CHECK((*samples)[0]
        == metric_sample{metric::tool_calls, {"echo", "false"}, 1});
  CHECK((*samples)[1]
        == metric_sample{metric::tool_duration, {"echo"}, 30'000});
}

TEST_CASE_FIXTURE(harness_world,
                  "parallel tools end as they are ready, results keep order") {
  tools.add("slow", delayed(30ms, "A")).add("fast", delayed(5ms, "B"));
  model.push(calls_two("slow", "fast")).push(says("done"));
  start();
  auto end = prompt("hi");
  CHECK(tools.calls().size() == 2);
  advance(30ms);
  REQUIRE(end->outcome);
  CHECK(tool_ends(*events) == std::vector<std::string>{"c2", "c1"});
  auto stored = session->messages();
  REQUIRE(stored.size() == 5);
  CHECK(text_of(stored[2]) == "A");
  CHECK(text_of(stored[3]) == "B");
  CHECK(session->appends == std::vector<size_t>{2, 1, 2, 1});
}

TEST_CASE_FIXTURE(harness_world, "a sequential tool makes the batch wait") {
  tools.add("slow", delayed(30ms, "A"));
  tools.add("seq", delayed(5ms, "B"), true);
  model.push(calls_two("slow", "seq")).push(says("done"));
  start();
  auto end = prompt("hi");
  CHECK(tools.calls().size() == 1);
  advance(30ms);
  CHECK(tools.calls().size() == 2);
  advance(5ms);
  REQUIRE(end->outcome);
  CHECK(tool_ends(*events) == std::vector<std::string>{"c1", "c2"});
}

TEST_CASE_FIXTURE(harness_world, "names that no tool has share one label") {
  model.push(calls("rm -rf", "{}", "c1")).push(says("sorry"));
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK((*samples)[0]
        == metric_sample{metric::tool_calls, {"unknown", "true"}, 1});
}

TEST_CASE_FIXTURE(harness_world, "a tool's error becomes an error result") {
  tool_script fails;
  fails.failure = errc::transport;
  fails.text = "boom";
  tools.add("echo", fails);
  model.push(calls("echo", "{}", "c1")).push(says("I see"));
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "I see");
  CHECK(text_of(session->messages()[2]) == "boom");
  CHECK(session->messages()[2].is_error);
}

TEST_CASE_FIXTURE(harness_world, "two prompts see each other's messages") {
  model.push(says("one")).push(says("two"));
  start();
  prompt("first");
  auto next = request("second");
  next.message_id = "m2";
  auto end = prompt(next);
  REQUIRE(end->outcome);
  CHECK(model.requests()[1].messages.size() == 3);
  CHECK(session->opens == std::vector<std::string>{"m1", "m2"});
}

TEST_CASE_FIXTURE(harness_world, "the history reaches as far as the prompt "
                                 "says") {
  model.push(says("one"));
  start();
  auto narrow = request("hi");
  narrow.history = {3, 7, 1};
  CHECK(prompt(narrow)->outcome);
  CHECK(session->reach == history_window{3, 7, 1});
}

TEST_CASE_FIXTURE(harness_world, "a resumed run does not repeat its message") {
  model.push(says("one"));
  start();
  model.push(says("again"));
  session->failing[1] = errc::disk;
  auto cut = prompt("hi");
  REQUIRE(cut->outcome);
  CHECK(cut->outcome->error_class == "disk");
  auto again = request("hi");
  again.resume = true;
  auto end = prompt(again);
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "again");
  CHECK(session->roles() == "user assistant");
}

// -- refusals -----------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "a second prompt is refused, the first goes "
                                 "on") {
  auto slow = says("done");
  slow.first_delay = 100ms;
  model.push(slow);
  start();
  auto first = prompt("one");
  auto second = prompt("two");
  REQUIRE(second->error);
  CHECK(code_of(*second->error) == errc::busy);
  advance(100ms);
  REQUIRE(first->outcome);
  CHECK(first->outcome->final_text == "done");
  CHECK(session->roles() == "user assistant");
}

TEST_CASE_FIXTURE(harness_world, "without a credential nothing happens") {
  start();
  auto what = request("hi");
  what.choice.model.provider = "my-llm.v2";
  what.choice.model.base_url = "https://llm.example.com/v1";
  auto end = prompt(what);
  REQUIRE(end->error);
  CHECK(code_of(*end->error) == errc::no_credential);
  CHECK(sentence_of(*end->error).find("my-llm.v2") != std::string::npos);
  CHECK(session->opens.empty());
  what.choice.api_key = secret_text{"key"};
  model.push(says("hello"));
  CHECK(prompt(what)->outcome);
}

TEST_CASE_FIXTURE(harness_world, "a session file that is corrupt refuses the "
                                 "prompt, the next one may work") {
  session->open_failure = errc::corrupt;
  start();
  auto end = prompt("hi");
  REQUIRE(end->error);
  CHECK(code_of(*end->error) == errc::corrupt);
  CHECK(events->empty());
  session->open_failure.reset();
  model.push(says("hello"));
  CHECK(prompt("hi")->outcome);
}

// -- the store fails ----------------------------------------------------------

TEST_CASE("the store fails at each append of a run with a tool call") {
  struct row {
    size_t append;
    const char* roles;
    size_t model_calls;
    size_t tool_calls;
  };
  const row rows[] = {
    {0, "", 0, 0},
    {1, "user", 1, 0},
    {2, "user assistant", 1, 1},
    {3, "user assistant toolResult", 2, 1},
  };
  enum class way { refuses, dies, silent };
  for (auto way : {way::refuses, way::dies, way::silent}) {
    for (const auto& row : rows) {
      CAPTURE(row.append);
      CAPTURE(static_cast<int>(way));
      harness_world world;
      world.tools.add("echo");
      world.model.push(calls("echo", "{}", "c1")).push(says("done"));
      if (way == way::refuses)
        world.session->failing[row.append] = errc::disk;
      else
        world.session->moods[row.append] =
          way == way::dies ? store_mood::dies : store_mood::silent;
      world.start();
      auto end = world.prompt("hi");
      if (way == way::silent) {
        CHECK(end->is_open());
        world.advance(limits::disk_timeout);
      }
      REQUIRE_FALSE(end->is_open());
      if (row.append == 0) {
        REQUIRE(end->error);
        CHECK(code_of(*end->error) == errc::disk);
        CHECK(world.events->empty());
      } else {
        REQUIRE(end->outcome);
        CHECK(end->outcome->stop == stop_reason::error);
        CHECK(end->outcome->error_class == "disk");
        CHECK(end->outcome->final_text.empty());
        CHECK(world.events->back().kind == harness_event_kind::agent_end);
      }
      CHECK(world.session->roles() == row.roles);
      CHECK(world.model.call_count() == row.model_calls);
      CHECK(world.tools.calls().size() == row.tool_calls);
      CHECK(world.model.open_calls() == 0);
    }
  }
}

TEST_CASE_FIXTURE(harness_world, "a full disk is told in words for people") {
  auto begun =
    "I could not begin because this conversation cannot be saved to "
    "disk; nothing is lost: free disk space or check the permissions "
    "of the sessions directory, then send the message again.";
  auto stopped =
    "I stopped because this conversation cannot be saved to disk any "
    "more; what was saved before is kept: free disk space or check "
    "the permissions of the sessions directory, then send the "
    "message again.";
  model.push(says("done"));
  SUBCASE("before the message is in the session") {
    session->failing[0] = errc::disk;
    start();
    auto end = prompt("hi");
    REQUIRE(end->error);
    CHECK(sentence_of(*end->error) == begun);
  }
  SUBCASE("while the session is opened") {
    session->open_failure = errc::disk;
    start();
    auto end = prompt("hi");
    REQUIRE(end->error);
    CHECK(sentence_of(*end->error) == begun);
  }
  SUBCASE("later") {
    session->failing[1] = errc::disk;
    start();
    auto end = prompt("hi");
    REQUIRE(end->outcome);
    CHECK(end->outcome->error_sentence == stopped);
  }
}

TEST_CASE("the store ends or stays silent at open") {
  for (auto mood : {store_mood::dies, store_mood::silent}) {
    harness_world world;
    world.session->open_mood = mood;
    world.start();
    auto end = world.prompt("hi");
    world.advance(limits::disk_timeout);
    REQUIRE(end->error);
    CHECK(code_of(*end->error) == errc::disk);
    CHECK(sentence_of(*end->error).find("disk") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(harness_world, "an answer of the store that is too late "
                                 "changes nothing") {
  session->append_delay = limits::disk_timeout + 1s;
  start();
  auto end = prompt("hi");
  advance(limits::disk_timeout);
  REQUIRE(end->error);
  session->append_delay = 0s;
  model.push(says("hello"));
  auto next = request("again");
  next.message_id = "m2";
  auto second = prompt(next);
  advance(5s);
  REQUIRE(second->outcome);
  CHECK(second->outcome->final_text == "hello");
  CHECK(session->roles() == "user user assistant");
}

// -- the model fails ----------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "overloads are waited out") {
  for (auto i = 0; i < 3; ++i)
    model.push(fails(model_error_class::overloaded, "529 overloaded", 529));
  model.push(says("at last"));
  start();
  auto end = prompt("hi");
  CHECK(model.call_count() == 1);
  advance(1999ms);
  CHECK(model.call_count() == 1);
  advance(1ms);
  CHECK(model.call_count() == 2);
  advance(4s);
  CHECK(model.call_count() == 3);
  advance(8s);
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "at last");
  CHECK(session->roles() == "user assistant assistant assistant assistant");
  for (const auto& asked : model.requests())
    CHECK(asked.messages.size() == 1);
}

TEST_CASE_FIXTURE(harness_world, "what a provider asks for is waited") {
  model.push(fails(model_error_class::rate_limit, "slow down", 429, 7000));
  model.push(says("fine"));
  start();
  auto end = prompt("hi");
  advance(6999ms);
  CHECK(end->is_open());
  advance(1ms);
  CHECK(end->outcome);
}

TEST_CASE_FIXTURE(harness_world, "an error of the model is stored and told") {
  model.push(fails(model_error_class::auth, "401 bad key sk-1", 401));
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::error);
  CHECK(end->outcome->error_class == "auth");
  CHECK(end->outcome->error_sentence.find("FAUX_API_KEY") != std::string::npos);
  CHECK(end->outcome->error_sentence.find("sk-1") == std::string::npos);
  CHECK(session->messages().back().error_message == "401 bad key sk-1");
}

namespace {

struct dying_call_state {
  model_call_actor::stateful_pointer<dying_call_state> self;
  static inline const char* name = "dying_call";

  explicit dying_call_state(
    model_call_actor::stateful_pointer<dying_call_state> me)
    : self(me) {}

  void init(const model_sink_actor& sink) {
    stream_event event;
    event.kind = stream_kind::text_delta;
    event.delta = "I was about to";
    self->send(sink, atom::delta_v, event);
    self->quit(caf::exit_reason::kill);
  }

  model_call_actor::behavior_type make_behavior() {
    return {[](atom::cancel) {
    }};
  }
};

} // namespace

TEST_CASE_FIXTURE(harness_world, "a model call that dies is an error") {
  models = [](caf::actor_system& where, const model_request&,
              const model_sink_actor& sink) {
    return kit::spawn_stateful<model_call_actor, dying_call_state>(where, sink);
  };
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::error);
  CHECK(end->outcome->error_class == "unknown");
  CHECK(text_of(session->messages().back()) == "I was about to");
}

TEST_CASE_FIXTURE(harness_world, "a factory that makes no call is an error") {
  models = [](caf::actor_system&, const model_request&,
              const model_sink_actor&) {
    return model_call_actor{};
  };
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::error);
  models = model.factory();
  model.push(says("hello"));
  CHECK(prompt("hi")->outcome->final_text == "hello");
}

TEST_CASE_FIXTURE(harness_world, "what others say into the sink is ignored") {
  model_sink_actor sink;
  models = [&](caf::actor_system& where, const model_request& what,
               const model_sink_actor& target) {
    sink = target;
    return model.factory()(where, what, target);
  };
  auto slow = says("mine");
  slow.first_delay = 50ms;
  model.push(slow);
  start();
  auto end = prompt("hi");
  stream_end forged;
  forged.message.content = {text_block("forged")};
  self->send(sink, atom::done_v, forged);
  settle();
  CHECK(end->is_open());
  advance(50ms);
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "mine");
  sink = model_sink_actor{};
}

// -- tools fail ---------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "a tool owner that dies answers its calls") {
  tool_script deadly;
  deadly.dies = true;
  tools.add("slow", hanging()).add("deadly", deadly);
  model.push(calls_two("slow", "deadly")).push(says("pity"));
  start();
  auto end = prompt("hi");
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "pity");
  auto stored = session->messages();
  REQUIRE(stored.size() == 5);
  CHECK(stored[2].is_error);
  CHECK(stored[3].is_error);
  CHECK(text_of(stored[3]).find("unexpectedly") != std::string::npos);
}

TEST_CASE_FIXTURE(harness_world, "a tool whose owner is gone is an error, and "
                                 "so is one without an owner") {
  tool_script deadly;
  deadly.dies = true;
  tools.add("deadly", deadly).add("echo");
  model.push(calls("deadly", "{}", "c1"));
  model.push(calls("echo", "{}", "c2"));
  model.push(calls("orphan", "{}", "c3")).push(says("pity"));
  start();
  auto what = request("hi");
  what.tools.push_back(what.tools[1]);
  what.tools[2].definition.name = "orphan";
  what.tools[2].owner = tool_actor{};
  auto end = prompt(what);
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "pity");
  CHECK(session->messages()[4].is_error);
  CHECK(session->messages()[6].is_error);
}

// -- abort --------------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "abort while streaming keeps the beginning") {
  auto reply = says("The quick brown fox jumps over the lazy dog.");
  reply.delta_delay = 10ms;
  model.push(reply);
  start();
  auto end = prompt("hi");
  advance(15ms);
  abort();
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  CHECK(end->outcome->final_text.empty());
  CHECK(end->outcome->error_sentence.empty());
  auto last = session->messages().back();
  CHECK(last.stop == stop_reason::aborted);
  auto kept = text_of(last);
  CHECK_FALSE(kept.empty());
  CHECK(kept.size() < reply.content[0].text.size());
  CHECK(reply.content[0].text.rfind(kept, 0) == 0);
  CHECK(model.cancelled() == 1);
  advance(1min);
  CHECK(model.call_count() == 1);
}

TEST_CASE_FIXTURE(harness_world, "a model call deaf to cancel does not hold "
                                 "the run") {
  auto reply = hangs_after("so far");
  reply.deaf = true;
  model.push(reply);
  start();
  auto end = prompt("hi");
  abort();
  advance(limits::abort_peer_grace - 1ms);
  CHECK(end->is_open());
  advance(1ms);
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  CHECK(text_of(session->messages().back()) == "so far");
  CHECK(model.open_calls() == 0);
  model.push(says("next"));
  CHECK(prompt("again")->outcome->final_text == "next");
}

TEST_CASE_FIXTURE(harness_world, "abort while tools run: their results and a "
                                 "stub are stored, no further call is made") {
  tools.add("one", hanging()).add("two", hanging());
  model.push(calls_two("one", "two")).push(says("never"));
  start();
  auto end = prompt("hi");
  abort();
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  CHECK(tools.aborts() == std::vector<std::string>{"c1", "c2"});
  CHECK(session->roles() == "user assistant toolResult toolResult assistant");
  CHECK(text_of(session->messages()[2]) == "stopped by abort");
  CHECK(session->messages().back().stop == stop_reason::aborted);
  CHECK(model.call_count() == 1);
}

TEST_CASE_FIXTURE(harness_world, "a tool deaf to abort does not hold the run") {
  tools.add("good", hanging()).add("deaf", hanging(true));
  model.push(calls_two("good", "deaf"));
  start();
  auto end = prompt("hi");
  abort();
  CHECK(end->is_open());
  advance(limits::abort_settle_timeout - 1ms);
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  auto stored = session->messages();
  REQUIRE(stored.size() == 5);
  CHECK(text_of(stored[2]) == "stopped by abort");
  CHECK(stored[3].is_error);
  CHECK(text_of(stored[3]).find("did not end in time") != std::string::npos);
}

TEST_CASE_FIXTURE(harness_world, "a store deaf to everything does not hold an "
                                 "aborted run") {
  model.push(says("hello"));
  session->moods[1] = store_mood::silent;
  start();
  auto end = prompt("hi");
  abort();
  advance(limits::abort_settle_timeout - 1ms);
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
}

TEST_CASE_FIXTURE(harness_world, "abort while waiting for a retry") {
  model.push(fails(model_error_class::overloaded, "529"));
  start();
  auto end = prompt("hi");
  abort();
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  CHECK(events->back().kind == harness_event_kind::retry_end);
  advance(1min);
  CHECK(model.call_count() == 1);
}

TEST_CASE_FIXTURE(harness_world, "abort without a run, and twice") {
  model.push(hangs_after("x")).push(says("fine"));
  start();
  abort();
  auto end = prompt("hi");
  abort();
  abort();
  REQUIRE(end->outcome);
  abort();
  CHECK(prompt("again")->outcome->final_text == "fine");
}

// -- budget -------------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "the duration cap ends a tool that stalls") {
  tools.add("slow", hanging());
  model.push(calls("slow", "{}", "c1")).push(says("never"));
  start();
  auto what = request("hi");
  what.budget.max_duration_ms = 1000;
  auto end = prompt(what);
  advance(999ms);
  CHECK(end->is_open());
  advance(1ms);
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
  CHECK(end->outcome->stats.budget_reason == "1000ms >= 1000ms limit");
  CHECK(end->outcome->error_class == "budget");
  CHECK(event_kinds().find("budget_exceeded") != std::string::npos);
}

TEST_CASE_FIXTURE(harness_world, "the call cap is met before the second call") {
  tools.add("echo");
  model.push(calls("echo", "{}", "c1")).push(says("never"));
  start();
  auto what = request("hi");
  what.budget.max_llm_calls = 1;
  auto end = prompt(what);
  REQUIRE(end->outcome);
  CHECK(model.call_count() == 1);
  CHECK(tools.calls().empty());
  CHECK(end->outcome->stats.budget_reason == "1 LLM calls >= 1 limit");
}

TEST_CASE_FIXTURE(harness_world, "a cap of one run is not one of the next") {
  start();
  model.push(says("one")).push(says("two"));
  auto what = request("hi");
  what.budget.max_duration_ms = 1000;
  prompt(what);
  advance(2s);
  auto end = prompt("again");
  CHECK(end->outcome->final_text == "two");
  CHECK(end->outcome->stats.budget_reason.empty());
}

// -- the end of the harness ---------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "dispose without a run answers at once") {
  start();
  auto done = false;
  ask(
    subject, [&](caf::ok_atom) { done = true; },
    [](const caf::error&) { FAIL("dispose failed"); }, atom::dispose_v);
  CHECK(done);
  auto end = prompt("hi");
  CHECK(end->error);
}

TEST_CASE_FIXTURE(harness_world, "dispose ends an active run first") {
  tools.add("slow", hanging());
  model.push(calls("slow", "{}", "c1"));
  start();
  auto end = prompt("hi");
  auto done = false;
  ask(
    subject, [&](caf::ok_atom) { done = true; },
    [](const caf::error&) { FAIL("dispose failed"); }, atom::dispose_v);
  CHECK(done);
  REQUIRE(end->outcome);
  CHECK(end->outcome->stop == stop_reason::aborted);
}

TEST_CASE_FIXTURE(harness_world, "a prompt during dispose is refused") {
  tools.add("slow", hanging(true));
  model.push(calls("slow", "{}", "c1"));
  start();
  prompt("hi");
  auto pending = self->request(subject, caf::infinite, atom::dispose_v);
  settle();
  auto second = prompt("again");
  REQUIRE(second->error);
  CHECK(code_of(*second->error) == errc::shutting_down);
  advance(limits::abort_settle_timeout);
  auto done = false;
  pending.receive([&](caf::ok_atom) { done = true; }, [](const caf::error&) {});
  CHECK(done);
}

TEST_CASE_FIXTURE(harness_world, "a harness whose listener is gone stops its "
                                 "run and ends") {
  tools.add("slow", hanging());
  model.push(calls("slow", "{}", "c1")).push(says("never"));
  start();
  auto end = prompt("hi");
  self->send_exit(listener, caf::exit_reason::kill);
  settle();
  REQUIRE(end->error);
  CHECK(tools.aborts() == std::vector<std::string>{"c1"});
  CHECK(session->roles() == "user assistant");
  CHECK(prompt("again")->error);
}

TEST_CASE_FIXTURE(harness_world, "a harness that is killed takes its model "
                                 "call along and answers its prompt") {
  model.push(hangs_after("x"));
  start();
  auto end = prompt("hi");
  CHECK(model.open_calls() == 1);
  self->send_exit(subject, caf::exit_reason::kill);
  settle();
  REQUIRE(end->error);
  CHECK(code_of(*end->error) == errc::shutting_down);
  CHECK(model.open_calls() == 0);
}

// -- turns that go on ---------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "what a run knew is kept when something of it "
                                 "goes on") {
  tool_script begins;
  begins.continues = true;
  tools.add("begin", begins).add("look");
  model.push(calls("begin", "{}", "c1")).push(says("It runs."));
  start();
  CHECK(prompt("build it")->outcome);
  REQUIRE(kept_contexts->size() == 1);
  const auto& context = kept_contexts->front();
  CHECK(context.conversation_id == "console:1");
  CHECK(context.origin_run_id == "run-1");
  REQUIRE(context.messages.size() == 2);
  CHECK(context.messages[0].content == "build it");
  CHECK(context.messages[1].content == "It runs.");
  // Another run keeps nothing.
  model.push(calls("look", "{}", "c2")).push(says("Fine."));
  CHECK(prompt("look at it")->outcome);
  CHECK(kept_contexts->size() == 1);
}

TEST_CASE_FIXTURE(harness_world, "a continuation is built from what was kept, "
                                 "has no tools and stores nothing itself") {
  tools.add("begin");
  session->history = {user_message("said since", 1)};
  model.push(says("It is done."));
  start();
  auto what = request("the job ended");
  contracts::continuation_turn turn;
  turn.continuation_id = "job:1";
  turn.origin_run_id = "run-0";
  turn.pinned = contracts::continuation_context{};
  for (auto role : {contracts::continuation_role::user,
                    contracts::continuation_role::assistant}) {
    contracts::continuation_message said;
    said.role = role;
    said.content = "before";
    turn.pinned->messages.push_back(said);
  }
  what.continuation = turn;
  auto end = prompt(what);
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "It is done.");
  REQUIRE(model.requests().size() == 1);
  CHECK(model.requests()[0].tools.empty());
  REQUIRE(model.requests()[0].messages.size() == 3);
  CHECK(text_of(model.requests()[0].messages[0]) == "before");
  CHECK(text_of(model.requests()[0].messages[2]) == "the job ended");
  CHECK(session->entries.empty());
  REQUIRE(end->outcome->deferred.size() == 2);
  CHECK(text_of(end->outcome->deferred[0]) == "the job ended");
  CHECK(text_of(end->outcome->deferred[1]) == "It is done.");
}

TEST_CASE_FIXTURE(harness_world, "a continuation without what was kept goes on "
                                 "from the session") {
  session->history = {user_message("said since", 1)};
  model.push(says("It is done."));
  start();
  auto what = request("the job ended");
  what.continuation = contracts::continuation_turn{"job:1", "job:1", caf::none};
  CHECK(prompt(what)->outcome);
  REQUIRE(model.requests()[0].messages.size() == 2);
  CHECK(text_of(model.requests()[0].messages[0]) == "said since");
}
