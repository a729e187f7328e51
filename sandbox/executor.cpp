#include "sandbox/executor.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "sandbox/children.hpp"
#include "sandbox/transport_core.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace bureau::sandbox {

namespace {

using std::chrono::milliseconds;

/// The stop of a running file program, in milliseconds.
constexpr auto transfer_ms =
  std::chrono::duration_cast<milliseconds>(limits::disk_timeout).count();
constexpr auto cleanup_ms =
  std::chrono::duration_cast<milliseconds>(limits::exec_cleanup_timeout)
    .count();

/// Standard error of a file program: a few lines.
constexpr uint64_t program_text_bytes = 64u << 10;

// (exec, exec_request) → exec_result                 ⇒ exec
// (abort, id)                                        ⇒ abort
// (read, exec_read) → exec_slice                     ⇒ read
// (write, exec_write) → count                        ⇒ write
// (write_part, exec_write_part) → count              ⇒ write_part
// (paths) → path_context                             ⇒ profile
// (config) → executor_info                           ⇒ profile
// (status) → status_line                             ⇒ line
// (stop) → ok                                        ⇒ stop
class executor_state {
public:
  using pointer = executor_actor::stateful_pointer<executor_state>;
  static inline const char* name = "executor";

  explicit executor_state(pointer me) : self_(me) {}

  void init(executor_deps deps, std::shared_ptr<const profile> backend) {
    deps_ = std::move(deps);
    profile_ = std::move(backend);
    children_.init(self_, deps_.processes);
  }

  executor_actor::behavior_type make_behavior() {
    return {
      [this](atom::exec, const exec_request& request) { return exec(request); },
      [this](atom::abort, uint64_t id) { abort(id); },
      [this](atom::read, const exec_read& request) { return read(request); },
      [this](atom::write, const exec_write& request) { return write(request); },
      [this](atom::write_part, const exec_write_part& part) {
        return write_part(part);
      },
      [this](atom::paths) { return profile_->paths(); },
      [this](atom::config) { return profile_->info(); },
      [this](atom::status) { return line(); },
      [this](atom::stop) { return stop(); },
    };
  }

private:
  enum class readiness : uint8_t { unprepared, preparing, ready };

  /// A command whose answer is open.
  struct command {
    uint64_t promise = 0;
    exec_request request;
    /// 0 while it waits for the preparation.
    uint64_t child = 0;
    caf::actor_clock::time_point began;
  };

  /// A write that waits for its turn or is under way.
  struct write_task {
    file_route route;
    std::string bytes;
    /// Stays when the bytes have gone into a program.
    uint64_t size = 0;
    int32_t mode = -1;
    uint64_t promise = 0;
  };

  /// A file that arrives in parts.
  struct parted_file {
    std::string path;
    std::string bytes;
    uint32_t next = 0;
    kit::generation_timer patience;
  };

  using ready_action = std::function<void(const caf::error&)>;

  // -- commands ---------------------------------------------------------------

  caf::result<exec_result> exec(const exec_request& request) {
    if (auto refusal = closed_reason())
      return refusal;
    if (auto early = std::ranges::find(early_aborts_, request.id);
        early != early_aborts_.end()) {
      early_aborts_.erase(early);
      count("aborted");
      return make_failure(errc::aborted, std::string{aborted_line});
    }
    if (commands_.count(request.id) > 0)
      return make_failure(errc::bad_request,
                          "a command with this id is running already");
    auto answer = self_->make_response_promise<exec_result>();
    auto& entry = commands_[request.id];
    entry.promise = results_.keep(answer);
    entry.request = request;
    entry.began = self_->clock().now();
    when_ready(
      [this, id = request.id](const caf::error& fault) { launch(id, fault); });
    return answer;
  }

  void launch(uint64_t id, const caf::error& fault) {
    auto entry = commands_.find(id);
    if (entry == commands_.end() || entry->second.child != 0)
      return;
    if (fault) {
      fail(id, fault, to_string(code_of(fault)));
      return;
    }
    auto& request = entry->second.request;
    command_text text;
    text.command = std::move(request.command);
    text.cwd = request.cwd;
    text.has_stdin = request.has_stdin;
    text.stdin_bytes = std::move(request.stdin_bytes);
    text.tag = fresh_tag();
    text.environment = std::move(request.environment);
    auto checked = profile_->command(text);
    if (checked.fault != errc::none) {
      fail(id, make_failure(checked.fault, std::move(checked.sentence)),
           to_string(checked.fault));
      return;
    }
    entry->second.child =
      children_.run(std::move(checked.spec), request.timeout_ms,
                    [this, id](child_end end) { ended(id, std::move(end)); });
  }

