#include "actors/events/schedule_core.hpp"

#include "messages/codec/event_file.hpp"
#include "messages/errc.hpp"
#include "messages/limits.hpp"
#include "messages/text/sha256.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::events {

namespace {

constexpr int64_t ms_of(std::chrono::milliseconds span) {
  return span.count();
}

constexpr int64_t debounce_ms = ms_of(limits::event_debounce);
constexpr int64_t load_wait_ms = ms_of(limits::event_load_wait);
constexpr int64_t vanish_wait_ms = ms_of(limits::event_vanish_wait);
constexpr int64_t first_retry_ms = ms_of(limits::event_retry_delay);
constexpr int64_t last_retry_ms = ms_of(limits::event_retry_cap);
/// A record that failed is tried again after this, doubled up to the cap.
constexpr int64_t record_retry_ms = 1000;
constexpr int64_t record_retry_cap_ms = 60'000;
/// An occurrence that is so much behind its time is late.
constexpr int64_t punctual_ms = ms_of(limits::event_timer_step);
/// A record from so far ahead is one of a clock that was wrong.
constexpr int64_t clock_error_ms = 25 * 3'600'000;

constexpr const char* why_too_old = "too_old";
constexpr const char* why_superseded = "superseded";
constexpr const char* why_removed = "removed";
constexpr const char* why_replaced = "replaced";

/// `first` doubled `times` times, at most `cap`.
int64_t doubled(int64_t first, int times, int64_t cap) {
  for (auto i = 0; i < times && first < cap; ++i)
    first *= 2;
  return std::min(first, cap);
}

bool same_file(const generation& left, const generation& right) {
  return left.modified_ms == right.modified_ms && left.size == right.size;
}

std::string immediate_occurrence(const generation& content) {
  return std::to_string(content.modified_ms) + '-'
         + std::to_string(content.size);
}

} // namespace

void schedule_core::begin(schedule_rules rules, run_table table) {
  rules_ = std::move(rules);
  table_ = std::move(table);
}

bool schedule_core::is_busy(const file_state& state) {
  return state.at == phase::recording || state.at == phase::dispatching
         || state.at == phase::removing;
}

// -- files --------------------------------------------------------------------

schedule_effects schedule_core::noticed(const std::string& file, instants now) {
  if (stopping_ || !is_event_file_name(file))
    return {};
  auto found = files_.find(file);
  if (found == files_.end()) {
    if (files_.size() >= limits::event_files) {
      ++ignored_;
      return {};
    }
    found = files_.emplace(file, file_state{}).first;
    found->second.noticed_ms = now.wall_ms;
  } else if (!found->second.look_ms) {
    found->second.noticed_ms = now.wall_ms;
  }
  found->second.look_ms = now.clock_ms + debounce_ms;
  found->second.absences = 0;
  return {};
}

schedule_effects schedule_core::listed(const std::vector<std::string>& files,
                                       instants now) {
  schedule_effects out;
  auto names = files;
  std::sort(names.begin(), names.end());
  ignored_ = 0;
  for (const auto& file : names) {
    if (!is_event_file_name(file))
      continue;
    if (!files_.contains(file)) {
      if (files_.size() >= limits::event_files) {
        ++ignored_;
        continue;
      }
      auto& added = files_[file];
      added.from_boot = !booted_;
      added.noticed_ms = now.wall_ms;
    }
  }
  booted_ = true;
  // What is not listed any more is looked at, too: it may be gone.
  for (auto& [file, state] : files_)
    if (!state.look_ms)
      state.look_ms = now.clock_ms;
  auto more = tick(now);
  out.insert(out.end(), std::make_move_iterator(more.begin()),
             std::make_move_iterator(more.end()));
  return out;
}

void schedule_core::look(const std::string& file, file_state& state,
                         schedule_effects& out) {
  state.look_ms.reset();
  state.looking = true;
  state.number = ++last_number_;
  schedule_effect effect;
  effect.what = schedule_step::look;
  effect.file = file;
  effect.number = state.number;
  out.push_back(std::move(effect));
}

