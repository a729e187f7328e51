#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

void session_store_state::ensure_open(const std::string& current, step next,
                                      failure fail) {
  if (suffix_ && !thread_file_name(*suffix_))
    return fail(make_failure(errc::bad_identity,
                             "The thread id of the session key cannot be a "
                             "file name."));
  auto from_disk = [this, current, next, fail] {
    find_file(
      [this, current, next, fail](candidate found) {
        open_found(std::move(found), current, next, fail);
      },
      fail);
  };
  if (!tree_)
    return from_disk();
  if (doubtful_)
    return verify([this, current, next, fail] { sync(current, next, fail); },
                  fail);
  stat_file(
    file_,
    [this, current, next, fail, from_disk](candidate found) {
      if (found.kind == file_kind::regular && found.size == tree_->disk_size()
          && found.inode == inode_)
        return sync(current, next, fail);
      warn("The session file " + path_of(file_)
           + " was changed by somebody else; it is read again.");
      forget();
      from_disk();
    },
    fail);
}

void session_store_state::find_file(with<candidate> next, failure fail) {
  auto examine = [this, next, fail](const std::string& file) {
    stat_file(
      file,
      [this, next, fail](candidate found) {
        // The pointer may name anything; only a plain file counts.
        if (!suffix_ && found.kind != file_kind::regular)
          return next(candidate{found.name, file_kind::absent, 0, 0, 0, 0, {}});
        read_text(std::move(found), next, fail);
      },
      fail);
  };
  if (suffix_) {
    auto file = thread_file_name(*suffix_);
    return file ? examine(*file) : next({});
  }
  read_pointer(
    [next, examine](std::optional<std::string> file) {
      if (file)
        examine(*file);
      else
        next({});
    },
    fail);
}

void session_store_state::open_found(candidate found,
                                     const std::string& current, step next,
                                     failure fail) {
  auto path = path_of(found.name);
  if (found.kind == file_kind::symlink || found.kind == file_kind::directory
      || found.kind == file_kind::other)
    return fail(
      make_failure(errc::denied, "The session file " + path
                                   + " is no regular file; move it away."));
  auto state =
    found.kind == file_kind::absent ? file_state::empty : state_of(found.text);
  if (state == file_state::damaged
      || (suffix_ && state == file_state::foreign)) {
    session_fault fault{errc::corrupt, "the first line is no session header",
                        1};
    return fail(make_failure(fault.code, describe(fault, path)));
  }
  if (state != file_state::session) {
    if (!found.name.empty() && !suffix_)
      warn("The session file " + path
           + " holds no session; a new one is started from the chat log.");
    return create(current, next, fail);
  }
  auto opened = session_tree::open(std::move(found.text), origin());
  if (!opened)
    return fail(make_failure(opened.fault.code, describe(opened.fault, path)));
  // Files that an old writer derived from the log are never resumed.
  if (!suffix_ && opened.tree->header().source_kind == history_provider)
    return create(current, next, fail);
  if (!opened.tree->torn_tail().empty())
    warn("The last line of " + path
         + " cannot be read, as after a crash; the next entry moves it to the "
           "archive.");
  take(std::move(*opened.tree));
  file_ = std::move(found.name);
  device_ = found.device;
  inode_ = found.inode;
  sync(current, std::move(next), std::move(fail));
}

// -- creating -----------------------------------------------------------------

void session_store_state::create(const std::string& current, step next,
                                 failure fail) {
  if (!suffix_)
    return create_with(new_header({}), current, next, fail);
  find_lineage(
    [this, current, next, fail](lineage from) {
      create_with(new_header(std::move(from)), current, next, fail);
    },
    fail);
}

void session_store_state::create_with(session_header header,
                                      const std::string& current, step next,
                                      failure fail) {
  read_log(
    limits::history_bootstrap_bytes,
    [this, header, current, next, fail](const log_contents& log) {
      auto batch = plan_bootstrap(log, scope(current), reach_, clock());
      auto now = services_.wall->now_ms();
      take(session_tree::create(header));
      file_ =
        suffix_ ? *thread_file_name(*suffix_) : main_file_name(now, header.id);
      auto plan = tree_->plan_append(batch.entries, now, *services_.chance);
      auto undo = [this, fail](caf::error reason) {
        forget();
        fail(std::move(reason));
      };
      auto point = [this, next, undo] {
        // File first: a crash in between leaves a file that nobody names.
        if (suffix_)
          next();
        else
          write_file(std::string{pointer_name}, file_, next, undo);
      };
      auto written = [this, plan, point, undo] {
        tree_->commit_rewritten(plan);
        remember_identity(point, undo);
      };
      auto write = [this, plan, written, undo] {
        write_file(file_, tree_->rewritten(plan), written, undo);
      };
      auto sealed = [this, write, undo] {
        // A thread's name may have been used before.
        if (suffix_)
          seal(file_, write, undo);
        else
          write();
      };
      make_directory("sessions", sealed, undo);
    },
    fail);
}

void session_store_state::find_lineage(with<lineage> next, failure fail) {
  auto thread_ms = thread_time(*suffix_);
  if (!thread_ms)
    return current_as_parent(std::move(next), std::move(fail));
  list_sessions(
    [this, thread_ms, next, fail](const std::vector<std::string>& names) {
      try_parents(parent_names(names, *thread_ms), 0, *thread_ms, next, fail);
    },
    fail);
}

void session_store_state::try_parents(std::vector<std::string> names,
                                      size_t position, int64_t thread_ms,
                                      with<lineage> next, failure fail) {
  if (position >= names.size() || position >= limits::session_parents_read)
    return current_as_parent(std::move(next), std::move(fail));
  auto file = names[position];
  read_header(
    file, limits::session_header_chunk_bytes,
    [this, file, names = std::move(names), position, thread_ms, next,
     fail](const std::string& beginning) {
      auto parent = read_candidate(file, beginning);
      if (parent && parent->created_ms <= thread_ms)
        next({path_of(parent->name), parent->id});
      else
        try_parents(names, position + 1, thread_ms, next, fail);
    },
    fail);
}

void session_store_state::current_as_parent(with<lineage> next, failure fail) {
  read_pointer(
    [this, next, fail](const std::optional<std::string>& file) {
      if (!file)
        return next({});
      read_header(
        *file, limits::session_header_chunk_bytes,
        [this, file, next](const std::string& beginning) {
          auto line = first_line(beginning);
          auto header = line ? parse_session_header(*line) : std::nullopt;
          next(header ? lineage{path_of(*file), header->id} : lineage{});
        },
        fail);
    },
    fail);
}

// -- history ------------------------------------------------------------------

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
