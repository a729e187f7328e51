#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

// -- is there one -------------------------------------------------------------

void session_store_state::look_for_session(with<bool> next, failure fail) {
  if (in_memory_)
    return next(false);
  auto read = [this, next, fail](const std::string& file) {
    read_header(
      file, limits::session_header_chunk_bytes,
      [next](const std::string& beginning) {
        next(state_of(beginning) == file_state::session);
      },
      fail);
  };
  auto examine = [this, read, next, fail](const std::string& file) {
    stat_file(
      file,
      [this, read, next, fail, file](const candidate& found) {
        if (found.kind == file_kind::regular && found.links == 1)
          return read(file);
        // What a reset was about to put there counts: the next open does it.
        if (suffix_ && found.kind == file_kind::absent)
          return read(std::string{archive_name} + "/"
                      + next_file_name(*suffix_));
        next(false);
      },
      fail);
  };
  if (suffix_) {
    auto file = thread_file_name(*suffix_);
    return file ? examine(*file) : next(false);
  }
  read_pointer(
    [next, examine](const std::optional<std::string>& file) {
      if (file)
        examine(*file);
      else
        next(false);
    },
    fail);
}

// -- making one ---------------------------------------------------------------

void session_store_state::register_thread(with<std::string> next,
                                          failure fail) {
  if (!suffix_ || in_memory_)
    return next({});
  auto file = thread_file_name(*suffix_);
  if (!file)
    return fail(make_failure(errc::bad_identity,
                             "The thread id of the session key cannot be a "
                             "file name."));
  find_file(
    true,
    [this, name = *file, next, fail](candidate found) {
      auto path = path_of(name);
      if (found.kind != file_kind::absent && found.kind != file_kind::regular)
        return fail(
          make_failure(errc::denied, "The session file " + path
                                       + " is no regular file; move it away."));
      auto state = found.kind == file_kind::absent ? file_state::empty
                                                   : state_of(found.text);
      if (state == file_state::session)
        return next(path);
      if (state != file_state::empty) {
        session_fault fault{errc::corrupt,
                            "the first line is no session header", 1};
        return fail(make_failure(fault.code, describe(fault, path)));
      }
      found.name = name;
      make_thread_file(
        found, [path, next] { next(path); }, fail);
    },
    fail);
}

void session_store_state::make_thread_file(const candidate& place, step next,
                                           failure fail) {
  // Whatever was open here is gone from the disk.
  forget();
  auto leave = [this, fail](caf::error reason) {
    release();
    fail(std::move(reason));
  };
  find_lineage(
    [this, place, next, leave](lineage from) {
      auto header = new_header(std::move(from));
      auto bytes = session_tree::create(header).rewritten();
      auto write = [this, place, bytes, next, leave] {
        write_new(
          place, bytes,
          [this, next] {
            release();
            next();
          },
          leave);
      };
      candidate nothing;
      nothing.name = place.name;
      claim(nothing, header.id, write, leave);
    },
    leave);
}

void session_store_state::finish_reset(with<candidate> next, failure fail) {
  auto file = *thread_file_name(*suffix_);
  auto waiting = std::string{archive_name} + "/" + next_file_name(*suffix_);
  auto examine = [this, file, next, fail] {
    stat_file(
      file,
      [this, next, fail](candidate found) {
        read_text(std::move(found), next, fail);
      },
      fail);
  };
  stat_file(
    waiting,
    [this, file, waiting, examine, next, fail](const candidate& found) {
      if (found.kind != file_kind::regular) {
        candidate nothing;
        nothing.name = file;
        return next(nothing);
      }
      warn("The reset of " + path_of(file)
           + " was interrupted; it is finished now.");
      rename_file(waiting, file, examine, [examine, fail](caf::error reason) {
        // Somebody put a file there: that is the session now.
        if (code_of(reason) == errc::denied)
          examine();
        else
          fail(std::move(reason));
      });
    },
    fail);
}

// -- parents ------------------------------------------------------------------

void session_store_state::find_lineage(with<lineage> next, failure fail) {
  auto thread_ms = thread_time(*suffix_);
  if (!thread_ms)
    return current_as_parent(std::move(next), std::move(fail));
  list_sessions(
    [this, thread_ms, next, fail](const std::vector<std::string>& names) {
      try_parents(parent_names(names), 0, *thread_ms, {}, next, fail);
    },
    fail);
}

void session_store_state::try_parents(std::vector<std::string> names,
                                      size_t position, int64_t thread_ms,
                                      parent_candidate best, with<lineage> next,
                                      failure fail) {
  if (position >= names.size()) {
    if (best.id.empty())
      return current_as_parent(std::move(next), std::move(fail));
    return next({path_of(best.name), best.id});
  }
  auto file = names[position];
  read_header(
    file, limits::session_header_chunk_bytes,
    [this, file, names = std::move(names), position, thread_ms,
     best = std::move(best), next, fail](const std::string& beginning) {
      auto found = read_candidate(file, beginning);
      try_parents(names, position + 1, thread_ms,
                  found ? better_parent(best, *found, thread_ms) : best, next,
                  fail);
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

} // namespace bureau::session
