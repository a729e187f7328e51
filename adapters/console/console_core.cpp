#include "adapters/console/console_core.hpp"

#include "adapters/console/ask_core.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"
#include "messages/text/command_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bureau::console {

namespace {

constexpr int64_t retry_delay_ms =
  std::chrono::milliseconds{limits::console_retry_delay}.count();
constexpr int64_t retry_cap_ms =
  std::chrono::milliseconds{limits::console_retry_cap}.count();

constexpr const char* disk_sentence =
  "The disk takes nothing at the moment; your message is not lost, it waits "
  "here "
  "and is offered again by itself: free disk space.";

constexpr const char* late_sentence =
  "The program is ending; send it again later.";

} // namespace

console_core::console_core(bool interactive, std::string first_name)
  : interactive_(interactive), current_(std::move(first_name)) {
}

console_effects console_core::start() {
  console_effects out;
  enter(out, current_);
  out.push_back(effect::prompt{current_});
  out.push_back(effect::allow{limits::console_waiting_bytes});
  return out;
}

console_core::conversation& console_core::enter(console_effects& out,
                                                const std::string& name) {
  auto [entry, fresh] = conversations_.try_emplace(name);
  if (fresh)
    out.push_back(effect::read_log{name});
  return entry->second;
}

console_effects console_core::line(const raw_line& input, int64_t now_ms) {
  using verb = console_line::verb;
  console_effects out;
  ++last_line_;
  auto cost = input.bytes.size() + limits::console_line_cost;
  auto parsed = read_line(input);
  if (draining_) {
    refuse_late(out, parsed, now_ms);
    return out;
  }
  switch (parsed.what) {
  case verb::nothing:
    release(out, cost);
    break;
  case verb::help:
    out.push_back(effect::say{help_text()});
    release(out, cost);
    break;
  case verb::wrong:
    out.push_back(effect::say{parsed.text});
    release(out, cost);
    break;
  case verb::save:
    out.push_back(effect::save{parsed.number, std::move(parsed.path)});
    release(out, cost);
    break;
  case verb::switch_to:
    current_ = parsed.text;
    enter(out, current_);
    out.push_back(effect::prompt{current_});
    say_question(out, current_, true);
    release(out, cost);
    break;
  case verb::quit:
    for (auto& next : end_of_input())
      out.push_back(std::move(next));
    break;
  case verb::message:
    if (asks_.contains(current_) && !parsed.cut
        && !overrides_question(parsed.text)) {
      answer(out, parsed.text);
      release(out, cost);
      break;
    }
    [[fallthrough]];
  case verb::attach:
    take(out, std::move(parsed), cost, now_ms);
    break;
  }
  return out;
}

void console_core::take(console_effects& out, console_line parsed, size_t cost,
                        int64_t now_ms) {
  message entry;
  entry.text = std::move(parsed.text);
  entry.line = last_line_;
  entry.cost = cost;
  entry.cut = parsed.cut;
  if (parsed.what == console_line::verb::attach) {
    entry.look = ++last_look_;
    out.push_back(effect::look{entry.look, std::move(parsed.path)});
  } else {
    entry.stop = text::is_stop_word(entry.text);
  }
  enter(out, current_).waiting.push_back(std::move(entry));
  offer_next(out, now_ms);
}

// What is typed at a terminal is answered every time; a pipe may hold much.
void console_core::refuse_late(console_effects& out, const console_line& parsed,
                               int64_t now_ms) {
  using verb = console_line::verb;
  if (parsed.what != verb::message && parsed.what != verb::attach)
    return;
  out.push_back(effect::settled{ids_.next(now_ms),
                                to_string(errc::shutting_down), late_sentence,
                                current_, last_line_});
  if (interactive_ || !std::exchange(late_told_, true))
    out.push_back(
      effect::say{std::string{"Your line was not taken. "} + late_sentence});
}

// Later lines wait until it is known whether this one is sent at all.
console_effects console_core::looked(uint64_t number, const std::string& file,
                                     const std::string& refusal,
                                     int64_t now_ms) {
  console_effects out;
  for (auto& [name, place] : conversations_) {
    auto& line = place.waiting;
    auto entry = std::find_if(line.begin(), line.end(), [&](const auto& item) {
      return item.look == number;
    });
    if (entry == line.end())
      continue;
    if (refusal.empty()) {
      entry->look = 0;
      entry->file = file;
    } else {
      auto refused = std::move(*entry);
      line.erase(entry);
      auto why = text::sanitize_utf8(refusal);
      out.push_back(effect::say{why + " Nothing was sent."});
      drop(out, name, refused, errc::bad_request, why, now_ms);
    }
    offer_next(out, now_ms);
    end_when_done(out);
    break;
  }
  return out;
}

