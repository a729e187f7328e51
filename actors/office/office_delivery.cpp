#include "actors/delivery/transport_core.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/office/office_state.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::offices {

namespace {

/// Attempts to tell somebody that a turn was lost.
constexpr uint32_t notice_attempts = 5;

/// What a command said, delivered like an answer: no run has its number.
bool is_command_reply(const ledger_entry& entry) {
  return entry.run == entry.id && !is_verbatim(entry.event);
}

bool awaits_delivery(const ledger_entry& entry) {
  return entry.produced_ms != 0;
}

} // namespace

// -- the gate -----------------------------------------------------------------

office_state::ok_promise office_state::on_may_send(const delivery_key& key) {
  auto answer = self_->make_response_promise<ok_promise>();
  auto promise = oks_.keep(answer);
  auto refuse = [this, promise](errc code, std::string sentence) {
    oks_.fail(promise, make_failure(code, std::move(sentence)));
  };
  const auto& id = key.message_id;
  auto entry = core_->find(id);
  auto found = deliveries_.find(id);
  if (closed_) {
    refuse(errc::shutting_down, "the node is ending");
    return answer;
  }
  if (entry == nullptr || entry->run != key.run || found == deliveries_.end()
      || !found->second.outstanding || !found->second.notice.empty()) {
    refuse(errc::aborted, "the answer to " + id + " is not to be sent");
    return answer;
  }
  if (entry->state == ledger_state::sending && entry->part == key.part) {
    oks_.deliver(promise, caf::ok_atom_v);
    return answer;
  }
  auto plan = found->second.operation;
  plan.part = key.part;
  plan.op = key.op;
  plan.ref = key.op == outbound_op::edit ? key.ref : std::string{};
  auto line = sending_record(*entry, plan);
  line.at = text::iso_utc(wall_ms());
  record(std::move(line), durability::sync,
         [this, promise](const caf::error& reason) {
           if (reason)
             oks_.fail(promise, reason);
           else
             oks_.deliver(promise, caf::ok_atom_v);
         });
  return answer;
}

// -- driving ------------------------------------------------------------------

// Offers to the transport what is due: of each session key the oldest answer
// only, so that answers cannot overtake each other.
void office_state::pump() {
  if (!booted_ || !transport_ready_ || closed_)
    return;
  auto outstanding = static_cast<size_t>(
    std::count_if(deliveries_.begin(), deliveries_.end(),
                  [](const auto& item) { return item.second.outstanding; }));
  std::set<std::string> keys;
  std::vector<std::string> due;
  auto now = clock_ms();
  int64_t wake = -1;
  for (const auto* entry : core_->open()) {
    auto found = deliveries_.find(entry->id);
    auto notice = found != deliveries_.end() && !found->second.notice.empty();
    if (!notice && !awaits_delivery(*entry))
      continue;
    if (!keys.insert(entry->event.session_key).second)
      continue;
    auto& state = deliveries_[entry->id];
    if (state.outstanding || busy_.contains(entry->id))
      continue;
    if (state.due_ms > now) {
      wake = wake < 0 ? state.due_ms : std::min(wake, state.due_ms);
      continue;
    }
    if (outstanding >= limits::deliveries_outstanding)
      break;
    ++outstanding;
    state.outstanding = true;
    due.push_back(entry->id);
  }
  if (wake >= 0)
    delivery_timer_.arm(self_, std::chrono::milliseconds{wake - now},
                        [this] { pump(); });
  for (const auto& id : due)
    if (auto entry = core_->find(id))
      start_delivery(*entry);
}

void office_state::start_delivery(const ledger_entry& entry) {
  auto id = entry.id;
  auto& state = deliveries_[id];
  if (!state.notice.empty()) {
    state.operation = make_notice(entry.event, state.notice);
    ship(id);
    return;
  }
  if (state.attempts) {
    follow(id, state.attempts->waited(state.plan.head));
    return;
  }
  state.plan = plan_answer(entry, state.memory, info_, deps_.split);
  state.attempts.emplace(rules_of(state.plan, entry.event.address.platform),
                         state.plan.pieces);
  follow(id, state.attempts->start(state.plan.head));
}

