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

} // namespace

void session_core::remember(std::deque<std::string>& list,
                            const std::string& id) {
  list.push_back(id);
  if (list.size() > limits::remembered_turns)
    list.pop_front();
}

// -- the queue ----------------------------------------------------------------

bool session_core::joins_full_queue(const turn_ticket& accepted) const {
  return rules_.overflow == queue_overflow::collect && is_collectable(accepted)
         && waiting_count() < rules_.cap + collected_messages;
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
  return rules_unknown(now_ms);
}

session_effects session_core::rules_unknown(int64_t now_ms) {
  session_effects out;
  decide(out, now_ms);
  return out;
}

// -- messages for the running turn --------------------------------------------

/// What fresh messages do to the running turn, in their order (decision A8).
void session_core::decide(session_effects& out, int64_t now_ms) {
  auto interrupts = false;
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    if (place->at != slot::step::fresh) {
      ++place;
      continue;
    }
    const auto& event = place->ticket.event;
    auto by_rule = !drain_
                   && (event.origin == turn_origin::user
                       || rules_.mode == queue_mode::steer);
    auto mode = by_rule ? rules_.mode : queue_mode::follow_up;
    if (mode == queue_mode::reject) {
      refuse(out, event, false, wording::busy, now_ms);
      place = waiting_.erase(place);
      continue;
    }
    auto offered =
      mode == queue_mode::steer && place->late && is_steerable(place->ticket);
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
    ++place;
  }
  if (interrupts)
    supersede(out);
}

void session_core::supersede(session_effects& out) {
  if (phase_ == session_phase::running) {
    begin_stop(out, stop_cause::superseded, {});
  } else if (phase_ == session_phase::materialising) {
    const auto& event = current_->ticket.event;
    close_collected(out, "superseded", false);
    remember(ended_, event.message_id);
    out.push_back(effect::record_dead{dead(event, "superseded", false)});
    current_.reset();
    rest(out);
  }
}

session_effects session_core::input_settled(const std::string& run,
                                            const std::string& message_id,
                                            const live_input_result& result) {
  session_effects out;
  auto place =
    std::find_if(waiting_.begin(), waiting_.end(), [&](const slot& other) {
      return other.at == slot::step::offered
             && other.ticket.event.message_id == message_id;
    });
  if (!is_current(run) || place == waiting_.end())
    return out;
  if (result.state == live_input_state::applied) {
    place->at = slot::step::applied;
  } else if (result.state == live_input_state::discarded
             && is_stopped_by_user()) {
    remember(ended_, message_id);
    out.push_back(
      effect::record_dead{dead(place->ticket.event, "stopped", true)});
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

void session_core::settle_slots(session_effects& out, bool produced) {
  auto stopped = is_stopped_by_user();
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    auto read = place->at == slot::step::applied;
    auto held = read || place->at == slot::step::offered;
    auto covered = read && produced && !stopped;
    if (!covered && !(held && stopped)) {
      place->at = slot::step::waiting;
      ++place;
      continue;
    }
    const auto& event = place->ticket.event;
    remember(ended_, event.message_id);
    if (stopped)
      out.push_back(effect::record_dead{dead(event, "stopped", true)});
    place = waiting_.erase(place);
  }
}

void session_core::close_collected(session_effects& out, const char* why,
                                   bool told) {
  for (const auto& event : std::exchange(current_->ticket.collected, {})) {
    remember(ended_, event.message_id);
    out.push_back(effect::record_dead{dead(event, why, told)});
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
