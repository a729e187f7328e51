#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

void session_store_state::start_afresh(const session_open& request, step next,
                                       failure fail) {
  auto current = request.current_message_id;
  if (in_memory_) {
    forget();
    return open_in_memory(std::move(next));
  }
  if (!suffix_) {
    auto header = new_header({});
    auto place = main_place(header);
    return begin_reset_file(std::move(header), place, current, next, fail);
  }
  auto file = thread_file_name(*suffix_);
  if (!file)
    return fail(make_failure(errc::bad_identity,
                             "The thread id of the session key cannot be a "
                             "file name."));
  stat_file(
    *file,
    [this, current, next, fail](const candidate& old) {
      auto begin = [this, old, current, next, fail](lineage from) {
        begin_reset_file(new_header(std::move(from)), old, current, next, fail);
      };
      if (old.kind == file_kind::absent)
        return find_lineage(begin, fail);
      if (old.kind != file_kind::regular)
        return fail(
          make_failure(errc::denied, "The session file " + path_of(old.name)
                                       + " is no regular file; move it away."));
      read_header(
        old.name, limits::session_header_chunk_bytes,
        [this, old, begin, fail](const std::string& beginning) {
          auto line = first_line(beginning);
          auto header = line ? parse_session_header(*line) : std::nullopt;
          claim(
            old, header ? header->id : std::string{},
            [this, beginning, begin, fail] {
              kept_lineage(beginning, begin, fail);
            },
            fail);
        },
        fail);
    },
    fail);
}

void session_store_state::kept_lineage(const std::string& beginning,
                                       with<lineage> next, failure fail) {
  auto line = first_line(beginning);
  auto header = line ? parse_session_header(*line) : std::nullopt;
  if (header && !header->parent_session_id.empty())
    return next({header->parent_session, header->parent_session_id});
  auto directory = place_.sessions_dir + "/";
  if (!header || header->parent_session.compare(0, directory.size(), directory))
    return find_lineage(std::move(next), std::move(fail));
  // Old headers have the path alone; the id is in that file.
  auto parent = pointer_target(
    std::string_view{header->parent_session}.substr(directory.size()));
  if (!parent)
    return find_lineage(std::move(next), std::move(fail));
  read_header(
    *parent, limits::session_header_chunk_bytes,
    [this, parent, next, fail](const std::string& text) {
      auto front = first_line(text);
      auto found = front ? parse_session_header(*front) : std::nullopt;
      if (found)
        next({path_of(*parent), found->id});
      else
        find_lineage(next, fail);
    },
    fail);
}

void session_store_state::begin_reset_file(session_header header,
                                           const candidate& old,
                                           const std::string& current,
                                           step next, failure fail) {
  read_log(
    wish(scan_wish::purpose::reset, current),
    [this, header = std::move(header), old, current, next,
     fail](const log_reading& reading) {
      auto now = services_.wall->now_ms();
      auto fresh = std::make_shared<session_tree>(session_tree::create(header));
      auto plan =
        fresh->plan_append({reset_marker(reading.log, scope(current), now)},
                           now, *services_.chance);
      auto adopt = [this, fresh, plan, file = old.name, next, fail] {
        fresh->commit_rewritten(plan);
        take(std::move(*fresh));
        file_ = file;
        doubtful_ = false;
        remember_identity(next, fail);
      };
      auto point = [this, file = old.name, adopt, fail] {
        if (suffix_)
          adopt();
        else
          write_file(std::string{pointer_name}, file, adopt, fail);
      };
      // Header and marker are one write: there is never a file that a later
      // sync could fill with what lies before the reset.
      auto bytes = fresh->rewritten(plan);
      if (old.kind == file_kind::absent)
        write_new(old, std::move(bytes), point, fail);
      else
        replace_thread(old, std::move(bytes), point, fail);
    },
    fail);
}

void session_store_state::replace_thread(const candidate& old,
                                         std::string bytes, step next,
                                         failure fail) {
  // The fresh session is whole before the old one moves: whenever a crash
  // comes, the key has a session, and never one that starts again from what
  // lies before the reset. Between the two renames it is the waiting file,
  // which the next open puts in its place.
  auto waiting = std::string{archive_name} + "/" + next_file_name(*suffix_);
  auto arrive = [this, old, waiting, next, fail] {
    rename_file(waiting, old.name, next, [this, old, fail](caf::error reason) {
      // A rename replaces nothing: the place was taken while it was free.
      if (code_of(reason) == errc::denied)
        fail(foreign_change(old.name, "another file appeared in its place"));
      else
        fail(std::move(reason));
    });
  };
  auto leave = [this, old, arrive, fail](const std::string& target) {
    check_unchanged(
      old,
      [this, old, target, arrive, fail] {
        rename_file(old.name, target, arrive, fail);
      },
      fail);
  };
  auto named = [this, leave, fail] {
    free_archive_name(services_.wall->now_ms(), leave, fail);
  };
  auto written = [this, old, named, fail] {
    seal(old.name, named, fail);
  };
  make_directory(
    "sessions/" + std::string{archive_name},
    [this, waiting, bytes = std::move(bytes), written, fail] {
      write_file(waiting, bytes, written, fail);
    },
    fail);
}

void session_store_state::free_archive_name(int64_t stamp_ms,
                                            with<std::string> next,
                                            failure fail) {
  auto target =
    std::string{archive_name} + "/" + archive_file_name(stamp_ms, *suffix_);
  stat_file(
    target,
    [this, stamp_ms, target, next, fail](const candidate& there) {
      // Two resets in one millisecond keep two files.
      if (there.kind == file_kind::absent)
        next(target);
      else
        free_archive_name(stamp_ms + 1, next, fail);
    },
    fail);
}

} // namespace bureau::session
