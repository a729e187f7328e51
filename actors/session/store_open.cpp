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
  tree_ = std::move(opened.tree);
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
      auto batch =
        plan_bootstrap(log, scope(current), services_.history, clock());
      auto now = services_.wall->now_ms();
      tree_ = session_tree::create(header);
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
  read_log(
    limits::history_sync_bytes,
    [this, current, next, fail](const log_contents& log) {
      auto batch =
        plan_sync(log, *tree_, scope(current), services_.history, clock());
      append_entries(
        batch.entries, [next](std::vector<std::string>) { next(); }, fail);
    },
    fail);
}

} // namespace bureau::session
