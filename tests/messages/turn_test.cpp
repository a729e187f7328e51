#include "messages/contracts/turn.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/contracts/frame_feed.hpp"
#include "messages/errc.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace bureau;
using namespace bureau::contracts;

namespace {

template <class T>
T travelled(T value) {
  caf::binary_serializer::container_type bytes;
  caf::binary_serializer sink{nullptr, bytes};
  REQUIRE_FALSE(sink(value));
  T result;
  caf::binary_deserializer source{nullptr, bytes};
  REQUIRE_FALSE(source(result));
  return result;
}

preceding_message said(std::string text) {
  preceding_message result;
  result.text = std::move(text);
  return result;
}

const std::string context_text =
  R"({"schemaVersion":1,"conversationId":"console:x","originRunId":"r1",)"
  R"("historyBoundary":"r1","capturedAt":"2026-01-02T03:04:05.000Z",)"
  R"("messages":[{"role":"user","content":"q","name":"ann",)"
  R"("timestamp":"2026-01-02T03:04:05.000Z","runId":"r1"},)"
  R"({"role":"assistant","content":"a",)"
  R"("timestamp":"2026-01-02T03:04:05.000Z","runId":"r1",)"
  R"("idempotencyKey":"k"}]})";

/// Notes what it is told.
class notes final : public frame_listener {
public:
  void append(const std::string& delta) override { text += "+" + delta; }
  void replace(const std::string& whole) override { text += "=" + whole; }
  std::string text;
};

stream_frame frame_of(frame_kind kind, std::string text) {
  stream_frame result;
  result.kind = kind;
  result.text = std::move(text);
  return result;
}

} // namespace

TEST_CASE("a request and its response travel between actors") {
  turn_request request;
  request.conversation_id = "telegram:5";
  request.metadata = json_text{"{}"};
  request.attachments = {make_attachment("text/plain", "hi", std::string{"n"})};
  request.environment = tool_environment{{{"A", "1"}}, {"/opt/bin"}};
  request.sender =
    message_sender{caf::none, std::string{"Ann"}, caf::none, true};
  request.preceding = {said("before")};
  request.surface =
    turn_surface{surface_kind::group, caf::none, std::string{"-5"},
                 surface_message_budget{4096, surface_overflow::thread}};
  request.reply_to = reply_target{"telegram:6"};
  auto context = parse_continuation_context(json::parse(context_text).value);
  REQUIRE(context);
  request.continuation = continuation_turn{"c1", "r1", *context};
  CHECK(travelled(request) == request);

  turn_response response;
  response.text = std::string{"done"};
  response.parts = {failed_part{}};
  CHECK(travelled(response) == response);
  finish_options options{response.parts, unsupported_part_fallback::none};
  CHECK(travelled(options) == options);
  cancel_reason reason{"m", std::string{"slack"}};
  CHECK(travelled(reason) == reason);
}

TEST_CASE("an attachment is described by its bytes") {
  auto text = make_attachment("text/plain", "hi");
  CHECK(text.kind == attachment_kind::document);
  CHECK(text.data == "aGk=");
  CHECK(text.size_bytes == int64_t{2});
  CHECK(text.text == std::string{"hi"});
  auto image = make_attachment("image/png", "\x89PNG");
  CHECK(image.kind == attachment_kind::image);
  CHECK_FALSE(image.text);
}

TEST_CASE("the newest messages before a turn keep to the bounds") {
  std::vector<preceding_message> many;
  for (size_t i = 0; i < 40; ++i)
    many.push_back(said(std::to_string(i)));
  auto kept = bounded_preceding(many);
  REQUIRE(kept.size() == preceding_max_messages);
  CHECK(kept.front().text == "10");
  CHECK(kept.back().text == "39");

  // Eight texts of the greatest length are all that goes in.
  std::vector<preceding_message> large(20, said(std::string(5000, 'x')));
  kept = bounded_preceding(large);
  REQUIRE(kept.size() == 8);
  CHECK(kept.front().text.size() == preceding_max_text_bytes);

  // A cut falls between characters.
  kept = bounded_preceding({said("x" + std::string(3000, '\xC3') + "\xA9")});
  CHECK(kept.front().text.size() <= preceding_max_text_bytes);
  CHECK(bounded_preceding({}).empty());
}