// -- questions ----------------------------------------------------------------

void console_core::say_question(console_effects& out, const std::string& name,
                                bool with_message) {
  auto open = asks_.find(name);
  if (open == asks_.end())
    return;
  auto head = name != current_ ? "[" + name + "] " : std::string{};
  out.push_back(effect::say{head + question_text(open->second, with_message)});
}

console_effects console_core::asked(const std::string& name,
                                    const contracts::ask_snapshot& ask) {
  console_effects out;
  asks_[name] = ask;
  say_question(out, name, true);
  return out;
}

void console_core::answer(console_effects& out, const std::string& text) {
  auto& ask = asks_.at(current_);
  auto read = read_answer(ask, text);
  if (!read.fault.empty() || !take_answers(ask, {read.answer})) {
    out.push_back(effect::say{
      read.fault.empty() ? "That is no answer to the question." : read.fault});
    return;
  }
  out.push_back(effect::answer{
    current_,
    {contracts::contract_id({platform_id::console, current_}, current_),
     ask.interaction_id,
     {read.answer}}});
  if (ask.status == contracts::ask_status::pending)
    say_question(out, current_, false);
  else
    asks_.erase(current_);
}

console_effects console_core::ask_changed(const std::string& name,
                                          const contracts::ask_snapshot& ask) {
  console_effects out;
  auto open = asks_.find(name);
  if (open == asks_.end() || open->second.interaction_id != ask.interaction_id)
    return out;
  if (ask.status != contracts::ask_status::pending) {
    asks_.erase(open);
    auto head = name != current_ ? "[" + name + "] " : std::string{};
    out.push_back(effect::say{head + end_text(ask.status)});
    return out;
  }
  // What was typed here is known already.
  if (ask.answers.size() <= open->second.answers.size())
    return out;
  open->second = ask;
  say_question(out, name, false);
  return out;
}

console_effects console_core::answer_refused(
  const std::string& name, const contracts::ask_submission_result& result) {
  console_effects out;
  if (result.snapshot
      && result.snapshot->status == contracts::ask_status::pending) {
    asks_[name] = *result.snapshot;
    say_question(out, name, true);
    return out;
  }
  asks_.erase(name);
  out.push_back(effect::say{"The question is closed; your line answered "
                            "nothing. Send it again if it was a message."});
  return out;
}

void console_core::release(console_effects& out, size_t cost) {
  if (!input_ended_ && !draining_)
    out.push_back(effect::allow{cost});
}

/// A line that was never offered has run its course.
void console_core::drop(console_effects& out, const std::string& name,
                        const message& entry, errc why,
                        const std::string& sentence, int64_t now_ms) {
  out.push_back(effect::settled{ids_.next(now_ms), to_string(why), sentence,
                                name, entry.line});
  release(out, entry.cost);
}

/// A terminal may have any number of messages open: the queue of the session
/// bounds them.
bool console_core::has_room() const {
  auto open = open_.size();
  for (const auto& [name, place] : conversations_)
    open += place.offered ? 1 : 0;
  return interactive_ || open < limits::console_open_messages;
}

/// Offers the oldest lines that may go, one message of a conversation at a
/// time: the second must not overtake the first when the first has to be
/// offered again.
void console_core::offer_next(console_effects& out, int64_t now_ms) {
  if (draining_)
    return;
  while (has_room()) {
    auto next = conversations_.end();
    for (auto entry = conversations_.begin(); entry != conversations_.end();
         ++entry) {
      const auto& place = entry->second;
      if (!place.ready || place.offered || place.waiting.empty()
          || place.waiting.front().look != 0)
        continue;
      if (next == conversations_.end()
          || place.waiting.front().line < next->second.waiting.front().line)
        next = entry;
    }
    if (next == conversations_.end())
      break;
    auto& [name, place] = *next;
    place.offered = std::move(place.waiting.front());
    place.waiting.pop_front();
    offer(out, name, *place.offered, now_ms);
  }
  overtake(out, now_ms);
}

