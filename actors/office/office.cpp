#include "actors/office/office.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/leftovers_core.hpp"
#include "actors/office/office_state.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::offices {

namespace {

/// Ids that an office remembers of its chat log.
constexpr size_t logged_ids = 4096;

constexpr const char* ledger_name = "ledger.jsonl";
constexpr const char* log_name = "log.jsonl";

/// Bytes of the ledger that are read at a time.
constexpr size_t ledger_part_bytes = 4u << 20;
/// Lines that are kept while the disk takes none.
constexpr size_t most_kept_lines = 1024;

/// A job about a path, below a root or absolute.
file_job path_job(file_op op, const std::string& root,
                  const std::string& path) {
  file_job job;
  job.reason = "office";
  job.op = op;
  job.root = root;
  job.path = path;
  return job;
}

/// Makes the host-only directory of an office unless it is there.
file_job directory_job(const office& place) {
  auto job = path_job(file_op::ensure_directory, {}, place.state_dir);
  job.mode = 0700;
  return job;
}

/// Why a chat log is not to be read or written (decision B16); empty: it may be
/// or is not there yet.
std::string refusal_of_log(const std::string& path, const file_outcome& found) {
  if (found.kind == file_kind::absent)
    return {};
  if (found.kind == file_kind::symlink)
    return "its chat log " + path
           + " is a symbolic link; put a file of its own in its place";
  if (found.kind != file_kind::regular)
    return "its chat log " + path + " is no regular file; move it away";
  if (found.links > 1)
    return "its chat log " + path + " has " + std::to_string(found.links)
           + " names, so that others may write it; replace it by a copy";
  return {};
}

} // namespace

office_state::office_state(pointer self)
  : self_(self),
    logged_(std::chrono::milliseconds{limits::dedupe_window}.count(),
            logged_ids, logged_ids) {
}

// Its sessions write through it: they cannot outlive it, however it ends.
office_state::~office_state() {
  for (auto& [key, row] : sessions_)
    caf::anon_send_exit(row.handle, caf::exit_reason::user_shutdown);
}

void office_state::init(office_deps deps, office place,
                        transport_actor transport,
                        offices_parent_actor parent) {
  deps_ = std::move(deps);
  place_ = std::move(place);
  label_ = "office/" + place_.key;
  transport_ = std::move(transport);
  parent_ = std::move(parent);
  core_.emplace(place_.address);
  arrivals_.emplace(place_.key, static_cast<uint64_t>(wall_ms()));
  auto restore = [this](std::function<void()> then) {
    restore_directories(std::move(then));
  };
  ledger_.init(self_, deps_.journal, journal_root::state,
               "conversations/" + place_.key + "/" + ledger_name, restore);
  log_.init(self_, deps_.journal, journal_root::workspace,
            place_.key + "/" + log_name, restore);
  self_->set_down_handler(
    [this](caf::scheduled_actor*, caf::down_msg& down) { on_down(down); });
  load();
  greet_transport();
}

office_child_actor::behavior_type office_state::make_behavior() {
  return {
    [this](atom::intake, const intake_request& request) {
      return on_intake(request);
    },
    [this](atom::may_send, const delivery_key& key) {
      return on_may_send(key);
    },
    [this](atom::stop, const stop_request& request) {
      return on_stop(request);
    },
    [this](atom::renew) { return on_renew(); },
    [this](atom::attach, const transport_actor& transport) {
      on_attach(transport);
    },
    [this](atom::describe) { return on_describe(); },
    [this](atom::drain, drain_phase phase) { return on_drain(phase); },
    [this](atom::run, const turn_started& fact) { return on_run(fact); },
    [this](atom::produced, const turn_produced& fact) {
      return on_produced(fact);
    },
    [this](atom::failed, const turn_dead& fact) { return on_failed(fact); },
    [this](atom::notice, const posted_notice& fact) { append_notice(fact); },
    [this](atom::settled, const session_snapshot& fact) { on_settled(fact); },
    [this](atom::dispose) { return on_dispose(); },
    [this](atom::dispose, const std::string& key) { let_session_go(key); },
    [this](atom::settled, const entry_query& query) { return on_await(query); },
    [this](atom::locate, const session_query& query) {
      return on_locate(query);
    },
    [this](atom::exists, const std::string& id) { return on_exists(id); },
    [this](atom::mark, const std::string& id) { return on_mark(id); },
  };
}

