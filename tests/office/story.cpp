#include "tests/office/story.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/open_list.hpp"
#include "actors/office/registry_store.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace bureau::test {

namespace {

using gate_actor =
  transport_actor::extend<caf::reacts_to<atom::tick, std::string>>;

// (deliver, outbound) → delivered => deliver
// (drop, run)                     => remembered
// (fetch, attachment_fetch) → size => fetch
// (closed, closed_entry)          => remembered
// (config) → transport_info       => info
// (tick, ref)                     => the oldest waiting fetch is carried out
struct gate_transport_state {
  using pointer = gate_actor::stateful_pointer<gate_transport_state>;
  using size_promise = caf::typed_response_promise<uint64_t>;
  using promise = caf::typed_response_promise<delivered>;
  static inline const char* name = "gate_transport";
  pointer self;
  office_world* world = nullptr;
  std::shared_ptr<gate_script> script;
  offices_actor gate;
  std::vector<promise> stalled;
  std::deque<std::pair<attachment_fetch, size_promise>> fetching;

  explicit gate_transport_state(pointer me) : self(me) {}

  void init(office_world* shared, std::shared_ptr<gate_script> plan,
            offices_actor owner) {
    world = shared;
    script = std::move(plan);
    gate = std::move(owner);
    script->arrive = [this](const std::string& ref) {
      caf::strong_actor_ptr me{self->ctrl()};
      caf::anon_send(caf::actor_cast<gate_actor>(me), atom::tick_v, ref);
    };
  }

  ~gate_transport_state() { script->arrive = {}; }

  gate_actor::behavior_type make_behavior() {
    return {
      [this](atom::deliver, const outbound& op) { return deliver(op); },
      [this](atom::drop, const std::string& run) {
        script->dropped.push_back(run);
      },
      [this](atom::fetch, const attachment_fetch& what) { return fetch(what); },
      [this](atom::tick, const std::string& ref) { arrive(ref); },
      [this](atom::closed, const closed_entry& entry) {
        script->closed.push_back(entry);
      },
      [this](atom::config) {
        transport_info info;
        info.streaming = script->streaming;
        info.uploads = script->uploads;
        info.max_length = script->max_length;
        info.length_unit = "bytes";
        return info;
      },
    };
  }

  size_promise fetch(const attachment_fetch& what) {
    auto answer = self->make_response_promise<size_promise>();
    script->fetches.push_back(what);
    if (script->holds_fetches)
      fetching.emplace_back(what, answer);
    else
      bring(what, answer);
    return answer;
  }

  void arrive(const std::string& ref) {
    for (auto it = fetching.begin(); it != fetching.end(); ++it)
      if (it->first.ref == ref) {
        auto [what, answer] = std::move(*it);
        fetching.erase(it);
        bring(what, answer);
        return;
      }
  }

  void bring(const attachment_fetch& what, size_promise answer) {
    auto failure = script->fetch_failures.find(what.ref);
    auto content = script->files.find(what.ref);
    auto path = what.root + "/" + what.path;
    if (failure != script->fetch_failures.end()) {
      answer.deliver(failure->second);
    } else if (content == script->files.end()) {
      answer.deliver(make_failure(errc::not_found, "no such file"));
    } else {
      if (script->plant)
        script->plant(path);
      else
        put_file(path, content->second);
      answer.deliver(static_cast<uint64_t>(content->second.size()));
    }
  }

  promise deliver(const outbound& op) {
    auto answer = self->make_response_promise<promise>();
    script->operations.push_back(op);
    auto final_answer = op.rank == outbound_class::final_answer;
    if (final_answer && script->stall_before_gate) {
      stalled.push_back(answer);
      return answer;
    }
    if (!final_answer || op.op == outbound_op::edit || !script->asks_gate) {
      answer.deliver(conclude(op));
      return answer;
    }
    delivery_key key{op.conversation, op.message_id, op.run,
                     op.part,         op.op,         op.ref};
    self->request(gate, std::chrono::seconds{30}, atom::may_send_v, key)
      .then(
        [this, answer, op](caf::ok_atom) mutable {
          if (script->stall_after_gate) {
            if (script->shows_when_stalled)
              show(op);
            stalled.push_back(answer);
            return;
          }
          answer.deliver(conclude(op));
        },
        [answer](caf::error& reason) mutable { answer.deliver(reason); });
    return answer;
  }