schedule_effects schedule_core::looked(const std::string& file, uint64_t number,
                                       const file_look& found, instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end() || place->second.number != number
      || !place->second.looking)
    return out;
  auto& state = place->second;
  state.looking = false;
  // What began meanwhile has to end first.
  if (is_busy(state)) {
    state.look_ms = state.look_ms.value_or(now.clock_ms);
    return out;
  }
  if (!found.fault.empty()) {
    unreadable(file, state, found.fault, now, out);
    return out;
  }
  if (found.what == file_look::kind::absent) {
    absent(file, state, now, out);
    return out;
  }
  state.absences = 0;
  state.present = true;
  state.seen = {found.modified_ms, found.size, {}};
  if (state.at != phase::fresh && same_file(state.content, state.seen)) {
    // A removal that failed is tried again.
    if (state.at == phase::done)
      settled(file, state, now, out);
    return out;
  }
  if (found.what == file_look::kind::other) {
    state.content = state.seen;
    fail(file, state, file + ": not a regular file", out);
    return out;
  }
  if (found.size > limits::event_file_bytes) {
    state.content = state.seen;
    fail(file, state,
         file + ": longer than " + std::to_string(limits::event_file_bytes)
           + " bytes",
         out);
    return out;
  }
  state.looking = true;
  schedule_effect effect;
  effect.what = schedule_step::read;
  effect.file = file;
  effect.number = number;
  out.push_back(std::move(effect));
  return out;
}

// A file that is replaced is gone for a moment.
void schedule_core::absent(const std::string& file, file_state& state,
                           instants now, schedule_effects& out) {
  if (state.at == phase::fresh && !state.payload && state.absences == 0
      && state.attempt == 0) {
    files_.erase(file);
    return;
  }
  if (state.absences < limits::event_vanish_looks) {
    state.look_ms =
      now.clock_ms + (vanish_wait_ms << static_cast<unsigned>(state.absences));
    ++state.absences;
    return;
  }
  state.present = false;
  state.absences = 0;
  // A reminder that was made is a reminder.
  if (state.at == phase::scheduled && state.payload
      && state.payload->type == event_type::one_shot)
    return;
  if (state.at == phase::retrying) {
    give_up(file, state, why_removed, now, out);
    return;
  }
  files_.erase(file);
}

schedule_effects schedule_core::loaded(const std::string& file, uint64_t number,
                                       const std::string& content,
                                       const std::string& fault, instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end() || place->second.number != number
      || !place->second.looking)
    return out;
  auto& state = place->second;
  state.looking = false;
  if (is_busy(state)) {
    state.look_ms = state.look_ms.value_or(now.clock_ms);
    return out;
  }
  if (!fault.empty()) {
    unreadable(file, state, fault, now, out);
    return out;
  }
  auto reading = parse_event_file(content, file);
  if (!reading) {
    unreadable(file, state, reading.sentence, now, out);
    return out;
  }
  // A turn of what was there before is not made any more.
  if (state.at == phase::retrying) {
    state.content = {};
    state.look_ms = now.clock_ms;
    give_up(file, state, why_replaced, now, out);
    return out;
  }
  state.attempt = 0;
  state.content = state.seen;
  state.content.sha256 = text::sha256_hex(content);
  accept(file, state, std::move(reading.payload), now, out);
  return out;
}

// It may be half written.
void schedule_core::unreadable(const std::string& file, file_state& state,
                               const std::string& why, instants now,
                               schedule_effects& out) {
  if (++state.attempt < limits::event_load_attempts) {
    state.look_ms =
      now.clock_ms + (load_wait_ms << static_cast<unsigned>(state.attempt - 1));
    return;
  }
  state.attempt = 0;
  state.payload.reset();
  state.content = state.seen;
  // The turn that was on its way is not made any more.
  if (state.at == phase::retrying) {
    state.content = {};
    state.look_ms = now.clock_ms;
    give_up(file, state, why_replaced, now, out);
    return;
  }
  fail(file, state, why, out);
}

