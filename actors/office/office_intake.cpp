#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/office/office_state.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <utility>

namespace bureau::offices {

log_record log_line_of(const conversation_event& event,
                       const std::string& display_name, int64_t now_ms) {
  log_record line;
  line.date = text::iso_utc(event.sent_ms != 0 ? event.sent_ms : now_ms);
  line.ts = event.message_id;
  line.thread_ts = event.thread_ts;
  line.user = event.user;
  line.user_name = event.user_name;
  line.display_name = display_name;
  line.text = event.text;
  line.session_key = event.session_key;
  line.from_bot = event.from_bot;
  line.bot_id = event.bot_id;
  line.app_id = event.app_id;
  line.subtype = event.subtype;
  for (const auto& item : event.attachments)
    if (!item.local_path.empty())
      line.attachments.push_back({item.name, item.local_path});
  return line;
}

office_state::reply_promise
office_state::on_intake(const intake_request& request) {
  auto answer = self_->make_response_promise<reply_promise>();
  auto promise = replies_.keep(answer);
  if (loaded_) {
    take(request, promise);
  } else if (held_.size() < limits::office_waiting) {
    held_.push_back([this, request, promise] { take(request, promise); });
  } else {
    replies_.fail(promise,
                  make_failure(errc::queue_full,
                               "too many messages wait for " + place_.key));
  }
  return answer;
}

bool office_state::seen(const std::string& id) const {
  return core_->knows(id) || logged_.contains(id);
}

void office_state::count(const std::string& outcome) {
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{metric::intake,
                              {to_string(place_.address.platform), outcome},
                              1});
}

void office_state::take(const intake_request& request, uint64_t promise) {
  if (holding_) {
    replies_.fail(promise, make_failure(errc::shutting_down,
                                        "the node is ending; the message was "
                                        "not taken"));
    return;
  }
  const auto& id = request.event.message_id;
  if (auto twin = pending_.find(id); twin != pending_.end()) {
    // The first one is not durable yet; both learn what becomes of it.
    twin->second.promises.push_back(promise);
    return;
  }
  auto verdict = judge_intake(request, place_.address, seen(id),
                              deps_.wall->now_ms(), deps_.intake);
  switch (verdict.action) {
  case intake_action::refuse:
    kit::log::warning(label_, "refused a message: " + verdict.sentence);
    count("refused");
    replies_.fail(promise, make_failure(verdict.code, verdict.sentence));
    break;
  case intake_action::duplicate:
    count("duplicate");
    replies_.deliver(
      promise, intake_reply{intake_outcome::duplicate, verdict.session_key});
    break;
  case intake_action::stop:
    stop_turn_of(request, verdict.session_key);
    write_down(request, std::move(verdict), promise);
    break;
  case intake_action::accept:
    if (has_enough_events(request.event)) {
      count("refused");
      replies_.fail(
        promise, make_failure(errc::queue_full,
                              "enough scheduled turns wait for " + place_.key));
      break;
    }
    write_down(request, std::move(verdict), promise);
    break;
  case intake_action::log_only:
    write_down(request, std::move(verdict), promise);
    break;
  }
}

// Whoever schedules them tries again (decision A8).
bool office_state::has_enough_events(const conversation_event& event) const {
  if (event.origin != turn_origin::event)
    return false;
  size_t count = 0;
  for (const auto& [id, pending] : pending_)
    count += pending.event.origin == turn_origin::event ? 1 : 0;
  for (const auto* entry : core_->open())
    count += entry->event.origin == turn_origin::event
                 && (entry->state == ledger_state::accepted
                     || entry->state == ledger_state::running)
               ? 1
               : 0;
  return count >= limits::event_open_turns;
}

void office_state::write_down(const intake_request& request,
                              intake_verdict verdict, uint64_t promise) {
  auto id = request.event.message_id;
  pending_intake pending;
  pending.action = verdict.action;
  pending.event = request.event;
  pending.event.session_key = verdict.session_key;
  pending.event.text = bounded_text(request.event.text, deps_.intake);
  pending.reply.session_key = verdict.session_key;
  pending.reply.outcome =
    verdict.action == intake_action::accept ? intake_outcome::taken
    : verdict.action == intake_action::stop ? intake_outcome::stopped
                                            : intake_outcome::logged;
  pending.offer = request.offer;
  pending.promises.push_back(promise);
  // What a schedule or a button causes is no message of the platform.
  auto logs = request.event.origin == turn_origin::user;
  auto accepts = verdict.action == intake_action::accept;
  // What causes no turn is logged without its files.
  if (accepts)
    pending.event.attachments =
      bounded_files(std::move(pending.event.attachments));
  else
    pending.event.attachments.clear();
  auto late = accepts
              && (awaits_files(pending.event)
                  || waits_for_files(pending.event.session_key));
  pending.late = late;
  pending.display_name = request.display_name;
  auto now = wall_ms();
  auto log_line =
    print_log_line(log_line_of(pending.event, request.display_name, now));
  ledger_record line;
  line.at = text::iso_utc(now);
  line.id = id;
  line.event = pending.event;
  line.unlogged = late && logs;
  // Another line of the ledger is all there is after a restart.
  if (line.unlogged)
    line.display_name = request.display_name;
  pending_.emplace(id, std::move(pending));
  pending_order_.push_back(id);
  auto then = [this, id](const caf::error& fault) {
    settle_intake(id, fault);
  };
  // A message with files is logged when it has them (decision A2, step 9). Any
  // other in one frame: no crash may leave a message that is answered and not
  // in the chat log, or one that the log takes for a duplicate and nobody
  // answers.
  if (accepts)
    mark_unfinished(true);
  if (accepts && logs && !late)
    ledger_.append_both(print_ledger_line(line), log_, std::move(log_line),
                        then);
  else if (accepts)
    ledger_.append(print_ledger_line(line), durability::sync, then);
  else if (logs)
    log_.append(std::move(log_line), durability::sync, then);
  else
    then(caf::none);
}

