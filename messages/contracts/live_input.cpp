#include "messages/contracts/live_input.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/errc.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 5> refusal_names = {
  "inactive", "unsupported", "too_large", "full", "invalid"};
constexpr std::array<std::string_view, 3> outcome_names = {"applied", "requeue",
                                                           "discarded"};
constexpr std::array<std::string_view, 3> requeue_names = {"unsupported",
                                                           "closed", "failed"};

} // namespace

std::string to_string(live_input_refusal refusal) {
  return name_in(refusal_names, refusal);
}

std::optional<live_input_refusal>
parse_live_input_refusal(std::string_view name) {
  return find_in<live_input_refusal>(refusal_names, name);
}

std::string to_string(live_input_outcome outcome) {
  return name_in(outcome_names, outcome);
}

std::string to_string(live_input_requeue reason) {
  return name_in(requeue_names, reason);
}

std::optional<live_input_refusal>
check_live_input(const live_input_request& request, size_t taken) {
  if (text::is_blank(request.id) || text::is_blank(request.text)
      || !text::parse_iso(request.received_at))
    return live_input_refusal::invalid;
  if (text::utf16_length(request.text) > live_input_max_characters)
    return live_input_refusal::too_large;
  if (taken >= live_input_max_messages)
    return live_input_refusal::full;
  return std::nullopt;
}

caf::expected<live_input_request>
parse_live_input(const bj::value& body, std::string_view conversation_id) {
  auto refuse = [](const char* why) {
    return make_failure(errc::bad_request, why);
  };
  auto fields = body.if_object();
  if (fields == nullptr)
    return refuse("the body must be an object");
  auto id = json::string_member(*fields, "id");
  auto text = json::string_member(*fields, "text");
  auto received_at = json::string_member(*fields, "receivedAt");
  if (!id || !text || !received_at)
    return refuse("the body needs the texts id, text and receivedAt");
  live_input_request result;
  result.conversation_id = conversation_id;
  result.id = std::move(*id);
  result.text = std::move(*text);
  result.received_at = std::move(*received_at);
  if (auto key = json::member(*fields, "deliveryKey")) {
    auto length = key->is_string() ? text::utf16_length(key->get_string()) : 0;
    if (length < 1 || length > live_input_max_delivery_key)
      return refuse("deliveryKey must be a text of 1 to 1024 characters");
    result.delivery_key = std::string{key->get_string()};
  }
  return result;
}

bj::object to_json(const live_input_offer& offer) {
  if (!offer.unavailable)
    return {{"status", "accepted"}};
  return {{"status", "unavailable"}, {"reason", to_string(*offer.unavailable)}};
}

bj::object to_json(const live_input_settlement& settlement) {
  bj::object result{{"status", to_string(settlement.outcome)}};
  switch (settlement.outcome) {
  case live_input_outcome::applied:
    result["runId"] = settlement.run_id;
    break;
  case live_input_outcome::requeue:
    result["reason"] = to_string(settlement.reason);
    break;
  case live_input_outcome::discarded:
    result["reason"] = "cancelled";
    break;
  }
  return result;
}

} // namespace bureau::contracts