  void ended(uint64_t id, child_end end) {
    if (end.fault) {
      auto code = code_of(end.fault);
      // What was prepared may have been removed; the next command looks again.
      if (code == errc::spawn_failed)
        readiness_ = readiness::unprepared;
      fail(id, end.fault, end.unkillable ? "unkillable" : to_string(code));
      return;
    }
    auto entry = commands_.find(id);
    if (entry == commands_.end())
      return;
    const auto& request = entry->second.request;
    auto told = profile_->interpret(end.cause, request.timeout_ms, request.cwd,
                                    end.result);
    auto outcome = told.fault == errc::none ? "ok" : to_string(told.fault);
    auto killed = told.fault == errc::timeout || told.fault == errc::aborted;
    if (killed && request.keeps_output && end.cause != kill_cause::none) {
      told = {};
      told.result = kept_result(end.cause, end.result);
    }
    if (told.fault != errc::none) {
      fail(id, make_failure(told.fault, std::move(told.sentence)),
           to_string(told.fault));
      return;
    }
    measure(entry->second.began, outcome);
    auto promise = entry->second.promise;
    commands_.erase(entry);
    results_.deliver(promise, std::move(told.result));
    settle();
  }

  void fail(uint64_t id, const caf::error& reason, const std::string& outcome) {
    auto entry = commands_.find(id);
    if (entry == commands_.end())
      return;
    measure(entry->second.began, outcome);
    auto promise = entry->second.promise;
    commands_.erase(entry);
    results_.fail(promise, reason);
    settle();
  }

  void abort(uint64_t id) {
    auto entry = commands_.find(id);
    if (entry == commands_.end()) {
      // Urgent messages overtake: its command may still be in the mailbox.
      early_aborts_.push_back(id);
      if (early_aborts_.size() > limits::exec_early_aborts)
        early_aborts_.pop_front();
      return;
    }
    if (entry->second.child != 0)
      children_.kill(entry->second.child, kill_cause::aborted);
    else
      fail(id, make_failure(errc::aborted, std::string{aborted_line}),
           "aborted");
  }

  // -- preparation ------------------------------------------------------------

  void when_ready(ready_action action) {
    if (readiness_ == readiness::ready) {
      action({});
      return;
    }
    waiting_.push_back(std::move(action));
    if (readiness_ == readiness::preparing)
      return;
    readiness_ = readiness::preparing;
    prepare(profile_->preparation(), 0);
  }

  void prepare(std::vector<file_job> jobs, size_t index) {
    if (stopping_ || index == jobs.size()) {
      prepared(closed_reason());
      return;
    }
    auto job = jobs[index];
    file_request(std::move(job), [this, jobs = std::move(jobs), index](
                                   file_outcome*, const caf::error& fault) {
      if (fault)
        prepared(make_failure(errc::not_ready,
                              "the environment of this conversation cannot be "
                              "prepared: "
                                + sentence_of(fault)));
      else
        prepare(jobs, index + 1);
    });
  }

  void prepared(const caf::error& fault) {
    readiness_ = fault ? readiness::unprepared : readiness::ready;
    for (auto& action : std::exchange(waiting_, {}))
      action(fault);
  }

  // -- reading ----------------------------------------------------------------

  caf::result<exec_slice> read(const exec_read& request) {
    if (auto refusal = closed_reason())
      return refusal;
    auto route = profile_->route(request.path, file_access::read);
    if (auto refusal = refused_route(route, "read"))
      return refusal;
    if (request.length > limits::exec_file_bytes)
      return make_failure(errc::too_large,
                          "read at most "
                            + std::to_string(limits::exec_file_bytes)
                            + " bytes at a time");
    auto answer = self_->make_response_promise<exec_slice>();
    auto promise = slices_.keep(answer);
    when_ready([this, promise, route, offset = request.offset,
                length = request.length](const caf::error& fault) {
      if (fault)
        slices_.fail(promise, fault);
      else if (route.kind == route_kind::direct)
        read_direct(promise, route, offset, length);
      else
        read_inside(promise, route.path, offset, length);
    });
    return answer;
  }

