#include "actors/office/ledger_core.hpp"

#include "actors/office/arrival_core.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <chrono>

namespace bureau::offices {

namespace {

/// Answers of a replay whose log line may be missing.
constexpr size_t kept_answers = 8;
/// Ids in one line of a compacted ledger, and about what one of them takes.
constexpr size_t ids_per_line = 64;
constexpr size_t bytes_per_id = 40;
/// Fields of an entry's lines besides its texts.
constexpr size_t bytes_per_entry = 1024;
/// What names one part of an answer.
constexpr size_t bytes_per_part = 512;

constexpr uint32_t max_attempts = 2;

int64_t to_ms(std::chrono::milliseconds span) {
  return span.count();
}

/// Its files or its line in the chat log are missing still.
bool is_incomplete(const ledger_entry& entry) {
  return entry.unlogged || awaits_files(entry.event);
}

} // namespace

/// The shortest lines from which a replay comes back to an entry.
std::string compacted_lines(const ledger_entry& entry) {
  std::string out;
  ledger_record line;
  line.id = entry.id;
  line.event = entry.event;
  line.at = text::iso_utc(entry.accepted_ms);
  line.unlogged = entry.unlogged;
  line.display_name = entry.display_name;
  line.run = entry.run;
  line.attempt = entry.attempt;
  auto add = [&](ledger_state state) {
    line.state = state;
    out += print_ledger_line(line);
  };
  add(ledger_state::accepted);
  if (entry.attempt > 0)
    add(ledger_state::running);
  if (entry.state == ledger_state::accepted && entry.attempt > 0)
    add(ledger_state::accepted);
  if (entry.produced_ms == 0)
    return out;
  line.at = text::iso_utc(entry.produced_ms);
  line.text = entry.text;
  line.parts = entry.parts;
  line.covers = entry.covers;
  line.provisional = entry.provisional;
  line.target = entry.event.target;
  add(ledger_state::produced);
  line.text.reset();
  line.of = entry.of;
  line.op = entry.op;
  for (line.part = 0; line.part < entry.part; ++line.part) {
    line.ref = line.part == 0 ? entry.answer_ref : std::string{};
    add(ledger_state::sending);
    add(ledger_state::sent);
  }
  if (entry.state == ledger_state::produced && !entry.labelled
      && entry.part == 0)
    return out;
  line.labelled = entry.labelled;
  line.ref = entry.ref;
  add(ledger_state::sending);
  if (entry.state == ledger_state::sent)
    line.ref = entry.answer_ref;
  if (entry.state != ledger_state::sending)
    add(entry.state);
  return out;
}

// -- id_window ----------------------------------------------------------------

bool id_window::contains(std::string_view id) const {
  return ids_.contains(id);
}

void id_window::add(std::string id, int64_t at_ms) {
  if (ids_.contains(id))
    return;
  order_.push_back({std::move(id), at_ms});
  ids_.insert(order_.back().id);
  auto too_old = [&] {
    return order_.size() > min_ && order_.front().at_ms < at_ms - keep_ms_;
  };
  while (order_.size() > max_ || too_old()) {
    ids_.erase(order_.front().id);
    order_.pop_front();
  }
}

// -- ledger_core --------------------------------------------------------------

ledger_core::ledger_core(office_address place)
  : place_(std::move(place)),
    closed_(to_ms(limits::dedupe_window), limits::dedupe_ids_min,
            limits::dedupe_ids_max) {
}

bool closes(const ledger_record& record) {
  return record.state == ledger_state::dead
         || (record.state == ledger_state::sent
             && (!record.note.empty() || record.part + 1 >= record.of));
}

bool ledger_core::legal(const ledger_entry& entry,
                        const ledger_record& record) const {
  using enum ledger_state;
  auto to = record.state;
  auto noted = to == sent && !record.note.empty();
  auto delivered =
    to == sent && (record.note.empty() || record.note == "command");
  auto next_part =
    to == sending && record.part == entry.part + 1 && record.part < record.of;
  switch (entry.state) {
  case accepted:
    // The chat log has it now, with its files.
    if (to == accepted)
      return is_incomplete(entry) && !record.unlogged
             && !awaits_files(record.event);
    return to == running || noted || to == dead;
  case running:
    // It may have been read by the run of another message: that one's answer
    // covers it, and when it runs again, so does this.
    return to == accepted || to == produced || to == dead
           || (noted && is_covered(entry))
           || (to == running && runs_before(entry, record.run));
  case produced:
    return to == sending || noted || to == dead;
  case sending:
    return next_part || delivered || to == ambiguous || to == produced;
  case sent:
    return next_part || to == dead;
  case ambiguous:
    return (to == sending && record.labelled) || delivered || to == dead;
  case dead:
    break;
  }
  return false;
}

bool ledger_core::allows(const ledger_record& record) const {
  auto entry = find(record.id);
  if (entry == nullptr)
    return record.state == ledger_state::accepted
           && !closed_.contains(record.id);
  return legal(*entry, record);
}

bool ledger_core::apply(const ledger_record& record, int64_t at_ms) {
  auto entry = entry_of(record.id);
  if (entry == nullptr) {
    if (record.state != ledger_state::accepted || closed_.contains(record.id))
      return false;
    ledger_entry fresh;
    fresh.id = record.id;
    fresh.order = next_order_++;
    fresh.event = record.event;
    fresh.event.address = place_;
    fresh.event.message_id = record.id;
    fresh.unlogged = record.unlogged;
    fresh.display_name = record.display_name;
    fresh.accepted_ms = at_ms;
    orders_.emplace(fresh.id, fresh.order);
    open_.emplace(fresh.order, std::move(fresh));
    return true;
  }
  if (!legal(*entry, record))
    return false;
  take(*entry, record, at_ms);
  return true;
}

void ledger_core::take(ledger_entry& entry, const ledger_record& record,
                       int64_t at_ms) {
  if (closes(record)) {
    close(entry, record, at_ms);
    return;
  }
  entry.state = record.state;
  switch (record.state) {
  case ledger_state::running:
    entry.run = record.run;
    entry.attempt = record.attempt;
    entry.run_order = next_order_;
    break;
  case ledger_state::produced:
    if (!record.text)
      break;
    entry.run = record.run;
    entry.text = *record.text;
    entry.parts = record.parts;
    entry.covers = record.covers;
    entry.provisional = record.provisional;
    if (!record.target.empty())
      entry.event.target = record.target;
    entry.produced_ms = at_ms;
    break;
  case ledger_state::sending:
    entry.part = record.part;
    entry.of = record.of;
    entry.op = record.op;
    entry.ref = record.ref;
    entry.labelled = entry.labelled || record.labelled;
    break;
  case ledger_state::sent:
    entry.part = record.part;
    entry.of = record.of;
    // The next part has a fate of its own.
    entry.labelled = false;
    if (record.part == 0)
      entry.answer_ref = record.ref;
    break;
  case ledger_state::accepted:
    if (is_incomplete(entry)) {
      entry.unlogged = record.unlogged;
      entry.event.attachments = record.event.attachments;
    }
    break;
  case ledger_state::ambiguous:
  case ledger_state::dead:
    break;
  }
}

void ledger_core::close(const ledger_entry& entry, const ledger_record& record,
                        int64_t at_ms) {
  // What a command said is an answer, too, once it was produced.
  auto delivered = record.state == ledger_state::sent
                   && (record.note.empty()
                       || (record.note == "command" && entry.produced_ms != 0));
  if (keep_answers_ && delivered) {
    auto ref = record.part == 0 ? record.ref : entry.answer_ref;
    answers_.push_back({entry.event, entry.run, entry.text, ref, at_ms});
    if (answers_.size() > kept_answers)
      answers_.pop_front();
  }
  // An answer takes what it covers with it, so that a lost line about one of
  // them cannot make a restart answer it again.
  auto covers = entry.covers;
  std::string id = entry.id;
  for (auto& covered : covers)
    if (covered != id)
      erase(covered, at_ms);
  erase(id, at_ms);
}

void ledger_core::erase(std::string_view id, int64_t at_ms) {
  auto found = orders_.find(std::string{id});
  if (found == orders_.end())
    return;
  std::string name = found->first;
  open_.erase(found->second);
  orders_.erase(found);
  closed_.add(std::move(name), at_ms);
}

void ledger_core::replay(const ledger_record& record, int64_t at_ms) {
  for (auto& id : record.closed)
    closed_.add(id, at_ms);
  if (record.id.empty() || apply(record, at_ms))
    return;
  if (find(record.id) == nullptr && closes(record))
    closed_.add(record.id, at_ms);
}

const ledger_entry* ledger_core::find(std::string_view id) const {
  auto found = orders_.find(std::string{id});
  return found == orders_.end() ? nullptr : &open_.at(found->second);
}

ledger_entry* ledger_core::entry_of(std::string_view id) {
  auto found = orders_.find(std::string{id});
  return found == orders_.end() ? nullptr : &open_.at(found->second);
}

std::vector<const ledger_entry*> ledger_core::open() const {
  std::vector<const ledger_entry*> result;
  result.reserve(open_.size());
  for (auto& [order, entry] : open_)
    result.push_back(&entry);
  return result;
}

bool ledger_core::knows(std::string_view id) const {
  return find(id) != nullptr || closed_.contains(id);
}

std::vector<ledger_record>
ledger_core::closing_notes(const ledger_entry& answer) const {
  std::vector<ledger_record> result;
  for (auto& id : answer.covers) {
    auto covered = find(id);
    if (covered == nullptr || id == answer.id)
      continue;
    ledger_record record;
    record.id = id;
    record.state = ledger_state::sent;
    record.note = is_collected(answer, *covered) ? "collected" : "steered";
    result.push_back(std::move(record));
  }
  return result;
}

// What came while the run was under way was steered into it.
bool ledger_core::is_collected(const ledger_entry& answer,
                               const ledger_entry& covered) {
  return covered.order < answer.run_order;
}

json_text ledger_core::reply_target(
  const ledger_entry& answer, const std::vector<std::string>& covers) const {
  auto result = answer.event.target;
  for (const auto& id : covers)
    if (auto covered = find(id); covered && is_collected(answer, *covered))
      result = covered->event.target;
  return result;
}

bool ledger_core::is_covered(const ledger_entry& entry) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& item) {
    const auto& other = item.second;
    return other.produced_ms != 0 && other.id != entry.id
           && std::find(other.covers.begin(), other.covers.end(), entry.id)
                != other.covers.end();
  });
}

