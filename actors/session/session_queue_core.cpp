#include "actors/session/session_core.hpp"
#include "messages/text/command_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

/// The session's queue: what messages do while a turn runs.
namespace bureau::session {

namespace {

/// Text and nothing else: it can be said together with others.
bool is_plain(const conversation_event& event) {
  return event.attachments.empty() && !text::is_blank(event.text)
         && !text::is_command_text(event.text);
}

/// A turn that may have begun before a restart is not put together anew.
bool is_collectable(const turn_ticket& ticket) {
  return ticket.event.origin == turn_origin::user && is_plain(ticket.event)
         && ticket.attempt < 2 && ticket.provisional.empty();
}

/// The end of a job reaches the running turn as well; what a schedule causes
/// has a turn of its own.
bool is_steerable(const turn_ticket& ticket) {
  const auto& event = ticket.event;
  return event.origin != turn_origin::event && is_plain(event)
         && text::utf16_length(text::sanitize_utf8(event.text))
              <= limits::live_input_chars;
}

contracts::cancel_reason superseding() {
  return {"A newer message took its place.", caf::none};
}

} // namespace

void session_core::remember(std::deque<std::string>& list,
                            const std::string& id) {
  list.push_back(id);
  if (list.size() > limits::remembered_turns)
    list.pop_front();
}

// -- the queue ----------------------------------------------------------------

bool session_core::joins_full_queue(const turn_ticket& accepted,
                                    size_t waiting) const {
  return rules_.overflow == queue_overflow::collect && is_collectable(accepted)
         && waiting < rules_.cap + collected_messages;
}

bool session_core::overflows(const turn_ticket& accepted, size_t waiting) {
  // The host's own wakes hold a slot: their sender bounds them, and the model
  // would never hear of what has ended.
  if (accepted.event.origin == turn_origin::action || waiting < rules_.cap)
    return false;
  if (!joins_full_queue(accepted, waiting))
    return true;
  overflowed_ = true;
  return false;
}

void session_core::collect() {
  auto& ticket = current_->ticket;
  if ((rules_.mode != queue_mode::collect && !overflowed_)
      || !is_collectable(ticket))
    return;
  overflowed_ = false;
  auto bytes = ticket.event.text.size();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (!is_collectable(next->ticket)) {
      // What a person said later must not overtake what they said before.
      if (next->ticket.event.origin == turn_origin::user)
        break;
      ++next;
      continue;
    }
    bytes += next->ticket.event.text.size();
    if (ticket.collected.size() + 1 >= collected_messages
        || bytes > collected_bytes)
      break;
    ticket.collected.push_back(std::move(next->ticket.event));
    next = waiting_.erase(next);
  }
}

void session_core::refuse(session_effects& out, const conversation_event& event,
                          bool quietly, const char* sentence, int64_t now_ms) {
  auto interval = std::chrono::milliseconds{limits::refusal_notice_interval};
  auto recent =
    last_refusal_ms_ && now_ms - *last_refusal_ms_ < interval.count();
  auto tell = !quietly && !recent;
  remember(ended_, event.message_id);
  out.push_back(effect::record_dead{dead(event, "refused", tell)});
  if (!tell)
    return;
  last_refusal_ms_ = now_ms;
  say(out, notice_post(event, {}, event.target, sentence));
}

size_t session_core::waiting_events() const {
  return static_cast<size_t>(
    std::count_if(waiting_.begin(), waiting_.end(), [](const auto& place) {
      return place.ticket.event.origin == turn_origin::event;
    }));
}

size_t session_core::waiting_count() const {
  return static_cast<size_t>(
    std::count_if(waiting_.begin(), waiting_.end(), [](const auto& place) {
      return place.at != slot::step::applied;
    }));
}

session_effects session_core::rules_known(const queue_rules& rules,
                                          int64_t now_ms) {
  rules_ = rules;
  rules_seen_ = true;
  return rules_unknown(now_ms);
}

session_effects session_core::rules_unknown(int64_t now_ms) {
  session_effects out;
  decide(out, now_ms);
  return out;
}

// -- messages for the running turn --------------------------------------------

bool session_core::waits_for_turn(const slot& place) {
  return place.at == slot::step::waiting
         && place.ticket.event.origin == turn_origin::user;
}

