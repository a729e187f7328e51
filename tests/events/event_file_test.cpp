#include "messages/codec/event_file.hpp"

#include <doctest/doctest.h>

using namespace bureau;

namespace {

event_payload periodic() {
  event_payload result;
  result.type = event_type::periodic;
  result.platform = "slack";
  result.conversation_id = "C1";
  result.kind = conversation_kind::shared;
  result.user_id = "U7";
  result.text = "look";
  result.schedule = "0 9 * * 1-5";
  result.timezone = "Europe/Berlin";
  return result;
}

} // namespace

TEST_SUITE("event files") {

  TEST_CASE("what is written is read") {
    auto shared = periodic();
    auto allowed = periodic();
    allowed.allow_schedules = true;
    auto once = periodic();
    once.type = event_type::one_shot;
    once.at = "2027-05-01T09:30:00+02:00";
    event_payload now;
    now.conversation_id = "-5";
    now.text = "  spaced\n";
    for (const auto& input : {shared, allowed, once, now}) {
      auto built = build_event(input);
      REQUIRE(built);
      auto read = parse_event_file(print_event_file(built.payload), "f.json");
      REQUIRE(read);
      CHECK(read.payload == built.payload);
    }
    CHECK(print_event_file(periodic())
          == R"({"type":"periodic","platform":"slack","conversationId":"C1",)"
             R"("conversationKind":"shared","userId":"U7","text":"look",)"
             R"("schedule":"0 9 * * 1-5","timezone":"Europe/Berlin"})"
             "\n");
  }

  TEST_CASE("the old name of a conversation is read and not written") {
    auto read = parse_event_file(
      R"({"type":"immediate","channelId":"D123","text":"t"})", "f.json");
    REQUIRE(read);
    CHECK(read.payload.conversation_id == "D123");
    CHECK(print_event_file(read.payload).find("channelId")
          == std::string::npos);
  }

  TEST_CASE("a sentence names the file and the member") {
    auto read = parse_event_file(R"({"type":5})", "broken.json");
    CHECK(to_string(read.fault) == "malformed");
    CHECK(read.field == "type");
    CHECK(read.sentence.find("broken.json") == 0);
    auto half = parse_event_file(R"({"type":"imm)", "broken.json");
    CHECK(half.sentence.find("line 1") != std::string::npos);
    auto flag = parse_event_file(
      R"({"type":"immediate","conversationId":"C","text":"t","allowSchedules":1})",
      "f.json");
    CHECK(flag.field == "allowSchedules");
  }

  TEST_CASE("instants") {
    CHECK(event_instant_ms("1970-01-01T00:00Z") == 0);
    CHECK(event_instant_ms("2026-01-01T01:00:00+01:00") == 1'767'225'600'000);
    CHECK(event_instant_ms("1970-01-01T00:00:00.5-00:01") == 60'500);
    CHECK(event_instant_ms("1970-01-01T00:00:00.0001Z") == 1);
    for (auto text :
         {"", "2027-05-01T09:30:00", "2027-02-30T09:00Z", "2027-05-01T24:00Z",
          "2027-05-01T09:30:60Z", "2027-05-01t09:30Z", "2027-05-01T09:30z",
          "2027-05-01 09:30Z", "2027-05-01T09:30+0800", "2027-05-01T09:30.5Z",
          " 2027-05-01T09:30Z", "2027-05-01T09:30Z ", "2027-05-01T09:30+24:00"})
      CHECK_MESSAGE(!event_instant_ms(text), text);
  }

  TEST_CASE("names of files") {
    CHECK(is_event_file_name("a.json"));
    for (auto name : {"", "  ", ".json", "../escape.json", "nested/file.json",
                      "plain.txt", "a..json", ".hidden.json", "a.json\n"})
      CHECK_MESSAGE(!is_event_file_name(name), name);
    CHECK(event_name_of("a.b.json") == "a.b");
    CHECK(sanitize_event_name(" Deploy / Prod ") == "deploy-prod");
    CHECK(sanitize_event_name("../..") == "event");
    CHECK(sanitize_event_name("") == "event");
    CHECK(is_event_file_name(sanitize_event_name("..a..b") + ".json"));
  }
}