bool ledger_core::runs_before(const ledger_entry& entry,
                              const std::string& run) const {
  return run != entry.run
         && std::any_of(open_.begin(), open_.end(), [&](const auto& item) {
              const auto& other = item.second;
              return other.order < entry.order && other.run == run
                     && other.state == ledger_state::running;
            });
}

const ledger_entry* ledger_core::head_of(const ledger_entry& read) const {
  if (read.state != ledger_state::running || read.run.empty())
    return nullptr;
  for (const auto& [order, other] : open_)
    if (other.order < read.order && other.run == read.run
        && other.produced_ms == 0
        && (other.state == ledger_state::running
            || other.state == ledger_state::accepted))
      return &other;
  return nullptr;
}

std::vector<const ledger_entry*>
ledger_core::read_by(const ledger_entry& head) const {
  std::vector<const ledger_entry*> result;
  for (const auto& [order, other] : open_)
    if (head_of(other) == &head)
      result.push_back(&other);
  return result;
}

boot_step ledger_core::after_restart(const ledger_entry& entry,
                                     bool platform_dedupes) const {
  switch (entry.state) {
  case ledger_state::accepted:
    return is_covered(entry) ? boot_step::wait : boot_step::requeue;
  case ledger_state::running:
    return is_covered(entry) || head_of(entry) != nullptr
             ? boot_step::wait
             : boot_step::ask_cause;
  case ledger_state::produced:
  case ledger_state::sent:
  case ledger_state::dead:
    return boot_step::deliver;
  case ledger_state::sending:
    if (entry.op == outbound_op::edit || platform_dedupes)
      return boot_step::deliver;
    [[fallthrough]];
  case ledger_state::ambiguous:
    return entry.labelled ? boot_step::give_up : boot_step::resend_labelled;
  }
  return boot_step::deliver;
}