void schedule_core::fail(const std::string& file, file_state& state,
                         std::string why, schedule_effects& out) {
  state.at = phase::faulty;
  state.due_ms.reset();
  state.retry_ms.reset();
  if (state.fault != why) {
    schedule_effect effect;
    effect.what = schedule_step::warn;
    effect.file = file;
    effect.sentence = why;
    out.push_back(std::move(effect));
  }
  state.fault = std::move(why);
}

void schedule_core::accept(const std::string& file, file_state& state,
                           event_payload payload, instants now,
                           schedule_effects& out) {
  auto author = table_.author_of(file, state.content);
  state.author = author.value_or(event_author::agent);
  if (!author) {
    schedule_effect effect;
    effect.what = schedule_step::note;
    effect.file = file;
    effect.line.step = log_step::written;
    effect.line.at_ms = now.wall_ms;
    effect.line.file = file;
    effect.line.content = state.content;
    effect.line.author = state.author;
    table_.apply(effect.line);
    out.push_back(std::move(effect));
  }
  state.payload = std::move(payload);
  state.due_ms.reset();
  state.retry_ms.reset();
  state.never.clear();
  state.carried = 0;
  state.refusal_noted = false;
  auto target = target_of(*state.payload, rules_.platforms);
  if (!target) {
    fail(file, state, file + ": " + sentence_of(target.error()), out);
    return;
  }
  state.target = std::move(*target);
  if (state.payload->type == event_type::periodic) {
    auto pattern = parse_cron(state.payload->schedule);
    if (!pattern) {
      fail(file, state, file + ": " + sentence_of(pattern.error()), out);
      return;
    }
    state.pattern = std::move(*pattern);
    state.zone = rules_.zones->find(state.payload->timezone);
    if (!state.zone) {
      fail(file, state,
           file + ": there is no time zone '" + state.payload->timezone + "'",
           out);
      return;
    }
  }
  state.fault.clear();
  plan(file, state, now, out);
}

// -- when ---------------------------------------------------------------------

void schedule_core::plan(const std::string& file, file_state& state,
                         instants now, schedule_effects& out) {
  const auto& payload = *state.payload;
  switch (payload.type) {
  case event_type::immediate:
    plan_single(file, state, immediate_occurrence(state.content),
                state.content.modified_ms, now, out);
    return;
  case event_type::one_shot: {
    auto instant = event_instant_ms(payload.at).value_or(0);
    plan_single(file, state, text::iso_utc(instant), instant, now, out);
    return;
  }
  case event_type::periodic:
    break;
  }
  auto last = table_.last(file);
  if (last != nullptr && last->is_open()) {
    resume(state, *last, now);
  } else {
    // From the last run on, but not from before this schedule was made.
    auto from = state.from_boot ? state.content.modified_ms : state.noticed_ms;
    from = std::min(from, now.wall_ms);
    if (last != nullptr) {
      auto known = occurrence_ms(last->occurrence);
      if (known - now.wall_ms < clock_error_ms)
        from = std::max(from, known);
    }
    plan_periodic(state, from);
  }
  state.from_boot = false;
  auto more = tick(now);
  out.insert(out.end(), std::make_move_iterator(more.begin()),
             std::make_move_iterator(more.end()));
}

void schedule_core::plan_periodic(file_state& state, int64_t after_ms) const {
  state.at = phase::scheduled;
  // Runs are at whole seconds; one that began within this second is over.
  auto after_s = after_ms >= 0 ? after_ms / 1000 : (after_ms - 999) / 1000;
  auto next = next_run_s(state.pattern, *state.zone, after_s);
  state.due_ms = next ? std::optional{*next * 1000} : std::nullopt;
}

