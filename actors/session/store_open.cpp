#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

void session_store_state::ensure_open(const std::string& current, step next,
                                      failure fail) {
  if (in_memory_)
    return open_in_memory(std::move(next));
  if (suffix_ && !thread_file_name(*suffix_))
    return fail(make_failure(errc::bad_identity,
                             "The thread id of the session key cannot be a "
                             "file name."));
  auto from_disk = [this, current, next, fail] {
    find_file(
      true,
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

void session_store_state::open_in_memory(step next) {
  if (!tree_)
    take(session_tree::create(new_header({})));
  next();
}

void session_store_state::find_file(bool mends, with<candidate> next,
                                    failure fail) {
  auto examine = [this, mends, next, fail](const std::string& file) {
    stat_file(
      file,
      [this, mends, next, fail](candidate found) {
        // The pointer may name anything; only a plain file counts.
        if (!suffix_ && found.kind != file_kind::regular)
          return next({found.name, file_kind::absent, 0, 0, 0, 0, 0, {}});
        if (suffix_ && found.kind == file_kind::absent && mends)
          return finish_reset(next, fail);
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
    return create(std::move(found), current, next, fail);
  }
  auto opened = session_tree::open(std::move(found.text), origin());
  if (!opened)
    return fail(make_failure(opened.fault.code, describe(opened.fault, path)));
  // Files that an old writer derived from the log are never resumed.
  if (!suffix_ && opened.tree->header().source_kind == history_provider)
    return create(std::move(found), current, next, fail);
  if (!opened.tree->torn_tail().empty())
    warn("The last line of " + path
         + " cannot be read, as after a crash; the next entry moves it to the "
           "archive.");
  take(std::move(*opened.tree));
  file_ = found.name;
  device_ = found.device;
  inode_ = found.inode;
  auto undo = [this, fail](caf::error reason) {
    forget();
    fail(std::move(reason));
  };
  claim(
    found, tree_->header().id,
    [this, current, next, fail] { sync(current, next, fail); }, undo);
}

// -- creating -----------------------------------------------------------------

void session_store_state::create(candidate found, const std::string& current,
                                 step next, failure fail) {
  if (!suffix_) {
    auto header = new_header({});
    auto place = main_place(header);
    return create_with(std::move(header), place, current, next, fail);
  }
  found.name = *thread_file_name(*suffix_);
  find_lineage(
    [this, found, current, next, fail](lineage from) {
      create_with(new_header(std::move(from)), found, current, next, fail);
    },
    fail);
}

void session_store_state::create_with(session_header header,
                                      const candidate& place,
                                      const std::string& current, step next,
                                      failure fail) {
  auto undo = [this, fail](caf::error reason) {
    forget();
    fail(std::move(reason));
  };
  auto begin = [this, header, place, current, next,
                undo](const log_reading& reading) {
    auto batch = plan_bootstrap(reading.log, scope(current), reach_, clock());
    take(session_tree::create(header));
    file_ = place.name;
    auto plan = tree_->plan_append(batch.entries, services_.wall->now_ms(),
                                   *services_.chance);
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
    write_new(place, tree_->rewritten(plan), written, undo);
  };
  candidate nothing;
  nothing.name = place.name;
  claim(
    nothing, header.id,
    [this, current, begin, undo] {
      read_log(wish(scan_wish::purpose::bootstrap, current), begin, undo);
    },
    undo);
}

void session_store_state::write_new(const candidate& place, std::string bytes,
                                    step next, failure fail) {
  auto write = [this, place, bytes = std::move(bytes), next, fail] {
    check_unchanged(
      place,
      [this, place, bytes, next, fail] {
        write_file(place.name, bytes, next, fail);
      },
      fail);
  };
  auto sealed = [this, place, write, fail] {
    // A thread's name may have been used before.
    if (suffix_)
      seal(place.name, write, fail);
    else
      clear_pointer(write, fail);
  };
  make_directory("sessions", sealed, fail);
}

} // namespace bureau::session
