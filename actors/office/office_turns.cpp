#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/office/office_state.hpp"
#include "messages/identity/session_file_name.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::offices {

namespace {

bool is_resting(const std::string& session_phase) {
  return session_phase.empty() || session_phase == "absent";
}

} // namespace

// -- restart ------------------------------------------------------------------

// Runs once, when both the ledger and the transport are known.
void office_state::boot() {
  if (!loaded_ || !transport_ready_ || booting_ || booted_)
    return;
  booting_ = true;
  auto dedupes = platform_dedupes(place_.address.platform);
  std::vector<std::string> uncertain;
  std::vector<std::string> lost;
  for (const auto* entry : core_->open()) {
    // What an earlier office left in the outbox must not be sent beside ours.
    // In the order of the mailbox: behind all that it sent, before what we do.
    if (entry->produced_ms != 0)
      self_->send(transport_, atom::drop_v, entry->run);
    switch (core_->after_restart(*entry, dedupes)) {
    case boot_step::ask_cause:
      causes_.push_back(entry->id);
      break;
    case boot_step::resend_labelled:
      uncertain.push_back(entry->id);
      break;
    case boot_step::give_up:
      lost.push_back(entry->id);
      break;
    case boot_step::requeue:
    case boot_step::deliver:
    case boot_step::wait:
      break;
    }
  }
  for (const auto& id : uncertain) {
    deliveries_[id].memory.after_restart = true;
    if (core_->find(id)->state == ledger_state::sending) {
      auto line = make_record(id, ledger_state::ambiguous);
      line.why = "restart";
      note(std::move(line));
    }
  }
  for (const auto& id : lost) {
    if (core_->find(id)->op == outbound_op::upload) {
      // The text is there, and the other files can still come.
      deliveries_[id].memory.line_instead = true;
      back_to_produced(id);
    } else {
      finish_unsent(id, "undeliverable", false);
    }
  }
  ask_next_cause();
}

void office_state::ask_next_cause() {
  if (causes_.empty()) {
    booted();
    return;
  }
  auto id = causes_.front();
  causes_.pop_front();
  auto entry = core_->find(id);
  if (entry == nullptr || entry->state != ledger_state::running) {
    ask_next_cause();
    return;
  }
  auto store =
    deps_.stores(self_->home_system(), place_, entry->event.session_key);
  auto answered = [this, id, store](const cause_report& report) {
    // The session that comes next opens the file for writing.
    auto release = [this, id, store, report] {
      self_->send_exit(store, caf::exit_reason::user_shutdown);
      cause_known(id, report);
    };
    kit::bounded_request(self_, store, limits::disk_timeout, atom::close_v)
      .then([release](caf::ok_atom) { release(); },
            [release](caf::error&) { release(); });
  };
  kit::bounded_request(self_, store, limits::disk_timeout, atom::locate_v, id)
    .then([answered](const cause_report& report) { answered(report); },
          [this, id, answered](caf::error& reason) {
            kit::log::warning(label_,
                              "the session of " + id
                                + " could not be read: " + sentence_of(reason));
            answered({});
          });
}

void office_state::cause_known(const std::string& id,
                               const cause_report& report) {
  auto entry = core_->find(id);
  if (entry != nullptr && entry->state == ledger_state::running) {
    if (ledger_core::after_cause(*entry, report) == cause_verdict::rerun) {
      auto line = make_record(id, ledger_state::accepted);
      line.event = entry->event;
      note(std::move(line));
    } else {
      interrupt(id, wording::interrupted_by_restart);
    }
  }
  ask_next_cause();
}

void office_state::booted() {
  booting_ = false;
  booted_ = true;
  dispatch_all();
  pump();
  pump_files();
}

// -- dispatch -----------------------------------------------------------------

void office_state::dispatch_all() {
  // By id: a command is closed while it is dispatched.
  std::vector<std::string> ids;
  for (const auto* entry : core_->open())
    ids.push_back(entry->id);
  for (const auto& id : ids)
    if (auto entry = core_->find(id))
      dispatch(*entry);
}

