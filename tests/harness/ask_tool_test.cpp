#include "actors/harness/tools/ask_core.hpp"
#include "actors/harness/tools/ask_tool.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace bureau;
using namespace bureau::test;
using contracts::ask_status;

namespace {

constexpr const char* colours =
  R"({"label":"colour","questions":[{"header":"Colour","question":"Which?",)"
  R"("options":[{"label":"red","description":"as roses"},)"
  R"({"label":"blue","description":"as the sky"}],"multiSelect":true}],)"
  R"("timeout":30})";

std::string text_of(const tool_outcome& outcome) {
  std::string result;
  for (const auto& block : outcome.content)
    result += block.text;
  return result;
}

/// What a test sees and steers of the hub.
struct hub_probe {
  std::vector<ask_request> requests;
  std::vector<std::string> cancelled;
  std::optional<errc> fault;
  std::optional<contracts::ask_snapshot> end;
};

struct hub_state {
  using pointer = interaction_actor::stateful_pointer<hub_state>;
  using ask_promise = caf::typed_response_promise<contracts::ask_snapshot>;
  static inline const char* name = "hub";
  explicit hub_state(pointer me) : self(me) {}
  void init(std::shared_ptr<hub_probe> into) { probe = std::move(into); }

  interaction_actor::behavior_type make_behavior() {
    return {
      [](atom::attach, platform_id, const interaction_sink_actor&) {},
      [this](atom::ask, const ask_request& request) {
        auto answer = self->make_response_promise<ask_promise>();
        probe->requests.push_back(request);
        if (probe->fault)
          answer.deliver(make_failure(*probe->fault, "The hub says no."));
        else if (probe->end)
          answer.deliver(*probe->end);
        else
          open = answer;
        return answer;
      },
      [](atom::read, const std::string&) { return pending_ask{}; },
      [](atom::notice, const status_post&) { return caf::ok_atom_v; },
      [](atom::submit, const contracts::ask_submission&) {
        return contracts::ask_submission_result{};
      },
      [this](atom::cancel, const std::string& conversation) {
        probe->cancelled.push_back(conversation);
        auto ended = probe->requests.back().ask;
        ended.status = ask_status::cancelled;
        open.deliver(ended);
      },
      [](atom::status) { return status_line{}; },
    };
  }

  pointer self;
  std::shared_ptr<hub_probe> probe;
  ask_promise open;
};

struct ask_world : node_fixture {
  ask_world() {
    hub = kit::spawn_stateful<interaction_actor, hub_state>(*system, probe);
    tool_pack_args args;
    args.place.address = {platform_id::telegram, "-5"};
    args.session_key = "-5:7";
    tool = harness::make_ask_tool(hub)(*system, args).front().owner;
    settle();
  }

  std::shared_ptr<std::optional<tool_outcome>> begin(std::string arguments) {
    auto end = std::make_shared<std::optional<tool_outcome>>();
    tool_invocation what;
    what.call_id = "c1";
    what.name = "ask";
    what.arguments = json_text{std::move(arguments)};
    system->spawn([end, what, target = tool](caf::event_based_actor* client) {
      client->request(target, caf::infinite, atom::call_v, what)
        .then([end](const tool_outcome& outcome) { *end = outcome; },
              [](const caf::error&) {});
    });
    settle();
    return end;
  }

  tool_outcome call(std::string arguments) {
    auto end = begin(std::move(arguments));
    REQUIRE(end->has_value());
    return **end;
  }

  std::shared_ptr<hub_probe> probe = std::make_shared<hub_probe>();
  interaction_actor hub;
  tool_actor tool;
};

contracts::ask_snapshot asked(ask_status status) {
  contracts::ask_snapshot result;
  result.questions = {
    {"q0",
     "Colour",
     "Which?",
     {{"q0o0", "red", "as roses"}, {"q0o1", "blue", "as the sky"}},
     true},
    {"q1",
     "Size",
     "How large?",
     {{"q1o0", "S", ""}, {"q1o1", "L", ""}},
     false}};
  result.status = status;
  return result;
}

} // namespace

TEST_CASE("the model reads what was chosen") {
  auto ask = asked(ask_status::answered);
  ask.answers = {{"q0", {"q0o1", "q0o0"}, std::string{"and green"}},
                 {"q1", {"q1o1"}, caf::none}};
  auto outcome = harness::asked_outcome(ask);
  CHECK(text_of(outcome)
        == "The user answered.\n"
           "Colour (Which?): red; blue; in their own words: and green\n"
           "Size (How large?): L");
  CHECK_FALSE(outcome.is_error);
}

TEST_CASE("the model reads why there is no answer") {
  auto ask = asked(ask_status::expired);
  CHECK(text_of(harness::asked_outcome(ask)).find("did not answer in time")
        != std::string::npos);
  ask.answers = {{"q0", {"q0o1"}, caf::none}};
  ask.status = ask_status::cancelled;
  CHECK(text_of(harness::asked_outcome(ask))
        == "The question was withdrawn before it was answered.\n"
           "Answered before that:\nColour (Which?): blue");
}

TEST_CASE_FIXTURE(ask_world, "a call asks in its own conversation") {
  probe->end = asked(ask_status::expired);
  auto outcome = call(colours);
  CHECK_FALSE(outcome.is_error);
  REQUIRE(probe->requests.size() == 1);
  const auto& request = probe->requests[0];
  CHECK(request.conversation_id == "telegram:-5:7");
  CHECK(request.timeout_ms == 30'000);
  CHECK(request.ask.questions[0].multi_select);
  CHECK(request.ask.questions[0].options[1].label == "blue");
}

TEST_CASE_FIXTURE(ask_world, "where nobody can be asked the model is told") {
  probe->fault = errc::not_ready;
  auto outcome = call(colours);
  CHECK(outcome.is_error);
  CHECK(text_of(outcome).starts_with("Nobody can be asked here"));
  probe->fault = errc::conflict;
  CHECK(text_of(call(colours)) == "The hub says no.");
  self->send_exit(hub, caf::exit_reason::kill);
  settle();
  CHECK(text_of(call(colours)).starts_with("Nobody can be asked here"));
}

TEST_CASE_FIXTURE(ask_world, "an ask out of bounds never leaves the tool") {
  auto outcome = call(R"({"label":"x","questions":[]})");
  CHECK(outcome.is_error);
  CHECK(text_of(outcome) == "an ask has one to 5 questions");
  CHECK(call("[]").is_error);
  CHECK(probe->requests.empty());
}

TEST_CASE_FIXTURE(ask_world, "a stop cancels the ask") {
  auto end = begin(colours);
  CHECK_FALSE(end->has_value());
  self->send(tool, atom::abort_v, std::string{"other"});
  settle();
  CHECK(probe->cancelled.empty());
  self->send(tool, atom::abort_v, std::string{"c1"});
  settle();
  CHECK(probe->cancelled == std::vector<std::string>{"telegram:-5:7"});
  REQUIRE(end->has_value());
  CHECK((*end)->is_error);
  CHECK(text_of(**end) == "Operation aborted.");
}
