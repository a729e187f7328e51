#include "actors/session/session_store.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/store_state.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <utility>

namespace bureau::session {

namespace {

caf::error too_many() {
  return make_failure(errc::queue_full,
                      "Too many requests wait for the session file; try again "
                      "later.");
}

} // namespace

void session_store_state::init(store_services services, office place,
                               std::string session_key, bool in_memory) {
  services_ = std::move(services);
  in_memory_ = in_memory;
  place_ = std::move(place);
  label_ = "store/" + place_.key + "#" + session_key;
  if (auto suffix = thread_suffix_of(session_key))
    suffix_ = std::string{*suffix};
}

session_store_actor::behavior_type session_store_state::make_behavior() {
  return {
    [this](atom::open, const session_open& request) { return open(request); },
    [this](atom::append, const session_append& request) {
      return append(request);
    },
    [this](atom::load) { return load(); },
    [this](atom::locate, const std::string& message_id) {
      return locate(message_id);
    },
    [this](atom::branch, const session_branch& request) {
      return branch(request);
    },
    [this](atom::exists) { return exists(); },
    [this](atom::ensure) { return ensure(); },
    [this](atom::reset, const session_open& request) { return reset(request); },
    [this](atom::close) { return close(); },
  };
}

// -- the queue ----------------------------------------------------------------

bool session_store_state::submit(step job) {
  if (waiting_.size() >= limits::session_store_waiting)
    return false;
  waiting_.push_back(std::move(job));
  pump();
  return true;
}

void session_store_state::finish() {
  running_ = false;
  pump();
}

void session_store_state::pump() {
  // A job that answers at once ends inside this loop instead of nesting.
  if (std::exchange(pumping_, true))
    return;
  while (!running_ && !waiting_.empty()) {
    running_ = true;
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    job();
  }
  pumping_ = false;
}

// -- handlers -----------------------------------------------------------------

caf::result<session_context>
session_store_state::open(const session_open& request) {
  auto promise = self_->make_response_promise<session_context>();
  auto id = contexts_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    contexts_.fail(id, std::move(reason));
    finish();
  };
  auto done = [this, id] {
    contexts_.deliver(id, context());
    finish();
  };
  if (!submit([this, request, done, fail] {
        const auto& window = request.history;
        reach_ = {window.recent_days, window.messages, window.thread_seed};
        ensure_open(request.current_message_id, done, fail);
      }))
    contexts_.fail(id, too_many());
  return promise;
}

caf::result<std::vector<std::string>>
session_store_state::append(const session_append& request) {
  auto promise = self_->make_response_promise<std::vector<std::string>>();
  auto id = appends_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    appends_.fail(id, std::move(reason));
    finish();
  };
  auto done = [this, id](std::vector<std::string> ids) {
    appends_.deliver(id, std::move(ids));
    finish();
  };
  if (!submit([this, request, done, fail] {
        if (tree_)
          append_entries(request.entries, done, fail);
        else
          fail(make_failure(errc::not_ready, "The session file is not open."));
      }))
    appends_.fail(id, too_many());
  return promise;
}

caf::result<session_context> session_store_state::load() {
  auto promise = self_->make_response_promise<session_context>();
  auto id = contexts_.keep(promise);
  if (!submit([this, id] {
        if (tree_)
          contexts_.deliver(id, context());
        else
          contexts_.fail(
            id, make_failure(errc::not_ready, "The session file is not open."));
        finish();
      }))
    contexts_.fail(id, too_many());
  return promise;
}

caf::result<session_context>
session_store_state::branch(const session_branch& request) {
  auto promise = self_->make_response_promise<session_context>();
  auto id = contexts_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    contexts_.fail(id, std::move(reason));
    finish();
  };
  auto done = [this, id] {
    contexts_.deliver(id, context());
    finish();
  };
  if (!submit([this, request, done, fail] {
        if (tree_)
          move_leaf(request, done, fail);
        else
          fail(make_failure(errc::not_ready, "The session file is not open."));
      }))
    contexts_.fail(id, too_many());
  return promise;
}

caf::result<bool> session_store_state::exists() {
  auto promise = self_->make_response_promise<bool>();
  auto id = answers_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    answers_.fail(id, std::move(reason));
    finish();
  };
  auto answer = [this, id](bool found) {
    answers_.deliver(id, found);
    finish();
  };
  if (!submit([this, answer, fail] { look_for_session(answer, fail); }))
    answers_.fail(id, too_many());
  return promise;
}

caf::result<std::string> session_store_state::ensure() {
  auto promise = self_->make_response_promise<std::string>();
  auto id = paths_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    paths_.fail(id, std::move(reason));
    finish();
  };
  auto answer = [this, id](std::string path) {
    paths_.deliver(id, std::move(path));
    finish();
  };
  if (!submit([this, answer, fail] { register_thread(answer, fail); }))
    paths_.fail(id, too_many());
  return promise;
}

