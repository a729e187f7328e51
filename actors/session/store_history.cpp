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

void session_store_state::sync_from_tail(const file_outcome& found,
                                         const std::string& current, step next,
                                         failure fail) {
  constexpr uint64_t bytes = limits::history_sync_bytes;
  auto offset = found.size > bytes ? found.size - bytes : 0;
  read_log_part(
    offset, found.size - offset,
    [this, found, offset, current, next, fail](const std::string& part) {
      log_cursor reached;
      reached.device = found.device;
      reached.inode = found.inode;
      reached.end = offset + whole_lines(part);
      learn(parse_log(part, offset == 0), std::move(reached), current, next,
            fail);
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
    auto log = joined(*cursor_, parse_log(part, begin == 0));
    // What lies before a message from long ago cannot be told from here.
    if (!current.empty() && !contains(log, current))
      return sync_from_tail(found, current, next, fail);
    auto reached = *cursor_;
    reached.end = begin + whole_lines(part);
    learn(std::move(log), std::move(reached), current, next, fail);
  };
  auto begin = read_begin(*cursor_);
  read_log_part(begin, found.size - begin, use, fail);
}

void session_store_state::learn(log_contents log, log_cursor reached,
                                const std::string& current, step next,
                                failure fail) {
  reached.open = from_current(log, current);
  drop_known(log, current, tree_->handled_messages(limits::handled_messages));
  history_batch batch;
  if (has_news(log, current))
    batch = plan_sync(log, *tree_, scope(current), reach_, clock());
  append_entries(
    batch.entries,
    [this, reached = std::move(reached), next](std::vector<std::string>) {
      cursor_ = reached;
      next();
    },
    std::move(fail));
}

} // namespace bureau::session