// An event that fires once.
void schedule_core::plan_single(const std::string& file, file_state& state,
                                std::string occurrence, int64_t due_ms,
                                instants now, schedule_effects& out) {
  state.from_boot = false;
  auto known = table_.find(file, occurrence);
  if (known == nullptr) {
    state.at = phase::scheduled;
    state.occurrence = std::move(occurrence);
    state.due_ms = due_ms;
    if (state.payload->type == event_type::immediate)
      state.due_ms = std::min(due_ms, now.wall_ms);
  } else if (known->is_open()) {
    resume(state, *known, now);
  } else {
    // It has fired, or was missed; its file was to be removed.
    settled(file, state, now, out);
    return;
  }
  auto more = tick(now);
  out.insert(out.end(), std::make_move_iterator(more.begin()),
             std::make_move_iterator(more.end()));
}

// The node ended between the claim and its turn: the same turn again. The
// office knows whether it has it already.
void schedule_core::resume(file_state& state, const run_record& run,
                           instants now) const {
  state.at = phase::retrying;
  state.occurrence = run.occurrence;
  state.occurrence_ms = occurrence_ms(run.occurrence);
  state.skipped = run.skipped;
  state.refusal_noted = run.refused;
  state.tries = 0;
  state.retry_ms = now.clock_ms;
}

bool schedule_core::is_attached(const file_state& state) const {
  return attached_.contains(state.target.conversation.platform);
}

// -- turns --------------------------------------------------------------------

schedule_effects schedule_core::tick(instants now) {
  schedule_effects out;
  if (stopping_)
    return out;
  std::vector<std::string> names;
  names.reserve(files_.size());
  for (const auto& [file, state] : files_)
    names.push_back(file);
  for (const auto& file : names) {
    auto place = files_.find(file);
    if (place == files_.end())
      continue;
    auto& state = place->second;
    if (state.look_ms && *state.look_ms <= now.clock_ms && !state.looking
        && !is_busy(state)) {
      look(file, state, out);
      continue;
    }
    switch (state.at) {
    case phase::scheduled:
      // What is about to change is not fired any more as it was.
      if (state.due_ms && *state.due_ms <= now.wall_ms && is_attached(state)
          && !state.looking)
        fire(file, state, now, out);
      break;
    case phase::recording:
      if (state.retry_ms && *state.retry_ms <= now.clock_ms)
        record(file, state, state.line, out);
      break;
    case phase::retrying:
      if (state.retry_ms && *state.retry_ms <= now.clock_ms
          && is_attached(state) && !state.looking)
        retry(file, state, now, out);
      break;
    default:
      break;
    }
  }
  return out;
}

void schedule_core::fire(const std::string& file, file_state& state,
                         instants now, schedule_effects& out) {
  if (state.payload->type == event_type::periodic) {
    auto runs = runs_between(state.pattern, *state.zone,
                             *state.due_ms / 1000 - 1, now.wall_ms / 1000);
    auto latest = runs.latest_s.value_or(*state.due_ms / 1000);
    state.occurrence_ms = latest * 1000;
    state.occurrence = text::iso_utc(state.occurrence_ms);
    state.skipped =
      state.carried
      + std::max<int64_t>(static_cast<int64_t>(runs.count) - 1, 0);
    state.carried = 0;
  } else {
    state.occurrence_ms = *state.due_ms;
    state.skipped = 0;
  }
  state.refusal_noted = false;
  if (now.wall_ms - state.occurrence_ms > rules_.catch_up_ms)
    give_up(file, state, why_too_old, now, out);
  else
    claim(file, state, now, out);
}

void schedule_core::claim(const std::string& file, file_state& state,
                          instants now, schedule_effects& out) {
  log_line line;
  line.step = log_step::claimed;
  line.at_ms = now.wall_ms;
  line.file = file;
  line.occurrence = state.occurrence;
  line.sequence = table_.next_sequence(file);
  line.skipped = state.skipped;
  line.may_schedule =
    state.payload->allow_schedules && state.author == event_author::operators;
  line.conversation = state.target.conversation;
  record(file, state, std::move(line), out);
}