caf::result<cause_report>
session_store_state::locate(const std::string& message_id) {
  auto promise = self_->make_response_promise<cause_report>();
  auto id = reports_.keep(promise);
  auto fail = [this, id](caf::error reason) {
    reports_.fail(id, std::move(reason));
    finish();
  };
  auto answer = [this, id](const cause_report& report) {
    reports_.deliver(id, report);
    finish();
  };
  if (!submit([this, message_id, answer, fail] {
        if (tree_ && !doubtful_)
          return answer(tree_->cause_of(message_id));
        if (in_memory_)
          return answer({});
        find_file(
          false,
          [this, message_id, answer, fail](candidate found) {
            auto opened = session_tree::open(std::move(found.text), origin(),
                                             session_tree::mode::tolerant);
            if (opened)
              answer(opened.tree->cause_of(message_id));
            else
              fail(make_failure(opened.fault.code,
                                describe(opened.fault, path_of(found.name))));
          },
          fail);
      }))
    reports_.fail(id, too_many());
  return promise;
}

caf::result<session_context>
session_store_state::reset(const session_open& request) {
  auto promise = self_->make_response_promise<session_context>();
  auto id = contexts_.keep(promise);
  // Whatever was reached is on the disk; the next open finds out what.
  auto fail = [this, id](caf::error reason) {
    forget();
    contexts_.fail(id, std::move(reason));
    finish();
  };
  auto done = [this, id] {
    contexts_.deliver(id, context());
    finish();
  };
  if (!submit(
        [this, request, done, fail] { start_afresh(request, done, fail); }))
    contexts_.fail(id, too_many());
  return promise;
}

caf::result<caf::ok_atom> session_store_state::close() {
  auto promise = self_->make_response_promise<caf::ok_atom>();
  auto id = closes_.keep(promise);
  if (!submit([this, id] {
        forget();
        closes_.deliver(id, caf::ok_atom{});
        finish();
      }))
    closes_.fail(id, too_many());
  return promise;
}

// -- small things -------------------------------------------------------------

std::string session_store_state::below_root(const std::string& path) const {
  return place_.key + "/" + path;
}

file_job session_store_state::job(file_op op, const std::string& path) const {
  file_job result;
  result.reason = "session";
  result.op = op;
  // From the workspace: an agent could have put a link in the place of its
  // office directory, and no link below the root is followed.
  auto slash = place_.dir.rfind('/');
  result.root = place_.dir.substr(0, std::max<size_t>(slash, 1));
  result.path = below_root(path);
  return result;
}

session_header session_store_state::new_header(lineage from) const {
  session_header result;
  result.id = random_uuid(*services_.chance);
  result.timestamp = text::iso_utc(services_.wall->now_ms());
  result.cwd = services_.cwd ? services_.cwd(place_) : place_.dir;
  result.parent_session = std::move(from.path);
  result.parent_session_id = std::move(from.id);
  return result;
}

session_store_state::candidate
session_store_state::main_place(const session_header& header) const {
  candidate result;
  auto made = text::parse_iso(header.timestamp);
  result.name =
    main_file_name(made.value_or(services_.wall->now_ms()), header.id);
  return result;
}

session_context session_store_state::context() {
  auto result = contexts_of_tree_.context(*tree_);
  if (!in_memory_)
    result.path = path_of(file_);
  result.thread_root = root_text_;
  return result;
}

history_scope session_store_state::scope(const std::string& current) const {
  return {suffix_, current};
}

history_clock session_store_state::clock() const {
  auto wall = services_.wall;
  return {wall->now_ms(), [wall](int64_t at) {
            return wall->offset_minutes(at);
          }};
}

session_origin session_store_state::origin() const {
  return {services_.chance.get(), services_.wall->now_ms(),
          services_.cwd ? services_.cwd(place_) : place_.dir};
}

std::string session_store_state::path_of(const std::string& file) const {
  return session_path(place_, file);
}

caf::error session_store_state::foreign_change(const std::string& file,
                                               const std::string& what) const {
  return make_failure(errc::conflict,
                      "The session file " + path_of(file)
                        + " was changed by somebody else: " + what
                        + ". Nothing was overwritten; the session is read "
                          "again with the next message.");
}

void session_store_state::take(session_tree tree) {
  tree_ = std::move(tree);
  contexts_of_tree_.clear();
  cursor_.reset();
}

void session_store_state::forget() {
  release();
  tree_.reset();
  contexts_of_tree_.clear();
  cursor_.reset();
  file_.clear();
  device_ = 0;
  inode_ = 0;
  doubtful_ = false;
}

void session_store_state::warn(const std::string& text) const {
  kit::log::warning(label_, text);
}

// -- spawning -----------------------------------------------------------------

session_store_actor spawn_session_store(caf::actor_system& system,
                                        store_services services, office place,
                                        std::string session_key) {
  return kit::spawn_stateful<session_store_actor, session_store_state>(
    system, std::move(services), std::move(place), std::move(session_key),
    false);
}

session_store_actor spawn_memory_session_store(caf::actor_system& system,
                                               store_services services,
                                               office place,
                                               std::string session_key) {
  return kit::spawn_stateful<session_store_actor, session_store_state>(
    system, std::move(services), std::move(place), std::move(session_key),
    true);
}

session_store_factory make_session_store_factory(store_services services) {
  if (!services.writers && services.files)
    services.writers = spawn_session_writers(services.files);
  return [services](caf::actor_system& system, const office& place,
                    const std::string& session_key) {
    return spawn_session_store(system, services, place, session_key);
  };
}

session_store_factory
make_memory_session_store_factory(store_services services) {
  return [services](caf::actor_system& system, const office& place,
                    const std::string& session_key) {
    return spawn_memory_session_store(system, services, place, session_key);
  };
}

} // namespace bureau::session