int64_t office_state::wall_ms() const {
  return deps_.wall->now_ms();
}

int64_t office_state::clock_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           self_->clock().now().time_since_epoch())
    .count();
}

// -- loading ------------------------------------------------------------------

void office_state::load() {
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       directory_job(place_))
    .then([this](const file_outcome&) { read_ledger_file(); },
          [this](caf::error& reason) { give_up_loading(reason); });
}

// One directory is in the workspace, where others may delete it; the registry
// alone makes those (office note, section 4.3). The other is ours.
void office_state::restore_directories(std::function<void()> then) {
  auto own = [this, then](const std::string& trouble) {
    if (!trouble.empty())
      kit::log::warning(label_, trouble);
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         directory_job(place_))
      .then([then](const file_outcome&) { then(); },
            [then](caf::error&) { then(); });
  };
  kit::bounded_request(self_, deps_.registry, limits::disk_timeout,
                       atom::ensure_v, place_.address)
    .then([own](const office&) { own({}); },
          [own](caf::error& reason) { own(sentence_of(reason)); });
}

void office_state::read_ledger_file() {
  read_ledger_part(std::make_shared<std::string>());
}

// In parts: it may be longer than one job carries.
void office_state::read_ledger_part(std::shared_ptr<std::string> text) {
  auto job =
    path_job(file_op::read_range, {}, join_path(place_.state_dir, ledger_name));
  job.offset = text->size();
  job.length = ledger_part_bytes;
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       std::move(job))
    .then(
      [this, text](const file_outcome& part) {
        *text += part.bytes;
        if (text->size() > limits::ledger_file_bytes)
          give_up_loading(make_failure(
            errc::too_large, "its ledger is larger than "
                               + std::to_string(limits::ledger_file_bytes)
                               + " bytes"));
        else if (part.bytes.size() < ledger_part_bytes)
          ledger_read(*text);
        else
          read_ledger_part(text);
      },
      [this](caf::error& reason) {
        if (code_of(reason) == errc::not_found)
          ledger_read({});
        else
          give_up_loading(reason);
      });
}

void office_state::ledger_read(const std::string& text) {
  auto contents = read_ledger(text);
  if (contents.skipped > 0)
    kit::log::warning(label_, "skipped " + std::to_string(contents.skipped)
                                + " damaged ledger lines, the first is line "
                                + std::to_string(contents.first_skipped));
  for (const auto& line : contents.records)
    core_->replay(line, text::parse_iso(line.at).value_or(wall_ms()));
  ledger_.found(text.size(), contents.torn);
  kit::bounded_request(
    self_, deps_.files, limits::disk_timeout, atom::file_v,
    path_job(file_op::stat, deps_.place.root, place_.key + "/" + log_name))
    .then(
      [this](const file_outcome& found) {
        auto refusal = refusal_of_log(place_.log_path, found);
        if (refusal.empty())
          read_log_tail_of(found.size);
        else
          give_up_loading(make_failure(errc::denied, refusal));
      },
      [this](caf::error& reason) { give_up_loading(reason); });
}

void office_state::read_log_tail_of(uint64_t size) {
  if (size == 0) {
    loaded({}, true);
    return;
  }
  auto offset =
    size > limits::log_tail_bytes ? size - limits::log_tail_bytes : 0;
  auto job = path_job(file_op::read_range, deps_.place.root,
                      place_.key + "/" + log_name);
  job.offset = offset;
  job.length = size - offset;
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       std::move(job))
    .then(
      [this, offset, size](const file_outcome& part) {
        log_.found(size, !part.bytes.ends_with('\n'));
        loaded(part.bytes, offset == 0);
      },
      [this](caf::error& reason) { give_up_loading(reason); });
}

