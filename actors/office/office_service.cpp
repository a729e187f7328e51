#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/office/office_state.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <utility>

/// What the turn service asks of an office.
namespace bureau::offices {

namespace {

/// Ends of entries that no platform hears of; somebody asks for them at once or
/// not at all.
constexpr size_t recent_ends = 16;

} // namespace

office_state::end_promise office_state::on_await(const entry_query& query) {
  auto answer = self_->make_response_promise<end_promise>();
  auto promise = ends_.keep(answer);
  when_loaded([this, promise, id = query.message_id] {
    for (const auto& [ended, end] : recent_ends_)
      if (ended == id) {
        ends_.deliver(promise, end);
        return;
      }
    if (core_->find(id) == nullptr && !pending_.contains(id))
      ends_.fail(promise, make_failure(errc::not_found,
                                       "the message " + id + " is not open"));
    else if (awaited_.size() >= limits::office_waiting)
      ends_.fail(promise,
                 make_failure(errc::queue_full,
                              "too many wait for messages of " + place_.key));
    else
      awaited_.emplace(id, promise);
  });
  return answer;
}

void office_state::settle_waiters(const conversation_event& event,
                                  const entry_end& end) {
  auto [first, last] = awaited_.equal_range(event.message_id);
  for (auto item = first; item != last; ++item)
    ends_.deliver(item->second, end);
  awaited_.erase(first, last);
  if (event.origin == turn_origin::user)
    return;
  recent_ends_.emplace_back(event.message_id, end);
  if (recent_ends_.size() > recent_ends)
    recent_ends_.pop_front();
}

session_snapshot office_state::on_locate(const session_query& query) const {
  auto found = sessions_.find(query.session_key);
  if (found != sessions_.end())
    return found->second.seen;
  session_snapshot none;
  none.session_key = query.session_key;
  none.state = "absent";
  return none;
}

// Those that wait end first: the end of the running turn must not start them.
stop_report office_state::stop_all(const stop_request& request) {
  const auto& key = request.session_key;
  stop_report report;
  std::vector<std::string> waiting;
  for (const auto* entry : core_->open()) {
    // What is being recorded just now has its answer.
    if (entry->event.session_key != key || busy_.contains(entry->id))
      continue;
    if (entry->state == ledger_state::running)
      report.message_id = entry->id;
    else if (is_waiting(*entry))
      waiting.push_back(entry->id);
  }
  auto row = sessions_.find(key);
  for (const auto& id : waiting) {
    if (row != sessions_.end() && ticketed_.contains(id))
      kit::urgent_send(self_, row->second.handle, atom::stop_v,
                       stop_turn{key, id, request.target, request.reason});
    else
      close_dead(id, "stopped", true, request.reason);
    ++report.ended;
  }
  for (const auto& id : pending_order_) {
    auto& pending = pending_.at(id);
    if (pending.action != intake_action::accept || pending.stop
        || pending.event.session_key != key)
      continue;
    pending.stop = true;
    pending.stop_target = request.target;
    pending.stop_reason = request.reason;
    ++report.ended;
  }
  if (!report.message_id.empty()) {
    stopped_.insert(report.message_id);
    if (row != sessions_.end())
      kit::urgent_send(
        self_, row->second.handle, atom::stop_v,
        stop_turn{key, report.message_id, request.target, request.reason});
    ++report.ended;
  }
  report.found = report.ended > 0;
  report.session_key = key;
  return report;
}

// -- texts as they stand ------------------------------------------------------

// It is an answer without a turn: the ledger sees to its delivery. Both records
// are one, so that no restart finds it between them.
void office_state::post_verbatim(const ledger_entry& entry) {
  const auto& id = entry.id;
  auto comes_first = [&](const ledger_entry* other) {
    return other->order < entry.order
           && other->event.session_key == entry.event.session_key
           && other->produced_ms == 0;
  };
  auto open = core_->open();
  if (std::any_of(open.begin(), open.end(), comes_first)) {
    parked_.insert(id);
    return;
  }
  parked_.erase(id);
  ticketed_.insert(id);
  busy_.insert(id);
  auto running = make_record(id, ledger_state::running);
  running.run = id;
  running.attempt = entry.attempt + 1;
  auto produced = make_record(id, ledger_state::produced);
  produced.run = id;
  produced.text = entry.event.text;
  produced.target = entry.event.target;
  ledger_.append(print_ledger_line(running) + print_ledger_line(produced),
                 durability::sync,
                 [this, running, produced](const caf::error& reason) {
                   if (!reason && core_->find(produced.id) != nullptr)
                     core_->apply(running, wall_ms());
                   verbatim_recorded(produced, reason);
                 });
}

void office_state::verbatim_recorded(const ledger_record& produced,
                                     const caf::error& reason) {
  const auto& id = produced.id;
  busy_.erase(id);
  ticketed_.erase(id);
  if (!reason) {
    core_->apply(produced, wall_ms());
    pump();
    return;
  }
  kit::log::warning(label_, "the text " + id
                              + " waits for the disk: " + sentence_of(reason));
  verbatim_timer_.arm(self_,
                      std::chrono::duration_cast<std::chrono::milliseconds>(
                        limits::ledger_retry_delay),
                      [this] { dispatch_all(); });
}

} // namespace bureau::offices
