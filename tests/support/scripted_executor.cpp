#include "tests/support/scripted_executor.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <set>

namespace bureau::test {

struct scripted_executor::script {
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, exec_reply>> rules;
  exec_reply fallback;
  std::map<std::string, errc> broken;
  std::set<std::string> stalled;
  std::set<std::string> deadly;
  std::vector<exec_request> commands;
  std::vector<uint64_t> aborts;
  std::vector<executor_args> made;
  size_t parts = 0;
  size_t running = 0;
  size_t stopped = 0;
};

namespace {

using script_ptr = std::shared_ptr<scripted_executor::script>;

std::string with_output(const exec_result& result, const std::string& end) {
  auto text = result.out + result.err;
  return text.empty() ? end : text + "\n" + end;
}

/// Handlers:
///   (exec, exec_request)           → exec_result   ⇒ exec
///   (abort, id)                                    ⇒ abort
///   (read, exec_read)              → exec_slice    ⇒ read
///   (write, exec_write)            → bytes         ⇒ write
///   (write_part, exec_write_part)  → bytes so far  ⇒ write_part
///   (paths) → path_context · (config) → executor_info · (status) → status_line
///   (stop)                         → ok            ⇒ stop
struct scripted_executor_state {
  struct running_command {
    uint64_t promise = 0;
    exec_reply reply;
    bool keeps_output = false;
    kit::generation_timer timer;
  };
  executor_actor::stateful_pointer<scripted_executor_state> self;
  script_ptr script;
  kit::promise_guard<exec_result> execs;
  std::map<uint64_t, running_command> running;
  std::map<uint64_t, std::string> parts;
  static inline const char* name = "scripted_executor";

  explicit scripted_executor_state(
    executor_actor::stateful_pointer<scripted_executor_state> me)
    : self(me) {}

  ~scripted_executor_state() {
    if (script)
      script->running -= running.size();
  }

  void init(script_ptr shared) { script = std::move(shared); }

  executor_actor::behavior_type make_behavior() {
    return {
      [this](atom::exec, const exec_request& request) { return exec(request); },
      [this](atom::abort, uint64_t id) { abort(id); },
      [this](atom::read, const exec_read& request) { return read(request); },
      [this](atom::write, const exec_write& request) { return write(request); },
      [this](atom::write_part, const exec_write_part& request) {
        return write_part(request);
      },
      [](atom::paths) { return scripted_executor::paths(); },
      [](atom::config) {
        return executor_info{"scripted", "none", "a scripted environment"};
      },
      [this](atom::status) {
        return status_line{"exec/scripted", running.empty() ? "idle" : "busy",
                           std::to_string(running.size()) + " running"};
      },
      [this](atom::stop) { return stop(); },
    };
  }

  const exec_reply& reply_for(const exec_request& request) const {
    for (const auto& rule : script->rules)
      if (request.command.find(rule.first) != std::string::npos)
        return rule.second;
    return script->fallback;
  }

  caf::result<exec_result> exec(const exec_request& request) {
    script->commands.push_back(request);
    auto answer = self->make_response_promise<exec_result>();
    auto reply = reply_for(request);
    if (reply.dies && reply.delay.count() == 0) {
      self->quit(caf::exit_reason::kill);
      return answer;
    }
    auto promise = execs.keep(answer);
    auto id = request.id;
    auto& entry = running[id];
    entry.promise = promise;
    entry.reply = std::move(reply);
    entry.keeps_output = request.keeps_output;
    ++script->running;
    auto limit = std::chrono::milliseconds{request.timeout_ms};
    auto times_out = request.timeout_ms > 0 && !entry.reply.deaf
                     && (entry.reply.hangs || entry.reply.delay > limit);
    if (times_out) {
      auto sentence = "Command timed out after "
                      + std::to_string(request.timeout_ms / 1000) + " seconds";
      entry.timer.arm(self, limit, [this, id, sentence] {
        fail(id, errc::timeout, sentence);
      });
    } else if (!entry.reply.hangs) {
      if (entry.reply.delay.count() > 0)
        entry.timer.arm(self, entry.reply.delay, [this, id] { finish(id); });
      else
        finish(id);
    }
    return answer;
  }

  void finish(uint64_t id) {
    auto entry = running.extract(id);
    if (entry.empty())
      return;
    --script->running;
    const auto& reply = entry.mapped().reply;
    if (reply.dies)
      self->quit(caf::exit_reason::kill);
    else if (reply.failure)
      execs.fail(entry.mapped().promise,
                 make_failure(*reply.failure, reply.sentence));
    else
      execs.deliver(entry.mapped().promise, reply.result);
  }

  void fail(uint64_t id, errc code, const std::string& end) {
    auto entry = running.extract(id);
    if (entry.empty())
      return;
    --script->running;
    if (entry.mapped().keeps_output) {
      auto result = entry.mapped().reply.result;
      result.ending =
        code == errc::timeout ? exec_ending::timed_out : exec_ending::aborted;
      execs.deliver(entry.mapped().promise, std::move(result));
      return;
    }
    execs.fail(
      entry.mapped().promise,
      make_failure(code, with_output(entry.mapped().reply.result, end)));
  }

  void abort(uint64_t id) {
    script->aborts.push_back(id);
    auto entry = running.find(id);
    if (entry != running.end() && !entry->second.reply.deaf)
      fail(id, errc::aborted, "Command aborted");
  }

