#include "actors/control/control.hpp"
#include "actors/control/status_text_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <vector>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// What the turn service was asked, and what it says.
struct script {
  std::vector<contracts::turn_request> turns;
  std::vector<contracts::live_input_request> offers;
  std::vector<turn_cancel> cancels;
  std::vector<contracts::notify_request> notes;
  caf::error failure;
  caf::optional<contracts::live_input_refusal> refusal;
  /// Offers settle.
  bool settles = true;
};

using script_ptr = std::shared_ptr<script>;

struct fake_turns_state {
  using pointer = turn_service_actor::stateful_pointer<fake_turns_state>;
  static inline const char* name = "fake_turns";
  pointer self;
  script_ptr story;

  explicit fake_turns_state(pointer me) : self(me) {}
  void init(script_ptr book) { story = std::move(book); }

  template <class T>
  caf::result<T> answer(T value) {
    if (story->failure)
      return story->failure;
    return value;
  }

  turn_service_actor::behavior_type make_behavior() {
    return {
      [](atom::config) { return turn_capabilities{}; },
      [this](atom::turn, const contracts::turn_request& request) {
        story->turns.push_back(request);
        contracts::turn_response response;
        response.text = std::string{"fine"};
        response.metadata = json_text{R"({"runId":"r1"})"};
        return answer(response);
      },
      [this](atom::offer, const contracts::live_input_request& request) {
        story->offers.push_back(request);
        return answer(contracts::live_input_offer{story->refusal});
      },
      [this](atom::settled, const live_input_query&)
        -> caf::result<contracts::live_input_settlement> {
        if (!story->settles)
          return self->make_response_promise<
            caf::typed_response_promise<contracts::live_input_settlement>>();
        contracts::live_input_settlement told;
        told.outcome = contracts::live_input_outcome::applied;
        told.run_id = "r7";
        return told;
      },
      [this](atom::cancel, const turn_cancel& request) {
        story->cancels.push_back(request);
        return answer(turn_cancelled{2, "m1"});
      },
      [this](atom::deliver, const contracts::notify_request& request) {
        story->notes.push_back(request);
        contracts::notify_delivery_result told;
        told.delivered = true;
        told.history_recorded = true;
        return answer(told);
      },
      [this](atom::list) {
        notify_destinations found;
        contracts::notify_destination place;
        place.conversation_id = "console:local";
        place.channel_id = "console";
        found.list.push_back(place);
        return answer(found);
      },
      [](atom::open, const contracts::artifact_open_request&) {
        return artifact_opened{};
      },
      [](atom::read, const artifact_read&) { return artifact_slice{}; },
      [](atom::close, const std::string&) {},
      [](atom::status) { return status_line{}; },
    };
  }
};

struct turns_story : test::node_fixture {
  script_ptr story = std::make_shared<script>();
  control_actor actor = spawn();

  control_actor spawn() {
    control::control_args args;
    args.turns =
      kit::spawn_stateful<turn_service_actor, fake_turns_state>(*system, story);
    auto result = control::spawn_control(*system, std::move(args));
    settle();
    return result;
  }

  std::string call(const std::string& method, const std::string& params,
                   std::chrono::milliseconds span = 0ms) {
    auto line = R"({"jsonrpc":"2.0","id":1,"method":")" + method
                + R"(","params":)" + params + '}';
    auto pending = self->request(actor, caf::infinite, atom::call_v, line);
    settle();
    if (span > 0ms)
      advance(span);
    std::string result;
    pending.receive([&](const std::string& told) { result = told; },
                    [](const caf::error& err) { FAIL(sentence_of(err)); });
    return result;
  }
};

std::string result(const std::string& json) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + json + '}';
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE_FIXTURE(turns_story, "a notification goes to the turn service") {
  CHECK(call("notify", R"({"conversationId":"console:local","text":"hi",)"
                       R"("verbatim":true,"deliveryKey":"k"})")
        == result(R"({"delivered":true,"historyRecorded":true})"));
  REQUIRE(story->notes.size() == 1);
  CHECK(story->notes[0].verbatim);
  CHECK(story->notes[0].delivery_key == std::string{"k"});
  CHECK_FALSE(story->notes[0].context);
  call("notify", R"({"conversationId":"console:local","text":"hi",)"
                 R"("jobId":"nightly","runId":"r1"})");
  REQUIRE(story->notes.size() == 2);
  CHECK_FALSE(story->notes[1].verbatim);
  CHECK(story->notes[1].context == contracts::notify_context{"nightly", "r1"});
  CHECK(call("notify.destinations", "{}")
        == result(R"({"destinations":[{"conversationId":"console:local",)"
                  R"("channelId":"console"}],"cut":false})"));
}

TEST_CASE_FIXTURE(turns_story, "malformed calls about turns are refused") {
  for (auto params :
       {R"({"text":"hi"})", R"({"conversationId":"nowhere","text":"hi"})",
        R"({"conversationId":"console:local"})",
        R"({"conversationId":"console:local","text":"hi","verbatim":1})",
        R"({"conversationId":"console:local","text":"hi","jobId":"j"})",
        R"({"conversationId":"console:local","text":"hi","more":1})"}) {
    CAPTURE(params);
    CHECK(contains(call("notify", params), R"("code":-32602)"));
  }
  CHECK(contains(call("turn.offer", R"({"conversationId":"console:local",)"
                                    R"("id":"i1","text":5,)"
                                    R"("receivedAt":"soon"})"),
                 R"("code":-32602)"));
  CHECK(story->notes.empty());
  CHECK(story->offers.empty());
}

