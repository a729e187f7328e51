#include "tests/support/fake_process.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <optional>

namespace bureau::test {

// (run, proc_spec) → proc_result                     ⇒ run
// (start, proc_spec, process_sink) → proc_started    ⇒ start
// (p_write, proc_input)                              ⇒ write
// (ack, proc_ack)                                    ⇒ acknowledge
// (p_kill, proc_kill)                                ⇒ kill
// (status) → status_line                             ⇒ line
// (stop) → ok                                        ⇒ stop
struct fake_process_state {
  using pointer = process_host_actor::stateful_pointer<fake_process_state>;
  static inline const char* name = "fake_process";

  struct child {
    proc_spec spec;
    process_script script;
    /// Of a run: what was captured and who waits.
    proc_result captured;
    uint64_t promise = 0;
    /// Of a start: weak, or the sink would outlive its owner.
    caf::actor_addr sink;
    std::array<std::deque<std::string>, 2> pending;
    std::array<uint64_t, 2> unacked{};
    std::optional<proc_exit> end;
  };

  pointer self;
  std::weak_ptr<process_probe> probe;
  std::map<uint64_t, child> children;
  kit::promise_guard<proc_result> promises;
  int32_t last_pid = 1000;
  bool closed = false;

  explicit fake_process_state(pointer me) : self(me) {}

  ~fake_process_state() {
    if (auto control = probe.lock()) {
      control->output_ = nullptr;
      control->finish_ = nullptr;
      control->quit_ = nullptr;
    }
  }

  void init(std::shared_ptr<process_probe> control) {
    probe = control;
    // A test calls these between two turns of the scheduler, when the worker
    // of the last turn is gone: answers must not be handed to it.
    control->output_ = [this](uint64_t id, int32_t stream, std::string bytes) {
      self->context(nullptr);
      output(id, stream, std::move(bytes));
    };
    control->finish_ = [this](proc_exit exit) {
      self->context(nullptr);
      finish(std::move(exit));
    };
    control->quit_ = [address = self->address()] {
      if (auto me = caf::actor_cast<caf::actor>(address))
        caf::anon_send_exit(me, caf::exit_reason::user_shutdown);
    };
    self->set_down_handler(
      [this](const caf::down_msg& down) { abandon(down.source); });
  }

  caf::result<proc_result> run(const proc_spec& spec) {
    auto script = accept(spec);
    if (script.refuse)
      return script.refuse;
    auto answer = self->make_response_promise<proc_result>();
    auto& entry = admit(spec, std::move(script));
    entry.promise = promises.keep(answer);
    entry.captured.extra = entry.script.extra;
    begin(spec.id);
    return answer;
  }

  caf::result<proc_started> start(const proc_spec& spec,
                                  const process_sink_actor& sink) {
    auto script = accept(spec);
    if (script.refuse)
      return script.refuse;
    auto answer = self->make_response_promise<proc_started>();
    answer.deliver(proc_started{spec.id, ++last_pid});
    self->monitor(sink);
    admit(spec, std::move(script)).sink = sink.address();
    begin(spec.id);
    return answer;
  }

  void write(const proc_input& input) {
    auto control = probe.lock();
    if (!control || children.count(input.id) == 0)
      return;
    control->inputs[input.id] += input.bytes;
    if (input.eof)
      control->closed_inputs.insert(input.id);
  }

  void acknowledge(const proc_ack& ack) {
    if (auto control = probe.lock())
      control->acked[ack.id] += ack.bytes;
    auto entry = children.find(ack.id);
    if (entry == children.end() || (ack.stream != 1 && ack.stream != 2))
      return;
    auto& unacked = entry->second.unacked[ack.stream == 2];
    unacked -= std::min(unacked, ack.bytes);
    pump(ack.id);
  }

