#include "actors/interaction/interaction.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace bureau;
using namespace std::chrono_literals;
using contracts::ask_status;

namespace {

struct sink_probe {
  std::vector<ask_presentation> shown;
  std::vector<ask_presentation> updates;
  std::vector<status_post> posts;
  bool broken = false;
  bool silent = false;
};

struct sink_state {
  using pointer = interaction_sink_actor::stateful_pointer<sink_state>;
  static inline const char* name = "sink";
  explicit sink_state(pointer me) : self(me) {}
  void init(std::shared_ptr<sink_probe> into) { probe = std::move(into); }
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  interaction_sink_actor::behavior_type make_behavior() {
    return {
      [this](atom::present, const ask_presentation& what) {
        auto answer = self->make_response_promise<ok_promise>();
        probe->shown.push_back(what);
        if (probe->broken)
          answer.deliver(make_failure(errc::not_ready, "no screen"));
        else if (!probe->silent)
          answer.deliver(caf::ok_atom_v);
        return answer;
      },
      [this](atom::replace, const ask_presentation& what) {
        probe->updates.push_back(what);
      },
      [this](atom::notice, const status_post& what) {
        probe->posts.push_back(what);
      },
    };
  }
  pointer self;
  std::shared_ptr<sink_probe> probe;
};

struct hub_world : test::node_fixture {
  struct outcome {
    std::optional<contracts::ask_snapshot> ask;
    std::optional<errc> fault;
    caf::actor asker;
  };

  hub_world() {
    hub = interaction::spawn_interaction(*system, {wall, chance});
    sink =
      kit::spawn_stateful<interaction_sink_actor, sink_state>(*system, probe);
    self->send(hub, atom::attach_v, platform_id::console, sink);
    settle();
  }

  ~hub_world() {
    self->send_exit(hub, caf::exit_reason::user_shutdown);
    self->send_exit(sink, caf::exit_reason::user_shutdown);
    settle();
  }

  static contracts::ask_snapshot question() {
    contracts::ask_snapshot result;
    result.questions.push_back({"x",
                                "Colour",
                                "Which?",
                                {{"", "red", "as roses"}, {"", "blue", "sky"}},
                                false});
    return result;
  }

  std::shared_ptr<outcome> begin(ask_request request) {
    auto result = std::make_shared<outcome>();
    result->asker = system->spawn(
      [result, request, to = hub](caf::event_based_actor* client) {
        client->request(to, caf::infinite, atom::ask_v, request)
          .then([result](const contracts::ask_snapshot& x) { result->ask = x; },
                [result](const caf::error& x) { result->fault = code_of(x); });
      });
    settle();
    return result;
  }

  std::shared_ptr<outcome> begin(int64_t timeout_ms = 0) {
    return begin({"console:local", question(), timeout_ms});
  }

  contracts::ask_submission_result submit(std::vector<std::string> options) {
    contracts::ask_submission_result result;
    contracts::ask_submission answers;
    answers.conversation_id = "console:local";
    answers.interaction_id = probe->shown.back().ask.interaction_id;
    answers.answers.push_back({"q0", std::move(options), caf::none});
    ask(
      hub, [&](const contracts::ask_submission_result& x) { result = x; },
      [](const caf::error& x) { FAIL(sentence_of(x)); }, atom::submit_v,
      answers);
    return result;
  }

  pending_ask pending() {
    pending_ask result;
    ask(
      hub, [&](const pending_ask& x) { result = x; },
      [](const caf::error& x) { FAIL(sentence_of(x)); }, atom::read_v,
      std::string{"console:local"});
    return result;
  }

  std::shared_ptr<sink_probe> probe = std::make_shared<sink_probe>();
  interaction_actor hub;
  interaction_sink_actor sink;
};

} // namespace