  void show(const outbound& op) {
    auto text = op.text;
    if (op.op == outbound_op::edit)
      text = "edit[" + op.ref + "] " + op.text;
    else if (op.file)
      text = "file[" + op.file->name + "]" + op.text;
    world->shown.push_back(text);
  }

  delivered conclude(const outbound& op) {
    delivered result;
    auto final_answer = op.rank == outbound_class::final_answer;
    if (final_answer && !script->outcomes.empty()) {
      result = script->outcomes.front();
      script->outcomes.pop_front();
      if (result.fault != delivery_fault::none)
        return result;
    }
    show(op);
    result.ref = op.op == outbound_op::edit
                   ? op.ref
                   : "ref-" + std::to_string(++world->posts);
    return result;
  }
};

// (turn, turn_ticket)       => remembered, carried out when automatic
// (stop, stop_turn)         => remembered
// (describe)                => an idle snapshot
// (drain, drain_phase) → ok => remembered
struct queue_settings_state {
  using pointer = settings_actor::stateful_pointer<queue_settings_state>;
  static inline const char* name = "queue_settings";
  pointer self;
  std::shared_ptr<queue_script> script;

  explicit queue_settings_state(pointer me) : self(me) {}

  void init(std::shared_ptr<queue_script> shared) {
    script = std::move(shared);
  }

  settings_actor::behavior_type make_behavior() {
    return {
      [this](atom::resolve,
             const office_address&) -> caf::result<run_settings> {
        if (script->failure)
          return script->failure;
        run_settings result;
        result.mode = script->mode;
        return result;
      },
      [this](atom::patch,
             const settings_patch& patch) -> caf::result<caf::ok_atom> {
        if (script->failure)
          return script->failure;
        script->patches.push_back(patch);
        return caf::ok_atom_v;
      },
      [](atom::status) { return status_line{}; },
    };
  }
};

struct scripted_session_state {
  using pointer = session_actor::stateful_pointer<scripted_session_state>;
  static inline const char* name = "scripted_session";
  pointer self;
  office_world* world = nullptr;
  std::shared_ptr<session_script> script;
  session_args args;

  explicit scripted_session_state(pointer me) : self(me) {}

  void init(office_world* shared, std::shared_ptr<session_script> plan,
            session_args given) {
    world = shared;
    script = std::move(plan);
    args = std::move(given);
  }

  session_actor::behavior_type make_behavior() {
    return {
      [this](atom::turn, const turn_ticket& ticket) { take(ticket); },
      [this](atom::stop, const stop_turn& request) {
        script->stops.push_back(request);
      },
      [this](atom::reset) -> caf::result<caf::ok_atom> {
        script->resets.push_back(args.session_key);
        if (script->reset_failure)
          return script->reset_failure;
        return caf::ok_atom_v;
      },
      [this](atom::renew) { ++script->renewals; },
      [this](atom::describe) {
        session_snapshot snapshot;
        snapshot.session_key = args.session_key;
        snapshot.state = "absent";
        return snapshot;
      },
      [this](atom::drain, drain_phase phase) {
        script->drains.push_back(args.session_key + " " + to_string(phase));
        return caf::ok_atom_v;
      },
    };
  }