TEST_CASE_FIXTURE(turns_story, "a turn is run for the operator") {
  CHECK(call("turn.run",
             R"({"conversationId":"console:local","text":"hi","id":"42"})")
        == result(R"({"text":"fine","metadata":{"runId":"r1"}})"));
  REQUIRE(story->turns.size() == 1);
  CHECK(story->turns[0].metadata.text == R"({"id":"42"})");
  REQUIRE(story->turns[0].sender);
  story->failure =
    contracts::response_cancelled(*contracts::channel_user_cancel("console"));
  auto told =
    call("turn.run", R"({"conversationId":"console:local","text":"x"})");
  CHECK(contains(told, R"("data":{"errc":"cancelled","cancelled":true})"));
  story->failure = make_failure(errc::conflict, "It was refused.");
  told = call("turn.run", R"({"conversationId":"console:local","text":"x"})");
  CHECK(contains(told, R"("data":{"errc":"conflict"})"));
}

TEST_CASE_FIXTURE(turns_story,
                  "an offer is answered by its refusal or its settlement") {
  const auto* params =
    R"({"conversationId":"console:local","id":"i1","text":"and?",)"
    R"("receivedAt":"2026-01-02T03:04:05.000Z","targetRunId":"r7"})";
  CHECK(call("turn.offer", params)
        == result(R"({"status":"applied","runId":"r7"})"));
  REQUIRE(story->offers.size() == 1);
  CHECK(story->offers[0].target_run_id == std::string{"r7"});
  story->refusal = contracts::live_input_refusal::full;
  CHECK(call("turn.offer", params)
        == result(R"({"status":"unavailable","reason":"full"})"));
  story->refusal = caf::none;
  story->settles = false;
  CHECK(contains(call("turn.offer", params, control::turn_timeout),
                 R"("errc":"timeout")"));
}

TEST_CASE_FIXTURE(turns_story, "turns are cancelled, with the reason") {
  CHECK(call("turn.cancel", R"({"conversationId":"console:local","all":true,)"
                            R"("reason":"maintenance"})")
        == result(R"({"turns":2,"messageId":"m1"})"));
  call("turn.cancel", R"({"conversationId":"console:local"})");
  REQUIRE(story->cancels.size() == 2);
  CHECK(story->cancels[0].all);
  CHECK(story->cancels[0].reason.message == "maintenance");
  CHECK_FALSE(story->cancels[1].all);
  CHECK(contracts::is_channel_user_cancel(story->cancels[1].reason));
}

TEST_CASE("errors of jobs are told in the words of their code") {
  auto told = control::parse_reply(
    R"({"id":1,"error":{"code":-32000,"message":"/secret",)"
    R"("data":{"errc":"process_job_not_found"}}})");
  CHECK(told.sentence == "The process job was not found.");
  told =
    control::parse_reply(R"({"id":1,"error":{"code":-32000,"message":"busy",)"
                         R"("data":{"errc":"queue_full"}}})");
  CHECK(told.sentence == "busy");
}

TEST_CASE("what became of a notification is one sentence") {
  using control::notify_text;
  CHECK(notify_text({{"delivered", true}}) == "Delivered.");
  CHECK(notify_text({{"delivered", true}, {"deliveryId", "m1"}})
        == "Delivered as m1.");
  CHECK(notify_text({{"delivered", true},
                     {"historyRecorded", false},
                     {"historyErrorCode", "disk"}})
        == "Delivered, but it is not in the history (disk).");
  CHECK(notify_text({{"delivered", false}, {"code", "x"}})
        == "Not delivered: x.");
  CHECK(notify_text({{"delivered", false}, {"reason", "It is kept."}})
        == "It is kept.");
}

TEST_CASE("status tells how channels are, those that nobody wants left out") {
  control::status_parts parts;
  parts.node.emplace();
  channel_report console;
  console.status.state = contracts::channel_state::running;
  console.status.summary = json_text{R"({"mode":"pipe"})"};
  console.generation = 2;
  channel_report slack;
  slack.platform = platform_id::slack;
  slack.status.state = contracts::channel_state::waiting_for_config;
  slack.status.reason = "SLACK_BOT_TOKEN not set.";
  channel_report discord;
  discord.platform = platform_id::discord;
  discord.status.reason = "It is not configured.";
  parts.node->channels = {console, slack, discord};
  auto result = control::status_result(parts);
  auto json = json::print(result);
  CHECK(contains(json, R"({"channel":"console","starts":2,)"
                       R"("status":{"status":"running",)"
                       R"("summary":{"mode":"pipe"}}})"));
  CHECK(contains(json, R"("status":{"status":"waiting_for_config",)"
                       R"("reason":"SLACK_BOT_TOKEN not set."})"));
  auto text = control::status_text(result);
  CHECK(contains(text, "channels:\n"));
  CHECK(contains(text, "slack    waiting_for_config  SLACK_BOT_TOKEN"));
  CHECK_FALSE(contains(text, "discord"));
}