void office_state::dispatch(const ledger_entry& entry) {
  if (!booted_ || holding_ || !is_waiting(entry) || ticketed_.contains(entry.id)
      || is_being_given_up(entry.id) || arrivals_->contains(entry.id))
    return;
  if (is_verbatim(entry.event)) {
    post_verbatim(entry);
    return;
  }
  if (auto command = queue_command_of(entry.event)) {
    ticketed_.insert(entry.id);
    tell_queue(entry, *command);
    return;
  }
  if (waits_for_event(entry))
    return;
  // A reset waits for nobody (decision A23).
  if (!is_reset_command(entry.event) && waits_for_parent(entry))
    return;
  auto& row = session_for(entry.event.session_key);
  if (row.closing)
    return;
  row.active_ms = clock_ms();
  ticketed_.insert(entry.id);
  if (is_reset_command(entry.event)) {
    reset_session(entry);
    return;
  }
  turn_ticket ticket{entry.event, entry.attempt + 1, entry.provisional, {}};
  ticket.offer = offered_.contains(entry.id);
  // What the first attempt was to answer as well.
  for (const auto* read : core_->read_by(entry))
    ticket.collected.push_back(read->event);
  self_->send(row.handle, atom::turn_v, std::move(ticket));
}

// -- a thread and its parent ------------------------------------------------

bool office_state::waits_for_event(const ledger_entry& entry) {
  if (entry.event.origin != turn_origin::event)
    return false;
  for (const auto* other : core_->open())
    if (other->id != entry.id && other->event.origin == turn_origin::event
        && (other->state == ledger_state::running
            || (other->state == ledger_state::accepted
                && ticketed_.contains(other->id)))) {
      parked_.insert(entry.id);
      return true;
    }
  parked_.erase(entry.id);
  return false;
}

bool office_state::waits_for_parent(const ledger_entry& entry) {
  const auto& key = entry.event.session_key;
  if (!is_thread_key(key) || sessions_.contains(key)
      || !is_parent_busy(entry)) {
    parked_.erase(entry.id);
    return false;
  }
  parked_.insert(entry.id);
  look_for_thread(entry);
  return true;
}

// Its answer has to be in the chat log, unless it cannot be delivered just now.
bool office_state::is_parent_busy(const ledger_entry& entry) const {
  auto parent = conversation_id_of(entry.event.session_key);
  auto stuck = false;
  for (const auto* other : core_->open()) {
    if (other->order >= entry.order)
      break;
    if (other->event.session_key != parent)
      continue;
    auto found = deliveries_.find(other->id);
    stuck = stuck
            || (found != deliveries_.end()
                && (found->second.memory.attempts > 0
                    || !found->second.notice.empty()));
    auto runs =
      other->state == ledger_state::running
      || (other->state == ledger_state::accepted
          && (ticketed_.contains(other->id) || arrivals_->contains(other->id)));
    if (runs || (other->produced_ms != 0 && !stuck))
      return true;
  }
  return false;
}

// A thread that has a session does not need its parent. It may get one while
// the message waits: whenever anything about it changes it is looked for again.
void office_state::look_for_thread(const ledger_entry& entry) {
  const auto& key = entry.event.session_key;
  if (!sought_.insert(key).second)
    return;
  auto store = deps_.stores(self_->home_system(), place_, key);
  auto answered = [this, key, store](bool found) {
    self_->send_exit(store, caf::exit_reason::user_shutdown);
    sought_.erase(key);
    if (found)
      thread_found(key);
  };
  kit::bounded_request(self_, store, limits::disk_timeout, atom::exists_v)
    .then([answered](bool found) { answered(found); },
          // Then the end of the parent's turn is waited for.
          [answered](caf::error&) { answered(false); });
}

void office_state::thread_found(const std::string& session_key) {
  std::vector<std::string> ids;
  for (const auto& id : parked_)
    if (auto entry = core_->find(id);
        entry != nullptr && entry->event.session_key == session_key)
      ids.push_back(id);
  if (ids.empty())
    return;
  // With a session of its own the thread waits for nobody.
  session_for(session_key);
  dispatch_all();
}

void office_state::release_parked() {
  auto ids = parked_;
  for (const auto& id : ids)
    if (auto entry = core_->find(id))
      dispatch(*entry);
    else
      parked_.erase(id);
}

// -- commands -----------------------------------------------------------------

// A new session, at once and ahead of what waits (decision A23).
void office_state::reset_session(const ledger_entry& entry) {
  auto id = entry.id;
  if (entry.event.kind != conversation_kind::direct) {
    close_command(id, wording::reset_refused);
    return;
  }
  auto& row = session_for(entry.event.session_key);
  kit::urgent_request(self_, row.handle, limits::reset_timeout, atom::reset_v)
    .then([this, id](caf::ok_atom) { close_command(id, wording::reset_done); },
          [this, id](caf::error& reason) {
            close_command(id, "The conversation was not reset: "
                                + sentence_of(reason));
          });
}