TEST_CASE("the label of a sender is one short line") {
  message_sender sender;
  CHECK(sender_label(sender).empty());
  sender.handle = std::string{"ann"};
  CHECK(sender_label(sender) == "ann");
  sender.display_name = std::string{"Ann\n  B\x01 "};
  CHECK(sender_label(sender) == "Ann B");
  sender.display_name = std::string(200, 'x');
  auto label = sender_label(sender);
  CHECK(forward_by(label, 0, sender_label_max_chars) == label.size());
  // An id may be an address.
  message_sender bare;
  bare.id = std::string{"U1"};
  CHECK(sender_label(bare).empty());
}

TEST_CASE("words of a surface") {
  for (auto kind :
       {surface_kind::dm, surface_kind::channel, surface_kind::group})
    CHECK(parse_surface_kind(to_string(kind)) == kind);
  for (auto overflow : {surface_overflow::thread, surface_overflow::follow_up})
    CHECK(parse_surface_overflow(to_string(overflow)) == overflow);
  CHECK_FALSE(parse_surface_kind("DM"));
}

TEST_CASE("a user's cancel is known by its channel, not by its words") {
  auto reason = channel_user_cancel("  slack ");
  REQUIRE(reason);
  CHECK(reason->channel == std::string{"slack"});
  CHECK(reason->message.find("slack") != std::string::npos);
  CHECK(is_channel_user_cancel(*reason));
  CHECK_FALSE(is_channel_user_cancel({reason->message, caf::none}));
  CHECK(code_of(channel_user_cancel(" \u00A0").error()) == errc::bad_request);

  auto err = response_cancelled(*reason);
  CHECK(is_response_cancelled(err));
  CHECK(sentence_of(err) == reason->message);
  CHECK_FALSE(sentence_of(response_cancelled()).empty());
  CHECK_FALSE(is_response_cancelled(
    make_failure(errc::internal, "The turn was cancelled.")));
  CHECK_FALSE(is_response_cancelled(
    make_failure(errc::aborted, "The command was ended.")));
  CHECK_FALSE(is_response_cancelled({}));
}

TEST_CASE("a continuation context survives the wire") {
  auto value = json::parse(context_text).value;
  auto context = parse_continuation_context(value);
  REQUIRE(context);
  CHECK(context->messages.front().role == continuation_role::user);
  CHECK(context->messages.front().name == std::string{"ann"});
  CHECK(context->messages.back().idempotency_key == std::string{"k"});
  auto again = parse_continuation_context(to_json(*context));
  REQUIRE(again);
  CHECK(*again == *context);

  value.get_object()["historyBoundary"] = "r2";
  auto refused = parse_continuation_context(value);
  REQUIRE_FALSE(refused);
  CHECK(code_of(refused.error()) == errc::bad_request);
  CHECK(sentence_of(refused.error()).find("r2") == std::string::npos);
}

TEST_CASE("frames are handed to whom they concern") {
  notes listener;
  CHECK(feed_frame(frame_of(frame_kind::append, "a"), listener));
  CHECK(feed_frame(frame_of(frame_kind::status, "s"), listener));
  CHECK(feed_frame(frame_of(frame_kind::replace, "r"), listener));
  stream_frame event;
  event.kind = frame_kind::event;
  CHECK(feed_frame(event, listener));
  // The end of a turn is its reader's, and a later version's kinds are
  // nobody's.
  CHECK_FALSE(feed_frame(frame_of(frame_kind::finish, "f"), listener));
  CHECK_FALSE(feed_frame(frame_of(frame_kind::error, "e"), listener));
  CHECK_FALSE(feed_frame({}, listener));
  CHECK(listener.text == "+a=r");
}

TEST_CASE("the last frame of a turn") {
  turn_response response;
  response.text = std::string{"done"};
  response.metadata = json_text{R"({"runId":"r"})"};
  CHECK(json::print(to_json(finish_frame(response)))
        == R"({"kind":"finish","finalText":"done","metadata":{"runId":"r"}})");
  CHECK(
    json::print(to_json(error_frame(response_cancelled({"stop", {}}))))
    == R"({"kind":"error","message":"stop","code":"cancelled","cancelled":true})");
  CHECK(
    json::print(to_json(error_frame(make_failure(errc::disk, "full"))))
    == R"({"kind":"error","message":"full","code":"disk","cancelled":false})");
}
