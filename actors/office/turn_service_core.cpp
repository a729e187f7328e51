#include "actors/office/turn_service_core.hpp"

#include "actors/office/intake_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <set>
#include <utility>

namespace bureau::offices {

namespace {

namespace bj = json::bj;

/// How the ids of messages begin that came through the service.
constexpr std::string_view turn_id_head = "turn:";
constexpr std::string_view live_id_head = "live:";
constexpr std::string_view notify_id_head = "notify:";

caf::error bad(std::string sentence) {
  return make_failure(errc::bad_request, std::move(sentence));
}

/// A message for the session of a contract id.
caf::expected<intake_request> message_for(const std::string& conversation,
                                          std::string text, std::string id,
                                          int64_t now_ms) {
  auto place = contracts::parse_contract_id(conversation);
  if (!place)
    return place.error();
  if (text::is_blank(text))
    return bad("There is no text.");
  intake_request request;
  auto& event = request.event;
  event.address = std::move(place->address);
  event.session_key = std::move(place->session_key);
  event.origin = turn_origin::action;
  event.message_id = std::move(id);
  event.text = std::move(text);
  event.sent_ms = now_ms;
  request.magic_addressed = false;
  return request;
}

std::string id_in(const json_text& metadata) {
  auto parsed = json::parse(metadata.text);
  auto record = parsed ? parsed.value.if_object() : nullptr;
  return record == nullptr ? std::string{} : json::text_or_empty(*record, "id");
}

/// What a scheduled run says twice, it says once.
std::string key_of(const contracts::notify_context& context) {
  return context.job_id + '@' + context.run_id;
}

std::string sentence_of_end(const entry_end& end) {
  if (end.outcome == "refused")
    return "The message was refused: too many wait in this conversation.";
  if (end.outcome == "undeliverable")
    return "The answer could not be delivered.";
  if (end.outcome == "interrupted")
    return "The turn was interrupted before it had an answer.";
  return "The turn ended as " + end.outcome + '.';
}

bool is_cancelled(const entry_end& end) {
  return end.outcome == "stopped" || end.outcome == "superseded";
}

} // namespace

caf::expected<intake_request> intake_of(const contracts::turn_request& request,
                                        std::string_view fallback_id,
                                        int64_t now_ms) {
  if (!request.attachments.empty())
    return bad("Files come with messages of a platform alone.");
  if (request.continuation)
    return bad("A continuation is begun by its run alone.");
  if (request.reply_to
      && request.reply_to->conversation_id != request.conversation_id)
    return bad("The answer goes to the conversation that is asked.");
  auto id = id_in(request.metadata);
  auto made = message_for(request.conversation_id, request.text,
                          std::string{turn_id_head}
                            + (id.empty() ? std::string{fallback_id} : id),
                          now_ms);
  if (!made)
    return made;
  auto& event = made->event;
  if (request.sender) {
    event.user = request.sender->id.value_or(std::string{});
    event.user_name = contracts::sender_label(*request.sender);
    event.from_bot = request.sender->is_bot.value_or(false);
    made->display_name = event.user_name;
  }
  if (request.surface && request.surface->kind != contracts::surface_kind::dm)
    event.kind = conversation_kind::shared;
  return made;
}

std::string live_message_id(std::string_view id) {
  return std::string{live_id_head} + std::string{id};
}

caf::expected<intake_request>
intake_of(const contracts::live_input_request& request, int64_t now_ms) {
  auto made = message_for(request.conversation_id, request.text,
                          live_message_id(request.id), now_ms);
  if (!made)
    return made;
  made->offer = true;
  made->event.sent_ms = text::parse_iso(request.received_at).value_or(now_ms);
  return made;
}

caf::expected<intake_request>
intake_of(const contracts::notify_request& request,
          std::string_view fallback_id, int64_t now_ms) {
  auto key = request.delivery_key ? *request.delivery_key
             : request.context    ? key_of(*request.context)
                                  : std::string{fallback_id};
  auto head = request.verbatim ? verbatim_id_head : notify_id_head;
  auto made = message_for(request.conversation_id, request.text,
                          std::string{head} + key, now_ms);
  // Its turn may come to the end that there is nothing to say.
  if (made && !request.verbatim)
    made->event.origin = turn_origin::event;
  return made;
}

caf::expected<contracts::turn_response> response_of(const entry_end& end) {
  if (is_cancelled(end))
    return contracts::response_cancelled(
      end.cancelled.value_or(contracts::cancel_reason{}));
  if (end.outcome != "sent" && end.outcome != "silent")
    return make_failure(errc::conflict, sentence_of_end(end));
  contracts::turn_response response;
  response.text = end.text;
  response.parts = end.parts;
  bj::object metadata{{"runId", end.run}, {"outcome", end.outcome}};
  if (!end.ref.empty())
    metadata["ref"] = end.ref;
  response.metadata = json_text{json::print(metadata)};
  return response;
}

contracts::live_input_settlement settlement_of(const entry_end& end) {
  contracts::live_input_settlement result;
  if (end.outcome == "steered") {
    result.outcome = contracts::live_input_outcome::applied;
    result.run_id = end.run;
  } else if (is_cancelled(end)) {
    result.outcome = contracts::live_input_outcome::discarded;
  } else {
    // It had its place in the queue, and its turn.
    result.reason = contracts::live_input_requeue::closed;
  }
  return result;
}

contracts::notify_delivery_result
delivery_of(const contracts::notify_request& request, const entry_end& end,
            std::string_view channel) {
  contracts::notify_delivery_result result;
  result.channel_id = std::string{channel};
  if (end.outcome == "refused")
    return not_delivered("destination_busy", sentence_of_end(end), true);
  // What said nothing has done what it was to do.
  result.delivered = end.outcome == "sent" || end.outcome == "silent"
                     || end.outcome == "steered" || end.outcome == "collected";
  if (!result.delivered) {
    result.code = "destination_" + end.outcome;
    result.reason = sentence_of_end(end);
    result.retryable = false;
    // It was tried until nobody could tell any more.
    if (end.outcome == "undeliverable")
      result.ambiguous = true;
    return result;
  }
  if (!end.ref.empty())
    result.delivery_id = end.ref;
  if (request.verbatim) {
    result.history_recorded = end.history_error.empty();
    if (!end.history_error.empty())
      result.history_error_code = end.history_error;
  }
  return result;
}

contracts::notify_delivery_result not_delivered(std::string code,
                                                std::string reason,
                                                bool retryable) {
  contracts::notify_delivery_result result;
  result.code = std::move(code);
  result.reason = std::move(reason);
  result.retryable = retryable;
  return result;
}

// To send it anew under the same key is harmless.
contracts::notify_delivery_result still_open(std::string delivery_id) {
  auto result = not_delivered("delivery_pending",
                              "It is kept and will be delivered.", true);
  result.ambiguous = true;
  result.delivery_id = std::move(delivery_id);
  return result;
}

std::vector<platform_id> platforms_of(const office_inventory& inventory) {
  std::set<platform_id> found;
  for (const auto& record : inventory.offices)
    found.insert(record.address.platform);
  return {found.begin(), found.end()};
}

notify_destinations destinations_of(const office_inventory& inventory,
                                    const std::vector<std::string>& channels) {
  notify_destinations result;
  for (const auto& record : inventory.offices) {
    auto id =
      contracts::contract_id(record.address, record.address.conversation_id);
    if (!contracts::is_deliverable_conversation(id, channels))
      continue;
    if (result.list.size() == destinations_told) {
      result.cut = true;
      break;
    }
    contracts::notify_destination place;
    place.conversation_id = std::move(id);
    place.channel_id = to_string(record.address.platform);
    result.list.push_back(std::move(place));
  }
  return result;
}

} // namespace bureau::offices