cause_verdict ledger_core::after_cause(const ledger_entry& entry,
                                       const cause_report& report) {
  // Session entries reach the disk lazily: without the recorded cause nobody
  // can say that no tool has run.
  return report.recorded && !report.worked && entry.attempt < max_attempts
           ? cause_verdict::rerun
           : cause_verdict::interrupted;
}

std::vector<ledger_answer> ledger_core::take_answers() {
  keep_answers_ = false;
  std::vector<ledger_answer> result{std::make_move_iterator(answers_.begin()),
                                    std::make_move_iterator(answers_.end())};
  answers_.clear();
  return result;
}

bool ledger_core::should_compact(size_t file_bytes) const {
  if (file_bytes <= limits::ledger_compact_bytes)
    return false;
  size_t kept = closed_.size() * bytes_per_id;
  for (auto& [order, entry] : open_)
    kept += bytes_per_entry + entry.event.text.size()
            + entry.event.target.text.size() + entry.text.size()
            + entry.parts.size() * bytes_per_part;
  return file_bytes > 2 * kept;
}

std::string ledger_core::compacted() const {
  std::string out;
  ledger_record ids;
  auto flush = [&] {
    if (!ids.closed.empty())
      out += print_ledger_line(ids);
    ids.closed.clear();
  };
  for (auto& item : closed_.items()) {
    ids.at = text::iso_utc(item.at_ms);
    ids.closed.push_back(item.id);
    if (ids.closed.size() >= ids_per_line)
      flush();
  }
  flush();
  for (auto& [order, entry] : open_)
    out += compacted_lines(entry);
  return out;
}

} // namespace bureau::offices