  void read_direct(uint64_t promise, const file_route& route, uint64_t offset,
                   uint64_t length) {
    auto job = job_for(file_op::read_range, route);
    job.offset = offset;
    job.length = length;
    file_request(
      std::move(job), [this, promise, path = route.path, offset,
                       length](file_outcome* found, const caf::error& fault) {
        if (!fault)
          slices_.deliver(
            promise, exec_slice{std::move(found->bytes), found->end_of_file});
        else if (code_of(fault) == errc::denied)
          read_inside(promise, path, offset, length);
        else
          slices_.fail(promise, file_failure("read", path, fault));
      });
  }

  void read_inside(uint64_t promise, const std::string& path, uint64_t offset,
                   uint64_t length) {
    command_text text;
    text.command = read_program(path, offset, length);
    text.cap_out = length;
    text.cap_err = program_text_bytes;
    run_program(
      std::move(text), "read", path, transfer_ms,
      [this, promise, path, offset, length](program_output output,
                                            const caf::error& fault) {
        if (fault) {
          slices_.fail(promise, fault);
          return;
        }
        auto end = end_of_read(path, offset, length, std::move(output));
        if (end.fault != errc::none)
          slices_.fail(promise,
                       make_failure(end.fault, std::move(end.sentence)));
        else
          slices_.deliver(promise,
                          exec_slice{std::move(end.bytes), end.end_of_file});
      });
  }

  // -- writing ----------------------------------------------------------------

  caf::result<uint64_t> write(const exec_write& request) {
    if (auto refusal = closed_reason())
      return refusal;
    if (request.bytes.size() > limits::exec_file_bytes)
      return make_failure(errc::too_large,
                          "write more than "
                            + std::to_string(limits::exec_file_bytes)
                            + " bytes in parts");
    return admit_write(request.path, request.bytes, request.mode);
  }

  caf::result<uint64_t> write_part(const exec_write_part& part) {
    if (auto refusal = closed_reason())
      return refusal;
    auto entry = parts_.find(part.id);
    if (part.seq == 0 && entry == parts_.end()) {
      if (parts_.size() >= limits::exec_part_files)
        return make_failure(errc::queue_full,
                            "too many files are being written in parts; finish "
                            "one first");
      entry = parts_.try_emplace(part.id).first;
      entry->second.path = part.path;
    }
    if (entry == parts_.end() || entry->second.next != part.seq
        || entry->second.path != part.path) {
      parts_.erase(part.id);
      return make_failure(errc::bad_request,
                          "part " + std::to_string(part.seq) + " of "
                            + part.path
                            + " is out of order; start again with part 0");
    }
    auto& file = entry->second;
    if (file.bytes.size() + part.bytes.size() > limits::exec_part_bytes) {
      parts_.erase(entry);
      return make_failure(errc::too_large,
                          "cannot write " + part.path + ": more than "
                            + std::to_string(limits::exec_part_bytes)
                            + " bytes");
    }
    file.bytes += part.bytes;
    ++file.next;
    if (part.last) {
      auto bytes = std::move(file.bytes);
      parts_.erase(entry);
      return admit_write(part.path, std::move(bytes), -1);
    }
    file.patience.arm(self_, limits::exec_part_timeout,
                      [this, id = part.id] { parts_.erase(id); });
    return static_cast<uint64_t>(file.bytes.size());
  }

  caf::result<uint64_t> admit_write(const std::string& path, std::string bytes,
                                    int32_t mode) {
    auto route = profile_->route(path, file_access::write);
    if (auto refusal = refused_route(route, "write"))
      return refusal;
    if (writes_waiting_ >= limits::exec_writes_waiting)
      return make_failure(errc::queue_full,
                          file_sentence("write", route.path, errc::queue_full));
    auto answer = self_->make_response_promise<uint64_t>();
    auto& queue = writes_[route.path];
    write_task task;
    task.route = route;
    task.size = bytes.size();
    task.bytes = std::move(bytes);
    task.mode = mode;
    task.promise = counts_.keep(answer);
    queue.push_back(std::move(task));
    ++writes_waiting_;
    if (queue.size() == 1)
      begin_write(route.path);
    return answer;
  }

  void begin_write(const std::string& key) {
    when_ready([this, key](const caf::error& fault) {
      auto& task = writes_[key].front();
      if (fault)
        end_write(key, fault);
      else if (stopping_)
        end_write(key, closed_reason());
      else if (task.route.kind == route_kind::direct && task.mode < 0)
        write_direct(key, task);
      else
        write_inside(key, task);
    });
  }