void office_state::settle_intake(const std::string& id, caf::error fault) {
  auto entry = pending_.extract(id);
  std::erase(pending_order_, id);
  auto& pending = entry.mapped();
  // A stop has happened whether or not the log knows.
  if (pending.action == intake_action::stop && fault) {
    kit::log::warning(label_,
                      "a stop is not in the chat log: " + sentence_of(fault));
    fault = {};
  }
  if (fault) {
    count("failed");
    auto failure = make_failure(errc::disk, "the message was not taken: "
                                              + sentence_of(fault));
    for (auto promise : pending.promises)
      replies_.fail(promise, failure);
    report_open();
    return;
  }
  count(to_string(pending.reply.outcome));
  if (pending.action == intake_action::accept)
    accepted(pending);
  else
    logged_.add(id, wall_ms());
  auto first = true;
  for (auto promise : pending.promises) {
    auto reply = pending.reply;
    if (!std::exchange(first, false))
      reply.outcome = intake_outcome::duplicate;
    replies_.deliver(promise, reply);
  }
}

void office_state::accepted(const pending_intake& pending) {
  ledger_record line;
  line.id = pending.event.message_id;
  line.event = pending.event;
  line.unlogged = pending.late && pending.event.origin == turn_origin::user;
  if (line.unlogged)
    line.display_name = pending.display_name;
  core_->apply(line, wall_ms());
  report_open();
  auto entry = core_->find(line.id);
  if (entry == nullptr)
    return;
  if (pending.offer)
    offered_.insert(line.id);
  if (pending.late)
    arrivals_->add(entry->event, pending.display_name, line.unlogged);
  if (!pending.stop) {
    if (pending.late)
      gather(line.id);
    else
      dispatch(*entry);
    return;
  }
  auto notice = make_notice(entry->event, "_Stopped._");
  if (!pending.stop_target.empty())
    notice.target = pending.stop_target;
  auto key = entry->event.session_key;
  close_dead(line.id, "stopped", true, pending.stop_reason);
  post_notice(std::move(notice), key);
}

// -- stop ---------------------------------------------------------------------

void office_state::stop_turn_of(const intake_request& request,
                                const std::string& session_key) {
  const auto& event = request.event;
  const auto& raw_id = event.address.conversation_id;
  auto top_level = event.session_key.empty() || event.session_key == raw_id;
  auto key = stop_target(keys_with_turns(), session_key, raw_id, top_level,
                         request.scope);
  if (!key.empty())
    stop_current(key, event.target);
  else if (request.magic_addressed)
    post_notice(make_notice(event, wording::nothing_running), session_key);
}

office_state::stop_promise office_state::on_stop(const stop_request& request) {
  auto answer = self_->make_response_promise<stop_promise>();
  auto promise = stops_.keep(answer);
  when_loaded(
    [this, promise, request] { stops_.deliver(promise, stop_any(request)); });
  return answer;
}

stop_report office_state::stop_any(const stop_request& request) {
  if (request.all)
    return stop_all(request);
  for (const auto& key : keys_with_turns())
    if (request.session_key.empty() || key == request.session_key)
      return {true, key, stop_current(key, request.target, request.reason), 1};
  return {};
}

std::vector<std::string> office_state::keys_with_turns() const {
  std::vector<std::string> keys;
  auto add = [&keys](const std::string& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(key);
  };
  for (auto id = pending_order_.rbegin(); id != pending_order_.rend(); ++id)
    if (pending_.at(*id).action == intake_action::accept)
      add(pending_.at(*id).event.session_key);
  auto open = core_->open();
  for (auto item = open.rbegin(); item != open.rend(); ++item) {
    const auto& entry = **item;
    if (can_stop(entry) || is_waiting(entry))
      add(entry.event.session_key);
  }
  return keys;
}

std::string office_state::stop_current(const std::string& key,
                                       const json_text& target,
                                       const contracts::cancel_reason& reason) {
  const ledger_entry* turn = nullptr;
  for (const auto* entry : core_->open()) {
    if (entry->event.session_key != key)
      continue;
    if (can_stop(*entry)) {
      turn = entry;
      break;
    }
    if (turn == nullptr && is_waiting(*entry))
      turn = entry;
  }
  if (turn == nullptr)
    return stop_pending(key, target, reason);
  auto id = turn->id;
  auto row = sessions_.find(key);
  if (row != sessions_.end() && ticketed_.contains(id)) {
    if (can_stop(*turn))
      stopped_.insert(id);
    kit::urgent_send(self_, row->second.handle, atom::stop_v,
                     stop_turn{key, id, target, reason});
    return id;
  }
  auto notice = make_notice(turn->event, "_Stopped._");
  if (!target.empty())
    notice.target = target;
  close_dead(id, "stopped", true, reason);
  post_notice(std::move(notice), key);
  return id;
}

// The first message of the key that is still on its way to the disk: it will be
// accepted and closed at once.
std::string office_state::stop_pending(const std::string& key,
                                       const json_text& target,
                                       const contracts::cancel_reason& reason) {
  for (const auto& id : pending_order_) {
    auto& pending = pending_.at(id);
    if (pending.action != intake_action::accept || pending.stop
        || pending.event.session_key != key)
      continue;
    pending.stop = true;
    pending.stop_target = target;
    pending.stop_reason = reason;
    return id;
  }
  return {};
}

} // namespace bureau::offices
