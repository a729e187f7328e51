#include "messages/codec/history.hpp"

#include "messages/codec/json_append.hpp"
#include "messages/text/command_text.hpp"
#include "messages/text/history_line.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace bureau {

namespace {

using entry_list = std::vector<const log_entry*>;

constexpr int64_t day_ms = 86'400'000;

/// An answer of a run of ours: agent truth already has it.
bool is_own_answer(const log_record& record) {
  return record.from_bot && !record.session_key.empty();
}

bool is_own_notice(const log_record& record) {
  return record.from_bot && record.user == "bot" && record.session_key.empty();
}

/// Records logged before the last occurrence of the current message.
size_t end_before_current(const log_contents& log, const std::string& current) {
  if (!current.empty())
    for (auto i = log.entries.size(); i-- > 0;)
      if (log.entries[i].record.ts == current)
        return i;
  return log.entries.size();
}

template <class Accept>
entry_list select(const log_contents& log, size_t end,
                  const std::string& current, Accept accept) {
  entry_list result;
  for (size_t i = 0; i < end; ++i) {
    const auto& entry = log.entries[i];
    if (is_renderable(entry.record, current) && accept(entry))
      result.push_back(&entry);
  }
  return result;
}

/// `digits[.digits]` seconds as milliseconds with their fraction; whole
/// milliseconds are exact.
std::optional<double> numeric_order(std::string_view ts) {
  auto point = ts.find('.');
  auto has_fraction = point != std::string_view::npos;
  auto whole = ts.substr(0, point);
  auto fraction = has_fraction ? ts.substr(point + 1) : std::string_view{};
  auto digits = [](std::string_view part) {
    return !part.empty()
           && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(whole) || (has_fraction && !digits(fraction)))
    return std::nullopt;
  double value = 0;
  for (auto c : whole)
    value = value * 10 + (c - '0');
  value *= 1000;
  double scale = 100;
  for (auto c : fraction) {
    value += scale * (c - '0');
    scale /= 10;
  }
  return value;
}

/// One record per message, the last one said, in the order of their times.
entry_list dedupe_and_sort(const entry_list& records) {
  struct place {
    const log_entry* entry;
    double order;
  };
  std::vector<place> places;
  std::unordered_map<std::string_view, size_t> by_id;
  for (auto entry : records) {
    place item{entry, order_of(*entry)};
    if (entry->record.ts.empty()) {
      places.push_back(item);
      continue;
    }
    auto [slot, fresh] = by_id.try_emplace(entry->record.ts, places.size());
    if (fresh)
      places.push_back(item);
    else
      places[slot->second] = item;
  }
  std::sort(places.begin(), places.end(), [](const place& a, const place& b) {
    if (a.order != b.order)
      return a.order < b.order;
    return a.entry->index < b.entry->index;
  });
  entry_list result;
  result.reserve(places.size());
  for (const auto& item : places)
    result.push_back(item.entry);
  return result;
}

entry_list window(const entry_list& records, const history_options& options,
                  size_t max_messages, int64_t now_ms) {
  entry_list result;
  auto oldest = now_ms - options.recent_days * day_ms;
  for (auto entry : records)
    if (auto date = date_ms(entry->record); !date || *date >= oldest)
      result.push_back(entry);
  if (result.size() > max_messages)
    result.erase(result.begin(),
                 result.end() - static_cast<std::ptrdiff_t>(max_messages));
  return result;
}

std::string last_id(const entry_list& records) {
  for (auto i = records.size(); i-- > 0;)
    if (!records[i]->record.ts.empty())
      return records[i]->record.ts;
  return {};
}

session_entry message_entry(const log_record& record,
                            const history_clock& clock) {
  text::history_line line;
  line.time_ms = date_ms(record);
  if (line.time_ms && clock.offset_minutes)
    line.offset_minutes = clock.offset_minutes(*line.time_ms);
  line.name = !record.user_name.empty() ? record.user_name : record.user;
  line.text = record.text;
  auto time = line.time_ms ? line.time_ms : numeric_ts_ms(record.ts);
  session_entry result;
  result.kind = entry_kind::message;
  result.message =
    user_message(text::print_history_line(line), time.value_or(0));
  return result;
}

session_entry marker(const std::vector<std::string>& ids, size_t count,
                     const std::string& last, const int64_t* reset_ms) {
  std::string data = "{";
  json::append_member(data, "source", "log.jsonl");
  json::append_member(data, "messageCount", static_cast<int64_t>(count));
  json::append_optional(data, "lastMessageId", last);
  if (reset_ms != nullptr)
    json::append_member(data, "resetAt", text::iso_utc(*reset_ms));
  json::append_name(data, "messageIds");
  data += '[';
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0)
      data += ',';
    json::append_quoted(data, ids[i]);
  }
  data += "]}";
  return custom_entry(chat_sync_type, std::move(data));
}

