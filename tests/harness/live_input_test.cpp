#include "actors/harness/live_input_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/harness/harness_world.hpp"
#include "tests/harness/loop_story.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::harness;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

constexpr int64_t some_time = 1'767'225'600'000;

live_input input_of(const std::string& id, std::string text = "and blue") {
  live_input result;
  result.id = id;
  result.text = "[now] [ada]: " + text;
  result.typed = std::move(text);
  result.received_ms = some_time;
  return result;
}

std::string word_of(const contracts::live_input_settlement& settlement) {
  using contracts::live_input_outcome;
  auto word = to_string(settlement.outcome);
  if (settlement.outcome == live_input_outcome::applied)
    word += " " + settlement.run_id;
  if (settlement.outcome == live_input_outcome::requeue)
    word += " " + to_string(settlement.reason);
  return word;
}

std::string word_of(const contracts::live_input_offer& offer) {
  return offer.unavailable ? "unavailable " + to_string(*offer.unavailable)
                           : "taken";
}

std::string word_of(const std::optional<live_input_settled>& item) {
  return item ? word_of(item->settlement) : "open";
}

std::string words_of(const std::vector<live_input_settled>& all) {
  std::string result;
  for (const auto& item : all)
    result +=
      (result.empty() ? "" : "; ") + item.id + " " + word_of(item.settlement);
  return result;
}

live_input_box box_of(const std::string& run) {
  return live_input_box{run, true};
}

/// What a caller of the harness was told: the answer, then the settlement.
struct offer_end {
  std::vector<std::string> words;
};

struct offerer_state {
  live_input_sink_actor::stateful_pointer<offerer_state> self;
  static inline const char* name = "offerer";
  explicit offerer_state(
    live_input_sink_actor::stateful_pointer<offerer_state> me)
    : self(me) {}

  void init(std::shared_ptr<offer_end> end, harness_actor target,
            live_input input) {
    told = std::move(end);
    self
      ->request(target, caf::infinite, atom::offer_v, std::move(input),
                live_input_sink_actor{self})
      .then(
        [this](const contracts::live_input_offer& offer) {
          told->words.push_back(word_of(offer));
        },
        [this](const caf::error&) { told->words.push_back("error"); });
  }

  live_input_sink_actor::behavior_type make_behavior() {
    return {[this](atom::settled, const live_input_settled& what) {
      told->words.push_back(word_of(what.settlement));
    }};
  }

  std::shared_ptr<offer_end> told;
};

std::shared_ptr<offer_end> offer(harness_world& world, live_input input) {
  auto end = std::make_shared<offer_end>();
  // Kept for as long as the harness may tell it something.
  world.sinks.push_back(
    kit::spawn_stateful<live_input_sink_actor, offerer_state>(
      *world.system, end, world.subject, std::move(input)));
  world.settle();
  return end;
}

using words = std::vector<std::string>;

tool_script slow() {
  tool_script result;
  result.delay = 100ms;
  return result;
}

} // namespace

// -- the box ------------------------------------------------------------------

