#include "actors/session/session_core.hpp"

#include <algorithm>
#include <utility>

namespace bureau::session {

namespace {

bool contains(const std::deque<std::string>& list, const std::string& id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

/// Whether waiting may make the same ledger write succeed.
bool may_pass(errc why) {
  switch (why) {
  case errc::disk:
  case errc::timeout:
  case errc::queue_full:
  case errc::not_ready:
  case errc::busy:
  case errc::shutting_down:
    return true;
  default:
    return false;
  }
}

bool has_id(const turn_ticket& ticket, const std::string& id) {
  return ticket.event.message_id == id
         || std::any_of(
           ticket.collected.begin(), ticket.collected.end(),
           [&](const auto& event) { return event.message_id == id; });
}

} // namespace

std::string to_string(session_phase phase) {
  switch (phase) {
  case session_phase::absent:
    return "absent";
  case session_phase::materialising:
    return "materialising";
  case session_phase::idle:
    return "idle";
  case session_phase::running:
    return "running";
  case session_phase::stopping:
    return "stopping";
  case session_phase::disposing:
    return "disposing";
  }
  return "unknown";
}

session_core::session_core(office_address place, std::string session_key)
  : place_(std::move(place)), session_key_(std::move(session_key)) {
}

// -- work ---------------------------------------------------------------------

session_effects session_core::ticket(turn_ticket accepted, int64_t now_ms) {
  session_effects out;
  const auto& event = accepted.event;
  const auto& id = event.message_id;
  last_access_ms_ = now_ms;
  if ((current_ && has_id(current_->ticket, id))
      || std::any_of(waiting_.begin(), waiting_.end(), [&](const slot& other) {
           return has_id(other.ticket, id);
         }))
    return out;
  if (contains(early_stops_, id)) {
    std::erase(early_stops_, id);
    close_in_place(out, event, event.target, user_reason());
    return out;
  }
  // A message that can start at once does not wait, so no bound applies to it.
  auto waits = current_ || drain_ || !waiting_.empty();
  if (waits && event.origin == turn_origin::event
      && waiting_events() >= limits::event_queue_cap) {
    refuse(out, event, true, wording::refused, now_ms);
    return out;
  }
  // What nobody knows the rules for yet is judged when they are known.
  if (waits && (rules_seen_ || !current_)
      && overflows(accepted, waiting_count())) {
    refuse(out, event, event.origin == turn_origin::event, wording::refused,
           now_ms);
    return out;
  }
  slot place;
  place.ticket = std::move(accepted);
  if (current_) {
    place.at = slot::step::fresh;
    place.late = current_->recorded;
    place.judged = rules_seen_;
    out.push_back(effect::read_rules{});
  }
  waiting_.push_back(std::move(place));
  start_next(out);
  return out;
}

void session_core::start_next(session_effects& out) {
  auto free = phase_ == session_phase::absent || phase_ == session_phase::idle;
  if (!free || drain_ || current_ || waiting_.empty())
    return;
  if (phase_ == session_phase::idle)
    out.push_back(effect::cancel_idle{});
  current_.emplace();
  current_->ticket = std::move(waiting_.front().ticket);
  waiting_.pop_front();
  collect();
  phase_ = session_phase::materialising;
  out.push_back(effect::name_run{});
}

session_effects session_core::run_named(std::string run) {
  if (phase_ != session_phase::materialising || !current_->run.empty())
    return {};
  current_->run = std::move(run);
  return retry_due();
}

session_effects session_core::retry_due() {
  if (phase_ != session_phase::materialising || current_->recorded)
    return {};
  if (current_->run.empty())
    return {effect::name_run{}};
  const auto& turn = *current_;
  return {effect::record_start{{session_key_, turn.ticket.event.message_id,
                                turn.run, turn.ticket.attempt}}};
}

session_effects session_core::start_recorded(const std::string& run) {
  session_effects out;
  if (!is_current(run) || phase_ != session_phase::materialising)
    return out;
  current_->recorded = true;
  for (const auto& event : current_->ticket.collected)
    cover(out, event.message_id);
  if (!closing_)
    launch(out);
  return out;
}

void session_core::launch(session_effects& out) {
  if (!has_runner_) {
    has_runner_ = true;
    renew_ = false;
    out.push_back(effect::open_runner{});
  }
  phase_ = session_phase::running;
  out.push_back(effect::start_run{{current_->run, current_->ticket}});
  auto undecided =
    std::any_of(waiting_.begin(), waiting_.end(), [](const slot& place) {
      return place.at == slot::step::fresh;
    });
  if (undecided)
    out.push_back(effect::read_rules{});
}

session_effects session_core::start_refused(const std::string& run, errc why) {
  session_effects out;
  if (!is_current(run) || phase_ != session_phase::materialising
      || current_->recorded)
    return out;
  if (may_pass(why)) {
    out.push_back(effect::retry_start{});
    return out;
  }
  // The owner knows that this entry is closed: nothing is to be done for it.
  remember(ended_, current_->ticket.event.message_id);
  requeue_collected();
  current_.reset();
  rest(out);
  return out;
}

void session_core::rest(session_effects& out) {
  if (closing_) {
    phase_ = session_phase::disposing;
    return;
  }
  phase_ = has_runner_ ? session_phase::idle : session_phase::absent;
  if (has_runner_
      && (renew_ || reset_wanted_ || drain_ == drain_phase::close)) {
    dispose(out);
    return;
  }
  if (reset_wanted_) {
    renew_file(out);
    return;
  }
  start_next(out);
  if (phase_ == session_phase::idle)
    out.push_back(effect::arm_idle{});
}

void session_core::dispose(session_effects& out) {
  has_runner_ = false;
  closing_ = true;
  renew_ = false;
  phase_ = session_phase::disposing;
  out.push_back(effect::cancel_idle{});
  out.push_back(effect::dispose_runner{});
}

void session_core::kill(session_effects& out) {
  has_runner_ = false;
  closing_ = true;
  renew_ = false;
  out.push_back(effect::kill_runner{});
}

// -- stop ---------------------------------------------------------------------

session_effects session_core::stop(const stop_turn& request) {
  session_effects out;
  const auto& id = request.message_id;
  auto read = [&](const slot& place) {
    return place.at == slot::step::applied && has_id(place.ticket, id);
  };
  // A message that the turn has read is part of it.
  if (current_
      && (id.empty() || has_id(current_->ticket, id)
          || std::any_of(waiting_.begin(), waiting_.end(), read))) {
    const auto& event = current_->ticket.event;
    auto target = request.target.empty() ? event.target : request.target;
    auto reason =
      request.reason.message.empty() ? user_reason() : request.reason;
    if (phase_ == session_phase::running) {
      begin_stop(out, stop_cause::user, std::move(reason), target);
    } else if (phase_ == session_phase::materialising) {
      close_collected(out, "stopped", true, reason);
      close_in_place(out, event, target, reason);
      current_.reset();
      rest(out);
    }
    return out;
  }
  auto waiting =
    std::find_if(waiting_.begin(), waiting_.end(), [&](const slot& place) {
      return id.empty() || has_id(place.ticket, id);
    });
  if (waiting != waiting_.end()) {
    auto event = std::move(waiting->ticket.event);
    waiting_.erase(waiting);
    close_in_place(out, event, request.target,
                   request.reason.message.empty() ? user_reason()
                                                  : request.reason);
    return out;
  }
  if (!id.empty() && !contains(ended_, id)) {
    // An urgent stop overtook the message itself.
    if (!contains(early_stops_, id))
      remember(early_stops_, id);
    return out;
  }
  conversation_event nobody;
  nobody.message_id = id;
  say(out, notice_post(nobody, {}, request.target, wording::nothing_running));
  return out;
}

contracts::cancel_reason session_core::user_reason() const {
  auto reason = contracts::channel_user_cancel(to_string(place_.platform));
  return reason ? *reason : contracts::cancel_reason{};
}

void session_core::begin_stop(session_effects& out, stop_cause cause,
                              contracts::cancel_reason reason,
                              const json_text& target) {
  auto& turn = *current_;
  phase_ = session_phase::stopping;
  turn.cause = cause;
  turn.reason = std::move(reason);
  out.push_back(effect::abort_run{turn.reason});
  out.push_back(effect::arm_settle{});
  if (cause != stop_cause::user)
    return;
  turn.notice = ++last_token_;
  auto post =
    notice_post(turn.ticket.event, turn.run, target, wording::stopping);
  stop_notice pending;
  pending.operation = post;
  notices_.emplace(turn.notice, std::move(pending));
  say(out, std::move(post), turn.notice);
}

session_effects session_core::settle_timeout(int64_t now_ms) {
  session_effects out;
  if (phase_ != session_phase::stopping)
    return out;
  kill(out);
  out.push_back(effect::count_loss{"it did not settle after an abort"});
  conclude(out, false, {});
  end_turn(out, now_ms);
  return out;
}

void session_core::close_in_place(session_effects& out,
                                  const conversation_event& event,
                                  const json_text& target,
                                  const contracts::cancel_reason& reason) {
  remember(ended_, event.message_id);
  out.push_back(effect::record_dead{dead(event, "stopped", true, reason)});
  say(out, notice_post(event, {}, target, wording::stopped));
}

void session_core::say_stopped(session_effects& out) {
  auto entry = notices_.find(current_->notice);
  if (entry == notices_.end())
    return;
  auto& notice = entry->second;
  if (!notice.answered) {
    notice.ended = true;
    return;
  }
  auto token = entry->first;
  auto ref = notice.ref;
  notice.ended = true;
  notice.answered = false;
  for (auto& next : notice_delivered(token, ref))
    out.push_back(std::move(next));
}

session_effects session_core::notice_delivered(uint64_t token,
                                               const std::string& ref) {
  session_effects out;
  auto entry = notices_.find(token);
  if (entry == notices_.end())
    return out;
  auto& notice = entry->second;
  notice.answered = true;
  notice.ref = ref;
  if (!notice.ended)
    return out;
  auto operation = std::move(notice.operation);
  operation.op = ref.empty() ? outbound_op::post : outbound_op::edit;
  operation.ref = ref;
  operation.text = wording::stopped;
  notices_.erase(entry);
  say(out, std::move(operation));
  return out;
}

// -- reset --------------------------------------------------------------------

session_effects session_core::reset() {
  session_effects out;
  if (std::exchange(reset_wanted_, true))
    return out;
  switch (phase_) {
  case session_phase::running:
    begin_stop(out, stop_cause::user, user_reason(),
               current_->ticket.event.target);
    break;
  case session_phase::materialising: {
    auto event = std::move(current_->ticket.event);
    requeue_collected();
    close_in_place(out, event, event.target, user_reason());
    current_.reset();
    rest(out);
    break;
  }
  case session_phase::idle:
    dispose(out);
    break;
  case session_phase::absent:
    renew_file(out);
    break;
  case session_phase::stopping:
  case session_phase::disposing:
    // What is under way ends in `rest`.
    break;
  }
  return out;
}

void session_core::renew_file(session_effects& out) {
  closing_ = true;
  phase_ = session_phase::disposing;
  out.push_back(effect::reset_store{});
}

session_effects session_core::store_reset() {
  session_effects out;
  closing_ = false;
  reset_wanted_ = false;
  rest(out);
  return out;
}

// -- ends ---------------------------------------------------------------------

session_effects session_core::settled(const std::string& run,
                                      const run_result& result,
                                      int64_t now_ms) {
  session_effects out;
  if (!is_current(run) || !is_active())
    return out;
  conclude(out, result.produced, wording::interrupted);
  end_turn(out, now_ms);
  return out;
}

session_effects session_core::run_failed(const std::string& run, errc why,
                                         const std::string& sentence,
                                         int64_t now_ms) {
  session_effects out;
  if (!is_current(run) || !is_active())
    return out;
  auto woken = current_->ticket.event.origin == turn_origin::action
               && current_->cause == stop_cause::none;
  if (why == errc::disk && woken && phase_ == session_phase::running) {
    // Nobody can send a wake again: it waits until the disk takes it.
    settle_slots(out);
    phase_ = session_phase::materialising;
    current_->recorded = false;
    current_->run.clear();
    out.push_back(effect::retry_start{});
    return out;
  }
  if (why == errc::disk) {
    conclude(out, false, wording::unrecorded);
  } else {
    // Whatever it is doing now, it is not at rest.
    kill(out);
    out.push_back(effect::count_loss{sentence});
    conclude(out, false, wording::interrupted);
  }
  end_turn(out, now_ms);
  return out;
}

session_effects session_core::runner_down(const std::string& why,
                                          int64_t now_ms) {
  session_effects out;
  if (!has_runner_)
    return out;
  has_runner_ = false;
  closing_ = true;
  renew_ = false;
  out.push_back(effect::count_loss{why});
  if (is_active()) {
    conclude(out, false, wording::interrupted);
    out.push_back(effect::close_store{});
    end_turn(out, now_ms);
    return out;
  }
  out.push_back(effect::cancel_idle{});
  out.push_back(effect::close_store{});
  if (phase_ == session_phase::idle)
    phase_ = session_phase::disposing;
  return out;
}

session_effects session_core::store_down() {
  return renew();
}

session_effects session_core::renew() {
  session_effects out;
  if (!has_runner_)
    return out;
  renew_ = true;
  if (phase_ == session_phase::idle)
    dispose(out);
  return out;
}

void session_core::conclude(session_effects& out, bool produced,
                            const std::string& sentence) {
  const auto& event = current_->ticket.event;
  switch (current_->cause) {
  case stop_cause::user:
    // Even an answer that was produced meanwhile stays unsaid.
    out.push_back(
      effect::record_dead{dead(event, "stopped", true, current_->reason)});
    out.push_back(effect::drop_output{current_->run});
    say_stopped(out);
    return;
  case stop_cause::superseded:
    if (produced)
      return;
    out.push_back(
      effect::record_dead{dead(event, "superseded", false, current_->reason)});
    out.push_back(effect::drop_output{current_->run});
    return;
  case stop_cause::shutdown:
    // The entry stays `running`; the next boot decides about it.
    return;
  case stop_cause::none:
    if (produced)
      return;
    out.push_back(effect::record_dead{dead(event, "interrupted", true)});
    out.push_back(effect::drop_output{current_->run});
    say(out, notice_post(event, current_->run, event.target, sentence));
    return;
  }
}

void session_core::end_turn(session_effects& out, int64_t now_ms) {
  if (phase_ == session_phase::stopping)
    out.push_back(effect::cancel_settle{});
  settle_slots(out);
  // What the turn has collected ends with it.
  for (const auto& event : current_->ticket.collected)
    remember(ended_, event.message_id);
  remember(ended_, current_->ticket.event.message_id);
  current_.reset();
  last_access_ms_ = now_ms;
  rest(out);
}

session_effects session_core::idle_timeout() {
  session_effects out;
  if (phase_ == session_phase::idle)
    dispose(out);
  return out;
}

session_effects session_core::released() {
  session_effects out;
  if (!closing_)
    return out;
  closing_ = false;
  if (!current_)
    rest(out);
  else if (current_->recorded)
    launch(out);
  return out;
}

// -- other --------------------------------------------------------------------

session_effects session_core::drain(drain_phase phase) {
  session_effects out;
  drain_ = drain_ ? std::max(*drain_, phase) : phase;
  if (*drain_ == drain_phase::hold)
    return out;
  if (phase_ == session_phase::running) {
    begin_stop(out, stop_cause::shutdown, {"The node is ending.", caf::none},
               {});
  } else if (phase_ == session_phase::materialising) {
    requeue_collected();
    current_.reset();
    rest(out);
  } else if (phase_ == session_phase::idle && *drain_ == drain_phase::close) {
    dispose(out);
  }
  return out;
}

bool session_core::holds(drain_phase phase) const {
  switch (phase) {
  case drain_phase::hold:
    return drain_.has_value();
  case drain_phase::abort:
    return drain_.has_value() && !current_;
  case drain_phase::close:
    return drain_.has_value() && !current_ && !has_runner_ && !closing_;
  }
  return false;
}

void session_core::say(session_effects& out, outbound operation,
                       uint64_t token) {
  out.push_back(effect::notice{token, std::move(operation)});
}

bool session_core::is_current(const std::string& run) const {
  return current_ && current_->run == run;
}

bool session_core::is_active() const {
  return phase_ == session_phase::running || phase_ == session_phase::stopping;
}

turn_dead
session_core::dead(const conversation_event& event, const char* why, bool told,
                   caf::optional<contracts::cancel_reason> cancelled) const {
  return {session_key_, event.message_id, why, told, std::move(cancelled)};
}

outbound session_core::notice_post(const conversation_event& event,
                                   const std::string& run,
                                   const json_text& target,
                                   std::string text) const {
  outbound result;
  result.rank = outbound_class::control;
  result.content = outbound_content::notice;
  result.conversation = place_;
  result.run = run;
  result.message_id = event.message_id;
  result.text = std::move(text);
  result.target = target.empty() ? event.target : target;
  return result;
}

session_snapshot session_core::snapshot() const {
  session_snapshot result;
  result.session_key = session_key_;
  result.state = to_string(phase_);
  result.waiting = static_cast<uint32_t>(waiting_count());
  if (current_) {
    result.run = current_->run;
    result.message_id = current_->ticket.event.message_id;
  }
  result.last_access_ms = last_access_ms_;
  return result;
}

} // namespace bureau::session