  void write_direct(const std::string& key, const write_task& task) {
    auto job = job_for(file_op::replace, task.route);
    job.bytes = task.bytes;
    job.mode = 0644;
    file_request(std::move(job),
                 [this, key](file_outcome*, const caf::error& fault) {
                   if (!fault)
                     end_write(key, {});
                   else if (code_of(fault) == errc::denied)
                     write_inside(key, writes_[key].front());
                   else
                     end_write(key, file_failure("write", key, fault));
                 });
  }

  void write_inside(const std::string& key, write_task& task) {
    auto suffix = random_hex(*deps_.chance, 8);
    auto size = task.size;
    command_text text;
    text.command = write_program(key, suffix, size, task.mode);
    text.has_stdin = true;
    text.stdin_bytes = std::move(task.bytes);
    text.cap_out = program_text_bytes;
    text.cap_err = program_text_bytes;
    run_program(std::move(text), "write", key, transfer_ms,
                [this, key, suffix, size](program_output output,
                                          const caf::error& fault) {
                  if (fault) {
                    clean_up(key, suffix);
                    end_write(key, fault);
                    return;
                  }
                  auto end = end_of_write(key, size, output);
                  if (end.fault == errc::none)
                    end_write(key, {});
                  else
                    end_write(key,
                              make_failure(end.fault, std::move(end.sentence)));
                });
  }

  /// The interrupted program may have left its staging file.
  void clean_up(const std::string& path, const std::string& suffix) {
    if (stopping_)
      return;
    command_text text;
    text.command = cleanup_program(path, suffix);
    text.cap_out = program_text_bytes;
    text.cap_err = program_text_bytes;
    run_program(std::move(text), "clean up", path, cleanup_ms,
                [](program_output, const caf::error&) {});
  }

  void end_write(const std::string& key, const caf::error& fault) {
    auto entry = writes_.find(key);
    if (entry == writes_.end())
      return;
    auto& queue = entry->second;
    auto task = std::move(queue.front());
    queue.pop_front();
    --writes_waiting_;
    auto more = !queue.empty();
    if (!more)
      writes_.erase(entry);
    if (fault)
      counts_.fail(task.promise, fault);
    else
      counts_.deliver(task.promise, task.size);
    if (more)
      begin_write(key);
    settle();
  }

  // -- shared parts -----------------------------------------------------------

  /// Runs a file program inside; the action gets its output or a fault.
  void
  run_program(command_text text, const char* doing, const std::string& path,
              int64_t timeout_ms,
              std::function<void(program_output, const caf::error&)> action) {
    text.tag = fresh_tag();
    auto checked = profile_->command(text);
    if (checked.fault != errc::none) {
      action({}, make_failure(checked.fault,
                              file_sentence(doing, path, checked.fault,
                                            checked.sentence)));
      return;
    }
    children_.run(std::move(checked.spec), timeout_ms,
                  [this, doing, path, timeout_ms,
                   action = std::move(action)](child_end end) {
                    program_ended(doing, path, timeout_ms, std::move(end),
                                  action);
                    settle();
                  });
  }

  void program_ended(
    const char* doing, const std::string& path, int64_t timeout_ms,
    child_end end,
    const std::function<void(program_output, const caf::error&)>& action) {
    if (end.fault) {
      if (code_of(end.fault) == errc::spawn_failed)
        readiness_ = readiness::unprepared;
      action({}, make_failure(code_of(end.fault),
                              file_sentence(doing, path, code_of(end.fault),
                                            sentence_of(end.fault))));
      return;
    }
    auto told = profile_->interpret(end.cause, timeout_ms, {}, end.result);
    if (told.fault != errc::none) {
      action({}, make_failure(told.fault, file_sentence(doing, path, told.fault,
                                                        told.sentence)));
      return;
    }
    program_output output;
    output.out = std::move(end.result.out);
    output.err = std::move(told.result.err);
    output.code = told.result.code;
    output.cut = end.result.exit.out_dropped > 0;
    action(std::move(output), {});
  }

  static file_job job_for(file_op op, const file_route& route) {
    file_job job;
    job.reason = "executor";
    job.op = op;
    job.root = route.root;
    job.rule = resolve_rule::no_links;
    job.path = route.relative;
    return job;
  }