// What messages do while a turn runs; the next one finds a change (decision
// A8).
void office_state::tell_queue(const ledger_entry& entry,
                              const queue_command& command) {
  auto id = entry.id;
  if (!command.understood || !deps_.settings) {
    close_command(id, command.understood ? wording::queue_unavailable
                                         : wording::queue_not_understood);
    return;
  }
  auto failed = [this, id](const caf::error& reason) {
    close_command(id, sentence_of(reason));
  };
  if (!command.mode) {
    kit::bounded_request(self_, deps_.settings, limits::disk_timeout,
                         atom::resolve_v, place_.address)
      .then(
        [this, id](const run_settings& found) {
          close_command(id, queue_mode_told(found.mode));
        },
        failed);
    return;
  }
  kit::bounded_request(
    self_, deps_.settings, limits::disk_timeout, atom::patch_v,
    settings_patch{place_.address, queue_patch(*command.mode)})
    .then([this, id, mode = *command.mode](
            caf::ok_atom) { close_command(id, queue_mode_changed(mode)); },
          [this, id](const caf::error& reason) {
            close_command(id, "The queue mode was not changed: "
                                + sentence_of(reason));
          });
}

// What a command says is an answer without a turn: the ledger sees to its
// delivery. Both records are one, so that no restart finds it between them.
void office_state::close_command(const std::string& id,
                                 const std::string& reply) {
  auto running = make_record(id, ledger_state::running);
  if (!core_->allows(running) || busy_.contains(id))
    return;
  const auto& entry = *core_->find(id);
  running.run = id;
  running.attempt = entry.attempt + 1;
  auto produced = make_record(id, ledger_state::produced);
  produced.run = id;
  produced.text = reply;
  produced.target = entry.event.target;
  busy_.insert(id);
  append_ledger(print_ledger_line(running) + print_ledger_line(produced),
                durability::sync,
                [this, running, produced, reply](const caf::error& reason) {
                  if (!reason && core_->apply(running, wall_ms()))
                    core_->apply(produced, wall_ms());
                  command_recorded(produced.id, reply, reason);
                });
}

void office_state::command_recorded(const std::string& id,
                                    const std::string& reply,
                                    const caf::error& reason) {
  busy_.erase(id);
  if (!reason) {
    ticketed_.erase(id);
    pump();
    return;
  }
  // It was carried out: it must not be again.
  kit::log::warning(label_, "the answer to the command " + id
                              + " waits for the disk: " + sentence_of(reason));
  command_replies_[id] = reply;
  command_timer_.arm(self_,
                     std::chrono::duration_cast<std::chrono::milliseconds>(
                       limits::ledger_retry_delay),
                     [this] {
                       for (const auto& [due, text] :
                            std::exchange(command_replies_, {}))
                         close_command(due, text);
                     });
}

// Whether a message needs a turn: it is accepted, and no answer covers it.
bool office_state::is_waiting(const ledger_entry& entry) const {
  return entry.state == ledger_state::accepted
         && core_->after_restart(entry, false) == boot_step::requeue;
}

bool office_state::is_being_given_up(const std::string& id) const {
  auto found = deliveries_.find(id);
  return found != deliveries_.end() && !found->second.notice.empty();
}

office_state::session_row& office_state::session_for(const std::string& key) {
  auto found = sessions_.find(key);
  if (found != sessions_.end())
    return found->second;
  auto& row = sessions_[key];
  row.handle = deps_.sessions(
    self_->home_system(),
    session_args{place_, key, turn_owner_actor{self_}, transport_});
  row.seen.session_key = key;
  row.seen.state = "absent";
  row.active_ms = clock_ms();
  self_->monitor(row.handle);
  arm_sweep();
  return row;
}

bool office_state::has_turns(const std::string& key) const {
  for (const auto* entry : core_->open())
    if (entry->event.session_key == key
        && (entry->state == ledger_state::accepted
            || entry->state == ledger_state::running))
      return true;
  return false;
}

// -- idle sessions ------------------------------------------------------------

void office_state::arm_sweep() {
  if (!sweep_timer_.armed())
    sweep_timer_.arm(self_,
                     std::chrono::duration_cast<std::chrono::milliseconds>(
                       limits::office_sweep_interval),
                     [this] { sweep(); });
}