history_batch batch_of(const entry_list& records, const std::string& last,
                       const history_clock& clock) {
  history_batch result;
  std::vector<std::string> ids;
  for (auto entry : records) {
    result.entries.push_back(message_entry(entry->record, clock));
    if (!entry->record.ts.empty())
      ids.push_back(entry->record.ts);
  }
  result.messages = records.size();
  result.entries.push_back(marker(ids, records.size(), last, nullptr));
  return result;
}

/// Texts that the session holds, to recognise what it took over without naming
/// it. Every match uses one of them up.
class known_texts {
public:
  known_texts(const session_tree& tree, const sync_facts& facts)
    : tree_(tree), facts_(facts) {}

  /// A text that somebody said anywhere in the session.
  bool take_any(entry_role role, const std::string& text) {
    count();
    return take(any_, role, text);
  }

  /// A text of the part that an old writer made.
  bool take_legacy(const log_record& record) {
    if (facts_.legacy_end == 0)
      return false;
    if (auto date = date_ms(record); date && *date >= facts_.legacy_until_ms)
      return false;
    count();
    auto role = record.from_bot ? entry_role::assistant : entry_role::user;
    return take(legacy_, role, record.text);
  }

private:
  using counts = std::unordered_map<std::string, size_t>;

  void count() {
    if (std::exchange(counted_, true))
      return;
    tree_.visit_texts([this](uint32_t node, const std::string& said) {
      auto name = key(tree_.nodes()[node].role, plain(said));
      if (node < facts_.legacy_end)
        ++legacy_[name];
      ++any_[std::move(name)];
    });
  }

  static bool take(counts& from, entry_role role, const std::string& text) {
    auto found = from.find(key(role, text::trim(text)));
    if (found == from.end() || found->second == 0)
      return false;
    --found->second;
    return true;
  }

  static std::string key(entry_role role, std::string_view text) {
    std::string result = role == entry_role::user ? "u:" : "a:";
    result += text;
    return result;
  }

  /// The words of a message, without attribution and list of attachments.
  static std::string_view plain(std::string_view said) {
    constexpr std::string_view begin = "<slack_attachments>";
    constexpr std::string_view end = "</slack_attachments>";
    auto result = text::trim(text::strip_history_line(said));
    if (result.size() >= end.size()
        && result.substr(result.size() - end.size()) == end)
      if (auto pos = result.rfind(begin); pos != std::string_view::npos)
        result = text::trim(result.substr(0, pos));
    return result;
  }

  const session_tree& tree_;
  const sync_facts& facts_;
  bool counted_ = false;
  counts any_;
  counts legacy_;
};

