#include "actors/events/event_text_core.hpp"

#include "messages/codec/event_file.hpp"
#include "messages/errc.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/text/sha256.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::events {

namespace {

constexpr const char* reminder_words =
  "A reminder that was asked for earlier is due. Deliver it briefly, without a "
  "greeting.\n\nReminder: ";
constexpr const char* task_words =
  "This is a recurring task. Do it and report concisely; answer exactly "
  "[SILENT] when there is nothing to act on or to tell.\n\nTask: ";
constexpr const char* event_words =
  "Something happened that this conversation is to hear of. Handle it, or pass "
  "it on, concisely.\n\nEvent: ";

std::string names_of(const std::vector<platform_id>& platforms) {
  std::string result;
  for (auto platform : platforms)
    result += (result.empty() ? "" : ", ") + to_string(platform);
  return result.empty() ? "none" : result;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

} // namespace

caf::expected<event_target> target_of(
  const event_payload& payload, const std::vector<platform_id>& platforms) {
  event_target result;
  if (payload.platform) {
    auto wanted = lower(text::trim(*payload.platform));
    auto platform = parse_platform(wanted);
    if (!platform
        || std::find(platforms.begin(), platforms.end(), *platform)
             == platforms.end())
      return make_failure(errc::bad_request,
                          "the platform '" + wanted
                            + "' is not one of those in use ("
                            + names_of(platforms) + ")");
    result.conversation.platform = *platform;
  } else if (platforms.size() == 1) {
    result.conversation.platform = platforms.front();
  } else {
    return make_failure(errc::bad_request,
                        "`platform` is missing, and there is more than one "
                        "way to understand that ("
                          + names_of(platforms) + ")");
  }
  result.conversation.conversation_id = payload.conversation_id;
  if (check_conversation_id(payload.conversation_id) != address_fault::none)
    return make_failure(errc::bad_request,
                        "`conversationId` is no id of a conversation");
  result.kind = payload.kind ? *payload.kind
                             : infer_kind(result.conversation.platform,
                                          payload.conversation_id);
  return result;
}

std::string prompt_of(const event_payload& payload, const event_cause& cause) {
  std::string result;
  if (payload.type == event_type::one_shot) {
    if (cause.late)
      result = "This reminder is late: it was due at " + payload.at + ".\n\n";
    return result + reminder_words + payload.text;
  }
  result = (payload.type == event_type::periodic ? task_words : event_words)
           + payload.text;
  if (cause.skipped == 1)
    result += "\n\n(1 earlier run was skipped.)";
  else if (cause.skipped > 1)
    result +=
      "\n\n(" + std::to_string(cause.skipped) + " earlier runs were skipped.)";
  return result;
}

std::string session_key_of(const office_address& conversation,
                           std::string_view file) {
  // What is cut stays apart from names that begin alike.
  constexpr size_t hash_digits = 16;
  std::string suffix{event_id_head};
  suffix += event_name_of(file);
  if (auto key = make_thread_key(conversation.conversation_id, suffix))
    return key.key;
  auto hash = text::sha256_hex(suffix).substr(0, hash_digits);
  auto room = max_suffix_bytes - event_id_head.size() - hash_digits - 1;
  suffix = std::string{event_id_head}
           + std::string{text::prefix_bytes(event_name_of(file), room)} + '-'
           + hash;
  if (auto key = make_thread_key(conversation.conversation_id, suffix))
    return key.key;
  return make_thread_key(conversation.conversation_id,
                         std::string{event_id_head} + hash)
    .key;
}

} // namespace bureau::events