void schedule_core::give_up(const std::string& file, file_state& state,
                            std::string why, instants now,
                            schedule_effects& out) {
  log_line line;
  line.step = log_step::missed;
  line.at_ms = now.wall_ms;
  line.file = file;
  line.occurrence = state.occurrence;
  line.sequence = table_.next_sequence(file);
  line.why = std::move(why);
  record(file, state, std::move(line), out);
}

void schedule_core::record(const std::string& file, file_state& state,
                           log_line line, schedule_effects& out) {
  state.at = phase::recording;
  state.due_ms.reset();
  state.retry_ms.reset();
  state.line = std::move(line);
  schedule_effect effect;
  effect.what = schedule_step::record;
  effect.file = file;
  effect.line = state.line;
  out.push_back(std::move(effect));
}

schedule_effects schedule_core::recorded(const std::string& file, bool worked,
                                         instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end() || place->second.at != phase::recording)
    return out;
  auto& state = place->second;
  if (!worked) {
    state.retry_ms =
      now.clock_ms
      + doubled(record_retry_ms, state.tries++, record_retry_cap_ms);
    return out;
  }
  state.tries = 0;
  table_.apply(state.line);
  switch (state.line.step) {
  case log_step::claimed:
    if (stopping_)
      state.at = phase::retrying;
    else if (state.dropped)
      give_up(file, state, why_removed, now, out);
    else
      dispatch(file, state, now, out);
    break;
  case log_step::delivered: {
    schedule_effect effect;
    effect.what = schedule_step::follow;
    effect.file = file;
    effect.occurrence = state.occurrence;
    effect.target = state.target;
    out.push_back(std::move(effect));
    settled(file, state, now, out);
    break;
  }
  default:
    settled(file, state, now, out);
    break;
  }
  return out;
}

void schedule_core::dispatch(const std::string& file, file_state& state,
                             instants now, schedule_effects& out) {
  state.at = phase::dispatching;
  schedule_effect effect;
  effect.what = schedule_step::dispatch;
  effect.file = file;
  effect.occurrence = state.occurrence;
  effect.target = state.target;
  effect.text =
    prompt_of(*state.payload,
              {state.skipped, now.wall_ms - state.occurrence_ms > punctual_ms});
  effect.user = state.payload->user_id.value_or("EVENT");
  out.push_back(std::move(effect));
}

schedule_effects schedule_core::dispatched(const std::string& file,
                                           dispatch_outcome outcome,
                                           const std::string& why,
                                           instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end() || place->second.at != phase::dispatching)
    return out;
  auto& state = place->second;
  if (outcome == dispatch_outcome::taken) {
    log_line line;
    line.step = log_step::delivered;
    line.at_ms = now.wall_ms;
    line.file = file;
    line.occurrence = state.occurrence;
    record(file, state, std::move(line), out);
    return out;
  }
  if (state.dropped) {
    give_up(file, state, why_removed, now, out);
    return out;
  }
  if (outcome == dispatch_outcome::never) {
    state.never = why;
    give_up(file, state, why, now, out);
    return out;
  }
  if (now.wall_ms - state.occurrence_ms > rules_.catch_up_ms) {
    give_up(file, state, why_too_old, now, out);
    return out;
  }
  state.at = phase::retrying;
  state.retry_ms =
    now.clock_ms + doubled(first_retry_ms, state.tries++, last_retry_ms);
  // Once is enough to know.
  if (std::exchange(state.refusal_noted, true))
    return out;
  schedule_effect effect;
  effect.what = schedule_step::note;
  effect.file = file;
  effect.line.step = log_step::refused;
  effect.line.at_ms = now.wall_ms;
  effect.line.file = file;
  effect.line.occurrence = state.occurrence;
  effect.line.why = why;
  table_.apply(effect.line);
  out.push_back(std::move(effect));
  return out;
}

