#include "actors/events/events.hpp"

#include "actors/events/events_state.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::events {

namespace {

using std::chrono::milliseconds;

/// Requests that wait until the directory is read …
constexpr size_t requests_held = 256;
/// … and how long, should it never be quiet.
constexpr auto patience = std::chrono::seconds{2};

} // namespace

void events_state::init(events_deps deps) {
  deps_ = std::move(deps);
}

events_actor::behavior_type events_state::make_behavior() {
  return {
    [this](atom::write, const event_write& x) { return on_write(x); },
    [this](atom::list, const event_query& x) { return on_list(x); },
    [this](atom::read, const event_query& x) { return on_read(x); },
    [this](atom::drop, const event_query& x) { return on_drop(x); },
    [this](atom::describe) { return on_describe(); },
    [this](atom::list, const event_run_query& x) { return on_page(x); },
    [this](atom::read, const event_run_query& x) { return on_run(x); },
    [this](atom::start, const event_desk_actor& x) { on_start(x); },
    [this](atom::attach, platform_id x) { on_attach(x); },
    [this](atom::changed, const directory_change& x) { on_changed(x); },
    [this](atom::drain) { return on_drain(); },
    [this](atom::status) { return status(); },
    [this](atom::stop) { return on_stop(); },
  };
}

instants events_state::now() const {
  return {deps_.wall->now_ms(), std::chrono::duration_cast<milliseconds>(
                                  self_->clock().now().time_since_epoch())
                                  .count()};
}

// -- life ---------------------------------------------------------------------

void events_state::on_start(const event_desk_actor& desk) {
  if (desk_)
    return;
  desk_ = desk;
  load_record();
}

void events_state::on_attach(platform_id platform) {
  carry_out(core_.attached(platform, now()));
}

void events_state::on_changed(const directory_change& change) {
  if (stopping_ || !loaded_)
    return;
  if (change.ended)
    watched_ = false;
  if (change.everything) {
    scan();
    return;
  }
  for (const auto& file : change.names)
    carry_out(core_.noticed(file, now()));
}

void events_state::hold() {
  stopping_ = true;
  core_.stop();
  timer_.cancel();
  scan_timer_.cancel();
}

caf::result<caf::ok_atom> events_state::on_drain() {
  hold();
  return caf::ok_atom_v;
}

caf::result<caf::ok_atom> events_state::on_stop() {
  auto answer = self_->make_response_promise<caf::ok_atom>();
  stops_.keep(answer);
  hold();
  finish_stop();
  return answer;
}

// What is on its way into the record is to arrive there, and the first look at
// the directory is to end.
void events_state::finish_stop() {
  auto looked = !desk_ || scanned_ || !record_trouble_.empty();
  if (stopping_ && looked && !scanning_ && appending_ == 0 && !rewriting_
      && waiting_lines_.empty())
    stops_.deliver_all(caf::ok_atom_v);
}

status_line events_state::status() const {
  auto counts = core_.counts();
  auto of = [&counts](event_state state) {
    auto found = counts.find(state);
    return std::to_string(found == counts.end() ? 0 : found->second);
  };
  status_line line{"events", stopping_ ? "stopping" : "ok",
                   of(event_state::scheduled) + " scheduled, "
                     + of(event_state::retrying) + " waiting, "
                     + of(event_state::faulty) + " faulty"};
  if (core_.ignored() > 0)
    line.detail += "; " + std::to_string(core_.ignored())
                   + " files are left alone, there are too many";
  if (!record_trouble_.empty() || !trouble_.empty()) {
    line.state = "degraded";
    line.detail +=
      "; " + (record_trouble_.empty() ? trouble_ : record_trouble_);
  }
  return line;
}

// -- effects ------------------------------------------------------------------

void events_state::carry_out(schedule_effects effects) {
  for (auto& effect : effects)
    perform(std::move(effect));
  arm();
  report();
  release_held();
}

void events_state::perform(schedule_effect effect) {
  switch (effect.what) {
  case schedule_step::look:
    look(effect);
    break;
  case schedule_step::read:
    read(effect);
    break;
  case schedule_step::record: {
    auto missed = effect.line.step == log_step::missed;
    append(print_log_line(effect.line), durability::sync,
           [this, file = effect.file, missed](const caf::error& reason) {
             if (reason)
               kit::log::warning(name, file
                                         + ": the record of schedules was "
                                           "not written: "
                                         + sentence_of(reason));
             else if (missed)
               count("missed");
             carry_out(core_.recorded(file, !reason, now()));
           });
    break;
  }
  case schedule_step::note:
    if (effect.line.step == log_step::refused)
      count("refused");
    append(print_log_line(effect.line), durability::lazy,
           [file = effect.file](const caf::error& reason) {
             if (reason)
               kit::log::warning(name, file
                                         + ": the record of schedules lacks "
                                           "a line: "
                                         + sentence_of(reason));
           });
    break;
  case schedule_step::dispatch:
    dispatch(effect);
    break;
  case schedule_step::follow:
    follow(effect.file, effect.occurrence, effect.target);
    break;
  case schedule_step::remove:
    remove(effect);
    break;
  case schedule_step::warn:
    kit::log::warning(name, effect.sentence);
    break;
  }
}

// No timer trusts the wall clock for long: it may be set.
void events_state::arm() {
  auto due = loaded_ ? core_.next_due(now()) : std::nullopt;
  if (!due || stopping_) {
    timer_.cancel();
    return;
  }
  auto step = milliseconds{limits::event_timer_step};
  timer_.arm(self_, std::min(milliseconds{*due}, step),
             [this] { carry_out(core_.tick(now())); });
}

void events_state::report() {
  if (!deps_.metrics)
    return;
  auto counts = core_.counts();
  for (const auto& [state, count] : reported_)
    counts.try_emplace(state, 0);
  if (counts == reported_)
    return;
  for (const auto& [state, count] : counts)
    self_->send(deps_.metrics, atom::gauge_v,
                metric_sample{metric::events_scheduled,
                              {to_string(state)},
                              static_cast<int64_t>(count)});
  reported_ = std::move(counts);
}

void events_state::count(const std::string& outcome) {
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{metric::events, {outcome}, 1});
}

// -- requests that wait -------------------------------------------------------

bool events_state::is_ready() const {
  return scanned_ && (core_.loading() == 0 || impatient_);
}

void events_state::when_ready(std::function<void(const caf::error&)> action) {
  if (!record_trouble_.empty()) {
    action(make_failure(errc::disk, record_trouble_));
  } else if (is_ready()) {
    action(caf::none);
  } else if (held_.size() >= requests_held) {
    action(make_failure(errc::queue_full,
                        "too many requests wait for the schedules"));
  } else {
    held_.push_back(std::move(action));
    if (!patience_timer_.armed())
      patience_timer_.arm(self_, patience, [this] {
        impatient_ = true;
        release_held();
        impatient_ = false;
      });
  }
}

void events_state::release_held() {
  if (held_.empty() || (!is_ready() && record_trouble_.empty()))
    return;
  patience_timer_.cancel();
  auto failure = record_trouble_.empty()
                   ? caf::error{}
                   : make_failure(errc::disk, record_trouble_);
  for (auto& action : std::exchange(held_, {}))
    action(failure);
}

// -- spawning -----------------------------------------------------------------

events_actor spawn_events(caf::actor_system& system, events_deps deps) {
  return kit::spawn_stateful<events_actor, events_state>(system,
                                                         std::move(deps));
}

} // namespace bureau::events