void office_state::loaded(const std::string& tail, bool whole) {
  for (auto& id : log_tail_ids(tail, whole))
    logged_.add(std::move(id), wall_ms());
  auto answers = core_->take_answers();
  loaded_ = true;
  recover_answers(answers, tail, whole);
  line_up(tail, whole);
  report_open();
  for (auto& action : std::exchange(held_, {}))
    action();
  boot();
  sweep_leftovers({}, place_.state_dir);
  sweep_leftovers(deps_.place.root, place_.key + "/sessions");
  sweep_leftovers(deps_.place.root, place_.key + "/" + attachments_name);
}

void office_state::sweep_leftovers(const std::string& root,
                                   const std::string& path) {
  auto ask_about = [this, root, path](const std::string& leaf) {
    auto full = join_path(path, leaf);
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         path_job(file_op::stat, root, full))
      .then(
        [this, root, full](const file_outcome& found) {
          if (is_outdated(found.modified_ns, wall_ms()))
            remove_leftover(root, full);
        },
        [](caf::error&) {});
  };
  auto sweep = [this, root, path, ask_about](const file_outcome& directory) {
    for (const auto& item : leftovers_among(directory.names, ::getpid()))
      if (item.ours)
        ask_about(item.name);
      else
        remove_leftover(root, join_path(path, item.name));
    if (path.ends_with(attachments_name))
      for (const auto& leaf : stagings_among(directory.names))
        if (!arrivals_->fetches(leaf))
          remove_leftover(root, join_path(path, leaf));
  };
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       path_job(file_op::list, root, path))
    .then(sweep, [](caf::error&) {
      // Not there yet, or to be swept at the next opening.
    });
}

void office_state::remove_leftover(const std::string& root,
                                   const std::string& path) {
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       path_job(file_op::remove, root, path))
    .then([](const file_outcome&) {}, [](caf::error&) {});
}

// An answer whose line a kill kept out of the chat log is appended now.
void office_state::recover_answers(const std::vector<ledger_answer>& answers,
                                   const std::string& tail, bool whole) {
  if (answers.empty())
    return;
  auto known = read_log_tail(tail, whole, place_.log_path).entries;
  std::set<std::string> answered;
  for (const auto& entry : known)
    answered.insert(entry.record.reply_to);
  auto since =
    known.empty() ? 0 : text::parse_iso(known.front().record.date).value_or(0);
  for (const auto& answer : answers)
    if (!answered.contains(answer.event.message_id)
        && (whole || answer.at_ms > since))
      append_answer(answer);
}

void office_state::give_up_loading(const caf::error& reason) {
  auto failure = make_failure(code_of(reason),
                              "the conversation " + place_.key
                                + " cannot be opened: " + sentence_of(reason));
  kit::log::warning(label_, sentence_of(failure));
  held_.clear();
  replies_.fail_all(failure);
  oks_.fail_all(failure);
  snapshots_.fail_all(failure);
  reports_.fail_all(failure);
  sleeps_.fail_all(failure);
  bools_.fail_all(failure);
  ends_.fail_all(failure);
  self_->quit(failure);
}

void office_state::when_loaded(std::function<void()> action) {
  if (loaded_)
    action();
  else
    held_.push_back(std::move(action));
}

void office_state::on_attach(const transport_actor& transport) {
  transport_ = transport;
  transport_ready_ = false;
  for (auto& [id, state] : deliveries_)
    if (state.due_ms = 0; !state.outstanding)
      // It may be another one, which can do other things.
      state.attempts.reset();
  greet_transport();
}