void console_core::offer(console_effects& out, const std::string& name,
                         message& entry, int64_t now_ms) {
  entry.id = ids_.next(now_ms);
  if (entry.cut)
    cut_.insert(entry.id);
  out.push_back(
    effect::submit{name, entry.id, entry.text, entry.file, entry.line});
}

/// A stop does not wait for room, nor behind a message that is to be offered
/// again: it would come too late.
void console_core::overtake(console_effects& out, int64_t now_ms) {
  auto full = !has_room();
  for (auto& [name, place] : conversations_) {
    if (!place.ready || !(full || (place.offered && place.offered->resting)))
      continue;
    for (auto entry = place.waiting.begin(); entry != place.waiting.end();) {
      if (!entry->stop) {
        ++entry;
        continue;
      }
      offer(out, name, *entry, now_ms);
      auto id = entry->id;
      overtaking_.emplace(std::move(id), std::move(*entry));
      entry = place.waiting.erase(entry);
    }
  }
}

console_effects console_core::log_read(const std::string& name,
                                       const std::vector<std::string>& ids,
                                       int64_t now_ms) {
  console_effects out;
  for (const auto& id : ids)
    ids_.seen(id);
  conversations_[name].ready = true;
  offer_next(out, now_ms);
  return out;
}

console_effects console_core::taken(const std::string& name,
                                    const std::string& id,
                                    intake_outcome outcome, int64_t now_ms) {
  console_effects out;
  auto& place = conversations_[name];
  message entry;
  if (place.offered && place.offered->id == id) {
    entry = *std::exchange(place.offered, std::nullopt);
    place.retry_ms = 0;
  } else if (auto past = overtaking_.extract(id); !past.empty()) {
    entry = std::move(past.mapped());
  } else {
    return out;
  }
  // A duplicate of an offer that seemed to fail is the message itself.
  auto open = outcome == intake_outcome::taken
              || (outcome == intake_outcome::duplicate && entry.offered_before);
  if (open && !entry.closed) {
    open_.emplace(id, name);
  } else {
    cut_.erase(id);
    if (!open)
      out.push_back(effect::settled{id, to_string(outcome)});
  }
  release(out, entry.cost);
  forget_stop(name);
  offer_next(out, now_ms);
  end_when_done(out);
  return out;
}

/// Where nothing is open any more, no turn is being stopped.
void console_core::forget_stop(const std::string& name) {
  if (!has_open(name))
    conversations_[name].stopping = false;
}

console_effects console_core::not_taken(const std::string& name,
                                        const std::string& id, errc why,
                                        const std::string& sentence) {
  console_effects out;
  auto& place = conversations_[name];
  auto past = overtaking_.extract(id);
  auto current = place.offered && place.offered->id == id;
  if (!current && past.empty())
    return out;
  // A stop that comes late would end another turn.
  if (!current || why == errc::bad_identity || why == errc::bad_request
      || why == errc::denied || draining_) {
    auto cost = current ? place.offered->cost : past.mapped().cost;
    cut_.erase(id);
    if (current)
      place.offered.reset();
    out.push_back(effect::say{"Your message was not taken: " + sentence});
    out.push_back(effect::settled{id, to_string(why), sentence});
    release(out, cost);
    forget_stop(name);
    if (current && !draining_)
      out.push_back(effect::retry{name, 0});
    end_when_done(out);
    return out;
  }
  if (place.retry_ms == 0)
    out.push_back(effect::say{
      why == errc::disk
        ? disk_sentence
        : "Your message is not taken yet, trying again: " + sentence});
  place.offered->offered_before = true;
  place.offered->resting = true;
  place.retry_ms = place.retry_ms == 0
                     ? retry_delay_ms
                     : std::min(place.retry_ms * 2, retry_cap_ms);
  out.push_back(effect::retry{name, place.retry_ms});
  return out;
}

console_effects console_core::retry_due(const std::string& name,
                                        int64_t now_ms) {
  console_effects out;
  auto& place = conversations_[name];
  if (draining_)
    return out;
  if (!place.offered) {
    offer_next(out, now_ms);
    return out;
  }
  if (std::exchange(place.offered->resting, false))
    out.push_back(effect::submit{name, place.offered->id, place.offered->text,
                                 place.offered->file, place.offered->line});
  return out;
}

