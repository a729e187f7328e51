#include "actors/session/log_scan_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bureau::session {

namespace {

constexpr int64_t day_ms = 86'400'000;
/// Lines of one bot that are kept together over the border of two parts.
constexpr size_t bot_lines_bytes = 256u << 10;

/// An id that stands in a line as it is.
bool is_plain(std::string_view id) {
  constexpr std::string_view plain = "0123456789abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
  return !id.empty() && id.find_first_not_of(plain) == std::string_view::npos;
}

/// Order for what is kept: without a time a record is older than all others.
double rank_of(const log_entry& entry) {
  auto timeless =
    !date_ms(entry.record) && !numeric_ts_ms(entry.record.ts).has_value();
  return timeless ? -1 : order_of(entry);
}

std::optional<int64_t> date_of_last_line(std::string_view body) {
  while (!body.empty() && body.back() == '\n')
    body.remove_suffix(1);
  auto begin = body.rfind('\n');
  auto line = begin == std::string_view::npos ? body : body.substr(begin + 1);
  auto record = parse_log_line(line);
  return record ? date_ms(*record) : std::nullopt;
}

std::vector<std::string> warnings_of(std::string_view part, uint64_t offset,
                                     std::string_view file) {
  std::vector<std::string> result;
  for (size_t pos = 0; pos < part.size();) {
    auto end = std::min(part.find('\n', pos), part.size());
    auto line = part.substr(pos, end - pos);
    auto blank = line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if (!blank && !parse_log_line(line)) {
      if (result.size() == limits::log_warnings)
        break;
      result.push_back("Skipped a malformed line of " + std::string{file}
                       + " at byte " + std::to_string(offset + pos)
                       + ": it is not a JSON object.");
    }
    pos = end + 1;
  }
  return result;
}

} // namespace

log_contents parse_log_part(std::string_view part, uint64_t offset,
                            std::string_view file) {
  auto result = read_log(part, file);
  if (result.skipped != 0)
    result.warnings = warnings_of(part, offset, file);
  return result;
}

log_scan::log_scan(scan_wish wish, std::string file)
  : wish_(std::move(wish)), file_(std::move(file)) {
  // nop
}

void log_scan::take(uint64_t offset, std::string_view part) {
  bytes_ += part.size();
  at_begin_ = offset == 0;
  carry_.insert(0, part);
  carry_offset_ = offset;
  auto body_offset = offset;
  auto body = std::string{cut(body_offset)};
  carry_.resize(carry_.size() - body.size());
  if (carry_.size() > log_line_bytes)
    carry_.clear();
  if (body.empty())
    return;
  newest_.reset();
  if (!matters(body)) {
    newest_ = date_of_last_line(body);
    return;
  }
  auto log = parse_log_part(body, body_offset, file_);
  skipped_ += log.skipped;
  for (auto& warning : log.warnings)
    if (warnings_.size() < limits::log_warnings)
      warnings_.push_back(std::move(warning));
  for (auto i = log.entries.size(); i-- > 0;) {
    auto& entry = log.entries[i];
    if (auto date = date_ms(entry.record))
      newest_ = std::max(newest_.value_or(*date), *date);
    entry.index = --next_;
    take_entry(std::move(entry));
  }
  tidy();
}

/// The whole lines that can be looked at now; they are the end of carry_.
std::string_view log_scan::cut(uint64_t& offset) {
  auto text = std::string_view{carry_};
  if (at_begin_)
    return text;
  auto begin = text.find('\n');
  if (begin == std::string_view::npos)
    return {};
  ++begin;
  while (begin < text.size() && begin < bot_lines_bytes) {
    auto end = std::min(text.find('\n', begin), text.size());
    auto record = parse_log_line(text.substr(begin, end - begin));
    if (record && !record->from_bot)
      break;
    begin = std::min(end + 1, text.size());
  }
  offset += begin;
  return text.substr(begin);
}

bool log_scan::seeks_current() const {
  return !wish_.scope.current_message_id.empty() && !current_seen_;
}

/// A message from long ago: only lines that name it can still matter.
bool log_scan::only_current_missing() const {
  return seeks_current() && later_cut_
         && is_plain(wish_.scope.current_message_id) && is_settled();
}