/// What fresh messages do to the running turn, in their order (decision A8).
void session_core::decide(session_effects& out, int64_t now_ms) {
  auto interrupts = false;
  // Messages that were judged before, or find room now.
  size_t room_taken = 0;
  // A message of a person waits for a turn of its own: later ones wait behind
  // it.
  auto queue_formed = false;
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    if (place->at != slot::step::fresh) {
      room_taken += place->at != slot::step::applied;
      queue_formed = queue_formed || waits_for_turn(*place);
      ++place;
      continue;
    }
    const auto& event = place->ticket.event;
    if (!std::exchange(place->judged, true)
        && overflows(place->ticket, room_taken)) {
      refuse(out, event, event.origin == turn_origin::event, wording::refused,
             now_ms);
      place = waiting_.erase(place);
      continue;
    }
    ++room_taken;
    // The end of a job is offered whatever the mode (agent contracts, rule 75).
    auto always = place->ticket.offer || event.origin == turn_origin::action;
    auto by_rule = !drain_ && event.origin == turn_origin::user;
    auto mode = by_rule ? rules_.mode : queue_mode::follow_up;
    if (mode == queue_mode::reject) {
      refuse(out, event, false, wording::busy, now_ms);
      place = waiting_.erase(place);
      continue;
    }
    auto offered = (mode == queue_mode::steer || (always && !drain_))
                   && place->late && is_steerable(place->ticket)
                   && (!queue_formed || event.origin == turn_origin::action);
    // A turn that begins at any moment is offered it then.
    if (offered && phase_ == session_phase::materialising) {
      ++place;
      continue;
    }
    place->at = slot::step::waiting;
    interrupts = interrupts || mode == queue_mode::interrupt;
    if (offered && phase_ == session_phase::running) {
      place->at = slot::step::offered;
      out.push_back(effect::offer_input{current_->run, place->ticket});
    }
    queue_formed = queue_formed || waits_for_turn(*place);
    ++place;
  }
  if (interrupts)
    supersede(out);
}

void session_core::supersede(session_effects& out) {
  if (phase_ == session_phase::running) {
    begin_stop(out, stop_cause::superseded, superseding(), {});
  } else if (phase_ == session_phase::materialising) {
    const auto& event = current_->ticket.event;
    close_collected(out, "superseded", false, superseding());
    remember(ended_, event.message_id);
    out.push_back(
      effect::record_dead{dead(event, "superseded", false, superseding())});
    current_.reset();
    rest(out);
  }
}

session_effects session_core::input_answered(
  const std::string& run, const std::string& message_id,
  const contracts::live_input_offer& offer) {
  if (!offer.unavailable)
    return {};
  // It needs a turn of its own.
  live_input_settled back;
  back.run = run;
  back.id = message_id;
  return input_settled(back);
}

session_effects session_core::input_settled(const live_input_settled& what) {
  using contracts::live_input_outcome;
  session_effects out;
  auto place =
    std::find_if(waiting_.begin(), waiting_.end(), [&](const slot& other) {
      return other.at == slot::step::offered
             && other.ticket.event.message_id == what.id;
    });
  if (!is_current(what.run) || place == waiting_.end())
    return out;
  if (what.settlement.outcome == live_input_outcome::applied) {
    place->at = slot::step::applied;
    cover(out, what.id);
  } else if (what.settlement.outcome == live_input_outcome::discarded
             && is_stopped_by_user()) {
    remember(ended_, what.id);
    out.push_back(effect::record_dead{
      dead(place->ticket.event, "stopped", true, current_->reason)});
    waiting_.erase(place);
  } else {
    place->at = slot::step::waiting;
  }
  return out;
}

bool session_core::is_stopped_by_user() const {
  // What came before a /new runs in the fresh session.
  return current_->cause == stop_cause::user && !reset_wanted_;
}

// What the turn has read is part of it, and the owner knows: it ends as the
// turn does, and never has one of its own.
void session_core::settle_slots(session_effects& out) {
  auto stopped = is_stopped_by_user();
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    auto read = place->at == slot::step::applied;
    auto held = place->at == slot::step::offered;
    if (!read && !(held && stopped)) {
      if (held)
        place->at = slot::step::waiting;
      ++place;
      continue;
    }
    const auto& event = place->ticket.event;
    remember(ended_, event.message_id);
    if (!read)
      out.push_back(
        effect::record_dead{dead(event, "stopped", true, current_->reason)});
    place = waiting_.erase(place);
  }
}

void session_core::cover(session_effects& out,
                         const std::string& message_id) const {
  out.push_back(effect::record_covered{
    {session_key_, message_id, current_->run, current_->ticket.attempt}});
}

void session_core::close_collected(session_effects& out, const char* why,
                                   bool told,
                                   const contracts::cancel_reason& reason) {
  for (const auto& event : std::exchange(current_->ticket.collected, {})) {
    remember(ended_, event.message_id);
    out.push_back(effect::record_dead{dead(event, why, told, reason)});
  }
}

void session_core::requeue_collected() {
  auto events = std::exchange(current_->ticket.collected, {});
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    slot place;
    place.ticket.event = std::move(*event);
    waiting_.push_front(std::move(place));
  }
}

} // namespace bureau::session
