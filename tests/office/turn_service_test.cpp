#include "actors/office/turn_service.hpp"
#include "tests/office/story.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

struct service_story {
  office_world world;
  office_node node{world};
  turn_service_actor turns = offices::spawn_turn_service(
    *node.system,
    {node.offices_handle, node.registry, {}, node.wall, node.chance});

  ~service_story() {
    caf::anon_send_exit(turns, caf::exit_reason::user_shutdown);
    node.settle();
  }

  /// What a request came to, once it has.
  template <class T>
  struct pending {
    std::optional<T> value;
    caf::error failure;
  };

  template <class T, class... Args>
  pending<T> ask(const Args&... args) {
    pending<T> result;
    node.ask(
      turns, [&](const T& told) { result.value = told; },
      [&](caf::error& err) { result.failure = std::move(err); }, args...);
    return result;
  }

  /// Sends a request and leaves it open.
  template <class... Args>
  auto begin(const Args&... args) {
    auto open = node.self->request(turns, caf::infinite, args...);
    node.settle();
    return open;
  }

  static contracts::turn_request turn(const std::string& text,
                                      const std::string& id = "1") {
    contracts::turn_request request;
    request.conversation_id = "console:local";
    request.text = text;
    request.metadata = json_text{R"({"id":")" + id + R"("})"};
    return request;
  }

  static contracts::notify_request verbatim(const std::string& text,
                                            const std::string& key = "k") {
    contracts::notify_request request;
    request.conversation_id = "console:local";
    request.text = text;
    request.verbatim = true;
    request.delivery_key = key;
    return request;
  }

  static contracts::live_input_request follow_up(const std::string& text) {
    contracts::live_input_request request;
    request.conversation_id = "console:local";
    request.id = "i1";
    request.text = text;
    request.received_at = "2026-01-02T03:04:05.000Z";
    return request;
  }

  contracts::live_input_offer
  offer(const contracts::live_input_request& request) {
    auto told = ask<contracts::live_input_offer>(atom::offer_v, request);
    REQUIRE(told.value);
    return *told.value;
  }

  /// A run of the session that holds its turn.
  void run(const std::string& id) {
    CHECK(node.say(id) == "taken");
    CHECK(node.run(id, "r-" + id) == "ok");
    session_snapshot seen;
    seen.session_key = "local";
    seen.state = "running";
    seen.run = "r-" + id;
    seen.message_id = id;
    node.self->send(node.sessions->owner, atom::settled_v, seen);
    node.settle();
  }
};

} // namespace

TEST_CASE_FIXTURE(service_story, "it says what it can do") {
  auto told = ask<turn_capabilities>(atom::config_v);
  CHECK(told.value == turn_capabilities{true, true, true, false});
  auto none =
    ask<artifact_opened>(atom::open_v, contracts::artifact_open_request{});
  CHECK(code_of(none.failure) == errc::not_ready);
}

TEST_CASE_FIXTURE(service_story, "a turn is answered when it is delivered") {
  node.sessions->automatic = true;
  auto told = ask<contracts::turn_response>(atom::turn_v, turn("hello"));
  REQUIRE(told.value);
  CHECK(told.value->text == std::string{"answer to turn:1"});
  CHECK(world.shown == std::vector<std::string>{"answer to turn:1"});
  // The same turn again is not run again, and has ended the same way.
  told = ask<contracts::turn_response>(atom::turn_v, turn("hello"));
  REQUIRE(told.value);
  CHECK(told.value->text == std::string{"answer to turn:1"});
  CHECK(node.sessions->tickets.size() == 1);
}

