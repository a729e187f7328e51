#include "messages/contracts/live_input.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

live_input_request follow_up(std::string text) {
  live_input_request request;
  request.id = "i1";
  request.text = std::move(text);
  request.received_at = "2026-01-02T03:04:05.000Z";
  return request;
}

std::string repeated(std::string_view unit, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += unit;
  return result;
}

} // namespace

TEST_CASE("what stands against a follow-up") {
  using enum live_input_refusal;
  CHECK_FALSE(check_live_input(follow_up("x"), 0));
  CHECK_FALSE(check_live_input(follow_up(repeated("x", 8000)), 99));
  CHECK(check_live_input(follow_up(repeated("x", 8001)), 0) == too_large);
  CHECK_FALSE(check_live_input(follow_up(repeated("😀", 4000)), 0));
  CHECK(check_live_input(follow_up(repeated("😀", 4001)), 0) == too_large);
  CHECK(check_live_input(follow_up("x"), 100) == full);
  CHECK(check_live_input(follow_up(" \u3000\n"), 100) == invalid);
  auto request = follow_up("x");
  request.received_at = "soon";
  CHECK(check_live_input(request, 0) == invalid);
  request = follow_up("x");
  request.id = " ";
  CHECK(check_live_input(request, 0) == invalid);
}

TEST_CASE("answers to a follow-up") {
  CHECK(json::print(to_json(live_input_offer{live_input_refusal::full}))
        == R"({"status":"unavailable","reason":"full"})");
  CHECK(json::print(to_json(live_input_offer{})) == R"({"status":"accepted"})");
  live_input_settlement settlement;
  CHECK(json::print(to_json(settlement))
        == R"({"status":"requeue","reason":"closed"})");
  settlement.outcome = live_input_outcome::applied;
  settlement.run_id = "r-7";
  CHECK(json::print(to_json(settlement))
        == R"({"status":"applied","runId":"r-7"})");
  settlement.outcome = live_input_outcome::discarded;
  CHECK(json::print(to_json(settlement))
        == R"({"status":"discarded","reason":"cancelled"})");
}

TEST_CASE("the body of a follow-up") {
  bj::object body{{"id", "i"}, {"text", ""}, {"receivedAt", "t"}};
  auto parsed = parse_live_input(body, "slack:C1");
  REQUIRE(parsed);
  CHECK(parsed->conversation_id == "slack:C1");
  CHECK_FALSE(parsed->delivery_key);
  body["deliveryKey"] = repeated("k", 1024);
  CHECK(parse_live_input(body, "slack:C1")->delivery_key);
  for (const auto& bad : {bj::value(""), bj::value(5), bj::value(),
                          bj::value(bj::string(1025, 'k'))}) {
    body["deliveryKey"] = bad;
    CHECK_FALSE(parse_live_input(body, "slack:C1"));
  }
  for (auto name : {"id", "text", "receivedAt"}) {
    bj::object other{{"id", "i"}, {"text", ""}, {"receivedAt", "t"}};
    other[name] = nullptr;
    CHECK_FALSE(parse_live_input(other, "slack:C1"));
  }
  CHECK_FALSE(parse_live_input(bj::array{}, "slack:C1"));
}
