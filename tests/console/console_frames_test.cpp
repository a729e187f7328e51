#include "tests/console/console_world.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "adapters/console/frame_responder.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

namespace {

/// A console for programs.
struct frame_world : console_world {
  frame_world()
    : console_world(
      false, [](console::console_options& options) { options.json = true; }) {}

  std::vector<boost::json::object> frames() const {
    std::vector<boost::json::object> result;
    std::string_view rest = port->out;
    while (!rest.empty()) {
      auto end = rest.find('\n');
      auto frame = contracts::parse_frame(rest.substr(0, end));
      REQUIRE(frame);
      result.push_back(*frame);
      rest.remove_prefix(end + 1);
    }
    return result;
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> result;
    for (const auto& frame : frames())
      result.push_back(json::text_or_empty(frame, "kind"));
    return result;
  }
};

/// The work of a responder is not part of these stories.
struct silent_responder_state {
  responder_actor::stateful_pointer<silent_responder_state> self;
  static inline const char* name = "silent_responder";
  explicit silent_responder_state(
    responder_actor::stateful_pointer<silent_responder_state> me)
    : self(me) {}
  responder_actor::behavior_type make_behavior() {
    return {
      [](atom::paths, const std::string&, const std::string&) {},
      [](atom::status, const std::string&) {},
      [](atom::append, const std::string&) {},
      [](atom::replace, const std::string&) {},
      [](atom::event, const contracts::stream_event&) {},
      [](atom::finish, const final_answer&) { return caf::ok_atom_v; },
      [this](atom::dismiss) {
        self->quit();
        return caf::ok_atom_v;
      },
    };
  }
};

} // namespace

TEST_CASE_FIXTURE(frame_world,
                  "a program reads what a run tells, and its end") {
  CHECK(start());
  say("2+2?");
  responder_args args;
  args.event.address = {platform_id::console, "local"};
  args.event.message_id = id_of(0);
  args.run = "run-1";
  args.transport = offices->attached;
  auto make = console::make_frame_responders(
    [](caf::actor_system& sys, const responder_args&) {
      return kit::spawn_stateful<responder_actor, silent_responder_state>(sys);
    });
  auto responder = make(*system, args);
  args = {};
  contracts::stream_event call;
  call.kind = contracts::stream_event_kind::tool_call_started;
  call.id = "c1";
  call.name = "bash";
  self->send(responder, atom::status_v, std::string{"Thinking…"});
  self->send(responder, atom::event_v, call);
  self->send(responder, atom::append_v, std::string{"It is "});
  self->send(responder, atom::replace_v, std::string{"It's "});
  settle();
  CHECK(kinds()
        == std::vector<std::string>{"status", "event", "append", "replace"});
  // What the outbox is to show meanwhile was told already.
  auto interim = answer_to(id_of(0), "It's ");
  interim.rank = outbound_class::interim;
  CHECK(deliver(interim).fault == delivery_fault::none);
  CHECK(frames().size() == 4);
  deliver(answer_to(id_of(0), "It's 4."));
  close(id_of(0));
  REQUIRE(frames().size() == 5);
  auto last = contracts::read_frame(frames()[4]);
  CHECK(last.kind == contracts::frame_kind::finish);
  CHECK(last.text.value_or("") == "It's 4.");
  CHECK(port->err.empty());
  auto over = false;
  ask(
    responder, [&](caf::ok_atom) { over = true; },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); },
    atom::dismiss_v);
  CHECK(over);
}

TEST_CASE_FIXTURE(frame_world,
                  "a program is shown answers alone, as they are") {
  CHECK(start());
  ask(
    offices->attached,
    [](const transport_info& info) {
      CHECK_FALSE(info.streaming);
      CHECK(info.activity == activity_style::none);
      CHECK(info.fallback == contracts::unsupported_part_fallback::none);
    },
    [](const caf::error&) { FAIL("no answer"); }, atom::config_v);
}

TEST_CASE_FIXTURE(frame_world, "what belongs to no turn goes to stderr") {
  start();
  say("/help");
  auto notice = answer_to("job:1", "A job has ended.");
  notice.content = outbound_content::notice;
  notice.rank = outbound_class::control;
  deliver(notice);
  CHECK(port->out.empty());
  CHECK(port->err.find("A job has ended.") != std::string::npos);
}

TEST_CASE_FIXTURE(frame_world,
                  "a refused message and a stop end with a frame") {
  offices->failures.push_back(make_failure(errc::denied, "not you"));
  start();
  say("secret");
  say("stop");
  CHECK(kinds() == std::vector<std::string>{"error", "finish"});
}

TEST_CASE_FIXTURE(frame_world, "a line that is never offered ends, too") {
  start();
  for (size_t i = 0; i <= limits::console_open_messages; ++i)
    say("m");
  say("/attach nothing.txt");
  CHECK(kinds() == std::vector<std::string>{"error"});
  CHECK(json::text_or_empty(frames()[0], "code") == "bad_request");
  auto first = frames()[0];
  CHECK(json::int_member(first.at("metadata").get_object(), "line") == 22);
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error&) { FAIL("no drain"); }, atom::drain_v);
  CHECK(kinds() == std::vector<std::string>{"error", "error"});
  CHECK(json::text_or_empty(frames()[1], "code") == "shutting_down");
}

TEST_CASE_FIXTURE(frame_world, "a line that was cut is told as a warning") {
  start();
  port->events.line("long", true);
  settle();
  deliver(answer_to(id_of(0), "4"));
  CHECK(kinds() == std::vector<std::string>{"event", "finish"});
}