TEST_CASE_FIXTURE(hub_world, "an ask is shown, answered and told") {
  auto end = begin();
  REQUIRE(probe->shown.size() == 1);
  const auto& shown = probe->shown[0];
  CHECK(shown.conversation_id == "console:local");
  CHECK(shown.ask.questions[0].options[1].id == "q0o1");
  CHECK(shown.ask.created_at == "2026-01-01T00:00:00.000Z");
  CHECK(shown.ask.expires_at == "2026-01-01T00:10:00.000Z");
  CHECK(pending().ask);
  CHECK(*submit({"q0o7"}).refusal == contracts::ask_refusal::invalid_answer);
  CHECK_FALSE(end->ask);
  CHECK_FALSE(submit({"q0o1"}).refusal);
  settle();
  REQUIRE(end->ask);
  CHECK(end->ask->status == ask_status::answered);
  CHECK(end->ask->answers[0].selected_option_ids[0] == "q0o1");
  REQUIRE(probe->updates.size() == 1);
  CHECK(probe->updates[0].ask.status == ask_status::answered);
  CHECK_FALSE(pending().ask);
  CHECK(*submit({"q0o1"}).refusal == contracts::ask_refusal::stale);
  advance(limits::ask_timeout);
  CHECK(probe->updates.size() == 1);
}

TEST_CASE_FIXTURE(hub_world,
                  "an ask expires after its time, at most the usual") {
  auto end = begin(60'000);
  advance(59s);
  CHECK_FALSE(end->ask);
  advance(1s);
  REQUIRE(end->ask);
  CHECK(end->ask->status == ask_status::expired);
  end = begin(86'400'000);
  advance(limits::ask_timeout);
  REQUIRE(end->ask);
  CHECK(end->ask->status == ask_status::expired);
  CHECK(probe->updates.size() == 2);
}

TEST_CASE_FIXTURE(hub_world, "a second ask of a conversation is refused") {
  auto first = begin();
  auto second = begin();
  CHECK(second->fault == errc::conflict);
  CHECK(probe->shown.size() == 1);
  self->send(hub, atom::cancel_v, std::string{"console:local"});
  settle();
  CHECK(first->ask->status == ask_status::cancelled);
  auto third = begin();
  CHECK_FALSE(third->fault);
}

TEST_CASE_FIXTURE(hub_world, "where nobody can be asked it says so at once") {
  CHECK(begin({"telegram:-5", question(), 0})->fault == errc::not_ready);
  CHECK(begin({"nowhere", question(), 0})->fault == errc::bad_identity);
  auto empty = question();
  empty.questions.clear();
  CHECK(begin({"console:local", empty, 0})->fault == errc::bad_request);
  CHECK(probe->shown.empty());
  CHECK_FALSE(pending().ask);
}

TEST_CASE_FIXTURE(hub_world, "an ask that cannot be shown does not stay open") {
  probe->broken = true;
  CHECK(begin()->fault == errc::transport);
  CHECK_FALSE(pending().ask);
  probe->broken = false;
  probe->silent = true;
  auto end = begin();
  advance(limits::mailbox_timeout);
  CHECK(end->fault == errc::transport);
  CHECK_FALSE(pending().ask);
}

TEST_CASE_FIXTURE(hub_world, "an ask is cancelled when its asker ends") {
  auto end = begin();
  self->send_exit(end->asker, caf::exit_reason::kill);
  settle();
  CHECK_FALSE(pending().ask);
  REQUIRE(probe->updates.size() == 1);
  CHECK(probe->updates[0].ask.status == ask_status::cancelled);
}

TEST_CASE_FIXTURE(hub_world, "an ask is cancelled when its platform ends") {
  auto end = begin();
  self->send_exit(sink, caf::exit_reason::kill);
  settle();
  REQUIRE(end->ask);
  CHECK(end->ask->status == ask_status::cancelled);
  CHECK(begin()->fault == errc::not_ready);
}

TEST_CASE_FIXTURE(hub_world, "the end of the hub answers who waits") {
  auto end = begin();
  self->send_exit(hub, caf::exit_reason::user_shutdown);
  settle();
  CHECK(end->fault == errc::shutting_down);
}

TEST_CASE_FIXTURE(hub_world, "how something stands is handed to whoever looks "
                             "at the platform") {
  auto post = [this](const std::string& conversation) {
    std::optional<errc> fault;
    ask(
      hub, [](caf::ok_atom) {},
      [&](const caf::error& reason) { fault = code_of(reason); },
      atom::notice_v,
      status_post{conversation, "it runs", "pj-1",
                  contracts::posted_state::working});
    return fault;
  };
  CHECK_FALSE(post("console:local"));
  REQUIRE(probe->posts.size() == 1);
  CHECK(probe->posts[0].key == "pj-1");
  CHECK(post("slack:C1") == errc::not_ready);
  CHECK(post("nobody") == errc::bad_identity);
  CHECK(probe->posts.size() == 1);
}
