#include "tests/console/console_world.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/inline_files.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::test {

namespace {

struct scripted_offices_state {
  offices_actor::stateful_pointer<scripted_offices_state> self;
  std::shared_ptr<offices_script> script;
  static inline const char* name = "scripted_offices";

  explicit scripted_offices_state(
    offices_actor::stateful_pointer<scripted_offices_state> me)
    : self(me) {}

  void init(std::shared_ptr<offices_script> shared) {
    script = std::move(shared);
  }

  static caf::error next(std::deque<caf::error>& failures) {
    if (failures.empty())
      return {};
    auto result = std::move(failures.front());
    failures.pop_front();
    return result;
  }

  offices_actor::behavior_type make_behavior() {
    return {
      [this](atom::intake,
             const intake_request& request) -> caf::result<intake_reply> {
        script->intakes.push_back(request);
        if (auto failure = next(script->failures))
          return failure;
        auto outcome = request.event.text == "stop" ? intake_outcome::stopped
                                                    : intake_outcome::taken;
        return intake_reply{outcome, request.event.session_key};
      },
      [this](atom::may_send,
             const delivery_key& key) -> caf::result<caf::ok_atom> {
        script->gates.push_back(key);
        if (auto failure = next(script->refusals))
          return failure;
        return caf::ok_atom_v;
      },
      [this](atom::stop, const stop_request& request) {
        script->stops.push_back(request);
        return stop_report{script->runs, request.conversation.conversation_id,
                           "m"};
      },
      [](atom::renew, const office_address&) { return uint64_t{0}; },
      [](atom::renew) { return uint64_t{0}; },
      [this](atom::attach, platform_id,
             const transport_actor& transport) -> caf::result<caf::ok_atom> {
        if (script->attach_failure)
          return script->attach_failure;
        script->attached = transport;
        return caf::ok_atom_v;
      },
      [](atom::describe) { return runtime_snapshot{}; },
      [](atom::drain, drain_phase) { return drain_report{}; },
      [](atom::status) {
        return status_line{"offices", "ok", ""};
      },
    };
  }
};

struct scripted_node_state {
  node_actor::stateful_pointer<scripted_node_state> self;
  std::shared_ptr<std::vector<std::string>> shutdowns;
  static inline const char* name = "scripted_node";

  explicit scripted_node_state(
    node_actor::stateful_pointer<scripted_node_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::vector<std::string>> shared) {
    shutdowns = std::move(shared);
  }

  node_actor::behavior_type make_behavior() {
    return {
      [](atom::health) { return health_report{}; },
      [](atom::degrade, const degraded_part&) {},
      [this](atom::shutdown, const std::string& why) {
        shutdowns->push_back(why);
      },
      [](atom::status) {
        return status_line{"node", "ok", ""};
      },
    };
  }
};

struct log_files_state {
  files_actor::stateful_pointer<log_files_state> self;
  std::shared_ptr<std::map<std::string, std::string>> content;
  static inline const char* name = "log_files";

  explicit log_files_state(files_actor::stateful_pointer<log_files_state> me)
    : self(me) {}

