#include "actors/runner/turn_request_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;

namespace {

run_request request() {
  run_request result;
  result.run = "r1";
  auto& event = result.ticket.event;
  event.address = {platform_id::telegram, "-5"};
  event.session_key = "-5:7";
  event.kind = conversation_kind::shared;
  event.message_id = "m1";
  event.user = "4711";
  event.user_name = "Ann";
  event.text = "hello";
  event.sent_ms = 1'767'323'045'000;
  return result;
}

} // namespace

TEST_CASE("a ticket is a turn with its sender, its place and its variables") {
  auto turn = turn_request_of(request());
  CHECK(turn.conversation_id == "telegram:-5:7");
  CHECK(turn.text == "hello");
  REQUIRE(turn.sender);
  CHECK(turn.sender->id == std::string{"4711"});
  CHECK(turn.sender->display_name == std::string{"Ann"});
  CHECK_FALSE(turn.sender->is_bot);
  REQUIRE(turn.surface);
  CHECK(turn.surface->kind == contracts::surface_kind::group);
  // Never that of a thread.
  CHECK(turn.surface->id == std::string{"-5"});
  CHECK(turn.reply_to == contracts::reply_target{"telegram:-5:7"});
  REQUIRE(turn.environment);
  CHECK(turn.environment->values
        == std::map<std::string, std::string>{
          {"AGENT_CONVERSATION_ID", "telegram:-5:7"},
          {"AGENT_MESSAGE_ID", "m1"},
          {"AGENT_RUN_ID", "r1"}});
  auto metadata = json::parse(turn.metadata.text);
  REQUIRE(metadata);
  const auto& record = metadata.value.get_object();
  CHECK(json::text_or_empty(record, "runId") == "r1");
  CHECK(json::text_or_empty(record, "origin") == "user");
  CHECK(json::text_or_empty(record, "sentAt") == "2026-01-02T03:04:05.000Z");
  CHECK_FALSE(turn.continuation);
}

TEST_CASE("a direct conversation, a bot and nobody") {
  auto direct = request();
  direct.ticket.event.kind = conversation_kind::direct;
  direct.ticket.event.from_bot = true;
  direct.ticket.event.user.clear();
  direct.ticket.event.user_name.clear();
  auto turn = turn_request_of(direct);
  CHECK(turn.surface->kind == contracts::surface_kind::dm);
  CHECK(turn.sender->is_bot == true);
  CHECK_FALSE(turn.sender->id);
  CHECK_FALSE(turn.sender->display_name);
}

TEST_CASE("media types by the name of a file") {
  CHECK(mime_type_of("a.JPG") == "image/jpeg");
  CHECK(mime_type_of("a.jpeg") == "image/jpeg");
  CHECK(mime_type_of("x/y.b.png") == "image/png");
  CHECK(mime_type_of("a.gif") == "image/gif");
  CHECK(mime_type_of("a.webp") == "image/webp");
  CHECK(mime_type_of("a.png.txt") == "text/plain");
  CHECK(mime_type_of("notes.md") == "text/markdown");
  CHECK(mime_type_of("a.pdf") == "application/pdf");
  CHECK_FALSE(mime_type_of("a.svg"));
  CHECK_FALSE(mime_type_of("png"));
  CHECK_FALSE(mime_type_of("a.exe"));
}

TEST_CASE("pictures and texts are looked at, a few of each") {
  std::vector<contracts::request_attachment> shown;
  CHECK(wanted_bytes("image/png", true, shown) == limits::prompt_image_bytes);
  CHECK(wanted_bytes("image/png", false, shown) == 0);
  CHECK(wanted_bytes("text/csv", false, shown) == shown_text_bytes);
  CHECK(wanted_bytes("application/json", true, shown) == 0);
  CHECK(wanted_bytes("application/pdf", true, shown) == 0);
  for (size_t i = 0; i < shown_texts; ++i)
    shown.push_back(contracts::make_attachment("text/plain", "x"));
  CHECK(wanted_bytes("text/plain", true, shown) == 0);
  CHECK(wanted_bytes("image/png", true, shown) == limits::prompt_image_bytes);
  for (size_t i = 0; i < limits::prompt_images; ++i)
    shown.push_back(contracts::make_attachment("image/png", "x"));
  CHECK(wanted_bytes("image/png", true, shown) == 0);
}
