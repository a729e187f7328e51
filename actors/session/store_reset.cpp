#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::session {

void session_store_state::start_afresh(const session_open& request, step next,
                                       failure fail) {
  auto current = request.current_message_id;
  if (!suffix_)
    return begin_reset_file(new_header({}), current, next, fail);
  auto file = thread_file_name(*suffix_);
  if (!file)
    return fail(make_failure(errc::bad_identity,
                             "The thread id of the session key cannot be a "
                             "file name."));
  auto begin = [this, current, next, fail](lineage from) {
    begin_reset_file(new_header(std::move(from)), current, next, fail);
  };
  stat_file(
    *file,
    [this, begin, fail](const candidate& old) {
      if (old.kind == file_kind::absent)
        return find_lineage(begin, fail);
      if (old.kind != file_kind::regular)
        return fail(
          make_failure(errc::denied, "The session file " + path_of(old.name)
                                       + " is no regular file; move it away."));
      read_header(
        old.name, limits::session_header_chunk_bytes,
        [this, old, begin, fail](const std::string& beginning) {
          archive(
            old, services_.wall->now_ms(),
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

void session_store_state::archive(const candidate& old, int64_t stamp_ms,
                                  step next, failure fail) {
  auto target =
    std::string{archive_name} + "/" + archive_file_name(stamp_ms, *suffix_);
  stat_file(
    target,
    [this, old, stamp_ms, target, next, fail](const candidate& there) {
      // Two resets in one millisecond keep two files.
      if (there.kind != file_kind::absent)
        return archive(old, stamp_ms + 1, next, fail);
      make_directory(
        "sessions/" + std::string{archive_name},
        [this, old, target, next, fail] {
          archive_as(old, target, next, fail);
        },
        fail);
    },
    fail);
}

void session_store_state::archive_as(const candidate& old,
                                     const std::string& target, step next,
                                     failure fail) {
  // What cannot be copied in one job is moved, so that even a session that is
  // too large to be opened can be left behind.
  if (old.size > limits::file_job_bytes || old.links > 1) {
    auto move = [this, old, target, next, fail] {
      rename_file(old.name, target, next, fail);
    };
    return seal(old.name, move, fail);
  }
  // A copy, not a rename: whenever a crash comes, the key has a session, and
  // never one that starts again from what lies before the reset.
  read_text(
    old,
    [this, target, next, fail](candidate read) {
      write_file(target, std::move(read.text), next, fail);
    },
    fail);
}

void session_store_state::begin_reset_file(session_header header,
                                           const std::string& current,
                                           step next, failure fail) {
  read_log(
    limits::history_sync_bytes,
    [this, header = std::move(header), current, next,
     fail](const log_contents& log) {
      auto now = services_.wall->now_ms();
      auto fresh = std::make_shared<session_tree>(session_tree::create(header));
      auto plan = fresh->plan_append({reset_marker(log, scope(current), now)},
                                     now, *services_.chance);
      auto file =
        suffix_ ? *thread_file_name(*suffix_) : main_file_name(now, header.id);
      auto adopt = [this, fresh, plan, file, next, fail] {
        forget();
        fresh->commit_rewritten(plan);
        take(std::move(*fresh));
        file_ = file;
        remember_identity(next, fail);
      };
      auto point = [this, file, adopt, fail] {
        if (suffix_)
          adopt();
        else
          write_file(std::string{pointer_name}, file, adopt, fail);
      };
      // Header and marker are one write: there is never a file that a later
      // sync could fill with what lies before the reset.
      auto write = [this, fresh, plan, file, point, fail] {
        write_file(file, fresh->rewritten(plan), point, fail);
      };
      auto sealed = [this, file, write, fail] {
        if (suffix_)
          seal(file, write, fail);
        else
          write();
      };
      make_directory("sessions", sealed, fail);
    },
    fail);
}

} // namespace bureau::session