TEST_CASE("an offer is judged in the order of the contract") {
  struct row {
    const char* name;
    live_input input;
    const char* want;
  };
  auto blank = input_of("m2", " \n");
  blank.text = " ";
  auto timeless = input_of("m2");
  timeless.received_ms = 0;
  // An astral character counts twice.
  std::string wide;
  for (size_t i = 0; i < limits::live_input_chars / 2; ++i)
    wide += "\xf0\x9f\x90\x9d";
  const row rows[] = {
    {"fine", input_of("m2"), "taken"},
    {"no id", input_of(""), "unavailable invalid"},
    {"blank", blank, "unavailable invalid"},
    {"no time", timeless, "unavailable invalid"},
    {"just small enough", input_of("m2", wide), "taken"},
    {"too large", input_of("m2", wide + "x"), "unavailable too_large"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto box = box_of("run-1");
    CHECK(word_of(box.offer(row.input)) == row.want);
  }
}

TEST_CASE("without a run nothing is taken") {
  live_input_box box;
  CHECK(word_of(box.offer(input_of("m2"))) == "unavailable inactive");
  CHECK(box.end(live_input_end::failed).empty());
}

TEST_CASE("a run takes a hundred messages") {
  auto box = box_of("run-1");
  for (size_t i = 0; i < limits::live_inputs; ++i)
    CHECK(word_of(box.offer(input_of("m" + std::to_string(i)))) == "taken");
  CHECK(word_of(box.offer(input_of("one more"))) == "unavailable full");
  CHECK(word_of(box.offer(input_of("m7"))) == "taken");
}

TEST_CASE("a message is settled once, and offering it again tells the same") {
  auto box = box_of("run-1");
  box.offer(input_of("m2"));
  box.offer(input_of("m3"));
  CHECK(words_of(box.applied({"m2"})) == "m2 applied run-1");
  CHECK(box.applied({"m2"}).empty());
  CHECK(word_of(box.offer(input_of("m2"))) == "taken");
  CHECK(word_of(box.settled("m2")) == "applied run-1");
  CHECK(word_of(box.settled("m3")) == "open");
  CHECK(words_of(box.end(live_input_end::closed)) == "m3 requeue closed");
  CHECK(box.end(live_input_end::cancelled).empty());
  CHECK(box.applied({"m3"}).empty());
  CHECK(word_of(box.offer(input_of("m2"))) == "taken");
  CHECK(word_of(box.settled("m2")) == "applied run-1");
  CHECK(word_of(box.offer(input_of("m3"))) == "taken");
  CHECK(word_of(box.settled("m3")) == "requeue closed");
  CHECK(word_of(box.offer(input_of("m4"))) == "unavailable inactive");
}

TEST_CASE("the end of a run by kind") {
  struct row {
    live_input_end how;
    const char* want;
  };
  const row rows[] = {
    {live_input_end::closed, "z requeue closed; a requeue closed"},
    {live_input_end::failed, "z requeue failed; a requeue failed"},
    {live_input_end::cancelled, "z discarded; a discarded"},
  };
  for (const auto& row : rows) {
    auto box = box_of("run-1");
    box.offer(input_of("z"));
    box.offer(input_of("a"));
    CHECK(words_of(box.end(row.how)) == row.want);
  }
}

// -- the turn loop ------------------------------------------------------------

TEST_CASE("an offered message is read after the results of a batch") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.offer("m2", "and blue");
  story.offer("m3", "and green");
  story.tool(0, "pong");
  story.take();
  story.append_ok();
  story.expect({"message_start toolResult", "message_end toolResult",
                "turn_end", "turn_start", "append cause user cause user"});
  CHECK(story.last_entries()[1].message.timestamp_ms > 0);
  story.append_ok();
  story.expect({"message_start user", "message_end user", "message_start user",
                "message_end user", "applied m2 m3", "input_applied",
                "input_applied", "call"});
  CHECK(story.events().back().call_id == "m3");
  CHECK(story.events().back().text == "and green");
  CHECK(text_of(story.loop.transcript().back()) == "[now] [ada]: and green");
  story.reply(answer("done"));
  story.append_ok();
  CHECK(story.input_end() == live_input_end::closed);
  CHECK(story.stored_roles()
        == "user assistant toolResult user user "
           "assistant");
}

TEST_CASE("without another batch a message waits for a turn of its own") {
  loop_story story;
  story.reach_call();
  story.offer("m2", "and blue");
  story.reply(answer("done"));
  story.append_ok();
  CHECK(story.outcome().final_text == "done");
  CHECK(story.input_end() == live_input_end::closed);
  CHECK(story.stored_roles() == "user assistant");
}

TEST_CASE("an offered message by the end of its run") {
  struct row {
    const char* name;
    void (*end)(loop_story&);
    live_input_end want;
  };
  const row rows[] = {
    {"stopped by its user",
     [](loop_story& story) {
       story.abort();
       story.tool(0, "cut", true);
       story.append_ok();
       story.append_ok();
     },
     live_input_end::cancelled},
    {"stopped while the message is being stored",
     [](loop_story& story) {
       story.tool(0, "pong");
       story.append_ok();
       story.abort();
       story.append_ok();
       story.append_ok();
     },
     live_input_end::cancelled},
    {"the disk does not take the message",
     [](loop_story& story) {
       story.tool(0, "pong");
       story.append_ok();
       story.append_fails();
     },
     live_input_end::failed},
    {"a tool ends the loop",
     [](loop_story& story) {
       story.tool(0, "enough", false, true);
       story.append_ok();
     },
     live_input_end::closed},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    loop_story story;
    story.reach_call();
    story.reply(calling({"echo"}));
    story.append_ok();
    story.offer("m2", "and blue");
    row.end(story);
    REQUIRE(story.is_settled());
    CHECK(story.input_end() == row.want);
    for (const auto& line : story.take())
      CHECK(line.find("applied") == std::string::npos);
  }
}