void office_state::greet_transport() {
  if (!transport_)
    return;
  auto ready = [this](const transport_info& info) {
    transport_ready_ = true;
    info_ = info;
    boot();
    pump();
    pump_files();
  };
  kit::bounded_request(self_, transport_, limits::mailbox_timeout,
                       atom::config_v)
    .then([ready](const transport_info& info) { ready(info); },
          [ready](caf::error&) {
            // Text posts are what every transport can do.
            transport_info plain;
            plain.streaming = false;
            ready(plain);
          });
}

// -- ledger -------------------------------------------------------------------

ledger_record office_state::make_record(const std::string& id,
                                        ledger_state state) const {
  ledger_record line;
  line.at = text::iso_utc(wall_ms());
  line.id = id;
  line.state = state;
  if (auto entry = core_->find(id)) {
    line.run = entry->run;
    line.part = entry->part;
    line.of = entry->of;
  }
  return line;
}

void office_state::note(ledger_record line) {
  if (!core_->apply(line, wall_ms())) {
    kit::log::warning(label_, "the ledger refused " + to_string(line.state)
                                + " of " + line.id);
    return;
  }
  auto text = print_ledger_line(line);
  append_ledger(text, durability::lazy, [this, text](const caf::error& reason) {
    if (!reason)
      return;
    kit::log::warning(label_, "a ledger line waits for the disk: "
                                + sentence_of(reason));
    keep_line(text);
  });
}

// A line that comes once more, or when its message has gone on, changes
// nothing.
void office_state::append_ledger(std::string text, durability level,
                                 std::function<void(const caf::error&)> then) {
  if (kept_lines_.empty()) {
    ledger_.append(std::move(text), level, std::move(then));
    return;
  }
  auto kept = std::exchange(kept_lines_, {});
  std::string all;
  for (const auto& line : kept)
    all += line;
  all += text;
  ledger_.append(
    std::move(all), level,
    [this, kept, then = std::move(then)](const caf::error& reason) {
      if (reason)
        for (const auto& line : kept)
          keep_line(line);
      then(reason);
    });
}

void office_state::keep_line(std::string line) {
  if (kept_lines_.size() < most_kept_lines)
    kept_lines_.push_back(std::move(line));
  if (!kept_timer_.armed())
    kept_timer_.arm(self_,
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                      limits::ledger_retry_delay),
                    [this] { write_kept_lines(); });
}

void office_state::write_kept_lines() {
  if (kept_lines_.empty())
    return;
  append_ledger({}, durability::lazy, [this](const caf::error& reason) {
    if (!reason)
      kit::log::info(label_, "the ledger has its missing lines");
  });
}

void office_state::record(ledger_record line, durability level,
                          std::function<void(const caf::error&)> then) {
  if (!core_->allows(line)) {
    then(make_failure(errc::conflict, "the message " + line.id
                                        + " cannot become "
                                        + to_string(line.state)));
    return;
  }
  auto text = print_ledger_line(line);
  append_ledger(std::move(text), level,
                [this, line = std::move(line),
                 then = std::move(then)](const caf::error& reason) {
                  if (!reason)
                    core_->apply(line, wall_ms());
                  then(reason);
                });
}

void office_state::close_dead(const std::string& id, const std::string& why,
                              bool told,
                              caf::optional<contracts::cancel_reason> reason) {
  auto entry = core_->find(id);
  if (entry == nullptr)
    return;
  auto event = entry->event;
  auto line = make_record(id, ledger_state::dead);
  line.why = why;
  line.told = told;
  auto head = *entry;
  ticketed_.erase(id);
  deliveries_.erase(id);
  stopped_.erase(id);
  if (arrivals_->contains(id))
    close_late(line);
  else
    note(std::move(line));
  close_read(head, why, told);
  entry_end end;
  end.cancelled = std::move(reason);
  tell_closed(event, why, std::move(end));
  after_close();
}