/// Only lines that name the thread are looked for.
bool log_scan::only_marked_lines() const {
  if (!wish_.scope.thread || !is_plain(*wish_.scope.thread))
    return false;
  return !seeks_current()
         && (wish_.why != scan_wish::purpose::bootstrap
             || is_over(seeds_, seed_cap()));
}

bool log_scan::matters(std::string_view body) const {
  if (only_current_missing())
    return body.find(wish_.scope.current_message_id) != std::string_view::npos;
  return !only_marked_lines()
         || body.find(*wish_.scope.thread) != std::string_view::npos;
}

void log_scan::take_entry(log_entry entry) {
  const auto& record = entry.record;
  const auto& current = wish_.scope.current_message_id;
  auto thread = wish_.scope.thread;
  if (thread && record.ts == *thread && !root_)
    take_root(record);
  if (seeks_current()) {
    if (record.ts == current)
      return pass_current(std::move(entry));
    if (!later_cut_ && is_in_scope(record, wish_.scope))
      pending_.push_back(entry);
  }
  auto seeds = thread && wish_.why == scan_wish::purpose::bootstrap;
  if (seeds && record.ts == *thread && !seeds_below_root_) {
    seeds_.clear();
    seeds_below_root_ = true;
  }
  if (!is_renderable(record, current) || is_passed_over(record))
    return;
  if (seeds && record.thread_ts.empty())
    seeds_.push_back(entry);
  if (wish_.watermark && record.ts == *wish_.watermark && !watermark_seen_) {
    watermark_seen_ = true;
    watermark_ms_ = date_ms(record);
  }
  if (is_in_scope(record, wish_.scope))
    scoped_.push_back(std::move(entry));
}

/// What was gathered so far was said after the current message.
void log_scan::pass_current(log_entry entry) {
  current_seen_ = true;
  scoped_.clear();
  seeds_.clear();
  seeds_below_root_ = false;
  watermark_seen_ = false;
  later_ = std::exchange(pending_, {});
  later_.push_back(std::move(entry));
}

void log_scan::take_root(const log_record& record) {
  root_ = record.text;
  root_ms_ = date_ms(record);
}

bool log_scan::is_passed_over(const log_record& record) const {
  if (wish_.why != scan_wish::purpose::sync)
    return false;
  if (wish_.reset_ms) {
    auto date = date_ms(record);
    if (!date || *date < *wish_.reset_ms)
      return true;
  }
  // The place where the session ends must stay visible.
  if (wish_.watermark && record.ts == *wish_.watermark)
    return false;
  if (record.from_bot && !record.session_key.empty())
    return true;
  return !record.ts.empty()
         && std::find(wish_.handled.begin(), wish_.handled.end(), record.ts)
              != wish_.handled.end();
}

bool log_scan::is_recent(const log_entry& entry) const {
  auto date = date_ms(entry.record);
  return !date || *date >= wish_.now_ms - wish_.reach.recent_days * day_ms;
}

size_t log_scan::seed_cap() const {
  return std::min(wish_.reach.thread_seed, wish_.reach.max_messages);
}

/// Leaves what can matter: the last version of each message, the youngest ones
/// that there is room for, and the marks.
void log_scan::tidy() {
  if (bytes_ >= wish_.later_within && !current_seen_) {
    later_cut_ = true;
    pending_.clear();
  }
  auto by_rank = [](const log_entry& a, const log_entry& b) {
    auto left = rank_of(a);
    auto right = rank_of(b);
    return left != right ? left > right : a.index > b.index;
  };
  auto shorten = [&](list& kept, size_t cap, bool all) {
    std::unordered_map<std::string, size_t> last;
    for (const auto& entry : kept)
      if (!entry.record.ts.empty()) {
        auto [slot, fresh] = last.try_emplace(entry.record.ts, entry.index);
        slot->second = std::max(slot->second, entry.index);
      }
    std::erase_if(kept, [&](const log_entry& entry) {
      return !entry.record.ts.empty()
             && last.at(entry.record.ts) != entry.index;
    });
    if (all)
      return;
    std::sort(kept.begin(), kept.end(), by_rank);
    size_t room = cap;
    auto named = false;
    std::erase_if(kept, [&](const log_entry& entry) {
      const auto& ts = entry.record.ts;
      // The first one with an id is the last message there is.
      auto mark = !ts.empty()
                  && (!std::exchange(named, true)
                      || (wish_.watermark && ts == *wish_.watermark));
      auto fits = room > 0 && is_recent(entry);
      if (fits)
        --room;
      return !fits && !mark;
    });
  };
  auto all = wish_.scope.thread && wish_.why == scan_wish::purpose::bootstrap;
  auto cap =
    wish_.why == scan_wish::purpose::reset ? 1 : wish_.reach.max_messages;
  shorten(scoped_, cap, all);
  shorten(seeds_, seed_cap(), false);
}