// Carries out what a delivery wants next.
void office_state::follow(const std::string& id, delivery::delivery_step next) {
  auto entry = core_->find(id);
  auto& state = deliveries_.at(id);
  if (auto call = std::get_if<delivery::call>(&next)) {
    auto part = static_cast<uint32_t>(state.attempts->piece());
    state.operation =
      answer_operation(*entry, state.plan, part, std::move(call->what));
    state.outstanding = true;
    begin_sending(id);
  } else if (auto pause = std::get_if<delivery::wait>(&next)) {
    if (is_worth_an_attempt(*entry, wall_ms()))
      retry(id, pause->ms);
    else
      round_failed(id, {0, delivery::delivery_disposition::permanent,
                        "it was tried for too long"});
  } else if (auto fault = std::get_if<delivery::delivery_error>(&next)) {
    round_failed(id, *fault);
  }
}

void office_state::begin_sending(const std::string& id) {
  auto entry = core_->find(id);
  const auto& state = deliveries_.at(id);
  if (state.operation.op != outbound_op::edit
      || entry->state == ledger_state::sending) {
    ship(id);
    return;
  }
  // Nobody asks the gate for an edit; it is recorded here.
  auto line = sending_record(*entry, state.operation);
  line.at = text::iso_utc(wall_ms());
  record(
    std::move(line), durability::sync, [this, id](const caf::error& reason) {
      if (!reason) {
        ship(id);
        return;
      }
      // What comes after the wait begins anew with the same piece.
      if (auto found = deliveries_.find(id); found != deliveries_.end())
        found->second.attempts.reset();
      retry(id, std::chrono::milliseconds{limits::ledger_retry_delay}.count());
    });
}

void office_state::ship(const std::string& id) {
  auto found = deliveries_.find(id);
  if (found == deliveries_.end())
    return;
  kit::bounded_request(self_, transport_, limits::delivery_timeout,
                       atom::deliver_v, found->second.operation)
    .then([this, id](const delivered& result) { outcome(id, result); },
          [this, id](caf::error& reason) {
            if (auto entry = core_->find(id))
              outcome(id, outcome_of_error(*entry, sentence_of(reason)));
          });
}

void office_state::outcome(const std::string& id, const delivered& result) {
  auto entry = core_->find(id);
  auto found = deliveries_.find(id);
  if (entry == nullptr || found == deliveries_.end()
      || !found->second.outstanding)
    return;
  auto& state = found->second;
  state.outstanding = false;
  if (!state.notice.empty()) {
    notice_outcome(*entry, result);
    return;
  }
  if (result.fault == delivery_fault::dropped) {
    finish_unsent(id, "stopped", true);
    pump();
    return;
  }
  auto part = state.attempts->piece();
  auto next =
    state.attempts->answered(state.plan.head, delivery::outcome_of(result));
  if (state.attempts->piece() > part) {
    auto last = state.attempts->piece() == state.attempts->pieces();
    part_sent(id, result.ref);
    if (last)
      return;
  } else {
    ++state.memory.attempts;
    kit::log::warning(label_, "the answer to " + id
                                + " was not delivered: " + result.detail);
    // A repeated edit or a deduplicated post goes on from where it is.
    if (result.certainty == failure_certainty::definite)
      back_to_produced(id);
  }
  follow(id, std::move(next));
}