TEST_CASE_FIXTURE(service_story, "a cancelled turn says so, with the reason") {
  auto open = begin(atom::turn_v, turn("hello"));
  turn_cancel wanted;
  wanted.conversation_id = "console:local";
  wanted.reason = *contracts::channel_user_cancel("control");
  auto told = ask<turn_cancelled>(atom::cancel_v, wanted);
  REQUIRE(told.value);
  CHECK(told.value->turns == 1);
  REQUIRE(node.sessions->stops.size() == 1);
  CHECK(node.sessions->stops[0].message_id == "turn:1");
  CHECK(contracts::is_channel_user_cancel(node.sessions->stops[0].reason));
  turn_dead fact;
  fact.session_key = "local";
  fact.message_id = "turn:1";
  fact.why = "stopped";
  fact.told = true;
  fact.cancelled = node.sessions->stops[0].reason;
  node.ask(
    node.sessions->owner, [](caf::ok_atom) {},
    [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::failed_v,
    fact);
  open.receive(
    [](const contracts::turn_response&) { FAIL("it was cancelled"); },
    [&](const caf::error& err) {
      CHECK(contracts::is_response_cancelled(err));
      CHECK(sentence_of(err) == wanted.reason.message);
    });
}

TEST_CASE_FIXTURE(service_story,
                  "all turns that were accepted end, those after them run") {
  run("1");
  CHECK(node.say("2") == "taken");
  CHECK(node.say("3") == "taken");
  turn_cancel wanted;
  wanted.conversation_id = "console:local";
  wanted.all = true;
  auto told = ask<turn_cancelled>(atom::cancel_v, wanted);
  REQUIRE(told.value);
  CHECK(told.value->turns == 3);
  CHECK(told.value->message_id == "1");
  std::vector<std::string> ended;
  for (const auto& stop : node.sessions->stops)
    ended.push_back(stop.message_id);
  // What waits ends first, or the end of the running turn would start it.
  CHECK(ended == std::vector<std::string>{"2", "3", "1"});
  CHECK(node.say("4") == "taken");
  CHECK(node.sessions->stops.size() == 3);
  CHECK(node.sessions->tickets.back().event.message_id == "4");
}

TEST_CASE_FIXTURE(service_story, "without a turn there is nothing to cancel") {
  turn_cancel wanted;
  wanted.conversation_id = "console:local";
  for (auto all : {false, true}) {
    wanted.all = all;
    auto told = ask<turn_cancelled>(atom::cancel_v, wanted);
    CHECK(told.value == turn_cancelled{});
  }
}

// -- follow-ups ---------------------------------------------------------------

TEST_CASE_FIXTURE(service_story, "a follow-up needs a turn that runs") {
  CHECK(offer(follow_up("and?")).unavailable
        == contracts::live_input_refusal::inactive);
  run("1");
  CHECK_FALSE(offer(follow_up("and?")).unavailable);
  REQUIRE(node.sessions->tickets.size() == 2);
  CHECK(node.sessions->tickets.back().event.message_id == "live:i1");
  CHECK(node.sessions->tickets.back().offer);
  CHECK_FALSE(node.sessions->tickets.front().offer);
}

TEST_CASE_FIXTURE(service_story, "a follow-up that is no good is refused") {
  run("1");
  auto blank = follow_up(" ");
  CHECK(offer(blank).unavailable == contracts::live_input_refusal::invalid);
  auto undated = follow_up("x");
  undated.received_at = "soon";
  CHECK(offer(undated).unavailable == contracts::live_input_refusal::invalid);
  CHECK(offer(follow_up(std::string(8001, 'x'))).unavailable
        == contracts::live_input_refusal::too_large);
  auto other = follow_up("x");
  other.target_run_id = "r-other";
  CHECK(offer(other).unavailable == contracts::live_input_refusal::inactive);
  other.target_run_id = "r-1";
  CHECK_FALSE(offer(other).unavailable);
  CHECK(node.sessions->tickets.size() == 2);
}

TEST_CASE_FIXTURE(service_story, "a follow-up settles with its entry") {
  run("1");
  CHECK_FALSE(offer(follow_up("and?")).unavailable);
  auto open = begin(atom::settled_v, live_input_query{"console:local", "i1"});
  CHECK(node.produce("1", "r-1", "both", {}, {"live:i1"}) == "ok");
  node.settle();
  open.receive(
    [](const contracts::live_input_settlement& told) {
      CHECK(told.outcome == contracts::live_input_outcome::applied);
      CHECK(told.run_id == "r-1");
    },
    [](const caf::error& err) { FAIL(sentence_of(err)); });
  auto unknown = ask<contracts::live_input_settlement>(
    atom::settled_v, live_input_query{"console:local", "i2"});
  CHECK(code_of(unknown.failure) == errc::not_found);
}

// -- notifications ------------------------------------------------------------

TEST_CASE_FIXTURE(service_story,
                  "a text goes out as it stands, once, and into the history") {
  auto told = ask<contracts::notify_delivery_result>(atom::deliver_v,
                                                     verbatim("/new stop"));
  REQUIRE(told.value);
  CHECK(told.value->delivered);
  CHECK(told.value->history_recorded == true);
  CHECK(world.shown == std::vector<std::string>{"/new stop"});
  CHECK(node.sessions->tickets.empty());
  auto log = world.log();
  REQUIRE(log.size() == 1);
  CHECK(log[0].user == "bot");
  CHECK(log[0].text == "/new stop");
  // It names no session: the next turn of it is to know the text.
  CHECK(log[0].session_key.empty());
  told = ask<contracts::notify_delivery_result>(atom::deliver_v,
                                                verbatim("/new stop"));
  REQUIRE(told.value);
  CHECK(told.value->delivered);
  CHECK(world.shown.size() == 1);
}

TEST_CASE_FIXTURE(service_story, "a text waits for the turns before it") {
  run("1");
  auto open = begin(atom::deliver_v, verbatim("by the way"));
  CHECK(world.shown.empty());
  CHECK(node.say("2") == "taken");
  CHECK(node.produce("1", "r-1", "first") == "ok");
  node.settle();
  CHECK(world.shown == std::vector<std::string>{"first", "by the way"});
  open.receive(
    [](const contracts::notify_delivery_result& told) {
      CHECK(told.delivered);
    },
    [](const caf::error& err) { FAIL(sentence_of(err)); });
}

TEST_CASE("a text that was accepted survives a restart") {
  office_world kept;
  {
    office_node node{kept, {}, false};
    auto turns = offices::spawn_turn_service(
      *node.system,
      {node.offices_handle, node.registry, {}, node.wall, node.chance});
    node.attach();
    node.gate->stall_before_gate = true;
    auto open = node.self->request(turns, caf::infinite, atom::deliver_v,
                                   service_story::verbatim("later"));
    node.settle();
    CHECK(kept.shown.empty());
    // Its sender hears that it is kept.
    node.advance(21s);
    open.receive(
      [](const contracts::notify_delivery_result& told) {
        CHECK_FALSE(told.delivered);
        CHECK(told.code == std::string{"delivery_pending"});
      },
      [](const caf::error& err) { FAIL(sentence_of(err)); });
    node.cut();
    caf::anon_send_exit(turns, caf::exit_reason::user_shutdown);
    node.settle();
  }
  office_node again{kept};
  again.settle();
  CHECK(kept.shown == std::vector<std::string>{"later"});
}

TEST_CASE_FIXTURE(service_story, "a notification may be a turn of its own") {
  node.sessions->automatic = true;
  contracts::notify_request request;
  request.conversation_id = "console:local";
  request.text = "What is new?";
  request.delivery_key = "n";
  auto told = ask<contracts::notify_delivery_result>(atom::deliver_v, request);
  REQUIRE(told.value);
  CHECK(told.value->delivered);
  REQUIRE(node.sessions->tickets.size() == 1);
  CHECK(node.sessions->tickets[0].event.origin == turn_origin::event);
  CHECK(world.shown == std::vector<std::string>{"answer to notify:n"});
  CHECK_FALSE(told.value->history_recorded);
}

TEST_CASE_FIXTURE(service_story, "what cannot arrive is not taken") {
  auto request = verbatim("hello");
  request.conversation_id = "slack:C1";
  auto told = ask<contracts::notify_delivery_result>(atom::deliver_v, request);
  REQUIRE(told.value);
  CHECK_FALSE(told.value->delivered);
  CHECK(told.value->code == std::string{"destination_channel_unavailable"});
  CHECK(told.value->retryable == true);
  request.conversation_id = "nowhere";
  told = ask<contracts::notify_delivery_result>(atom::deliver_v, request);
  REQUIRE(told.value);
  CHECK(told.value->code == std::string{"invalid_request"});
  CHECK(told.value->retryable == false);
  node.self->send(node.offices_handle, atom::detach_v, platform_id::console);
  told =
    ask<contracts::notify_delivery_result>(atom::deliver_v, verbatim("hello"));
  REQUIRE(told.value);
  CHECK(told.value->code == std::string{"destination_channel_unavailable"});
  CHECK(world.shown.empty());
}

TEST_CASE_FIXTURE(service_story, "it lists where notifications can go") {
  auto told = ask<notify_destinations>(atom::list_v);
  REQUIRE(told.value);
  CHECK(told.value->list.empty());
  CHECK(node.say("1") == "taken");
  told = ask<notify_destinations>(atom::list_v);
  REQUIRE(told.value);
  REQUIRE(told.value->list.size() == 1);
  CHECK(told.value->list[0].conversation_id == "console:local");
}