  void init(std::shared_ptr<std::map<std::string, std::string>> shared) {
    content = std::move(shared);
  }

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) -> caf::result<file_outcome> {
        file_outcome outcome;
        if (job.op == file_op::write_atomic) {
          (*content)[job.root + "/" + job.path] = job.bytes;
          return outcome;
        }
        auto found = content->find(job.path);
        if (found == content->end())
          return outcome;
        if (found->second == "broken")
          return make_failure(errc::disk, "I/O error.");
        if (found->second == "secret" && job.op != file_op::stat)
          return make_failure(errc::denied, "cannot read '" + job.path + "'");
        if (job.op == file_op::read) {
          if (found->second.size() > job.length)
            return make_failure(errc::too_large, "it is too large");
          outcome.bytes = found->second;
          return outcome;
        }
        outcome.kind = file_kind::regular;
        outcome.size = found->second.size();
        if (job.op == file_op::read_range)
          outcome.bytes = found->second.substr(job.offset, job.length);
        return outcome;
      },
      [](atom::status) {
        return status_line{"files", "ok", ""};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

struct scripted_hub_state {
  interaction_actor::stateful_pointer<scripted_hub_state> self;
  std::shared_ptr<hub_script> script;
  static inline const char* name = "scripted_hub";
  explicit scripted_hub_state(
    interaction_actor::stateful_pointer<scripted_hub_state> me)
    : self(me) {}
  void init(std::shared_ptr<hub_script> shared) { script = std::move(shared); }
  interaction_actor::behavior_type make_behavior() {
    return {
      [this](atom::attach, platform_id, const interaction_sink_actor& sink) {
        script->sink = sink;
      },
      [](atom::ask, const ask_request&) { return contracts::ask_snapshot{}; },
      [](atom::read, const std::string&) { return pending_ask{}; },
      [](atom::notice, const status_post&) { return caf::ok_atom_v; },
      [this](atom::submit, const contracts::ask_submission& answers) {
        script->answers.push_back(answers);
        contracts::ask_submission_result result;
        if (script->refusal)
          result.refusal = *script->refusal;
        return result;
      },
      [](atom::cancel, const std::string&) {},
      [](atom::status) { return status_line{}; },
    };
  }
};

struct scripted_artifacts_state {
  artifacts_actor::stateful_pointer<scripted_artifacts_state> self;
  std::shared_ptr<artifact_script> script;
  static inline const char* name = "scripted_artifacts";
  explicit scripted_artifacts_state(
    artifacts_actor::stateful_pointer<scripted_artifacts_state> me)
    : self(me) {}
  void init(std::shared_ptr<artifact_script> shared) {
    script = std::move(shared);
  }
  artifacts_actor::behavior_type make_behavior() {
    return {
      [](atom::publish, const artifact_publish&) {
        return contracts::attachment_part{};
      },
      [this](atom::open, const contracts::artifact_open_request& request) {
        script->opened.push_back(request);
        artifact_opened result;
        if (script->fault)
          result.fault = *script->fault;
        result.token = "t1";
        return result;
      },
      [this](atom::read, const artifact_read& wanted) {
        artifact_slice slice;
        // Two slices, whatever was asked for.
        auto half = script->bytes.size() / 2;
        slice.bytes = wanted.offset == 0 ? script->bytes.substr(0, half)
                                         : script->bytes.substr(half);
        slice.eof = wanted.offset > 0;
        return slice;
      },
      [this](atom::close, const std::string& token) {
        script->closed.push_back(token);
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

} // namespace

console_world::console_world(bool interactive, const change& other,
                             std::shared_ptr<hub_script> hub,
                             std::shared_ptr<artifact_script> artifacts) {
  console::console_deps deps;
  if (artifacts)
    deps.artifacts =
      kit::spawn_stateful<artifacts_actor, scripted_artifacts_state>(*system,
                                                                     artifacts);
  if (hub)
    deps.interaction =
      kit::spawn_stateful<interaction_actor, scripted_hub_state>(*system, hub);
  offices_handle = kit::spawn_stateful<offices_actor, scripted_offices_state>(
    *system, offices);
  deps.offices = offices_handle;
  deps.node =
    kit::spawn_stateful<node_actor, scripted_node_state>(*system, shutdowns);
  deps.files =
    artifacts
      ? spawn_inline_files(*system, std::make_shared<os::posix_file_system>(),
                           chance)
      : kit::spawn_stateful<files_actor, log_files_state>(*system, logs);
  deps.ws = make_workspace("/ws", "/state");
  deps.wall = wall;
  deps.port = port;
  console::console_options options;
  options.interactive = interactive;
  options.user = "ann";
  options.banner = "bureau, model lab/tiny: first entry of models.json";
  options.show_warnings = false;
  options.home = "/home/ann";
  options.working_dir = "/work";
  if (other)
    other(options);
  handle = console::spawn_console(*system, deps, options);
}

} // namespace bureau::test
