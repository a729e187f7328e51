#include "actors/office/intake_core.hpp"
#include "actors/office/turn_service_core.hpp"
#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::offices;

namespace {

constexpr int64_t now_ms = 1'700'000'000'000;

contracts::turn_request turn(const std::string& conversation = "console:local",
                             const std::string& text = "hello") {
  contracts::turn_request request;
  request.conversation_id = conversation;
  request.text = text;
  return request;
}

entry_end ended(const std::string& outcome) {
  entry_end end;
  end.outcome = outcome;
  return end;
}

office_record record(platform_id platform, const std::string& id) {
  return {{platform, id}, "2026-01-02T03:04:05.000Z"};
}

} // namespace

TEST_CASE("a turn becomes a message that no platform brought") {
  auto request = turn("telegram:-5:7", "how are you?");
  request.metadata = json_text{R"({"id":"42"})"};
  request.sender = contracts::message_sender{};
  request.sender->display_name = "An\nna";
  auto made = intake_of(request, "fresh", now_ms);
  REQUIRE(made);
  const auto& event = made->event;
  CHECK(event.address == office_address{platform_id::telegram, "-5"});
  CHECK(event.session_key == "-5:7");
  CHECK(event.origin == turn_origin::action);
  CHECK(event.message_id == "turn:42");
  CHECK(event.text == "how are you?");
  CHECK(event.user_name == "An na");
  CHECK(event.sent_ms == now_ms);
  CHECK_FALSE(made->offer);
  CHECK_FALSE(is_verbatim(event));
  CHECK(intake_of(turn(), "fresh", now_ms)->event.message_id == "turn:fresh");
}

TEST_CASE("what only a platform can bring is refused") {
  CHECK(code_of(intake_of(turn("nowhere"), "x", now_ms).error())
        == errc::bad_identity);
  CHECK(code_of(intake_of(turn("console:local", " \n"), "x", now_ms).error())
        == errc::bad_request);
  auto files = turn();
  files.attachments.emplace_back();
  CHECK(code_of(intake_of(files, "x", now_ms).error()) == errc::bad_request);
  auto elsewhere = turn();
  elsewhere.reply_to = contracts::reply_target{"console:other"};
  CHECK(code_of(intake_of(elsewhere, "x", now_ms).error())
        == errc::bad_request);
  elsewhere.reply_to = contracts::reply_target{"console:local"};
  CHECK(intake_of(elsewhere, "x", now_ms));
}

TEST_CASE("a follow-up is offered to the running turn") {
  contracts::live_input_request request;
  request.conversation_id = "console:local";
  request.id = "i1";
  request.text = "and in French";
  request.received_at = "2026-01-02T03:04:05.000Z";
  auto made = intake_of(request, now_ms);
  REQUIRE(made);
  CHECK(made->offer);
  CHECK(made->event.message_id == live_message_id("i1"));
  CHECK(made->event.sent_ms == 1'767'323'045'000);
}

TEST_CASE("a notification is a scheduled turn, or a text as it stands") {
  contracts::notify_request request;
  request.conversation_id = "console:local";
  request.text = "stop";
  auto made = intake_of(request, "k", now_ms);
  REQUIRE(made);
  CHECK(made->event.origin == turn_origin::event);
  CHECK(made->event.message_id == "notify:k");
  request.verbatim = true;
  request.delivery_key = "cron-1";
  made = intake_of(request, "k", now_ms);
  REQUIRE(made);
  CHECK(is_verbatim(made->event));
  CHECK(made->event.message_id == "verbatim:cron-1");
  request.delivery_key = caf::none;
  request.context = contracts::notify_context{"nightly", "r7"};
  CHECK(intake_of(request, "k", now_ms)->event.message_id
        == "verbatim:nightly@r7");
  // Neither is a word of the user.
  CHECK(judge_intake(*made, made->event.address, false, now_ms).action
        == intake_action::accept);
}