  void take(const turn_ticket& ticket) {
    script->tickets.push_back(ticket);
    if (script->dies) {
      self->quit(make_failure(errc::internal, "scripted death"));
      return;
    }
    if (!script->automatic)
      return;
    auto id = ticket.event.message_id;
    auto run = "run-" + id + "-" + std::to_string(ticket.attempt);
    self
      ->request(args.owner, std::chrono::seconds{30}, atom::run_v,
                turn_started{args.session_key, id, run, ticket.attempt})
      .then(
        [this, id, run](caf::ok_atom) {
          world->recorded.insert(id);
          world->worked.insert(id);
          turn_produced fact;
          fact.session_key = args.session_key;
          fact.message_id = id;
          fact.run = run;
          fact.text = "answer to " + id;
          fact.silent = script->silent.contains(id);
          fact.provisional = script->provisional;
          self
            ->request(args.owner, std::chrono::seconds{30}, atom::produced_v,
                      fact)
            .then([](caf::ok_atom) {}, [](caf::error&) {});
        },
        [](caf::error&) {});
  }
};

// (locate, id) → cause_report => from the world; the rest is not asked
struct scripted_store_state {
  using pointer = session_store_actor::stateful_pointer<scripted_store_state>;
  static inline const char* name = "scripted_store";
  pointer self;
  office_world* world = nullptr;
  std::string key;

  explicit scripted_store_state(pointer me) : self(me) {}

  void init(office_world* shared, std::string session_key) {
    world = shared;
    key = std::move(session_key);
  }

  session_store_actor::behavior_type make_behavior() {
    return {
      [](atom::open, const session_open&) { return session_context{}; },
      [](atom::append, const session_append&) {
        return std::vector<std::string>{};
      },
      [](atom::load) { return session_context{}; },
      [this](atom::locate, const std::string& id) {
        cause_report report;
        report.recorded = world->recorded.contains(id);
        report.admitted = report.recorded;
        report.worked = world->worked.contains(id);
        return report;
      },
      [](atom::branch, const session_branch&) { return session_context{}; },
      [this](atom::exists) { return world->threads.contains(key); },
      [](atom::ensure) { return std::string{}; },
      [](atom::reset, const session_open&) { return session_context{}; },
      [](atom::close) { return caf::ok_atom_v; },
    };
  }
};

// (add, metric_sample) => remembered; nothing else is used here
struct counting_metrics_state {
  using pointer = metrics_actor::stateful_pointer<counting_metrics_state>;
  static inline const char* name = "counting_metrics";
  pointer self;
  std::shared_ptr<std::vector<std::string>> counted;

  explicit counting_metrics_state(pointer me) : self(me) {}

  void init(std::shared_ptr<std::vector<std::string>> into) {
    counted = std::move(into);
  }

  metrics_actor::behavior_type make_behavior() {
    return {
      [this](atom::add, const metric_sample& sample) {
        auto line = sample.id == metric::intake ? std::string{"intake"}
                                                : std::string{"restart"};
        for (const auto& label : sample.labels)
          line += " " + label;
        counted->push_back(line);
      },
      [](atom::observe, const metric_sample&) {},
      [](atom::gauge, const metric_sample&) {},
      [](atom::scrape) { return std::string{}; },
    };
  }
};

std::string name_of(const caf::error& reason) {
  return to_string(code_of(reason));
}

} // namespace

// -- world --------------------------------------------------------------------

office_world::office_world() {
  std::filesystem::create_directories(state);
  std::filesystem::create_directories(root);
}

std::string office_world::ledger_path(const std::string& id) const {
  return state + "/conversations/" + office_key(address(id)) + "/ledger.jsonl";
}

std::string office_world::log_path(const std::string& id) const {
  return root + "/" + office_key(address(id)) + "/log.jsonl";
}

std::vector<std::string> office_world::ledger(const std::string& id) const {
  std::vector<std::string> result;
  for (const auto& line : read_ledger(get_file(ledger_path(id))).records) {
    auto text = line.id + " " + to_string(line.state);
    if (!line.note.empty())
      text += "(" + line.note + ")";
    if (line.state == ledger_state::dead)
      text += "(" + line.why + (line.told ? ", told)" : ")");
    if (line.state == ledger_state::sending && line.op == outbound_op::edit)
      text += "(edit)";
    if (line.labelled)
      text += "(labelled)";
    result.push_back(text);
  }
  return result;
}