console_effects console_core::closed(const std::string& id, int64_t now_ms) {
  console_effects out;
  for (auto& [name, place] : conversations_)
    if (place.offered && place.offered->id == id) {
      place.offered->closed = true;
      place.stopping = false;
    }
  if (auto past = overtaking_.find(id); past != overtaking_.end())
    past->second.closed = true;
  if (id == stopping_other_)
    stopping_other_.clear();
  auto entry = open_.find(id);
  if (entry == open_.end())
    return out;
  conversations_[entry->second].stopping = false;
  open_.erase(entry);
  cut_.erase(id);
  offer_next(out, now_ms);
  end_when_done(out);
  return out;
}

console_effects console_core::interrupt(int64_t now_ms) {
  console_effects out;
  auto running = [&](const std::string& name) {
    auto place = conversations_.find(name);
    return place != conversations_.end() && !place->second.stopping
           && has_open(name);
  };
  auto target = running(current_) ? current_ : std::string{};
  for (auto entry = open_.begin(); target.empty() && entry != open_.end();
       ++entry)
    if (running(entry->second))
      target = entry->second;
  if (!target.empty() && !draining_) {
    conversations_[target].stopping = true;
    out.push_back(effect::submit{target, ids_.next(now_ms), "stop"});
    return out;
  }
  auto again =
    asked_to_stop_ || !stopping_other_.empty() || interrupted_
    || std::any_of(conversations_.begin(), conversations_.end(),
                   [](const auto& entry) { return entry.second.stopping; });
  if (again || draining_) {
    end_by_interrupt(out);
    return out;
  }
  asked_to_stop_ = true;
  effect::stop_any ask{{current_}};
  for (const auto& name : met_)
    if (name != current_)
      ask.names.push_back(name);
  out.push_back(std::move(ask));
  return out;
}

void console_core::met(const std::string& name) {
  if (met_.size() < limits::console_visible_messages)
    met_.insert(name);
}

console_effects console_core::stop_answered(const std::string& message_id) {
  console_effects out;
  asked_to_stop_ = false;
  stopping_other_ = message_id;
  if (message_id.empty())
    end_by_interrupt(out);
  return out;
}

// Also when the end waits for work that an earlier run left.
void console_core::end_by_interrupt(console_effects& out) {
  ended_ = true;
  if (!std::exchange(interrupted_, true))
    out.push_back(effect::shutdown{"interrupt", false});
}

console_effects console_core::end_of_input() {
  console_effects out;
  input_ended_ = true;
  if (interactive_)
    end(out, "end of input");
  else
    end_when_done(out);
  return out;
}

console_effects console_core::output_lost() {
  console_effects out;
  input_ended_ = true;
  end(out, "standard output is closed");
  return out;
}

console_effects console_core::drain(int64_t now_ms) {
  console_effects out;
  if (std::exchange(draining_, true))
    return out;
  for (const auto& [name, ask] : asks_)
    out.push_back(effect::cancel_ask{
      contracts::contract_id({platform_id::console, name}, name)});
  size_t lost = 0;
  for (auto& [name, place] : conversations_) {
    for (const auto& entry : std::exchange(place.waiting, {})) {
      drop(out, name, entry, errc::shutting_down, late_sentence, now_ms);
      ++lost;
    }
    if (place.offered && place.offered->resting) {
      out.push_back(effect::settled{
        place.offered->id, to_string(errc::shutting_down), late_sentence});
      place.offered.reset();
      ++lost;
    }
  }
  if (lost > 0)
    out.push_back(effect::say{std::to_string(lost)
                              + " lines were not taken: the program is ending. "
                                "Send them again later."});
  return out;
}

void console_core::end_when_done(console_effects& out) {
  if (input_ended_ && load() == 0)
    end(out, "end of input", !interactive_);
}

void console_core::end(console_effects& out, const std::string& reason,
                       bool when_settled) {
  if (!std::exchange(ended_, true))
    out.push_back(effect::shutdown{reason, when_settled});
}

std::string console_core::preface_of(const std::string& id) {
  if (cut_.erase(id) == 0)
    return {};
  return "(Your message was longer than "
         + std::to_string(limits::message_text_bytes)
         + " bytes; I read only its beginning.)";
}

size_t console_core::load() const {
  auto result = open_.size() + overtaking_.size();
  for (const auto& [name, place] : conversations_)
    result += place.waiting.size() + (place.offered ? 1 : 0);
  return result;
}

bool console_core::has_open(const std::string& name) const {
  auto place = conversations_.find(name);
  if (place != conversations_.end() && place->second.offered)
    return true;
  return std::any_of(open_.begin(), open_.end(),
                     [&](const auto& entry) { return entry.second == name; });
}

} // namespace bureau::console
