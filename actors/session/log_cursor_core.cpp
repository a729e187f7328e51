#include "actors/session/log_cursor_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bureau::session {

namespace {

/// First of the entries that are not decided about when this message runs.
auto place_of(const log_contents& log, const std::string& message_id) {
  auto named = [&](const log_entry& entry) {
    return entry.record.ts == message_id;
  };
  auto last = std::find_if(log.entries.rbegin(), log.entries.rend(), named);
  return last == log.entries.rend() ? log.entries.end()
                                    : std::prev(last.base());
}

} // namespace

bool continues(const log_cursor& cursor, const file_outcome& found) {
  return found.kind == file_kind::regular && found.device == cursor.device
         && found.inode == cursor.inode && found.size >= cursor.end;
}

uint64_t read_begin(const log_cursor& cursor) {
  return cursor.end == 0 ? 0 : cursor.end - 1;
}

bool fits(const log_cursor& cursor, std::string_view part) {
  return cursor.end == 0 || part.starts_with('\n');
}

uint64_t whole_lines(std::string_view part) {
  auto last = part.rfind('\n');
  return last == std::string_view::npos ? 0 : last + 1;
}

log_contents joined(const log_cursor& cursor, log_contents read) {
  log_contents result;
  result.entries.reserve(cursor.open.size() + read.entries.size());
  for (const auto& record : cursor.open)
    result.entries.push_back({record, result.entries.size()});
  for (auto& entry : read.entries)
    result.entries.push_back({std::move(entry.record), result.entries.size()});
  result.warnings = std::move(read.warnings);
  result.skipped = read.skipped;
  return result;
}

bool contains(const log_contents& log, const std::string& message_id) {
  return place_of(log, message_id) != log.entries.end();
}

std::vector<log_record> from_current(const log_contents& log,
                                     const std::string& current_message_id) {
  std::vector<log_record> result;
  if (current_message_id.empty())
    return result;
  for (auto entry = place_of(log, current_message_id);
       entry != log.entries.end(); ++entry)
    result.push_back(entry->record);
  return result;
}

std::optional<log_record> record_of(const log_contents& log,
                                    const std::string& message_id) {
  auto found = place_of(log, message_id);
  return found == log.entries.end() ? std::nullopt
                                    : std::optional{found->record};
}

void put_first(log_contents& log, const log_record& record) {
  log.entries.insert(log.entries.begin(), {record, 0});
  for (size_t i = 0; i < log.entries.size(); ++i)
    log.entries[i].index = i;
}

void drop_known(log_contents& log, const std::string& current_message_id,
                const std::vector<std::string>& handled) {
  std::erase_if(log.entries, [&](const log_entry& entry) {
    const auto& record = entry.record;
    if (record.from_bot && !record.session_key.empty())
      return true;
    // Where the current message stands must stay visible.
    return !record.ts.empty() && record.ts != current_message_id
           && std::find(handled.begin(), handled.end(), record.ts)
                != handled.end();
  });
}

bool has_news(const log_contents& log, const std::string& current_message_id) {
  auto end = current_message_id.empty() ? log.entries.end()
                                        : place_of(log, current_message_id);
  return end != log.entries.begin();
}

} // namespace bureau::session