void office_state::sweep() {
  constexpr int64_t idle_ms =
    std::chrono::milliseconds{limits::office_idle_timeout}.count();
  for (auto& [key, row] : sessions_)
    if (!row.closing && is_resting(row.seen.state) && row.seen.waiting == 0
        && clock_ms() - row.active_ms >= idle_ms && !has_turns(key))
      close_session(row);
  if (!sessions_.empty())
    arm_sweep();
}

void office_state::close_session(session_row& row) {
  if (std::exchange(row.closing, true))
    return;
  auto handle = row.handle;
  auto end = [this, handle] {
    self_->send_exit(handle, caf::exit_reason::user_shutdown);
  };
  kit::bounded_request(self_, handle, limits::runner_dispose_timeout,
                       atom::drain_v, drain_phase::close)
    .then([end](caf::ok_atom) { end(); }, [end](caf::error&) { end(); });
}

void office_state::let_session_go(const std::string& key) {
  auto found = sessions_.find(key);
  if (found != sessions_.end() && found->second.seen.state == "idle"
      && found->second.seen.waiting == 0 && !has_turns(key))
    close_session(found->second);
}

uint64_t office_state::on_renew() {
  uint64_t told = 0;
  for (auto& [key, row] : sessions_) {
    if (row.closing)
      continue;
    self_->send(row.handle, atom::renew_v);
    ++told;
  }
  return told;
}

void office_state::on_down(const caf::down_msg& down) {
  for (auto& [key, row] : sessions_) {
    if (row.handle.address() != down.source)
      continue;
    auto ended = key;
    auto wanted = row.closing;
    session_snapshot gone;
    gone.session_key = ended;
    gone.state = "absent";
    sessions_.erase(ended);
    self_->send(parent_, atom::settled_v, place_.address, std::move(gone));
    for (const auto* entry : core_->open())
      if (entry->event.session_key == ended)
        ticketed_.erase(entry->id);
    if (!wanted)
      session_lost(ended, down.reason);
    dispatch_all();
    sleep_if_empty();
    return;
  }
}

// A session died: what it was running is lost and said to be, what waited goes
// to a fresh one. A message that kills sessions before it runs is given up.
void office_state::session_lost(const std::string& key,
                                const caf::error& reason) {
  kit::log::error(label_, "the session " + key
                            + " ended unexpectedly: " + sentence_of(reason));
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{metric::actor_restarts, {"session"}, 1});
  std::vector<std::string> running;
  std::string first_waiting;
  for (const auto* entry : core_->open()) {
    if (entry->event.session_key != key || busy_.contains(entry->id)
        || arrivals_->contains(entry->id))
      continue;
    if (entry->state == ledger_state::running && core_->head_of(*entry))
      continue;
    if (entry->state == ledger_state::running)
      running.push_back(entry->id);
    else if (first_waiting.empty() && is_waiting(*entry))
      first_waiting = entry->id;
  }
  for (const auto& id : running)
    interrupt(id, wording::interrupted_by_fault);
  if (!running.empty()) {
    deaths_.erase(key);
  } else if (!first_waiting.empty()
             && ++deaths_[key] >= limits::session_deaths) {
    deaths_.erase(key);
    interrupt(first_waiting, wording::interrupted_by_fault);
  }
  pump();
}

// -- what sessions report -----------------------------------------------------

office_state::ok_promise office_state::on_run(const turn_started& fact) {
  auto answer = self_->make_response_promise<ok_promise>();
  auto promise = oks_.keep(answer);
  auto line = make_record(fact.message_id, ledger_state::running);
  line.run = fact.run;
  stopped_.erase(fact.message_id);
  line.attempt = fact.attempt;
  record(std::move(line), durability::lazy,
         [this, promise, key = fact.session_key](const caf::error& reason) {
           if (reason) {
             oks_.fail(promise, reason);
             return;
           }
           deaths_.erase(key);
           oks_.deliver(promise, caf::ok_atom_v);
         });
  return answer;
}