  /// Whether a path misbehaves; nothing = it works.
  std::optional<caf::error> fault_of(const std::string& path) const {
    auto broken = script->broken.find(path);
    if (broken == script->broken.end())
      return std::nullopt;
    return make_failure(broken->second,
                        path + " cannot be used: " + to_string(broken->second));
  }

  /// A promise that is dropped is never answered.
  template <class T>
  caf::result<T> stall(const std::string& path) {
    auto answer = self->make_response_promise<T>();
    if (script->deadly.count(path) != 0)
      self->quit(caf::exit_reason::kill);
    return answer;
  }

  bool stalls(const std::string& path) const {
    return script->stalled.count(path) != 0 || script->deadly.count(path) != 0;
  }

  caf::result<exec_slice> read(const exec_read& request) {
    if (stalls(request.path))
      return stall<exec_slice>(request.path);
    if (auto fault = fault_of(request.path))
      return std::move(*fault);
    if (request.length > limits::exec_file_bytes)
      return make_failure(errc::too_large, "a slice is at most 8 MiB");
    auto found = script->files.find(request.path);
    if (found == script->files.end())
      return make_failure(errc::not_found, request.path + " does not exist");
    const auto& bytes = found->second;
    exec_slice result;
    auto begin = std::min<size_t>(request.offset, bytes.size());
    result.bytes = bytes.substr(begin, request.length);
    result.eof = begin + result.bytes.size() == bytes.size();
    return result;
  }

  caf::result<uint64_t> write(const exec_write& request) {
    if (stalls(request.path))
      return stall<uint64_t>(request.path);
    if (auto fault = fault_of(request.path))
      return std::move(*fault);
    if (request.bytes.size() > limits::exec_file_bytes)
      return make_failure(errc::too_large, "one write is at most 8 MiB");
    script->files[request.path] = request.bytes;
    return uint64_t{request.bytes.size()};
  }

  caf::result<uint64_t> write_part(const exec_write_part& request) {
    if (stalls(request.path))
      return stall<uint64_t>(request.path);
    if (auto fault = fault_of(request.path))
      return std::move(*fault);
    ++script->parts;
    auto& staged = parts[request.id];
    staged += request.bytes;
    auto total = uint64_t{staged.size()};
    if (request.last) {
      script->files[request.path] = std::move(staged);
      parts.erase(request.id);
    }
    return total;
  }

  caf::ok_atom stop() {
    ++script->stopped;
    while (!running.empty())
      fail(running.begin()->first, errc::aborted, "Command aborted");
    return caf::ok_atom_v;
  }
};

} // namespace

exec_reply prints(std::string out, int32_t code) {
  exec_reply reply;
  reply.result.out = std::move(out);
  reply.result.code = code;
  return reply;
}

exec_reply hangs(std::string out_so_far) {
  auto reply = prints(std::move(out_so_far));
  reply.hangs = true;
  return reply;
}

exec_reply refuses(errc code, std::string sentence) {
  exec_reply reply;
  reply.failure = code;
  reply.sentence = std::move(sentence);
  return reply;
}

scripted_executor::scripted_executor() : script_(std::make_shared<script>()) {
}

scripted_executor& scripted_executor::put(const std::string& path,
                                          std::string bytes) {
  script_->files[path] = std::move(bytes);
  return *this;
}

scripted_executor& scripted_executor::on(std::string part, exec_reply reply) {
  script_->rules.emplace_back(std::move(part), std::move(reply));
  return *this;
}

scripted_executor& scripted_executor::otherwise(exec_reply reply) {
  script_->fallback = std::move(reply);
  return *this;
}

scripted_executor& scripted_executor::break_path(const std::string& path,
                                                 errc code) {
  script_->broken[path] = code;
  return *this;
}

scripted_executor& scripted_executor::stall_path(const std::string& path) {
  script_->stalled.insert(path);
  return *this;
}

scripted_executor& scripted_executor::die_at_path(const std::string& path) {
  script_->deadly.insert(path);
  return *this;
}

executor_actor scripted_executor::spawn(caf::actor_system& system) const {
  return kit::spawn_stateful<executor_actor, scripted_executor_state>(system,
                                                                      script_);
}

executor_factory scripted_executor::factory() const {
  return [copy = *this](caf::actor_system& system,
                        const executor_args& args) -> executor_actor {
    copy.script_->made.push_back(args);
    return copy.spawn(system);
  };
}

path_context scripted_executor::paths() {
  return {"/host/workspace", "/workspace", "/workspace/office", true};
}

bool scripted_executor::has_file(const std::string& path) const {
  return script_->files.count(path) != 0;
}

std::string scripted_executor::file(const std::string& path) const {
  auto found = script_->files.find(path);
  return found == script_->files.end() ? std::string{} : found->second;
}

const std::map<std::string, std::string>& scripted_executor::files() const {
  return script_->files;
}

const std::vector<exec_request>& scripted_executor::commands() const {
  return script_->commands;
}

const std::vector<uint64_t>& scripted_executor::aborts() const {
  return script_->aborts;
}

size_t scripted_executor::parts() const {
  return script_->parts;
}

size_t scripted_executor::running() const {
  return script_->running;
}

const std::vector<executor_args>& scripted_executor::made() const {
  return script_->made;
}

size_t scripted_executor::stopped() const {
  return script_->stopped;
}

} // namespace bureau::test
