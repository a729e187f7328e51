#include "messages/codec/event_file.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

outcome outcome_of(const event_reading& reading) {
  return reading ? answer(to_json(reading.payload))
                 : failure(to_string(reading.fault));
}

outcome parse_case(const bj::array& args) {
  return outcome_of(
    parse_event_file(text_of(argument(args, 0)), text_of(argument(args, 1))));
}

outcome build_case(const bj::array& args) {
  event_payload input;
  const auto& given = argument(args, 0);
  auto text = [&given](std::string_view name) {
    auto member = json::member(given, name);
    return member != nullptr ? text_of(*member) : std::string{};
  };
  input.type = parse_event_type(text("type")).value_or(event_type::immediate);
  if (auto platform = text("platform"); !platform.empty())
    input.platform = platform;
  input.conversation_id = text("conversationId");
  if (auto kind = parse_conversation_kind(text("conversationKind")))
    input.kind = *kind;
  if (auto user = text("userId"); !user.empty())
    input.user_id = user;
  input.text = text("text");
  input.at = text("at");
  input.schedule = text("schedule");
  input.timezone = text("timezone");
  return outcome_of(build_event(std::move(input)));
}

const registration all[] = {
  {"parseEventPayload", parse_case},
  {"buildEventPayload", build_case},
};

} // namespace

} // namespace bureau::conformance