  void kill(const proc_kill& request) {
    if (auto control = probe.lock())
      control->kills.push_back(request);
    auto entry = children.find(request.id);
    if (entry == children.end())
      return;
    entry->second.captured.killed = true;
    if (entry->second.script.ignores_kill)
      return;
    proc_exit exit;
    exit.id = request.id;
    exit.signal = request.grace_ms > 0 ? SIGTERM : SIGKILL;
    finish(std::move(exit));
  }

  caf::ok_atom stop() {
    closed = true;
    while (!children.empty()) {
      auto id = children.begin()->first;
      children.begin()->second.unacked = {};
      children.begin()->second.pending = {};
      proc_exit exit;
      exit.id = id;
      exit.signal = SIGKILL;
      finish(std::move(exit));
    }
    return caf::ok_atom_v;
  }

  process_host_actor::behavior_type make_behavior() {
    return {
      [this](atom::run, const proc_spec& spec) { return run(spec); },
      [this](atom::start, const proc_spec& spec,
             const process_sink_actor& sink) { return start(spec, sink); },
      [this](atom::p_write, const proc_input& input) { write(input); },
      [this](atom::ack, const proc_ack& ack) { acknowledge(ack); },
      [this](atom::p_kill, const proc_kill& request) { kill(request); },
      [this](atom::status) {
        return status_line{"process", closed ? "stopping" : "ok",
                           std::to_string(children.size()) + " running"};
      },
      [this](atom::stop) { return stop(); },
    };
  }

  // -- helpers ----------------------------------------------------------------

  process_script accept(const proc_spec& spec) {
    process_script script;
    auto control = probe.lock();
    if (closed || !control) {
      script.refuse = make_failure(errc::shutting_down, "processes are ending");
      return script;
    }
    control->specs.push_back(spec);
    if (spec.argv.empty() || !spec.argv.front().starts_with('/') || spec.id == 0
        || children.count(spec.id) > 0) {
      script.refuse =
        make_failure(errc::bad_request, "a child needs an id of its own and an "
                                        "absolute program path");
      return script;
    }
    return control->take(spec);
  }

  child& admit(const proc_spec& spec, process_script script) {
    auto& entry = children[spec.id];
    entry.spec = spec;
    entry.script = std::move(script);
    entry.captured.exit.id = spec.id;
    return entry;
  }

  void begin(uint64_t id) {
    auto& entry = children[id];
    note_running();
    auto hold = entry.script.hold;
    proc_exit exit;
    exit.id = id;
    exit.code = entry.script.code;
    exit.signal = entry.script.signal;
    auto out = entry.script.out;
    auto err = entry.script.err;
    output(id, 1, std::move(out));
    output(id, 2, std::move(err));
    if (!hold)
      finish(std::move(exit));
  }

  void output(uint64_t id, int32_t stream, std::string bytes) {
    auto entry = children.find(id);
    if (entry == children.end() || bytes.empty())
      return;
    auto& live = entry->second;
    if (live.promise != 0) {
      auto& kept = stream == 2 ? live.captured.err : live.captured.out;
      auto& dropped = stream == 2 ? live.captured.exit.err_dropped
                                  : live.captured.exit.out_dropped;
      auto cap = stream == 2 ? live.spec.cap_err : live.spec.cap_out;
      auto room = cap - std::min<uint64_t>(cap, kept.size());
      auto taken = std::min<uint64_t>(room, bytes.size());
      kept.append(bytes, 0, taken);
      dropped += bytes.size() - taken;
      return;
    }
    live.pending[stream == 2].push_back(std::move(bytes));
    pump(id);
  }