TEST_CASE("a retry keeps what was offered") {
  loop_story story;
  story.reach_call();
  story.offer("m2", "and blue");
  story.reply(failing("overloaded"), failure_of(model_error_class::overloaded));
  story.append_ok();
  CHECK_FALSE(story.is_settled());
  story.retry_due();
  story.reply(calling({"echo"}));
  story.append_ok();
  story.tool(0, "pong");
  story.append_ok();
  story.take();
  story.append_ok();
  CHECK(story.events().back().kind == harness_event_kind::input_applied);
}

// -- the actor ----------------------------------------------------------------

TEST_CASE_FIXTURE(harness_world, "a message reaches the run that is working") {
  tools.add("slow", slow());
  model.push(calls("slow", "{}")).push(says("red and blue"));
  start();
  auto end = prompt("paint it red");
  auto told = offer(*this, input_of("m2"));
  auto again = offer(*this, input_of("m2"));
  CHECK(told->words == words{"taken"});
  advance(100ms);
  CHECK(told->words == words{"taken", "applied run-1"});
  CHECK(again->words == words{"taken", "applied run-1"});
  REQUIRE(end->outcome);
  CHECK(end->outcome->final_text == "red and blue");
  CHECK(text_of(model.requests()[1].messages.back())
        == "[now] [ada]: and blue");
  CHECK(session->facts("m2").admitted);
  CHECK(session->roles() == "user assistant toolResult user assistant");
  // Afterwards it is still the same message, and the run takes no other.
  CHECK(offer(*this, input_of("m2"))->words == words{"taken", "applied run-1"});
  CHECK(offer(*this, input_of("m3"))->words == words{"unavailable inactive"});
}

TEST_CASE_FIXTURE(harness_world, "a message that comes too late is given back "
                                 "before the run is settled") {
  auto reply = says("done");
  reply.first_delay = 100ms;
  model.push(reply);
  tools.add("slow", slow());
  start();
  auto end = prompt("hi");
  auto told = offer(*this, input_of("m2"));
  advance(100ms);
  CHECK(end->outcome);
  CHECK(told->words == words{"taken", "requeue closed"});
}

TEST_CASE_FIXTURE(harness_world, "a message ends with the run that its user "
                                 "stopped") {
  tool_script hanging;
  hanging.hangs = true;
  tools.add("slow", hanging);
  model.push(calls("slow", "{}"));
  start();
  auto end = prompt("hi");
  auto told = offer(*this, input_of("m2"));
  abort();
  CHECK(end->outcome);
  CHECK(told->words == words{"taken", "discarded"});
  REQUIRE(end->outcome->cancelled);
  CHECK(end->outcome->cancelled->message == "The user cancelled.");
}

TEST_CASE_FIXTURE(harness_world, "a run without tools reads nothing") {
  auto reply = says("done");
  reply.first_delay = 100ms;
  model.push(reply);
  start();
  prompt("hi");
  CHECK(offer(*this, input_of("m2"))->words
        == words{"unavailable unsupported"});
}

TEST_CASE_FIXTURE(harness_world, "a message that means another run is not "
                                 "taken") {
  tools.add("slow", slow());
  model.push(calls("slow", "{}")).push(says("done"));
  start();
  prompt("hi");
  auto other = input_of("m2");
  other.target_run = "run-2";
  CHECK(offer(*this, other)->words == words{"unavailable inactive"});
  other.target_run = "run-1";
  CHECK(offer(*this, other)->words == words{"taken"});
}

TEST_CASE_FIXTURE(harness_world, "a tool learns which wake its run has read") {
  tools.add("slow", slow());
  model.push(calls("slow", "{}", "c1"))
    .push(calls("slow", "{}", "c2"))
    .push(says("done"));
  start();
  prompt("hi");
  auto wake = input_of("job:pj-1");
  wake.delivery_key = "job:pj-1";
  offer(*this, wake);
  advance(100ms);
  advance(100ms);
  REQUIRE(tools.calls().size() == 2);
  CHECK(tools.calls()[0].wake.empty());
  CHECK(tools.calls()[1].wake == "job:pj-1");
}