office_state::ok_promise office_state::on_produced(const turn_produced& fact) {
  auto answer = self_->make_response_promise<ok_promise>();
  auto promise = oks_.keep(answer);
  const auto& id = fact.message_id;
  auto entry = core_->find(id);
  if (entry != nullptr && stopped_.contains(id)) {
    oks_.fail(promise, make_failure(errc::aborted,
                                    "the turn of " + id + " was stopped"));
    return answer;
  }
  if (entry == nullptr || entry->run != fact.run || busy_.contains(id)) {
    oks_.fail(promise, make_failure(errc::conflict,
                                    "the run " + fact.run
                                      + " is not the one of its message"));
    return answer;
  }
  auto line = make_record(id, ledger_state::produced);
  line.run = fact.run;
  line.text = fact.text;
  line.parts = fact.parts;
  line.covers = fact.covers;
  line.provisional = fact.provisional;
  line.target = core_->reply_target(*entry, fact.covers);
  busy_.insert(id);
  if (!fact.silent) {
    record(std::move(line), durability::sync,
           [this, promise, id](const caf::error& reason) {
             produced_recorded(id, promise, reason);
           });
    return answer;
  }
  // One record for both steps: no restart may find it between them and send
  // what was to stay unsaid.
  if (!core_->allows(line)) {
    produced_recorded(
      id, promise,
      make_failure(errc::conflict, "the message " + id + " is not running"));
    return answer;
  }
  auto done = make_record(id, ledger_state::sent);
  done.note = "silent";
  auto text = print_ledger_line(line) + print_ledger_line(done);
  ledger_.append(std::move(text), durability::sync,
                 [this, promise, id, line, done](const caf::error& reason) {
                   if (!reason)
                     close_silent(line, done);
                   produced_recorded(id, promise, reason);
                 });
  return answer;
}

void office_state::close_silent(const ledger_record& produced,
                                const ledger_record& done) {
  core_->apply(produced, wall_ms());
  auto entry = core_->find(produced.id);
  if (entry == nullptr)
    return;
  auto event = entry->event;
  entry_end end;
  end.run = entry->run;
  end.text = entry->text;
  end.parts = entry->parts;
  close_covered(*entry, {});
  core_->apply(done, wall_ms());
  tell_closed(event, "silent", std::move(end));
  after_close();
}

void office_state::produced_recorded(const std::string& id, uint64_t promise,
                                     const caf::error& reason) {
  busy_.erase(id);
  if (!reason) {
    ticketed_.erase(id);
    if (auto entry = core_->find(id))
      for (const auto& covered : entry->covers)
        ticketed_.erase(covered);
    oks_.deliver(promise, caf::ok_atom_v);
    pump();
    return;
  }
  oks_.fail(promise, reason);
  auto entry = core_->find(id);
  if (entry != nullptr && !sessions_.contains(entry->event.session_key))
    interrupt(id, wording::interrupted_by_fault);
}

office_state::ok_promise office_state::on_failed(const turn_dead& fact) {
  auto answer = self_->make_response_promise<ok_promise>();
  auto promise = oks_.keep(answer);
  const auto& id = fact.message_id;
  auto entry = core_->find(id);
  if (entry == nullptr || entry->produced_ms != 0) {
    // Closed before, or its answer came first: the session need not say it.
    oks_.deliver(promise, caf::ok_atom_v);
    return answer;
  }
  auto open = entry->state == ledger_state::accepted
              || entry->state == ledger_state::running;
  if (!open || !is_death_reason(fact.why) || busy_.contains(id)) {
    oks_.fail(promise,
              make_failure(errc::conflict,
                           "the message " + id + " cannot end as " + fact.why));
    return answer;
  }
  auto event = entry->event;
  auto line = make_record(id, ledger_state::dead);
  line.why = fact.why;
  line.told = fact.told;
  // Of a turn that had begun.
  auto run = entry->state == ledger_state::running ? entry->run : std::string{};
  auto head = *entry;
  busy_.insert(id);
  record(std::move(line), durability::lazy,
         [this, promise, id, event, run, head, why = fact.why, told = fact.told,
          cancelled = fact.cancelled](const caf::error& reason) {
           busy_.erase(id);
           if (reason) {
             oks_.fail(promise, reason);
             return;
           }
           ticketed_.erase(id);
           deliveries_.erase(id);
           stopped_.erase(id);
           close_read(head, why, told);
           oks_.deliver(promise, caf::ok_atom_v);
           entry_end end;
           end.run = run;
           end.cancelled = cancelled;
           tell_closed(event, why, std::move(end));
           after_close();
         });
  return answer;
}

void office_state::on_settled(const session_snapshot& fact) {
  auto found = sessions_.find(fact.session_key);
  if (found == sessions_.end())
    return;
  found->second.seen = fact;
  found->second.active_ms = clock_ms();
  self_->send(parent_, atom::settled_v, place_.address, fact);
  release_parked();
}

} // namespace bureau::offices