  void pump(uint64_t id) {
    auto entry = children.find(id);
    if (entry == children.end() || entry->second.promise != 0)
      return;
    auto& live = entry->second;
    auto sink = caf::actor_cast<process_sink_actor>(live.sink);
    for (size_t index : {size_t{0}, size_t{1}}) {
      auto& queue = live.pending[index];
      while (!queue.empty()
             && live.unacked[index] < limits::stream_window_bytes) {
        auto bytes = std::move(queue.front());
        queue.pop_front();
        if (bytes.size() > limits::stream_chunk_bytes) {
          queue.push_front(bytes.substr(limits::stream_chunk_bytes));
          bytes.resize(limits::stream_chunk_bytes);
        }
        live.unacked[index] += bytes.size();
        if (sink)
          caf::anon_send(
            sink, atom::p_out_v,
            proc_output{id, static_cast<int32_t>(index + 1), std::move(bytes)});
      }
    }
    if (live.end && live.pending[0].empty() && live.pending[1].empty())
      close(id);
  }

  void finish(proc_exit exit) {
    auto entry = children.find(exit.id);
    if (entry == children.end())
      return;
    auto& live = entry->second;
    auto id = exit.id;
    exit.out_dropped += live.captured.exit.out_dropped;
    exit.err_dropped += live.captured.exit.err_dropped;
    live.captured.exit = exit;
    live.end = std::move(exit);
    if (live.promise != 0)
      close(id);
    else
      pump(id);
  }

  void close(uint64_t id) {
    auto entry = children.extract(id);
    auto& gone = entry.mapped();
    if (gone.promise != 0) {
      promises.deliver(gone.promise, std::move(gone.captured));
    } else {
      self->demonitor(gone.sink);
      if (auto sink = caf::actor_cast<process_sink_actor>(gone.sink))
        caf::anon_send(sink, atom::p_exit_v, *gone.end);
    }
    note_running();
  }

  /// A sink that ended: its children are killed.
  void abandon(const caf::actor_addr& sink) {
    for (auto entry = children.begin(); entry != children.end();) {
      if (entry->second.promise != 0 || entry->second.sink != sink) {
        ++entry;
        continue;
      }
      if (auto control = probe.lock())
        control->kills.push_back({entry->first, 0});
      entry = children.erase(entry);
    }
    note_running();
  }

  void note_running() {
    auto control = probe.lock();
    if (!control)
      return;
    control->running.clear();
    for (const auto& entry : children)
      control->running.push_back(entry.first);
  }
};

process_probe::~process_probe() {
  if (quit_)
    quit_();
}

void process_probe::script(process_script answer, predicate fits) {
  plans_.push_back({std::move(fits), std::move(answer), false});
}

void process_probe::always(process_script answer, predicate fits) {
  plans_.push_back({std::move(fits), std::move(answer), true});
}

void process_probe::otherwise(
  std::function<process_script(const proc_spec&)> answer) {
  otherwise_ = std::move(answer);
}

void process_probe::output(uint64_t id, int32_t stream, std::string bytes) {
  if (output_)
    output_(id, stream, std::move(bytes));
}

void process_probe::finish(uint64_t id, int32_t code, int32_t signal) {
  proc_exit exit;
  exit.id = id;
  exit.code = code;
  exit.signal = signal;
  exit_as(std::move(exit));
}

void process_probe::exit_as(proc_exit exit) {
  if (finish_)
    finish_(std::move(exit));
}

process_script process_probe::take(const proc_spec& spec) {
  for (auto repeat : {false, true})
    for (auto entry = plans_.begin(); entry != plans_.end(); ++entry) {
      if (entry->repeat != repeat || (entry->fits && !entry->fits(spec)))
        continue;
      auto answer = entry->answer;
      if (!repeat)
        plans_.erase(entry);
      return answer;
    }
  if (otherwise_)
    return otherwise_(spec);
  unscripted.push_back(spec.label);
  process_script failing;
  failing.refuse =
    make_failure(errc::spawn_failed, "no script for " + spec.argv.front());
  return failing;
}

process_host_actor spawn_fake_process(caf::actor_system& system,
                                      std::shared_ptr<process_probe> probe) {
  return kit::spawn_stateful<process_host_actor, fake_process_state>(
    system, std::move(probe));
}

} // namespace bureau::test