TEST_CASE("the end of an entry is the response of a turn") {
  auto end = ended("sent");
  end.run = "r1";
  end.text = "fine";
  end.ref = "m9";
  auto response = response_of(end);
  REQUIRE(response);
  CHECK(response->text == std::string{"fine"});
  auto metadata = json::parse(response->metadata.text);
  REQUIRE(metadata);
  CHECK(json::text_or_empty(metadata.value.get_object(), "runId") == "r1");
  CHECK(json::text_or_empty(metadata.value.get_object(), "ref") == "m9");

  auto stopped = ended("stopped");
  stopped.cancelled = contracts::cancel_reason{"Enough.", caf::none};
  auto refused = response_of(stopped);
  REQUIRE_FALSE(refused);
  CHECK(contracts::is_response_cancelled(refused.error()));
  CHECK(sentence_of(refused.error()) == "Enough.");
  for (auto outcome : {"refused", "interrupted", "undeliverable", "command"}) {
    CAPTURE(outcome);
    auto other = response_of(ended(outcome));
    REQUIRE_FALSE(other);
    CHECK(code_of(other.error()) == errc::conflict);
  }
}

TEST_CASE("a follow-up is applied, run on its own or discarded") {
  auto steered = ended("steered");
  steered.run = "r7";
  CHECK(settlement_of(steered)
        == contracts::live_input_settlement{
          contracts::live_input_outcome::applied, "r7",
          contracts::live_input_requeue::closed});
  CHECK(settlement_of(ended("stopped")).outcome
        == contracts::live_input_outcome::discarded);
  for (auto outcome : {"sent", "silent", "refused", "interrupted"}) {
    CAPTURE(outcome);
    CHECK(settlement_of(ended(outcome)).outcome
          == contracts::live_input_outcome::requeue);
  }
}

TEST_CASE("a notification is honest about delivery and history") {
  contracts::notify_request request;
  request.verbatim = true;
  auto end = ended("sent");
  end.ref = "m1";
  auto told = delivery_of(request, end, "console");
  CHECK(told.delivered);
  CHECK(told.delivery_id == std::string{"m1"});
  CHECK(told.channel_id == std::string{"console"});
  CHECK(told.history_recorded == true);
  end.history_error = "disk";
  told = delivery_of(request, end, "console");
  CHECK(told.delivered);
  CHECK(told.history_recorded == false);
  CHECK(told.history_error_code == std::string{"disk"});

  told = delivery_of({}, ended("silent"), "console");
  CHECK(told.delivered);
  CHECK_FALSE(told.history_recorded);
  told = delivery_of({}, ended("refused"), "console");
  CHECK_FALSE(told.delivered);
  CHECK(told.retryable == true);
  told = delivery_of({}, ended("undeliverable"), "console");
  CHECK_FALSE(told.delivered);
  CHECK(told.ambiguous == true);
  CHECK(told.retryable == false);
  told = still_open("verbatim:k");
  CHECK_FALSE(told.delivered);
  CHECK(told.code == std::string{"delivery_pending"});
  CHECK(told.retryable == true);
}

TEST_CASE("destinations are the offices of attached platforms") {
  office_inventory inventory;
  inventory.offices = {record(platform_id::console, "local"),
                       record(platform_id::slack, "C1"),
                       record(platform_id::console, "other")};
  CHECK(platforms_of(inventory)
        == std::vector{platform_id::slack, platform_id::console});
  auto found = destinations_of(inventory, {"console"});
  REQUIRE(found.list.size() == 2);
  CHECK(found.list[0].conversation_id == "console:local");
  CHECK(found.list[0].channel_id == "console");
  CHECK(found.list[1].conversation_id == "console:other");
  CHECK_FALSE(found.cut);
  CHECK(destinations_of(inventory, {}).list.empty());
  inventory.offices.assign(destinations_told + 1,
                           record(platform_id::console, "local"));
  CHECK(destinations_of(inventory, {"console"}).cut);
}
