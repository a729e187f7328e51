#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

void session_store_state::sync(const std::string& current, step next,
                               failure fail) {
  // After a failure nobody knows what the session has of the log.
  auto broken = [this, fail = std::move(fail)](caf::error reason) {
    cursor_.reset();
    fail(std::move(reason));
  };
  stat_log(
    [this, current, next = std::move(next), broken](const file_outcome& found) {
      if (found.kind != file_kind::regular) {
        cursor_.reset();
        return next();
      }
      auto news = cursor_ ? found.size - cursor_->end : 0;
      if (cursor_ && continues(*cursor_, found)
          && news <= limits::history_sync_bytes)
        sync_from_cursor(found, current, next, broken);
      else
        sync_from_tail(found, current, next, broken);
    },
    broken);
}

scan_wish session_store_state::wish(scan_wish::purpose why,
                                    const std::string& current) const {
  scan_wish result;
  result.why = why;
  result.scope = scope(current);
  result.reach = reach_;
  result.now_ms = services_.wall->now_ms();
  result.later_within = why == scan_wish::purpose::bootstrap
                          ? limits::history_bootstrap_bytes
                          : limits::history_sync_bytes;
  return result;
}

void session_store_state::scan_log(scan_wish wish, const file_outcome& found,
                                   with<const log_reading&> next,
                                   failure fail) {
  auto reading = std::make_shared<log_reading>(
    log_reading{log_scan{std::move(wish), place_.log_path}, {}, {}});
  reading->reached.device = found.device;
  reading->reached.inode = found.inode;
  auto done = [this, reading, next] {
    reading->log = reading->scan.result();
    for (const auto& warning : reading->log.warnings)
      warn(warning);
    if (auto root = reading->scan.root_text())
      root_text_ = *root;
    next(*reading);
  };
  if (found.kind != file_kind::regular || found.size == 0)
    return done();
  scan_before(reading, found.size, done, std::move(fail));
}

void session_store_state::scan_before(std::shared_ptr<log_reading> reading,
                                      uint64_t end, step next, failure fail) {
  auto begin = end > log_part_bytes ? end - log_part_bytes : 0;
  read_log_part(
    begin, end - begin,
    [this, reading, begin, next, fail](const std::string& part) {
      auto& reached = reading->reached.end;
      if (reached == 0)
        reached = begin + whole_lines(part);
      reading->scan.take(begin, part);
      if (reading->scan.enough())
        next();
      else
        scan_before(reading, begin, next, fail);
    },
    fail);
}

void session_store_state::read_log(scan_wish wish,
                                   with<const log_reading&> next,
                                   failure fail) {
  stat_log([this, wish, next, fail](
             const file_outcome& found) { scan_log(wish, found, next, fail); },
           fail);
}

void session_store_state::sync_from_tail(const file_outcome& found,
                                         const std::string& current, step next,
                                         failure fail) {
  auto facts = facts_of(*tree_);
  auto wanted = wish(scan_wish::purpose::sync, current);
  wanted.watermark = facts.watermark;
  wanted.reset_ms = facts.reset_ms;
  wanted.handled = tree_->handled_messages(limits::handled_messages);
  wanted.root = suffix_ && !root_sought_;
  scan_log(
    std::move(wanted), found,
    [this, current, next, fail](const log_reading& reading) {
      root_sought_ = true;
      auto reached = reading.reached;
      reached.open = from_current(reading.log, current);
      if (auto watermark = facts_of(*tree_).watermark)
        reached.mark = record_of(reading.log, *watermark);
      // What follows a message from long ago was not kept: the next sync reads
      // from the end again.
      if (reading.scan.lacks_later())
        reached = {};
      learn(reading.log, std::move(reached), current, next, fail);
    },
    fail);
}

void session_store_state::sync_from_cursor(const file_outcome& found,
                                           const std::string& current,
                                           step next, failure fail) {
  auto use = [this, found, current, next, fail](const std::string& part) {
    if (!fits(*cursor_, part))
      return sync_from_tail(found, current, next, fail);
    auto begin = read_begin(*cursor_);
    auto log = joined(*cursor_, parse_log(part, begin));
    // What lies before a message from long ago cannot be told from here.
    if (!current.empty() && !contains(log, current))
      return sync_from_tail(found, current, next, fail);
    auto reached = *cursor_;
    reached.end = begin + whole_lines(part);
    if (suffix_)
      if (auto root = find_thread_root(log, *suffix_))
        root_text_ = root->text;
    reached.open = from_current(log, current);
    drop_known(log, current, tree_->handled_messages(limits::handled_messages));
    if (cursor_->mark && has_news(log, current))
      put_first(log, *cursor_->mark);
    learn(std::move(log), std::move(reached), current, next, fail);
  };
  auto begin = read_begin(*cursor_);
  read_log_part(begin, found.size - begin, use, fail);
}

void session_store_state::learn(log_contents log, log_cursor reached,
                                const std::string& current, step next,
                                failure fail) {
  history_batch batch;
  if (has_news(log, current))
    batch = plan_sync(log, *tree_, scope(current), reach_, clock());
  auto taken = batch.messages > 0;
  append_entries(
    batch.entries,
    [this, reached = std::move(reached), log = std::move(log), taken,
     next](std::vector<std::string>) mutable {
      auto watermark = taken ? facts_of(*tree_).watermark : std::nullopt;
      if (watermark)
        if (auto found = record_of(log, *watermark))
          reached.mark = std::move(found);
      cursor_ = std::move(reached);
      next();
    },
    std::move(fail));
}

} // namespace bureau::session