void office_state::round_failed(const std::string& id,
                                const delivery::delivery_error& fault) {
  auto entry = core_->find(id);
  auto& state = deliveries_.at(id);
  auto is_file = state.operation.op == outbound_op::upload;
  auto judged =
    judge_delivery(*entry, fault, is_file, state.memory.rounds, wall_ms());
  state.attempts.reset();
  switch (judged.verdict) {
  case delivery_verdict::retry:
    ++state.memory.rounds;
    retry(id, judged.delay_ms);
    break;
  case delivery_verdict::ambiguous: {
    auto line = make_record(id, ledger_state::ambiguous);
    line.why = fault.detail;
    note(std::move(line));
    retry(id, judged.delay_ms);
    break;
  }
  case delivery_verdict::line_instead:
    state.memory.line_instead = true;
    back_to_produced(id);
    state.due_ms = 0;
    pump();
    break;
  case delivery_verdict::undeliverable:
    finish_unsent(id, "undeliverable", false);
    pump();
    break;
  }
}

void office_state::retry(const std::string& id, int64_t delay_ms) {
  auto found = deliveries_.find(id);
  if (found == deliveries_.end())
    return;
  found->second.outstanding = false;
  found->second.due_ms = clock_ms() + delay_ms;
  pump();
  release_parked();
}

void office_state::back_to_produced(const std::string& id) {
  auto entry = core_->find(id);
  if (entry != nullptr && entry->state == ledger_state::sending)
    note(make_record(id, ledger_state::produced));
}

// -- ends ---------------------------------------------------------------------

// A part of an answer has arrived; after the last one the entry is closed.
void office_state::part_sent(const std::string& id, std::string ref) {
  auto entry = core_->find(id);
  auto& state = deliveries_.at(id);
  auto step = sending_record(*entry, state.operation);
  // An edit that names no message has changed the one that it was told.
  if (ref.empty())
    ref = state.operation.ref;
  auto& files = state.plan.files;
  if (step.part < files.size() && files[step.part]
      && step.op != outbound_op::upload)
    state.memory.unshown.push_back(*files[step.part]);
  auto line = make_record(id, ledger_state::sent);
  line.ref = ref;
  line.part = step.part;
  line.of = step.of;
  if (is_command_reply(*entry))
    line.note = "command";
  if (entry->state != ledger_state::sending) {
    // A transport without a gate of its own: the step is recorded afterwards.
    step.at = text::iso_utc(wall_ms());
    note(std::move(step));
    entry = core_->find(id);
  }
  if (!closes(line)) {
    note(std::move(line));
    // The next part has a fate of its own.
    state.memory = {0, 0, false, false, std::move(state.memory.unshown)};
    return;
  }
  auto unshown = state.plan.unshown;
  unshown.insert(unshown.end(), state.memory.unshown.begin(),
                 state.memory.unshown.end());
  line.outcomes = contracts::unsupported_outcomes(unshown);
  for (const auto& outcome : line.outcomes)
    kit::log::info(label_, "the answer to " + id + ": "
                             + to_string(outcome.code) + ": "
                             + std::string{contracts::message_of(outcome)});
  auto event = entry->event;
  auto answer_ref = entry->answer_ref.empty() ? ref : entry->answer_ref;
  entry_end end{"sent",     entry->run, entry->text, entry->parts,
                answer_ref, {},         {}};
  append_answer({event, entry->run, entry->text, answer_ref, wall_ms()},
                [this, event, end](const caf::error& reason) mutable {
                  if (reason)
                    end.history_error = to_string(code_of(reason));
                  settle_waiters(event, end);
                });
  close_covered(*entry, {});
  note(std::move(line));
  deliveries_.erase(id);
  tell_closed(event, "sent");
  after_close();
  pump();
}

void office_state::finish_unsent(const std::string& id, const std::string& why,
                                 bool told) {
  back_to_produced(id);
  if (auto entry = core_->find(id)) {
    close_covered(*entry, why);
    // Its first parts are there to be seen.
    if (next_part(*entry) > 0)
      append_answer(
        {entry->event, entry->run, entry->text, entry->answer_ref, wall_ms()});
  }
  close_dead(id, why, told);
}