  void
  file_request(file_job job,
               std::function<void(file_outcome*, const caf::error&)> action) {
    ++file_jobs_;
    auto finish = [this, action = std::move(action)](file_outcome* found,
                                                     const caf::error& fault) {
      --file_jobs_;
      action(found, fault);
      settle();
    };
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([finish](file_outcome& found) { finish(&found, {}); },
            [finish](caf::error& fault) { finish(nullptr, fault); });
  }

  static caf::error file_failure(const char* doing, const std::string& path,
                                 const caf::error& fault) {
    auto code = code_of(fault);
    return make_failure(code, file_sentence(doing, path, code));
  }

  /// What no file request can be about, whatever the disk says.
  static caf::error refused_route(const file_route& route, const char* doing) {
    auto refuse = [&](errc code, const char* detail) {
      return make_failure(code, file_sentence(doing, route.path, code, detail));
    };
    switch (route.kind) {
    case route_kind::bad:
      return make_failure(errc::bad_request,
                          std::string{"cannot "} + doing
                            + " a file without a name or with a NUL byte in "
                              "it; give a path");
    case route_kind::directory:
      return refuse(errc::is_directory, "it is a directory");
    case route_kind::denied:
      return refuse(errc::denied, "it is read-only in the sandbox");
    case route_kind::direct:
    case route_kind::inside:
      break;
    }
    return {};
  }

  caf::error closed_reason() const {
    if (stopping_)
      return make_failure(errc::shutting_down, "the environment is ending");
    if (const auto& why = profile_->info().refusal; !why.empty())
      return make_failure(errc::denied, why);
    return {};
  }

  std::string fresh_tag() { return random_hex(*deps_.chance, 16); }

  void count(const std::string& outcome) {
    if (deps_.metrics)
      self_->send(
        deps_.metrics, atom::add_v,
        metric_sample{metric::exec, {profile_->info().backend, outcome}, 1});
  }

  void measure(caf::actor_clock::time_point began, const std::string& outcome) {
    count(outcome);
    if (!deps_.metrics)
      return;
    auto spent = std::chrono::duration_cast<std::chrono::microseconds>(
      self_->clock().now() - began);
    self_->send(deps_.metrics, atom::observe_v,
                metric_sample{metric::exec_duration,
                              {profile_->info().backend},
                              spent.count()});
  }

  status_line line() const {
    auto idle = commands_.empty() && file_jobs_ == 0 && children_.empty();
    return {profile_->label(),
            stopping_ ? "stopping"
            : idle    ? "idle"
                      : "busy",
            std::to_string(commands_.size()) + " commands, "
              + std::to_string(file_jobs_) + " file jobs, "
              + std::to_string(writes_waiting_) + " writes"};
  }

  // -- the end ----------------------------------------------------------------

  caf::result<caf::ok_atom> stop() {
    auto answer = self_->make_response_promise<caf::ok_atom>();
    stops_.keep(answer);
    if (!stopping_) {
      stopping_ = true;
      parts_.clear();
      for (auto& action : std::exchange(waiting_, {}))
        action(make_failure(errc::aborted, std::string{aborted_line}));
      children_.kill_all();
    }
    settle();
    return answer;
  }

  /// Ends a stopping executor once nothing of its work is left.
  void settle() {
    if (!stopping_ || !children_.empty() || file_jobs_ > 0 || ended_)
      return;
    ended_ = true;
    stops_.deliver_all(caf::ok_atom_v);
    self_->quit();
  }

  pointer self_;
  executor_deps deps_;
  std::shared_ptr<const profile> profile_;
  child_table<executor_actor::pointer> children_;
  /// By the caller's id.
  std::map<uint64_t, command> commands_;
  std::deque<uint64_t> early_aborts_;
  readiness readiness_ = readiness::unprepared;
  std::vector<ready_action> waiting_;
  std::map<uint64_t, parted_file> parts_;
  /// By runtime path; the first of each queue is under way.
  std::map<std::string, std::deque<write_task>> writes_;
  size_t writes_waiting_ = 0;
  size_t file_jobs_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  kit::promise_guard<exec_result> results_;
  kit::promise_guard<exec_slice> slices_;
  kit::promise_guard<uint64_t> counts_;
  kit::promise_guard<caf::ok_atom> stops_;
};

} // namespace

executor_actor spawn_executor(caf::actor_system& system, executor_deps deps,
                              std::shared_ptr<const profile> backend) {
  return kit::spawn_stateful<executor_actor, executor_state>(
    system, std::move(deps), std::move(backend));
}

} // namespace bureau::sandbox