std::vector<log_record> office_world::log(const std::string& id) const {
  std::vector<log_record> result;
  for (auto& entry : read_log(get_file(log_path(id)), "log").entries)
    result.push_back(std::move(entry.record));
  return result;
}

size_t office_world::count(const std::string& text) const {
  return static_cast<size_t>(std::count(shown.begin(), shown.end(), text));
}

// -- node ---------------------------------------------------------------------

office_node::office_node(office_world& shared,
                         std::function<void(gate_script&)> script,
                         bool attached)
  : world(shared), disk(std::make_shared<faulty_file_system>(shared.real)),
    journal_log(std::make_shared<journal_probe>()),
    files_log(std::make_shared<files_probe>()),
    gate(std::make_shared<gate_script>()),
    sessions(std::make_shared<session_script>()),
    counted(std::make_shared<std::vector<std::string>>()) {
  if (script)
    script(*gate);
  offices::registry_store boot{{*disk, *world.chance, *wall}, world.state};
  if (auto fault = boot.open(); !fault.empty())
    throw std::runtime_error{fault};
  auto files = spawn_inline_files(*system, disk, world.chance, files_log);
  auto place = make_workspace(world.root, world.state);
  registry =
    offices::spawn_registry(*system, {place, boot.state(), files, wall});
  offices::offices_args args;
  args.deps.place = place;
  args.deps.journal = world.journal
                        ? world.journal(*system, disk)
                        : spawn_inline_journal(*system, disk, world.state,
                                               world.root, journal_log);
  args.deps.files = files;
  args.deps.wall = wall;
  metrics = kit::spawn_stateful<metrics_actor, counting_metrics_state>(*system,
                                                                       counted);
  args.deps.metrics = metrics;
  args.deps.sessions = [this](caf::actor_system& home,
                              const session_args& given) {
    if (sessions->broken_factories > 0) {
      --sessions->broken_factories;
      throw std::runtime_error{"scripted fault"};
    }
    auto session = kit::spawn_stateful<session_actor, scripted_session_state>(
      home, &world, sessions, given);
    ++sessions->spawned;
    sessions->owner = given.owner;
    sessions->handles[given.session_key] = session;
    return session;
  };
  args.deps.stores = [this](caf::actor_system& home, const office&,
                            const std::string& key) {
    return kit::spawn_stateful<session_store_actor, scripted_store_state>(
      home, &world, key);
  };
  args.registry = registry;
  if (world.settings)
    args.deps.settings =
      kit::spawn_stateful<settings_actor, queue_settings_state>(*system,
                                                                world.settings);
  args.deps.sleep_job = world.sleep_job;
  args.cached_sessions = world.cached_sessions;
  args.resume_keys = offices::load_open_list(*disk, world.state).keys;
  args.resume_keys.insert(args.resume_keys.end(), world.replayed.begin(),
                          world.replayed.end());
  offices_handle = offices::spawn_offices(*system, std::move(args));
  transport = kit::spawn_stateful<gate_actor, gate_transport_state>(
    *system, &world, gate, offices_handle);
  if (attached)
    attach();
}

office_node::~office_node() {
  for (auto& [key, handle] : sessions->handles)
    self->send_exit(handle, caf::exit_reason::user_shutdown);
  self->send_exit(offices_handle, caf::exit_reason::user_shutdown);
  self->send_exit(registry, caf::exit_reason::user_shutdown);
  self->send_exit(transport, caf::exit_reason::user_shutdown);
  settle();
  sessions->handles.clear();
  sessions->owner = nullptr;
  offices_handle = nullptr;
  registry = nullptr;
  metrics = nullptr;
  transport = nullptr;
}