// The newest occurrence wins: what waited longer is given up for it.
void schedule_core::retry(const std::string& file, file_state& state,
                          instants now, schedule_effects& out) {
  if (now.wall_ms - state.occurrence_ms > rules_.catch_up_ms) {
    give_up(file, state, why_too_old, now, out);
    return;
  }
  if (state.payload->type == event_type::periodic) {
    auto newer =
      next_run_s(state.pattern, *state.zone, state.occurrence_ms / 1000);
    if (newer && *newer * 1000 <= now.wall_ms) {
      state.carried = state.skipped + 1;
      give_up(file, state, why_superseded, now, out);
      return;
    }
  }
  dispatch(file, state, now, out);
}

// An occurrence is behind the file.
void schedule_core::settled(const std::string& file, file_state& state,
                            instants now, schedule_effects& out) {
  state.tries = 0;
  if (state.dropped || (!state.present && !state.look_ms)) {
    files_.erase(file);
    return;
  }
  free_to_look(state, now);
  if (!state.never.empty()) {
    fail(file, state, file + ": " + state.never, out);
    return;
  }
  // What was replaced meanwhile is read before anything else.
  if (state.line.step == log_step::missed && state.line.why == why_replaced
      && state.look_ms) {
    state.at = phase::fresh;
    state.payload.reset();
    return;
  }
  if (state.payload->type == event_type::periodic) {
    // A clock that is set back does not bring back what has fired, unless it
    // was wrong altogether.
    auto wrong = state.occurrence_ms - now.wall_ms > clock_error_ms;
    plan_periodic(state, wrong ? now.wall_ms : state.occurrence_ms);
    auto more = tick(now);
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
    return;
  }
  state.at = phase::removing;
  state.due_ms.reset();
  schedule_effect effect;
  effect.what = schedule_step::remove;
  effect.file = file;
  effect.content = state.content;
  out.push_back(std::move(effect));
}

void schedule_core::free_to_look(file_state& state, instants now) const {
  if (state.look_ms)
    state.look_ms = std::max(*state.look_ms, now.clock_ms);
}

schedule_effects schedule_core::removed(const std::string& file, removal how,
                                        instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end() || place->second.at != phase::removing)
    return out;
  auto& state = place->second;
  if (how == removal::gone && !state.look_ms) {
    files_.erase(place);
    return out;
  }
  state.at = how == removal::failed ? phase::done : phase::fresh;
  if (how == removal::changed || how == removal::gone) {
    // A new file of the same name, perhaps.
    state.payload.reset();
    state.content = {};
    state.look_ms = state.look_ms.value_or(now.clock_ms);
    state.noticed_ms = now.wall_ms;
  } else {
    schedule_effect effect;
    effect.what = schedule_step::warn;
    effect.file = file;
    effect.sentence = file + " has fired and cannot be removed";
    out.push_back(std::move(effect));
  }
  return out;
}

schedule_effects schedule_core::written(const std::string& file, instants now) {
  noticed(file, now);
  if (auto found = files_.find(file); found != files_.end()) {
    found->second.dropped = false;
    found->second.look_ms = now.clock_ms;
  }
  return tick(now);
}

schedule_effects schedule_core::dropped(const std::string& file, instants now) {
  schedule_effects out;
  auto place = files_.find(file);
  if (place == files_.end())
    return out;
  auto& state = place->second;
  if (is_busy(state)) {
    state.dropped = true;
    return out;
  }
  if (state.at == phase::retrying) {
    state.dropped = true;
    give_up(file, state, why_removed, now, out);
    return out;
  }
  files_.erase(place);
  return out;
}

schedule_effects schedule_core::attached(platform_id platform, instants now) {
  attached_.insert(platform);
  return tick(now);
}