// Closes what an answer covers: with its note when the answer arrived, dead
// like the answer when it did not.
void office_state::close_covered(const ledger_entry& answer,
                                 const std::string& dead_why) {
  for (auto& line : core_->closing_notes(answer)) {
    auto covered = core_->find(line.id);
    if (covered == nullptr)
      continue;
    auto event = covered->event;
    line.at = text::iso_utc(wall_ms());
    if (!dead_why.empty()) {
      line.state = ledger_state::dead;
      line.note.clear();
      line.why = dead_why;
    }
    ticketed_.erase(line.id);
    auto outcome = dead_why.empty() ? line.note : dead_why;
    note(std::move(line));
    entry_end end;
    end.run = answer.run;
    tell_closed(event, outcome, std::move(end));
  }
}

// The bot's own line in the chat log.
void office_state::append_answer(const ledger_answer& answer,
                                 std::function<void(const caf::error&)> then) {
  log_record line;
  line.date = text::iso_utc(answer.at_ms);
  line.ts = answer.ref.empty() ? answer.run : answer.ref;
  // A message that opens a thread names none; its session does.
  line.thread_ts =
    thread_suffix_of(answer.event.session_key).value_or(answer.event.thread_ts);
  line.text = answer.text;
  line.reply_to = answer.event.message_id;
  line.session_key = answer.event.session_key;
  // A session learns what others said in its place as it learns of notices.
  if (is_verbatim(answer.event)) {
    line.thread_ts = thread_suffix_of(line.session_key).value_or("");
    line.session_key.clear();
  }
  append_own(std::move(line), std::move(then));
}

// It names no session: the session does not know it, and the next turn is to
// (office note, 12.2).
void office_state::append_notice(const posted_notice& notice) {
  log_record line;
  line.date = text::iso_utc(wall_ms());
  line.ts = notice.ref;
  line.thread_ts = thread_suffix_of(notice.session_key).value_or("");
  line.text = notice.text;
  line.reply_to = notice.message_id;
  append_own(std::move(line));
}

void office_state::append_own(log_record line,
                              std::function<void(const caf::error&)> then) {
  line.user = "bot";
  line.from_bot = true;
  line.platform = to_string(place_.address.platform);
  log_.append(print_log_line(line), durability::lazy,
              [this, then = std::move(then)](const caf::error& reason) {
                if (reason)
                  kit::log::warning(label_,
                                    "what was said is not in the chat log: "
                                      + sentence_of(reason));
                if (then)
                  then(reason);
              });
}

// -- notices ------------------------------------------------------------------

void office_state::interrupt(const std::string& id, const std::string& text) {
  auto& state = deliveries_[id];
  state = {};
  state.notice = text;
  pump();
}

void office_state::notice_outcome(const ledger_entry& entry,
                                  const delivered& result) {
  auto id = entry.id;
  auto& state = deliveries_.at(id);
  auto told = result.fault == delivery_fault::none
              || result.certainty == failure_certainty::unknown;
  note_posted({entry.event.session_key, id, {}, state.notice}, result);
  auto again = !told && result.fault == delivery_fault::retryable
               && ++state.memory.attempts < notice_attempts;
  if (again) {
    retry(id,
          std::max<int64_t>(
            result.retry_after_ms,
            std::chrono::milliseconds{limits::delivery_retry_delay}.count()));
    return;
  }
  close_dead(id, "interrupted", told);
  pump();
}

void office_state::post_notice(outbound notice,
                               const std::string& session_key) {
  if (!transport_)
    return;
  posted_notice fact{session_key, notice.message_id, {}, notice.text};
  kit::bounded_request(self_, transport_, limits::delivery_timeout,
                       atom::deliver_v, std::move(notice))
    .then([this, fact](const delivered& result) { note_posted(fact, result); },
          [this](caf::error& reason) {
            kit::log::warning(label_, "a notice was not delivered: "
                                        + sentence_of(reason));
          });
}

void office_state::note_posted(posted_notice fact, const delivered& result) {
  auto visible = result.fault == delivery_fault::none && !result.ref.empty();
  if (!visible || fact.session_key.empty())
    return;
  fact.ref = result.ref;
  append_notice(fact);
}

} // namespace bureau::offices