// A message that a run has read is `running` with its number, and is not heard
// of again: it never gets a turn of its own.
void office_state::close_read(const ledger_entry& head, const std::string& why,
                              bool told) {
  if (head.run.empty())
    return;
  // The head itself is closed by now.
  std::vector<const ledger_entry*> read;
  for (const auto* entry : core_->open())
    if (entry->state == ledger_state::running && entry->run == head.run
        && entry->order > head.order)
      read.push_back(entry);
  for (const auto* entry : read) {
    auto event = entry->event;
    auto line = make_record(entry->id, ledger_state::dead);
    line.why = why;
    line.told = told;
    ticketed_.erase(line.id);
    note(std::move(line));
    tell_closed(event, why);
  }
}

bool office_state::can_stop(const ledger_entry& entry) const {
  return entry.state == ledger_state::running && !busy_.contains(entry.id);
}

void office_state::tell_closed(const conversation_event& event,
                               const std::string& outcome, entry_end end) {
  offered_.erase(event.message_id);
  // What was sent is told when it is in the chat log.
  if (outcome != "sent") {
    end.outcome = outcome;
    settle_waiters(event, end);
  }
  if (transport_)
    self_->send(transport_, atom::closed_v,
                closed_entry{place_.address, event.session_key,
                             event.message_id, outcome, end.cancelled});
}

void office_state::after_close() {
  report_open();
  release_parked();
  if (ledger_.rewriting() || !core_->should_compact(ledger_.size()))
    return;
  ledger_.rewrite(
    deps_.files, join_path(place_.state_dir, ledger_name),
    [this] { return core_->compacted(); },
    [this](const caf::error& reason) {
      if (reason)
        kit::log::warning(label_, "the ledger could not be compacted: "
                                    + sentence_of(reason));
    });
}

// Before the frame of a message is forgotten, the list of unfinished work must
// have the office: the mark goes ahead of the record, to the same mailbox.
void office_state::mark_unfinished(bool unfinished) {
  if (marked_ == unfinished)
    return;
  marked_ = unfinished;
  self_->send(deps_.journal, atom::mark_v, place_.key, unfinished);
}

void office_state::report_open() {
  auto open = core_->open_count() > 0;
  auto accepting =
    std::any_of(pending_.begin(), pending_.end(), [](const auto& it) {
      return it.second.action == intake_action::accept;
    });
  mark_unfinished(open || accepting);
  if (open == reported_open_)
    return;
  reported_open_ = open;
  self_->send(parent_, atom::settled_v, place_.address,
              static_cast<uint64_t>(core_->open_count()));
}

// -- marks --------------------------------------------------------------------

office_state::bool_promise office_state::on_exists(std::string id) {
  auto answer = self_->make_response_promise<bool_promise>();
  auto promise = bools_.keep(answer);
  when_loaded([this, promise, id = std::move(id)] {
    bools_.deliver(promise, core_->knows(id));
  });
  return answer;
}

// A mark is the id of a closed message that never was: it is kept as long.
office_state::ok_promise office_state::on_mark(std::string id) {
  auto answer = self_->make_response_promise<ok_promise>();
  auto promise = oks_.keep(answer);
  when_loaded([this, promise, id = std::move(id)] {
    if (core_->knows(id)) {
      oks_.deliver(promise, caf::ok_atom_v);
      return;
    }
    ledger_record line;
    line.at = text::iso_utc(wall_ms());
    line.closed = {id};
    busy_.insert(id);
    ledger_.append(print_ledger_line(line), durability::sync,
                   [this, promise, id, line](const caf::error& reason) {
                     busy_.erase(id);
                     if (reason) {
                       oks_.fail(promise, reason);
                       return;
                     }
                     core_->replay(line, wall_ms());
                     oks_.deliver(promise, caf::ok_atom_v);
                   });
  });
  return answer;
}

// -- description, drain, sleep ------------------------------------------------