void office_node::attach() {
  ask(
    offices_handle, [](caf::ok_atom) {},
    [](const caf::error& reason) {
      throw std::runtime_error{sentence_of(reason)};
    },
    atom::attach_v, world.platform, transport);
}

intake_request office_node::message(const std::string& id,
                                    const std::string& text,
                                    const std::string& key) const {
  intake_request request;
  request.event.address = world.address();
  request.event.session_key = key.empty() ? "local" : key;
  request.event.message_id = id;
  request.event.user = "u1";
  request.event.user_name = "ann";
  request.event.text = text;
  request.event.target = json_text{R"({"to":")" + id + "\"}"};
  request.event.sent_ms = wall->now_ms();
  request.display_name = "Ann";
  return request;
}

std::string office_node::say(const std::string& id, const std::string& text,
                             const std::string& key) {
  return offer(message(id, text, key));
}

std::string office_node::offer(intake_request request) {
  std::string result;
  ask(
    offices_handle,
    [&](const intake_reply& reply) { result = to_string(reply.outcome); },
    [&](const caf::error& reason) { result = name_of(reason); }, atom::intake_v,
    std::move(request));
  return result;
}

std::string office_node::run(const std::string& id, const std::string& run,
                             uint32_t attempt, const std::string& key) {
  std::string result;
  ask(
    sessions->owner, [&](caf::ok_atom) { result = "ok"; },
    [&](const caf::error& reason) { result = name_of(reason); }, atom::run_v,
    turn_started{key, id, run, attempt});
  return result;
}

std::string office_node::produce(const std::string& id, const std::string& run,
                                 const std::string& text,
                                 const std::string& prov,
                                 std::vector<std::string> covers) {
  turn_produced fact;
  fact.session_key = "local";
  fact.message_id = id;
  fact.run = run;
  fact.text = text;
  fact.provisional = prov;
  fact.covers = std::move(covers);
  std::string result;
  ask(
    sessions->owner, [&](caf::ok_atom) { result = "ok"; },
    [&](const caf::error& reason) { result = name_of(reason); },
    atom::produced_v, fact);
  return result;
}

std::string office_node::fail_turn(const std::string& id,
                                   const std::string& why) {
  std::string result;
  ask(
    sessions->owner, [&](caf::ok_atom) { result = "ok"; },
    [&](const caf::error& reason) { result = name_of(reason); }, atom::failed_v,
    turn_dead{"local", id, why, true});
  return result;
}

std::string office_node::may_send(const std::string& id,
                                  const std::string& run) {
  delivery_key key;
  key.conversation = world.address();
  key.message_id = id;
  key.run = run;
  std::string result;
  ask(
    offices_handle, [&](caf::ok_atom) { result = "ok"; },
    [&](const caf::error& reason) { result = name_of(reason); },
    atom::may_send_v, key);
  return result;
}

void office_node::arrive(const std::string& ref) {
  gate->arrive(ref);
  settle();
}

void office_node::report(const std::string& key, const std::string& state,
                         int64_t last_access_ms) {
  session_snapshot snapshot;
  snapshot.session_key = key;
  snapshot.state = state;
  snapshot.last_access_ms = last_access_ms;
  caf::anon_send(sessions->owner, atom::settled_v, snapshot);
  settle();
}

runtime_snapshot office_node::describe() {
  runtime_snapshot result;
  ask(
    offices_handle, [&](const runtime_snapshot& seen) { result = seen; },
    [](const caf::error& reason) {
      throw std::runtime_error{sentence_of(reason)};
    },
    atom::describe_v);
  return result;
}

drain_report office_node::drain(drain_phase phase) {
  drain_report result;
  ask(
    offices_handle, [&](const drain_report& seen) { result = seen; },
    [](const caf::error& reason) {
      throw std::runtime_error{sentence_of(reason)};
    },
    atom::drain_v, phase);
  return result;
}

} // namespace bureau::test
