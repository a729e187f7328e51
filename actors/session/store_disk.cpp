#include "actors/kit/requests.hpp"
#include "actors/session/store_state.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

namespace bureau::session {

namespace {

constexpr const char* log_file = "log.jsonl";

std::string in_sessions(const std::string& file) {
  return "sessions/" + file;
}

/// A session that cannot be written is a fault of the disk, also when the
/// system calls it forbidden, as on a file system that became read-only.
caf::error unwritable(const caf::error& reason) {
  switch (code_of(reason)) {
  case errc::denied:
  case errc::bad_request:
    return make_failure(errc::disk, sentence_of(reason));
  default:
    return reason;
  }
}

} // namespace

template <class Next>
void session_store_state::file_request(file_job job, Next next, failure fail) {
  kit::bounded_request(self_, services_.files, limits::disk_timeout,
                       atom::file_v, std::move(job))
    .then(std::move(next),
          [fail = std::move(fail)](caf::error& reason) { fail(reason); });
}

// -- reading ------------------------------------------------------------------

void session_store_state::stat_file(const std::string& file,
                                    with<candidate> next, failure fail) {
  file_request(
    job(file_op::stat, in_sessions(file)),
    [file, next](const file_outcome& found) {
      candidate result;
      result.name = file;
      result.kind = found.kind;
      result.size = found.size;
      result.device = found.device;
      result.inode = found.inode;
      result.links = found.links;
      result.modified_ns = found.modified_ns;
      next(std::move(result));
    },
    std::move(fail));
}

void session_store_state::read_text(candidate found, with<candidate> next,
                                    failure fail) {
  if (found.kind != file_kind::regular)
    return next(std::move(found));
  auto path = path_of(found.name);
  if (found.links > 1)
    return fail(make_failure(errc::denied,
                             "The session file " + path
                               + " has a second hard link and is not opened; "
                                 "remove the other name of the file."));
  if (found.size > limits::session_file_bytes)
    return fail(make_failure(errc::too_large,
                             "The session file " + path
                               + " is too large to be opened; start a new "
                                 "session with /new."));
  found.text.reserve(found.size);
  read_more(std::move(found), std::move(next), std::move(fail));
}

void session_store_state::read_more(candidate found, with<candidate> next,
                                    failure fail) {
  auto part = job(file_op::read_range, in_sessions(found.name));
  part.offset = found.text.size();
  part.length = limits::session_read_bytes;
  auto state = std::make_shared<candidate>(std::move(found));
  file_request(
    std::move(part),
    [this, state, next, fail](const file_outcome& read) {
      state->text += read.bytes;
      if (read.end_of_file || read.bytes.empty())
        next(std::move(*state));
      else if (state->text.size() > limits::session_file_bytes)
        fail(make_failure(errc::too_large, "The session file "
                                             + path_of(state->name)
                                             + " grew while it was read."));
      else
        read_more(std::move(*state), next, fail);
    },
    fail);
}

void session_store_state::read_header(const std::string& file, size_t bytes,
                                      with<std::string> next, failure fail) {
  auto part = job(file_op::read_range, in_sessions(file));
  part.length = bytes;
  file_request(
    std::move(part),
    [this, file, bytes, next, fail](file_outcome& read) {
      auto complete = read.end_of_file || first_line(read.bytes).has_value();
      if (complete || bytes >= limits::session_header_bytes)
        next(std::move(read.bytes));
      else
        read_header(file, limits::session_header_bytes, next, fail);
    },
    // A file that cannot be read is no parent; that is no failure.
    [next](const caf::error&) { next({}); });
}

void session_store_state::stat_log(with<file_outcome> next, failure fail) {
  file_request(
    job(file_op::stat, log_file),
    [this, next, fail](const file_outcome& found) {
      if (found.kind == file_kind::regular && found.links > 1)
        return fail(make_failure(
          errc::denied, "The chat log " + place_.log_path
                          + " has a second hard link and is not read; remove "
                            "the other name of the file."));
      next(found);
    },
    fail);
}

void session_store_state::read_log_part(uint64_t offset, uint64_t length,
                                        with<std::string> next, failure fail) {
  auto part = job(file_op::read_range, log_file);
  part.offset = offset;
  part.length = length;
  file_request(
    std::move(part),
    [next](file_outcome& read) { next(std::move(read.bytes)); },
    std::move(fail));
}

log_contents session_store_state::parse_log(std::string_view part,
                                            uint64_t offset) const {
  // A read from the middle begins with the line break before its lines.
  auto begin = offset == 0 ? size_t{0} : size_t{1};
  auto log =
    parse_log_part(part.substr(begin), offset + begin, place_.log_path);
  for (const auto& warning : log.warnings)
    warn(warning);
  return log;
}

void session_store_state::read_pointer(with<std::optional<std::string>> next,
                                       failure fail) {
  auto read = job(file_op::read, "sessions/" + std::string{pointer_name});
  read.length = limits::session_pointer_bytes;
  kit::bounded_request(self_, services_.files, limits::disk_timeout,
                       atom::file_v, std::move(read))
    .then(
      [this, next](const file_outcome& found) {
        auto target = pointer_target(found.bytes);
        if (!target)
          warn("The pointer " + path_of(std::string{pointer_name})
               + " names no session file; it is ignored.");
        next(std::move(target));
      },
      [this, next, fail](caf::error& reason) {
        switch (code_of(reason)) {
        case errc::not_found:
          return next(std::nullopt);
        case errc::denied:
        case errc::is_directory:
        case errc::too_large:
          warn("The pointer " + path_of(std::string{pointer_name})
               + " is ignored: " + sentence_of(reason));
          return next(std::nullopt);
        default:
          fail(reason);
        }
      });
}

void session_store_state::list_sessions(with<std::vector<std::string>> next,
                                        failure fail) {
  kit::bounded_request(self_, services_.files, limits::disk_timeout,
                       atom::file_v, job(file_op::list, "sessions"))
    .then([next](file_outcome& found) { next(std::move(found.names)); },
          [next, fail](caf::error& reason) {
            if (code_of(reason) == errc::not_found)
              next({});
            else
              fail(reason);
          });
}

// -- writing ------------------------------------------------------------------

void session_store_state::make_directory(const std::string& path, step next,
                                         failure fail) {
  auto make = [this, path, next, fail] {
    auto wanted = job(file_op::ensure_directory, path);
    wanted.mode = 0700;
    file_request(
      std::move(wanted), [next](const file_outcome&) { next(); }, fail);
  };
  if (!services_.registry)
    return make();
  kit::bounded_request(self_, services_.registry, limits::disk_timeout,
                       atom::ensure_v, place_.address)
    .then([make](const office&) { make(); },
          [fail](const caf::error& reason) { fail(unwritable(reason)); });
}

void session_store_state::clear_pointer(step next, failure fail) {
  auto link = std::string{pointer_name};
  auto move_away = [this, link, next, fail] {
    auto archive = std::string{archive_name};
    auto target =
      archive + "/" + torn_file_name(services_.wall->now_ms(), link);
    make_directory(
      "sessions/" + archive,
      [this, link, target, next, fail] {
        rename_file(link, target, next, fail);
      },
      fail);
  };
  stat_file(
    link,
    [this, link, move_away, next, fail](const candidate& found) {
      switch (found.kind) {
      case file_kind::absent:
      case file_kind::regular:
        return next();
      case file_kind::symlink:
        warn("The pointer " + path_of(link)
             + " is a symbolic link; it is removed.");
        return file_request(
          job(file_op::remove, in_sessions(link)),
          [next](const file_outcome&) { next(); }, fail);
      case file_kind::directory:
      case file_kind::other:
        warn("The pointer " + path_of(link)
             + " is no file; it is moved to the archive.");
        return move_away();
      }
    },
    fail);
}

void session_store_state::write_file(const std::string& file, std::string bytes,
                                     step next, failure fail) {
  auto write = job(file_op::write_atomic, in_sessions(file));
  write.bytes = std::move(bytes);
  file_request(
    std::move(write), [next](const file_outcome&) { next(); },
    [fail](const caf::error& reason) { fail(unwritable(reason)); });
}

void session_store_state::rename_file(const std::string& file,
                                      const std::string& target, step next,
                                      failure fail) {
  auto move = job(file_op::rename, in_sessions(file));
  move.to = below_root(in_sessions(target));
  file_request(
    std::move(move), [next](const file_outcome&) { next(); }, std::move(fail));
}

void session_store_state::seal(const std::string& file, step next,
                               failure fail) {
  kit::bounded_request(self_, services_.journal, limits::disk_timeout,
                       atom::seal_v, journal_root::workspace,
                       journal_path(place_, file))
    .then([next](caf::ok_atom) { next(); },
          [fail](caf::error& reason) { fail(reason); });
}

void session_store_state::remember_identity(step next, failure fail) {
  stat_file(
    file_,
    [this, next, fail](candidate found) {
      if (found.kind != file_kind::regular
          || found.size != tree_->disk_size()) {
        auto error =
          foreign_change(file_, "it is not the file that was just written");
        forget();
        return fail(std::move(error));
      }
      device_ = found.device;
      inode_ = found.inode;
      claim(found, tree_->header().id, next, fail);
    },
    fail);
}

void session_store_state::check_unchanged(const candidate& was, step next,
                                          failure fail) {
  stat_file(
    was.name,
    [this, was, next, fail](const candidate& found) {
      if (found.kind == was.kind && found.device == was.device
          && found.inode == was.inode && found.size == was.size
          && found.modified_ns == was.modified_ns)
        return next();
      fail(foreign_change(was.name, was.kind == file_kind::absent
                                      ? "it appeared meanwhile"
                                      : "it is not the file that was found"));
    },
    fail);
}

void session_store_state::claim(const candidate& file,
                                const std::string& session_id, step next,
                                failure fail) {
  if (!services_.writers)
    return next();
  claimed_ = true;
  kit::bounded_request(self_, services_.writers, limits::disk_timeout,
                       atom::open_v, path_of(file.name), file.device,
                       file.inode, session_id)
    .then([next](caf::ok_atom) { next(); },
          [fail](caf::error& reason) { fail(reason); });
}

void session_store_state::release() {
  if (std::exchange(claimed_, false))
    self_->send(services_.writers, atom::close_v);
}

void session_store_state::rewrite(append_plan plan, uint64_t expected_size,
                                  step next, failure fail) {
  stat_file(
    file_,
    [this, plan = std::move(plan), expected_size, next,
     fail](candidate found) mutable {
      auto same = found.kind == file_kind::regular
                  && found.size == expected_size
                  && (inode_ == 0 || found.inode == inode_);
      if (!same) {
        auto error = foreign_change(
          file_, "it has " + std::to_string(found.size) + " bytes instead of "
                   + std::to_string(expected_size));
        forget();
        return fail(std::move(error));
      }
      auto doubt = [this, fail](caf::error reason) {
        doubtful_ = tree_.has_value();
        fail(std::move(reason));
      };
      auto written = [this, plan, next, doubt] {
        tree_->commit_rewritten(plan);
        inode_ = 0;
        remember_identity(next, doubt);
      };
      auto write = [this, plan, written, doubt] {
        write_file(file_, tree_->rewritten(plan), written, doubt);
      };
      set_torn_tail_aside([this, write, fail] { seal(file_, write, fail); },
                          fail);
    },
    fail);
}

void session_store_state::set_torn_tail_aside(step next, failure fail) {
  if (tree_->torn_tail().empty())
    return next();
  auto archive = std::string{archive_name};
  auto target = archive + "/" + torn_file_name(services_.wall->now_ms(), file_);
  make_directory(
    "sessions/" + archive,
    [this, target, next, fail] {
      write_file(target, tree_->torn_tail(), next, fail);
    },
    fail);
}

void session_store_state::append_entries(
  const std::vector<session_entry>& entries,
  with<std::vector<std::string>> next, failure fail) {
  if (entries.empty())
    return next({});
  if (doubtful_)
    return verify(
      [this, entries, next, fail] { append_entries(entries, next, fail); },
      fail);
  auto plan =
    tree_->plan_append(entries, services_.wall->now_ms(), *services_.chance);
  if (plan.fault.code != errc::none)
    return fail(make_failure(plan.fault.code, "A session entry was refused: "
                                                + plan.fault.what + "."));
  write_plan(std::move(plan), std::move(next), std::move(fail));
}

void session_store_state::move_leaf(const session_branch& request, step next,
                                    failure fail) {
  if (doubtful_)
    return verify(
      [this, request, next, fail] { move_leaf(request, next, fail); }, fail);
  const auto& target = request.target;
  if (!target.empty() && !tree_->can_be_leaf(target))
    return fail(
      make_failure(errc::not_found, "The session has no entry " + target
                                      + " that it could go on from."));
  if (request.summary.empty() && target == tree_->leaf())
    return next();
  auto plan = tree_->plan_branch(target, request.summary,
                                 services_.wall->now_ms(), *services_.chance);
  if (plan.fault.code != errc::none)
    return fail(make_failure(
      plan.fault.code, "The branch was refused: " + plan.fault.what + "."));
  write_plan(
    std::move(plan), [next](const std::vector<std::string>&) { next(); },
    std::move(fail));
}

void session_store_state::write_plan(append_plan plan,
                                     with<std::vector<std::string>> next,
                                     failure fail) {
  if (in_memory_) {
    tree_->commit(plan);
    return next(plan.ids);
  }
  // One record of the journal is one unit; what does not fit goes the long way
  // so that it still is one.
  constexpr size_t headroom = 4096;
  if (!tree_->needs_rewrite()
      && plan.bytes.size() + headroom <= limits::journal_record_bytes)
    return append_plan_bytes(std::move(plan), std::move(next), std::move(fail));
  auto ids = plan.ids;
  rewrite(
    std::move(plan), tree_->disk_size(), [ids, next] { next(ids); },
    std::move(fail));
}

void session_store_state::append_plan_bytes(append_plan plan,
                                            with<std::vector<std::string>> next,
                                            failure fail) {
  journal_record record;
  record.root = journal_root::workspace;
  record.path = journal_path(place_, file_);
  record.bytes = plan.bytes;
  record.level = durability::lazy;
  kit::bounded_request(self_, services_.journal, limits::disk_timeout,
                       atom::append_v, std::move(record))
    .then([this, plan = std::move(plan), next, fail](
            uint64_t offset) { handle_appended(plan, offset, next, fail); },
          [this, fail](const caf::error& reason) {
            doubtful_ = true;
            fail(unwritable(reason));
          });
}

void session_store_state::handle_appended(append_plan plan, uint64_t offset,
                                          with<std::vector<std::string>> next,
                                          failure fail) {
  auto expected = tree_->disk_size();
  if (offset == expected) {
    tree_->commit(plan);
    return next(plan.ids);
  }
  if (offset == 0) {
    // The file was gone or emptied, and now holds our lines alone. Nobody
    // else's content is lost by putting the whole session back.
    warn("The session file " + path_of(file_)
         + " had disappeared; it is written again.");
    inode_ = 0;
    auto size = plan.bytes.size();
    auto ids = plan.ids;
    return rewrite(
      std::move(plan), size, [ids, next] { next(ids); }, std::move(fail));
  }
  auto error =
    foreign_change(file_, "it had " + std::to_string(offset)
                            + " bytes instead of " + std::to_string(expected));
  forget();
  fail(std::move(error));
}

void session_store_state::verify(step next, failure fail) {
  stat_file(
    file_,
    [this, next, fail](candidate found) {
      read_text(
        std::move(found),
        [this, next, fail](candidate read) {
          auto leaf = std::string{tree_->leaf()};
          auto opened = session_tree::open(std::move(read.text), origin());
          if (!opened)
            return fail(make_failure(opened.fault.code,
                                     describe(opened.fault, path_of(file_))));
          // What the failed write left behind becomes a branch of its own.
          if (read.kind != file_kind::regular
              || opened.tree->header().id != tree_->header().id
              || !opened.tree->select(leaf)) {
            auto error = foreign_change(file_, "it is another session");
            forget();
            return fail(std::move(error));
          }
          take(std::move(*opened.tree));
          device_ = read.device;
          inode_ = read.inode;
          doubtful_ = false;
          auto undo = [this, fail](caf::error reason) {
            forget();
            fail(std::move(reason));
          };
          claim(read, tree_->header().id, next, undo);
        },
        fail);
    },
    fail);
}

} // namespace bureau::session