bool log_scan::is_full(const list& kept, size_t cap) const {
  if (cap == 0)
    return true;
  auto recent = static_cast<size_t>(
    std::count_if(kept.begin(), kept.end(),
                  [this](const log_entry& entry) { return is_recent(entry); }));
  return recent >= cap;
}

/// Nothing further back can be among the youngest.
bool log_scan::is_over(const list& kept, size_t cap) const {
  if (cap == 0)
    return true;
  if (!newest_)
    return false;
  if (*newest_ < wish_.now_ms - wish_.reach.recent_days * day_ms)
    return true;
  if (!is_full(kept, cap))
    return false;
  auto oldest = rank_of(kept.front());
  for (const auto& entry : kept)
    if (is_recent(entry))
      oldest = std::min(oldest, rank_of(entry));
  return static_cast<double>(*newest_) < oldest;
}

/// The root was found, or cannot be further back.
bool log_scan::root_is_settled() const {
  if (root_)
    return !root_ms_ || (newest_ && *newest_ < *root_ms_);
  // Ids of some platforms tell the second that a thread began in.
  constexpr int64_t first_ms = 1'000'000'000'000;
  auto began = numeric_ts_ms(*wish_.scope.thread);
  auto told = began && *began >= first_ms && *began <= wish_.now_ms + day_ms;
  return told && newest_ && *newest_ < *began;
}

bool log_scan::enough() const {
  return at_begin_ || (!seeks_current() && is_settled());
}

/// Nothing further back matters but, perhaps, the current message.
bool log_scan::is_settled() const {
  auto thread = wish_.scope.thread.has_value();
  auto has_last =
    std::any_of(scoped_.begin(), scoped_.end(), [](const log_entry& entry) {
      return !entry.record.ts.empty();
    });
  switch (wish_.why) {
  case scan_wish::purpose::bootstrap:
    return thread ? root_is_settled() && is_over(seeds_, seed_cap())
                  : has_last && is_over(scoped_, wish_.reach.max_messages);
  case scan_wish::purpose::reset:
    return has_last ? is_over(scoped_, 1) : thread && root_is_settled();
  case scan_wish::purpose::sync:
    break;
  }
  if (thread && wish_.root && !root_is_settled())
    return false;
  if (wish_.reset_ms && newest_ && *newest_ < *wish_.reset_ms)
    return true;
  if (watermark_seen_)
    return !watermark_ms_ || (newest_ && *newest_ < *watermark_ms_);
  return is_over(scoped_, wish_.reach.max_messages);
}

log_contents log_scan::result() const {
  log_contents result;
  auto& entries = result.entries;
  entries = scoped_;
  entries.insert(entries.end(), seeds_.begin(), seeds_.end());
  entries.insert(entries.end(), later_.begin(), later_.end());
  auto before = [](const log_entry& a, const log_entry& b) {
    return a.index < b.index;
  };
  std::sort(entries.begin(), entries.end(), before);
  // A top-level root is a record of the scope, and a seed.
  auto same = [](const log_entry& a, const log_entry& b) {
    return a.index == b.index;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same),
                entries.end());
  for (size_t i = 0; i < entries.size(); ++i)
    entries[i].index = i;
  result.warnings = warnings_;
  result.skipped = skipped_;
  return result;
}

} // namespace bureau::session
