#include "actors/office/intake_core.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/limits.hpp"
#include "messages/text/command_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace bureau::offices {

namespace {

intake_verdict refuse(errc code, std::string sentence) {
  intake_verdict verdict;
  verdict.action = intake_action::refuse;
  verdict.code = code;
  verdict.sentence = std::move(sentence);
  return verdict;
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

/// The identity check: nothing of a message that fails it leaves a trace.
intake_verdict check_identity(const conversation_event& event,
                              const office_address& place) {
  if (event.address != place)
    return refuse(errc::bad_identity,
                  "address mismatch: the message belongs to another office");
  auto fault = check_conversation_id(event.address.conversation_id);
  if (fault != address_fault::none)
    return refuse(errc::bad_identity,
                  bureau::sentence_of(fault, to_string(event.address.platform),
                                      event.address.conversation_id));
  auto& id = event.message_id;
  if (id.empty() || id.size() > limits::message_id_bytes
      || !text::is_valid_utf8(id))
    return refuse(errc::bad_identity,
                  "the message id must be 1 to "
                    + std::to_string(limits::message_id_bytes)
                    + " bytes of UTF-8");
  if (event.target.text.size() > limits::reply_target_bytes
      || (!event.target.empty() && !json::parse(event.target.text)))
    return refuse(errc::bad_identity,
                  "the reply target must be JSON of at most "
                    + std::to_string(limits::reply_target_bytes) + " bytes");
  auto key =
    derive_session_key({event.address.conversation_id, given(event.session_key),
                        given(event.thread_ts), event.message_id});
  if (!key)
    return refuse(errc::bad_identity,
                  "the session key is refused: " + to_string(key.fault));
  intake_verdict verdict;
  verdict.session_key = std::move(key.key);
  return verdict;
}

bool is_too_old(const conversation_event& event, int64_t now_ms,
                std::chrono::milliseconds limit) {
  return event.origin == turn_origin::user && event.sent_ms > 0
         && now_ms - event.sent_ms > limit.count();
}

} // namespace

intake_verdict judge_intake(const intake_request& request,
                            const office_address& place, bool seen,
                            int64_t now_ms, const intake_bounds& bounds) {
  auto& event = request.event;
  auto verdict = check_identity(event, place);
  if (verdict.action == intake_action::refuse)
    return verdict;
  auto& magic = request.magic_text.empty() ? event.text : request.magic_text;
  if (seen)
    verdict.action = intake_action::duplicate;
  else if (event.origin == turn_origin::user && text::is_stop_word(magic))
    verdict.action = intake_action::stop;
  else if (request.trigger != trigger_class::addressed
           || is_too_old(event, now_ms, bounds.max_age))
    verdict.action = intake_action::log_only;
  return verdict;
}

std::string identity_fault(const intake_request& request,
                           const office_address& place) {
  return check_identity(request.event, place).sentence;
}

std::string bounded_text(std::string_view text, const intake_bounds& bounds) {
  auto clean = text::sanitize_utf8(text);
  return std::string{text::prefix_bytes(clean, bounds.text_bytes)};
}

bool is_reset_command(const conversation_event& event) {
  return event.origin == turn_origin::user
         && text::match_command(event.text, {"/new", "/pi-new"}, true);
}

bool is_verbatim(const conversation_event& event) {
  return event.origin == turn_origin::action
         && event.message_id.starts_with(verbatim_id_head);
}

std::string stop_target(const std::vector<std::string>& current,
                        std::string_view session_key,
                        std::string_view conversation_id, bool top_level,
                        stop_scope scope) {
  auto runs = [&](std::string_view key) {
    return std::find(current.begin(), current.end(), key) != current.end();
  };
  if (runs(session_key))
    return std::string{session_key};
  if (runs(conversation_id))
    return std::string{conversation_id};
  auto widens = scope == stop_scope::always
                || (scope == stop_scope::top_level && top_level);
  if (!widens)
    return {};
  std::string found;
  for (auto& key : current) {
    if (!is_thread_key(key) || conversation_id_of(key) != conversation_id)
      continue;
    if (!found.empty())
      return {};
    found = key;
  }
  return found;
}

} // namespace bureau::offices