entry_list after_watermark(entry_list records,
                           const std::optional<std::string>& watermark) {
  if (!watermark)
    return records;
  for (size_t i = 0; i < records.size(); ++i)
    if (records[i]->record.ts == *watermark) {
      records.erase(records.begin(),
                    records.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
  return records;
}

} // namespace

bool is_renderable(const log_record& record, const std::string& current) {
  if (!current.empty() && record.ts == current)
    return false;
  if (!record.from_bot && text::is_command_text(record.text))
    return false;
  return !text::is_blank(record.text);
}

bool is_in_scope(const log_record& record, const history_scope& scope) {
  if (!scope.thread)
    return record.thread_ts.empty();
  return record.ts == *scope.thread || record.thread_ts == *scope.thread;
}

double order_of(const log_entry& entry) {
  if (auto date = date_ms(entry.record))
    return static_cast<double>(*date);
  if (auto ts = numeric_order(entry.record.ts))
    return *ts;
  return static_cast<double>(entry.index);
}

std::optional<int64_t> date_ms(const log_record& record) {
  return text::parse_iso(record.date);
}

std::optional<int64_t> numeric_ts_ms(std::string_view ts) {
  auto order = numeric_order(ts);
  // Ids of some platforms are far too long for a time; they still sort.
  constexpr double bound = 9007199254740992.0;
  if (!order)
    return std::nullopt;
  return *order < bound ? static_cast<int64_t>(*order) : int64_t{1} << 53;
}

std::optional<thread_root> find_thread_root(const log_contents& log,
                                            std::string_view thread) {
  for (auto i = log.entries.size(); i-- > 0;) {
    const auto& record = log.entries[i].record;
    if (record.ts != thread)
      continue;
    thread_root result;
    result.text = record.text;
    result.user = record.user;
    result.user_name = record.user_name;
    result.logged_ms = date_ms(record);
    result.from_bot = record.from_bot;
    return result;
  }
  return std::nullopt;
}

sync_facts facts_of(const session_tree& tree) {
  sync_facts result;
  // First entry that names the messages behind it, and where its batch begins.
  auto first = static_cast<uint32_t>(tree.nodes().size());
  auto begin = first;
  tree.visit_custom(
    session_node::mark::chat_sync, [&](uint32_t node, const auto& data) {
      result.watermark = json::string_member(data, "lastMessageId");
      if (auto reset = json::string_member(data, "resetAt"))
        if (auto ms = text::parse_iso(*reset))
          result.reset_ms = ms;
      auto ids = json::member(data, "messageIds");
      if (ids == nullptr || !ids->is_array())
        return;
      for (const auto& id : ids->get_array())
        if (id.is_string())
          result.known.emplace(id.get_string());
      if (node < first) {
        auto count = json::int_member(data, "messageCount").value_or(0);
        first = node;
        begin = count > 0 && count < node ? node - static_cast<uint32_t>(count)
                : count > 0               ? 0
                                          : node;
      }
    });
  tree.visit_custom(session_node::mark::run_cause,
                    [&](uint32_t node, const auto&) {
                      if (node >= first)
                        return;
                      first = node;
                      begin = node;
                    });
  result.legacy_end = begin;
  result.legacy_until_ms = first < tree.nodes().size()
                             ? tree.time_of(first).value_or(0)
                             : std::numeric_limits<int64_t>::max();
  for (auto& id : tree.handled_messages(0))
    result.known.insert(std::move(id));
  return result;
}

history_batch plan_bootstrap(const log_contents& log,
                             const history_scope& scope,
                             const history_options& options,
                             const history_clock& clock) {
  const auto& current = scope.current_message_id;
  auto end = end_before_current(log, current);
  auto scoped = dedupe_and_sort(select(log, end, current, [&](const auto& x) {
    return is_in_scope(x.record, scope);
  }));
  auto last = last_id(scoped);
  entry_list records;
  if (!scope.thread) {
    records = window(scoped, options, options.max_messages, clock.now_ms);
  } else {
    auto root = end;
    for (auto i = end; i-- > 0 && root == end;)
      if (log.entries[i].record.ts == *scope.thread)
        root = i;
    auto until = root == end ? end : root + 1;
    auto seed = select(log, until, current, [](const auto& x) {
      return x.record.thread_ts.empty();
    });
    records =
      window(dedupe_and_sort(seed), options,
             std::min(options.thread_seed, options.max_messages), clock.now_ms);
    records.insert(records.end(), scoped.begin(), scoped.end());
    // Both parts name the root; the union does so once.
    std::sort(records.begin(), records.end());
    records.erase(std::unique(records.begin(), records.end()), records.end());
    records = dedupe_and_sort(records);
  }
  if (records.empty() && last.empty())
    return {};
  return batch_of(records, last, clock);
}

history_batch plan_sync(const log_contents& log, const session_tree& tree,
                        const history_scope& scope,
                        const history_options& options,
                        const history_clock& clock) {
  const auto& current = scope.current_message_id;
  auto end = end_before_current(log, current);
  auto records = dedupe_and_sort(select(log, end, current, [&](const auto& x) {
    return is_in_scope(x.record, scope);
  }));
  if (records.empty())
    return {};
  auto facts = facts_of(tree);
  if (facts.reset_ms)
    // What cannot be proven to be newer than the reset stays out for good.
    std::erase_if(records, [&](const log_entry* entry) {
      auto date = date_ms(entry->record);
      return !date || *date < *facts.reset_ms;
    });
  auto candidates = window(after_watermark(records, facts.watermark), options,
                           options.max_messages, clock.now_ms);
  if (candidates.empty())
    return {};
  known_texts texts{tree, facts};
  entry_list news;
  for (auto entry : candidates) {
    const auto& record = entry->record;
    if (is_own_answer(record)
        || (!record.ts.empty() && facts.known.count(record.ts) != 0))
      continue;
    if (is_own_notice(record)
          ? texts.take_any(entry_role::assistant, record.text)
          : texts.take_legacy(record))
      continue;
    // Without an id only the words tell that it was taken over before.
    if (record.ts.empty() && texts.take_any(entry_role::user, record.text))
      continue;
    news.push_back(entry);
  }
  if (news.empty())
    return {};
  auto last = last_id(candidates);
  if (last.empty() && facts.watermark)
    last = *facts.watermark;
  return batch_of(news, last, clock);
}

session_entry reset_marker(const log_contents& log, const history_scope& scope,
                           int64_t now_ms) {
  const auto& current = scope.current_message_id;
  auto end = end_before_current(log, current);
  auto records = dedupe_and_sort(select(log, end, current, [&](const auto& x) {
    return is_in_scope(x.record, scope);
  }));
  return marker({}, 0, last_id(records), &now_ms);
}

} // namespace bureau