office_state::snapshot_promise office_state::on_describe() {
  auto answer = self_->make_response_promise<snapshot_promise>();
  auto id = snapshots_.keep(answer);
  when_loaded([this, id] {
    runtime_snapshot result;
    result.offices_active = 1;
    result.open_entries = core_->open_count();
    for (const auto& [key, row] : sessions_)
      result.sessions.push_back(row.seen);
    snapshots_.deliver(id, std::move(result));
  });
  return answer;
}

drain_report office_state::drain_state() const {
  constexpr int64_t patience =
    std::chrono::milliseconds{limits::shutdown_timeout}.count();
  drain_report report;
  // Of them the oldest answer waits for the next start.
  std::set<std::string> late;
  for (const auto* entry : core_->open()) {
    ++report.open_entries;
    report.running += entry->state == ledger_state::running
                      && core_->head_of(*entry) == nullptr;
    report.sending += entry->state == ledger_state::sending;
    if (entry->produced_ms == 0)
      continue;
    ++report.undelivered;
    // What waits for longer than a shutdown waits for the next start, and the
    // later answers of its session with it.
    auto found = deliveries_.find(entry->id);
    if (found != deliveries_.end()
        && found->second.due_ms - clock_ms() >= patience)
      late.insert(entry->event.session_key);
    report.delivering += !late.contains(entry->event.session_key);
  }
  return report;
}

office_state::report_promise office_state::on_drain(drain_phase phase) {
  auto answer = self_->make_response_promise<report_promise>();
  auto id = reports_.keep(answer);
  holding_ = true;
  closed_ = closed_ || phase == drain_phase::close;
  write_kept_lines();
  when_loaded([this, id, phase] {
    auto limit = phase == drain_phase::hold ? limits::mailbox_timeout
                 : phase == drain_phase::abort
                   ? limits::abort_settle_timeout * 2
                   : limits::runner_dispose_timeout;
    auto left = std::make_shared<size_t>(sessions_.size());
    auto one_done = [this, id, left] {
      if (*left > 0 && --*left > 0)
        return;
      reports_.deliver(id, drain_state());
    };
    if (sessions_.empty()) {
      one_done();
      return;
    }
    for (auto& [key, row] : sessions_)
      kit::bounded_request(self_, row.handle, limit, atom::drain_v, phase)
        .then([one_done](caf::ok_atom) { one_done(); },
              [one_done](caf::error&) { one_done(); });
  });
  return answer;
}

office_state::bool_promise office_state::on_dispose() {
  auto answer = self_->make_response_promise<bool_promise>();
  auto idle = loaded_ && !sleeping_ && core_->open_count() == 0
              && pending_.empty() && busy_.empty() && arrivals_->empty()
              && !ledger_.rewriting();
  for (const auto& [key, row] : sessions_)
    idle = idle && row.seen.state == "absent" && row.seen.waiting == 0;
  if (!idle) {
    answer.deliver(false);
    return answer;
  }
  sleeping_ = sleeps_.keep(answer);
  for (auto& [key, row] : sessions_)
    close_session(row);
  sleep_if_empty();
  return answer;
}

void office_state::sleep_if_empty() {
  if (!sleeping_ || !sessions_.empty())
    return;
  auto id = *std::exchange(sleeping_, std::nullopt);
  auto fall_asleep = [this, id] {
    sleeps_.deliver(id, true);
    self_->quit();
  };
  if (!deps_.sleep_job) {
    fall_asleep();
    return;
  }
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       deps_.sleep_job(place_))
    .then([fall_asleep](const file_outcome&) { fall_asleep(); },
          [this, fall_asleep](caf::error& reason) {
            kit::log::warning(label_, "not tidied up before sleep: "
                                        + sentence_of(reason));
            fall_asleep();
          });
}

office_child_actor spawn_office(caf::actor_system& system, office_deps deps,
                                office place, transport_actor transport,
                                offices_parent_actor parent) {
  return kit::spawn_stateful<office_child_actor, office_state>(
    system, std::move(deps), std::move(place), std::move(transport),
    std::move(parent));
}

} // namespace bureau::offices