schedule_effects schedule_core::ended(const std::string& file,
                                      const std::string& occurrence,
                                      const log_line& end, instants now) {
  schedule_effects out;
  auto run = table_.find(file, occurrence);
  if (run == nullptr || run->step != log_step::delivered)
    return out;
  schedule_effect effect;
  effect.what = schedule_step::note;
  effect.file = file;
  effect.line = end;
  effect.line.step = log_step::ended;
  effect.line.at_ms = now.wall_ms;
  effect.line.file = file;
  effect.line.occurrence = occurrence;
  table_.apply(effect.line);
  out.push_back(std::move(effect));
  return out;
}

// -- what is known ------------------------------------------------------------

std::optional<int64_t> schedule_core::next_due(instants now) const {
  std::optional<int64_t> result;
  auto at = [&result](int64_t wait) {
    wait = std::max<int64_t>(wait, 0);
    result = result ? std::min(*result, wait) : wait;
  };
  if (stopping_)
    return result;
  for (const auto& [file, state] : files_) {
    if (state.look_ms && !state.looking && !is_busy(state))
      at(*state.look_ms - now.clock_ms);
    if (state.looking)
      continue;
    if (state.at == phase::scheduled && state.due_ms && is_attached(state))
      at(*state.due_ms - now.wall_ms);
    if (state.at == phase::recording && state.retry_ms)
      at(*state.retry_ms - now.clock_ms);
    if (state.at == phase::retrying && state.retry_ms && is_attached(state))
      at(*state.retry_ms - now.clock_ms);
  }
  return result;
}

size_t schedule_core::loading() const {
  return static_cast<size_t>(
    std::count_if(files_.begin(), files_.end(), [](const auto& item) {
      const auto& state = item.second;
      return state.at == phase::fresh || state.looking;
    }));
}

event_entry schedule_core::entry_of(const std::string& file,
                                    const file_state& state) const {
  event_entry result;
  result.filename = file;
  if (state.payload)
    result.payload = *state.payload;
  result.fault = state.fault;
  result.size = state.content.size;
  result.modified_ms = state.content.modified_ms;
  result.author = state.author;
  result.next_run_ms = state.due_ms.value_or(0);
  switch (state.at) {
  case phase::fresh:
    result.state = event_state::loading;
    break;
  case phase::scheduled:
    result.state = event_state::scheduled;
    break;
  case phase::recording:
  case phase::dispatching:
    result.state = event_state::due;
    break;
  case phase::retrying:
    result.state = event_state::retrying;
    result.next_run_ms = state.occurrence_ms;
    break;
  case phase::removing:
  case phase::done:
    result.state = event_state::done;
    break;
  case phase::faulty:
    result.state = event_state::faulty;
    break;
  }
  return result;
}

std::optional<event_entry> schedule_core::entry(const std::string& file) const {
  auto found = files_.find(file);
  if (found == files_.end())
    return std::nullopt;
  return entry_of(file, found->second);
}

std::vector<event_entry> schedule_core::entries() const {
  std::vector<event_entry> result;
  result.reserve(files_.size());
  for (const auto& [file, state] : files_)
    if (state.present || state.at != phase::fresh)
      result.push_back(entry_of(file, state));
  return result;
}

std::optional<event_target>
schedule_core::target(const std::string& file) const {
  auto found = files_.find(file);
  if (found == files_.end() || !found->second.payload)
    return std::nullopt;
  auto target = target_of(*found->second.payload, rules_.platforms);
  return target ? std::optional{std::move(*target)} : std::nullopt;
}

std::map<event_state, size_t> schedule_core::counts() const {
  std::map<event_state, size_t> result;
  for (const auto& [file, state] : files_)
    ++result[entry_of(file, state).state];
  return result;
}

std::set<std::string> schedule_core::living() const {
  std::set<std::string> result;
  for (const auto& [file, state] : files_)
    result.insert(file);
  return result;
}

} // namespace bureau::events
