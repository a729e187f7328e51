#include "tests/console/console_world.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

TEST_CASE("a question is shown on a terminal and answered by a number") {
  auto hub = std::make_shared<hub_script>();
  console_world at{true, {}, hub};
  CHECK(at.start());
  REQUIRE(hub->sink);
  contracts::ask_snapshot ask;
  ask.interaction_id = "i1";
  ask.questions.push_back({"q0",
                           "Colour",
                           "Which?",
                           {{"q0o0", "red", "x"}, {"q0o1", "blue", "y"}},
                           false});
  auto shown = false;
  at.ask(
    hub->sink, [&](caf::ok_atom) { shown = true; },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); },
    atom::present_v, ask_presentation{"console:local", ask});
  CHECK(shown);
  CHECK(at.port->out.find("  2. blue - y\n") != std::string::npos);
  at.say("2");
  CHECK(at.offices->intakes.empty());
  REQUIRE(hub->answers.size() == 1);
  CHECK(hub->answers[0].conversation_id == "console:local");
  CHECK(hub->answers[0].interaction_id == "i1");
  at.say("thanks");
  CHECK(at.offices->intakes.size() == 1);
  // A late answer is told, and costs nothing else.
  at.self->send(hub->sink, atom::replace_v,
                ask_presentation{"console:local", ask});
  hub->refusal = contracts::ask_refusal::stale;
  at.ask(
    hub->sink, [](caf::ok_atom) {}, [](const caf::error&) {}, atom::present_v,
    ask_presentation{"console:local", ask});
  at.say("1");
  CHECK(at.port->out.find("The question is closed") != std::string::npos);
  hub->sink = nullptr;
}

TEST_CASE("a pipe asks nobody") {
  auto hub = std::make_shared<hub_script>();
  console_world at{false, {}, hub};
  CHECK(at.start());
  CHECK_FALSE(hub->sink);
}
