#include "adapters/console/console.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "adapters/console/frame_responder.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/log_record.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

// -- neighbours ---------------------------------------------------------------

struct offices_script {
  std::vector<intake_request> intakes;
  std::deque<caf::error> failures;
  std::vector<stop_request> stops;
  /// Whether a turn runs when a stop comes.
  bool runs = false;
  std::vector<delivery_key> gates;
  std::deque<caf::error> refusals;
  transport_actor attached;
  caf::error attach_failure;
};

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

/// Streams that the story drives.
struct fake_port final : console::console_port {
  std::optional<std::string> start(console::console_events on) override {
    events = std::move(on);
    if (broken)
      return "The console is broken.";
    return std::nullopt;
  }
  void write(uint64_t token, std::string text, std::string errors) override {
    out += text;
    err += errors;
    if (token == 0)
      return;
    if (hold)
      held.push_back(token);
    else
      events.written(token, !closed);
  }
  void allow(size_t bytes) override { allowed += bytes; }
  void hurry() override { hurried = true; }
  void prompt(std::string text) override { shown_prompt = std::move(text); }
  void stop() override {
    ++stops;
    if (!stuck)
      events.ended();
  }

  console::console_events events;
  std::string out;
  std::string err;
  std::string shown_prompt;
  size_t allowed = 0;
  size_t stops = 0;
  bool hurried = false;
  std::vector<uint64_t> held;
  bool hold = false;
  bool closed = false;
  bool broken = false;
  bool stuck = false;
};

struct hub_script {
  interaction_sink_actor sink;
  std::vector<contracts::ask_submission> answers;
  std::optional<contracts::ask_refusal> refusal;
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

/// The artifacts of one answer.
struct artifact_script {
  std::string bytes = "hello from the agent";
  std::optional<contracts::part_failure_code> fault;
  std::vector<contracts::artifact_open_request> opened;
  std::vector<std::string> closed;
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

// -- world --------------------------------------------------------------------

class console_world : public test::node_fixture {
public:
  using change = std::function<void(console::console_options&)>;

  explicit console_world(bool interactive = false, const change& other = {},
                         std::shared_ptr<hub_script> hub = {},
                         std::shared_ptr<artifact_script> artifacts = {}) {
    console::console_deps deps;
    if (artifacts)
      deps.artifacts =
        kit::spawn_stateful<artifacts_actor, scripted_artifacts_state>(
          *system, artifacts);
    if (hub)
      deps.interaction =
        kit::spawn_stateful<interaction_actor, scripted_hub_state>(*system,
                                                                   hub);
    offices_handle = kit::spawn_stateful<offices_actor, scripted_offices_state>(
      *system, offices);
    deps.offices = offices_handle;
    deps.node =
      kit::spawn_stateful<node_actor, scripted_node_state>(*system, shutdowns);
    deps.files =
      artifacts
        ? test::spawn_inline_files(
          *system, std::make_shared<os::posix_file_system>(), chance)
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

  ~console_world() {
    offices->attached = nullptr;
    self->send_exit(handle.service, caf::exit_reason::kill);
    settle();
    port->events = {};
    handle = {};
  }

  bool start() {
    auto fine = false;
    ask(
      handle.service, [&](caf::ok_atom) { fine = true; },
      [&](const caf::error& reason) { fault = sentence_of(reason); },
      atom::start_v);
    return fine;
  }

  void say(const std::string& text) {
    port->events.line(text, false);
    settle();
  }

  /// Id of the n-th message offered to the offices.
  std::string id_of(size_t n) const {
    return offices->intakes.at(n).event.message_id;
  }

  void close(const std::string& id) {
    closed_entry entry;
    entry.message_id = id;
    self->send(offices->attached, atom::closed_v, entry);
    settle();
  }

  outbound answer_to(const std::string& id, const std::string& text,
                     const std::string& run = "run-1") {
    outbound result;
    result.conversation = {platform_id::console, "local"};
    result.message_id = id;
    result.run = run;
    result.text = text;
    return result;
  }

  delivered deliver(const outbound& operation) {
    delivered result;
    ask(
      offices->attached, [&](const delivered& outcome) { result = outcome; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); },
      atom::deliver_v, operation);
    return result;
  }

  std::string log_path(const std::string& name) {
    auto place = make_office(make_workspace("/ws", "/state"),
                             {platform_id::console, name});
    return place.key + "/log.jsonl";
  }

  /// Asks for the file of a message; its size, or the error's name.
  std::string fetch(const std::string& ref,
                    platform_id platform = platform_id::console,
                    uint64_t max_bytes = 100) {
    attachment_fetch what;
    what.conversation = {platform, "local"};
    what.ref = ref;
    what.root = "/ws";
    what.path = "k/attachments/.1_a.part";
    what.max_bytes = max_bytes;
    std::string result;
    ask(
      offices->attached, [&](uint64_t size) { result = std::to_string(size); },
      [&](const caf::error& reason) { result = to_string(code_of(reason)); },
      atom::fetch_v, what);
    return result;
  }

  using lines = std::vector<std::string>;
  std::shared_ptr<offices_script> offices = std::make_shared<offices_script>();
  std::shared_ptr<lines> shutdowns = std::make_shared<lines>();
  std::shared_ptr<std::map<std::string, std::string>> logs =
    std::make_shared<std::map<std::string, std::string>>();
  std::shared_ptr<fake_port> port = std::make_shared<fake_port>();
  offices_actor offices_handle;
  console::console_handle handle;
  std::string fault;
};

struct terminal_world : console_world {
  terminal_world() : console_world(true) {}
};

/// A pipe whose output is looked at on a terminal.
struct half_terminal_world : console_world {
  half_terminal_world()
    : console_world(false, [](console::console_options& options) {
        options.output_is_terminal = true;
      }) {}
};

/// A terminal that shows warnings, beside a file with the whole log.
struct logging_world {
  logging_world() { kit::log::set_level(kit::log::level::info); }
  ~logging_world() {
    at.reset();
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::info);
  }

  void open() {
    at.emplace(true, [this](console::console_options& options) {
      options.show_warnings = true;
      options.log_tee = [this](kit::log::level, std::string_view line) {
        file += std::string{line} + "\n";
      };
    });
    kit::log::set_level(kit::log::level::info);
    CHECK(at->start());
  }

  bool has(const std::string& text) const {
    return file.find(text) != std::string::npos;
  }

  std::string file;
  std::optional<console_world> at;
};

} // namespace

TEST_CASE_FIXTURE(console_world,
                  "a line becomes a message, its answer a line") {
  CHECK(start());
  CHECK(port->allowed == limits::console_waiting_bytes);
  say("2+2?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& request = offices->intakes[0];
  CHECK(request.trigger == trigger_class::addressed);
  CHECK(request.event.address == office_address{platform_id::console, "local"});
  CHECK(request.event.session_key == "local");
  CHECK(request.event.kind == conversation_kind::direct);
  CHECK(request.event.user == "ann");
  CHECK(request.event.text == "2+2?");
  CHECK(request.event.message_id == "1767225600.000000");
  auto outcome = deliver(answer_to(id_of(0), "4"));
  CHECK(outcome.fault == delivery_fault::none);
  CHECK(outcome.ref == "1767225600.000001");
  CHECK(port->out == "4\n");
  CHECK(port->err.empty());
  REQUIRE(offices->gates.size() == 1);
  CHECK(offices->gates[0].message_id == id_of(0));
  CHECK(offices->gates[0].run == "run-1");
  CHECK(port->allowed
        == limits::console_waiting_bytes + limits::console_line_cost + 4);
  close(id_of(0));
  CHECK(shutdowns->empty());
}

TEST_CASE_FIXTURE(console_world, "ids go on after those of the chat log") {
  log_record record;
  record.ts = "1767225999.000041";
  record.user = "ann";
  (*logs)[log_path("local")] = print_log_line(record);
  start();
  say("a");
  CHECK(id_of(0) == "1767225999.000042");
}

TEST_CASE_FIXTURE(console_world, "a log that cannot be read does not matter") {
  (*logs)[log_path("local")] = "broken";
  start();
  say("a");
  CHECK(offices->intakes.size() == 1);
}

TEST_CASE_FIXTURE(console_world, "given the end of a pipe, when all messages "
                                 "have closed, then the node shuts down") {
  start();
  say("a");
  say("b");
  port->events.end_of_input();
  settle();
  CHECK(shutdowns->empty());
  close(id_of(0));
  CHECK(shutdowns->empty());
  close(id_of(1));
  CHECK(*shutdowns == lines{"console: end of input"});
}

TEST_CASE_FIXTURE(console_world, "given a full disk, then the message is "
                                 "offered again with the same id") {
  start();
  offices->failures.push_back(make_failure(errc::disk, "The disk is full."));
  say("a");
  say("b");
  CHECK(offices->intakes.size() == 1);
  CHECK(port->err.find("your message is not lost") != std::string::npos);
  advance(1s);
  REQUIRE(offices->intakes.size() == 3);
  CHECK(id_of(1) == id_of(0));
  CHECK(offices->intakes[2].event.text == "b");
}

TEST_CASE_FIXTURE(console_world, "the gate decides about an answer") {
  struct row {
    const char* name;
    errc why;
    delivery_fault want;
  };
  const row rows[] = {
    {"stopped", errc::aborted, delivery_fault::dropped},
    {"disk", errc::disk, delivery_fault::retryable},
    {"ending", errc::shutting_down, delivery_fault::retryable},
  };
  start();
  say("a");
  for (const auto& row : rows) {
    CAPTURE(row.name);
    offices->refusals.push_back(make_failure(row.why, "no"));
    auto outcome = deliver(answer_to(id_of(0), "4"));
    CHECK(outcome.fault == row.want);
    CHECK(outcome.certainty == failure_certainty::definite);
  }
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world,
                  "after a stop nothing of the run is shown, its "
                  "notice is") {
  start();
  say("a");
  self->send<caf::message_priority::high>(offices->attached, atom::drop_v,
                                          std::string{"run-1"});
  settle();
  offices->refusals.push_back(make_failure(errc::aborted, "stopped"));
  CHECK(deliver(answer_to(id_of(0), "late")).fault == delivery_fault::dropped);
  auto interim = answer_to(id_of(0), "later");
  interim.rank = outbound_class::interim;
  CHECK(deliver(interim).fault == delivery_fault::dropped);
  auto notice = answer_to(id_of(0), "_Stopped._");
  notice.rank = outbound_class::control;
  notice.content = outbound_content::notice;
  CHECK(deliver(notice).fault == delivery_fault::none);
  CHECK(port->out.empty());
  CHECK(port->err == "_Stopped._\n");
  CHECK(deliver(answer_to(id_of(0), "other", "run-2")).fault
        == delivery_fault::none);
}

TEST_CASE_FIXTURE(console_world,
                  "an answer that its office sends after a drop is shown") {
  // So an office begins that finds an undelivered answer in its ledger.
  start();
  say("a");
  self->send(offices->attached, atom::drop_v, std::string{"run-1"});
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::none);
  CHECK(port->out == "4\n");
}

TEST_CASE_FIXTURE(console_world,
                  "a drop reaches an answer that waits at its gate") {
  start();
  say("a");
  auto pending = self->request(offices->attached, caf::infinite,
                               atom::deliver_v, answer_to(id_of(0), "4"));
  self->send(offices->attached, atom::drop_v, std::string{"run-1"});
  settle();
  auto outcome = delivery_fault::none;
  pending.receive([&](const delivered& result) { outcome = result.fault; },
                  [](caf::error&) { FAIL("no outcome"); });
  CHECK(outcome == delivery_fault::dropped);
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world, "given a closed output, then the answer keeps "
                                 "and the node shuts down") {
  start();
  say("a");
  port->closed = true;
  auto outcome = deliver(answer_to(id_of(0), "4"));
  CHECK(outcome.fault == delivery_fault::retryable);
  // Longer than a shutdown waits: nobody reads it before the next start.
  CHECK(outcome.retry_after_ms
        > std::chrono::milliseconds{limits::shutdown_timeout}.count());
  CHECK(*shutdowns == lines{"console: standard output is closed"});
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::retryable);
  CHECK(shutdowns->size() == 1);
}

TEST_CASE_FIXTURE(console_world, "a cut line is answered with a notice") {
  start();
  port->events.line(std::string(limits::message_text_bytes + 1, 'x'), true);
  settle();
  CHECK(offices->intakes[0].event.text.size() == limits::message_text_bytes);
  deliver(answer_to(id_of(0), "ok"));
  CHECK(port->out
        == "(Your message was longer than 262144 bytes; I read only its "
           "beginning.)\nok\n");
}

TEST_CASE_FIXTURE(console_world, "two conversations name their lines") {
  start();
  say("/to lab");
  say("a");
  CHECK(offices->intakes[0].event.address.conversation_id == "lab");
  auto answer = answer_to(id_of(0), "x\ny");
  answer.conversation.conversation_id = "lab";
  deliver(answer);
  CHECK(port->out == "[lab] x\n[lab] y\n");
}

TEST_CASE_FIXTURE(console_world, "operations that a console cannot do") {
  start();
  outbound operation;
  operation.op = outbound_op::typing;
  CHECK(deliver(operation).fault == delivery_fault::none);
  operation.op = outbound_op::remove;
  CHECK(deliver(operation).fault == delivery_fault::none);
  operation.op = outbound_op::upload;
  CHECK(deliver(operation).fault == delivery_fault::permanent);
  CHECK(port->out.empty());
}

TEST_CASE_FIXTURE(console_world, "a pipe wants finals only") {
  start();
  ask(
    offices->attached,
    [](const transport_info& info) {
      CHECK(info.platform == platform_id::console);
      CHECK_FALSE(info.streaming);
      CHECK(info.activity == activity_style::ledger);
      CHECK_FALSE(info.removes);
    },
    [](const caf::error&) { FAIL("no answer"); }, atom::config_v);
}

TEST_CASE_FIXTURE(console_world, "starting") {
  SUBCASE("streams that cannot be used") {
    port->broken = true;
    CHECK_FALSE(start());
    CHECK(fault == "The console is broken.");
  }
  SUBCASE("offices that refuse") {
    offices->attach_failure = make_failure(errc::disk, "no ledger");
    CHECK_FALSE(start());
    CHECK(fault == "no ledger");
    CHECK(port->stops == 1);
  }
  SUBCASE("twice") {
    CHECK(start());
    CHECK_FALSE(start());
    CHECK(fault == "The console runs already.");
  }
}

TEST_CASE_FIXTURE(console_world, "draining takes nothing new, answers go on") {
  start();
  say("a");
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error&) { FAIL("no drain"); }, atom::drain_v);
  // A reader that takes nothing does not hold the end up.
  CHECK(port->hurried);
  say("b");
  CHECK(offices->intakes.size() == 1);
  CHECK(port->err.find("Your line was not taken.") != std::string::npos);
  CHECK(deliver(answer_to(id_of(0), "4")).fault == delivery_fault::none);
  CHECK(port->out == "4\n");
}

TEST_CASE_FIXTURE(console_world, "stopping answers what is open") {
  start();
  say("a");
  port->hold = true;
  auto pending = self->request(offices->attached, caf::infinite,
                               atom::deliver_v, answer_to(id_of(0), "4"));
  settle();
  auto stopped = false;
  ask(
    handle.service, [&](caf::ok_atom) { stopped = true; },
    [](const caf::error&) {}, atom::stop_v);
  CHECK(stopped);
  pending.receive(
    [](const delivered& outcome) {
      CHECK(outcome.fault == delivery_fault::retryable);
    },
    [](const caf::error&) { FAIL("no outcome"); });
}

TEST_CASE_FIXTURE(console_world, "stopping does not wait for stuck streams") {
  start();
  port->stuck = true;
  auto pending = self->request(handle.service, caf::infinite, atom::stop_v);
  settle();
  advance(5s);
  auto stopped = false;
  pending.receive([&](caf::ok_atom) { stopped = true; },
                  [](const caf::error&) {});
  CHECK(stopped);
}

TEST_CASE_FIXTURE(terminal_world, "a terminal is greeted and prompted") {
  CHECK(start());
  CHECK(port->out.starts_with(
    "bureau, model lab/tiny: first entry of models.json\n"));
  CHECK(port->shown_prompt == "local> ");
  say("/to lab");
  CHECK(port->shown_prompt == "lab> ");
}

TEST_CASE_FIXTURE(terminal_world, "a streamed answer continues above the "
                                  "prompt") {
  start();
  say("a");
  port->out.clear();
  auto interim = answer_to(id_of(0), "one\ntw");
  interim.rank = outbound_class::interim;
  auto ref = deliver(interim).ref;
  CHECK(port->out == "one\n");
  CHECK(offices->gates.empty());
  auto answer = answer_to(id_of(0), "one\ntwo");
  answer.op = outbound_op::edit;
  answer.ref = ref;
  CHECK(deliver(answer).ref == ref);
  CHECK(port->out == "one\ntwo\n");
  CHECK(offices->gates[0].ref == ref);
}

TEST_CASE_FIXTURE(terminal_world,
                  "^C stops the running turn, a second one ends "
                  "the program") {
  start();
  say("a");
  port->events.interrupt();
  settle();
  REQUIRE(offices->intakes.size() == 2);
  CHECK(offices->intakes[1].event.text == "stop");
  CHECK(offices->intakes[1].event.session_key == "local");
  CHECK(shutdowns->empty());
  handle.interrupt();
  settle();
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "^C stops a turn that a restart resumed") {
  start();
  offices->runs = true;
  CHECK(handle.interrupt());
  settle();
  REQUIRE(offices->stops.size() == 1);
  CHECK(offices->stops[0].conversation.conversation_id == "local");
  CHECK(shutdowns->empty());
  handle.interrupt();
  settle();
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "^C without a turn ends the program") {
  start();
  CHECK(handle.interrupt());
  settle();
  CHECK(offices->stops.size() == 1);
  CHECK(*shutdowns == lines{"console: interrupt"});
}

TEST_CASE_FIXTURE(terminal_world, "a console that has ended takes no ^C") {
  start();
  caf::anon_send_exit(handle.service, caf::exit_reason::kill);
  settle();
  CHECK_FALSE(handle.interrupt());
}

// -- terminals and the log ----------------------------------------------------

TEST_CASE_FIXTURE(half_terminal_world,
                  "an answer to a pipe is harmless on a terminal") {
  CHECK(start());
  say("hello");
  deliver(answer_to(id_of(0), "\x1b[2Jred"));
  CHECK(port->out == "\xEF\xBF\xBD[2Jred\n");
}

TEST_CASE_FIXTURE(logging_world, "the log goes to its file while the console "
                                 "runs, and after its end") {
  open();
  kit::log::info("a", "while it runs");
  kit::log::warning("b", "danger \x1b[2J");
  CHECK(has("while it runs"));
  CHECK(at->port->out.find("while it runs") == std::string::npos);
  CHECK(at->port->out.find("danger \xEF\xBF\xBD[2J") != std::string::npos);
  auto stopped = false;
  at->ask(
    at->handle.service, [&](caf::ok_atom) { stopped = true; },
    [](const caf::error&) {}, atom::stop_v);
  CHECK(stopped);
  kit::log::info("c", "after its end");
  CHECK(has("after its end"));
}

TEST_CASE_FIXTURE(logging_world, "a console that is lost gives the log back") {
  open();
  at.reset();
  kit::log::info("c", "after its end");
  CHECK(has("after its end"));
}

TEST_CASE_FIXTURE(console_world,
                  "given /attach, then the message goes out with "
                  "a reference that brings the file") {
  (*logs)["/work/my notes.txt"] = "remember the milk";
  start();
  say("/attach \"my notes.txt\" what is this?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& event = offices->intakes[0].event;
  CHECK(event.text == "what is this?");
  REQUIRE(event.attachments.size() == 1);
  CHECK(event.attachments[0].name == "my notes.txt");
  CHECK(event.attachments[0].local_path.empty());
  CHECK(fetch(event.attachments[0].ref) == "17");
  CHECK((*logs)["/ws/k/attachments/.1_a.part"] == "remember the milk");
  // Also after a restart: the ledger has nothing but the reference.
  CHECK(fetch("file:/work/my notes.txt") == "17");
  CHECK(port->err.empty());
}

TEST_CASE_FIXTURE(console_world, "a fetch brings only what the console sent") {
  (*logs)["/work/a"] = "0123456789";
  start();
  CHECK(fetch("file:/work/../work/a") == "denied");
  CHECK(fetch("/work/a") == "denied");
  CHECK(fetch("file:/work/a", platform_id::telegram) == "denied");
  CHECK(fetch("file:/work/a", platform_id::console, 9) == "too_large");
  (*logs)["/work/b"] = "secret";
  CHECK(fetch("file:/work/b") == "denied");
  (*logs)["/work/b"] = "broken";
  CHECK(fetch("file:/work/b") == "disk");
  CHECK(logs->count("/ws/k/attachments/.1_a.part") == 0);
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::stop_v);
  CHECK(fetch("file:/work/a") == "shutting_down");
}

TEST_CASE_FIXTURE(console_world,
                  "the name of a file that is sent need not be UTF-8") {
  (*logs)["/work/caf\xE9.txt"] = "remember the milk";
  start();
  say("/attach caf\xE9.txt caf\xE9?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& event = offices->intakes[0].event;
  CHECK(event.text == "caf\xEF\xBF\xBD?");
  REQUIRE(event.attachments.size() == 1);
  CHECK(event.attachments[0].name == "caf\xEF\xBF\xBD.txt");
  CHECK(text::is_valid_utf8(event.attachments[0].ref));
  CHECK(fetch(event.attachments[0].ref) == "17");
}

TEST_CASE_FIXTURE(console_world,
                  "a file that cannot be sent is refused at once") {
  (*logs)["/home/ann/locked"] = "secret";
  (*logs)["/home/ann/big"] = std::string(limits::attachment_bytes + 1, 'x');
  start();
  say("/attach nothing.txt");
  CHECK(port->err.find("There is no file /work/nothing.txt. Nothing was sent.")
        != std::string::npos);
  say("/attach ~/locked");
  CHECK(port->err.find("cannot read '/home/ann/locked'. Nothing was sent.")
        != std::string::npos);
  say("/attach ~/big read it");
  CHECK(port->err.find("/home/ann/big is larger than 20 MB")
        != std::string::npos);
  CHECK(offices->intakes.empty());
  say("/attach /state/auth.json");
  CHECK(port->err.find("is in the state directory") != std::string::npos);
  say("hello");
  CHECK(offices->intakes.size() == 1);
}

// -- frames -------------------------------------------------------------------

namespace {

/// A console for programs.
struct frame_world : console_world {
  frame_world()
    : console_world(
      false, [](console::console_options& options) { options.json = true; }) {}

  std::vector<boost::json::object> frames() const {
    std::vector<boost::json::object> result;
    std::string_view rest = port->out;
    while (!rest.empty()) {
      auto end = rest.find('\n');
      auto frame = contracts::parse_frame(rest.substr(0, end));
      REQUIRE(frame);
      result.push_back(*frame);
      rest.remove_prefix(end + 1);
    }
    return result;
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> result;
    for (const auto& frame : frames())
      result.push_back(json::text_or_empty(frame, "kind"));
    return result;
  }
};

/// The work of a responder is not part of these stories.
struct silent_responder_state {
  responder_actor::stateful_pointer<silent_responder_state> self;
  static inline const char* name = "silent_responder";
  explicit silent_responder_state(
    responder_actor::stateful_pointer<silent_responder_state> me)
    : self(me) {}
  responder_actor::behavior_type make_behavior() {
    return {
      [](atom::paths, const std::string&, const std::string&) {},
      [](atom::status, const std::string&) {},
      [](atom::append, const std::string&) {},
      [](atom::replace, const std::string&) {},
      [](atom::event, const contracts::stream_event&) {},
      [](atom::finish, const final_answer&) { return caf::ok_atom_v; },
      [this](atom::dismiss) {
        self->quit();
        return caf::ok_atom_v;
      },
    };
  }
};

} // namespace

TEST_CASE_FIXTURE(frame_world,
                  "a program reads what a run tells, and its end") {
  CHECK(start());
  say("2+2?");
  responder_args args;
  args.event.address = {platform_id::console, "local"};
  args.event.message_id = id_of(0);
  args.run = "run-1";
  args.transport = offices->attached;
  auto make = console::make_frame_responders(
    [](caf::actor_system& sys, const responder_args&) {
      return kit::spawn_stateful<responder_actor, silent_responder_state>(sys);
    });
  auto responder = make(*system, args);
  args = {};
  contracts::stream_event call;
  call.kind = contracts::stream_event_kind::tool_call_started;
  call.id = "c1";
  call.name = "bash";
  self->send(responder, atom::status_v, std::string{"Thinking…"});
  self->send(responder, atom::event_v, call);
  self->send(responder, atom::append_v, std::string{"It is "});
  self->send(responder, atom::replace_v, std::string{"It's "});
  settle();
  CHECK(kinds()
        == std::vector<std::string>{"status", "event", "append", "replace"});
  // What the outbox is to show meanwhile was told already.
  auto interim = answer_to(id_of(0), "It's ");
  interim.rank = outbound_class::interim;
  CHECK(deliver(interim).fault == delivery_fault::none);
  CHECK(frames().size() == 4);
  deliver(answer_to(id_of(0), "It's 4."));
  close(id_of(0));
  REQUIRE(frames().size() == 5);
  auto last = contracts::read_frame(frames()[4]);
  CHECK(last.kind == contracts::frame_kind::finish);
  CHECK(last.text.value_or("") == "It's 4.");
  CHECK(port->err.empty());
  auto over = false;
  ask(
    responder, [&](caf::ok_atom) { over = true; },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); },
    atom::dismiss_v);
  CHECK(over);
}

TEST_CASE_FIXTURE(frame_world,
                  "a program is shown answers alone, as they are") {
  CHECK(start());
  ask(
    offices->attached,
    [](const transport_info& info) {
      CHECK_FALSE(info.streaming);
      CHECK(info.activity == activity_style::none);
      CHECK(info.fallback == contracts::unsupported_part_fallback::none);
    },
    [](const caf::error&) { FAIL("no answer"); }, atom::config_v);
}

TEST_CASE_FIXTURE(frame_world, "what belongs to no turn goes to stderr") {
  start();
  say("/help");
  auto notice = answer_to("job:1", "A job has ended.");
  notice.content = outbound_content::notice;
  notice.rank = outbound_class::control;
  deliver(notice);
  CHECK(port->out.empty());
  CHECK(port->err.find("A job has ended.") != std::string::npos);
}

TEST_CASE_FIXTURE(frame_world,
                  "a refused message and a stop end with a frame") {
  offices->failures.push_back(make_failure(errc::denied, "not you"));
  start();
  say("secret");
  say("stop");
  CHECK(kinds() == std::vector<std::string>{"error", "finish"});
}

TEST_CASE_FIXTURE(frame_world, "a line that is never offered ends, too") {
  start();
  for (size_t i = 0; i <= limits::console_open_messages; ++i)
    say("m");
  say("/attach nothing.txt");
  CHECK(kinds() == std::vector<std::string>{"error"});
  CHECK(json::text_or_empty(frames()[0], "code") == "bad_request");
  auto first = frames()[0];
  CHECK(json::int_member(first.at("metadata").get_object(), "line") == 22);
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error&) { FAIL("no drain"); }, atom::drain_v);
  CHECK(kinds() == std::vector<std::string>{"error", "error"});
  CHECK(json::text_or_empty(frames()[1], "code") == "shutting_down");
}

TEST_CASE_FIXTURE(frame_world, "a line that was cut is told as a warning") {
  start();
  port->events.line("long", true);
  settle();
  deliver(answer_to(id_of(0), "4"));
  CHECK(kinds() == std::vector<std::string>{"event", "finish"});
}

// -- questions ----------------------------------------------------------------

TEST_CASE("a question is shown on a terminal and answered by a number") {
  auto hub = std::make_shared<hub_script>();
  console_world at{true, {}, hub};
  CHECK(at.start());
  REQUIRE(hub->sink);
  contracts::ask_snapshot ask;
  ask.interaction_id = "i1";
  ask.questions.push_back({"q0",
                           "Colour",
                           "Which?",
                           {{"q0o0", "red", "x"}, {"q0o1", "blue", "y"}},
                           false});
  auto shown = false;
  at.ask(
    hub->sink, [&](caf::ok_atom) { shown = true; },
    [](const caf::error& reason) { FAIL(sentence_of(reason)); },
    atom::present_v, ask_presentation{"console:local", ask});
  CHECK(shown);
  CHECK(at.port->out.find("  2. blue - y\n") != std::string::npos);
  at.say("2");
  CHECK(at.offices->intakes.empty());
  REQUIRE(hub->answers.size() == 1);
  CHECK(hub->answers[0].conversation_id == "console:local");
  CHECK(hub->answers[0].interaction_id == "i1");
  at.say("thanks");
  CHECK(at.offices->intakes.size() == 1);
  // A late answer is told, and costs nothing else.
  at.self->send(hub->sink, atom::replace_v,
                ask_presentation{"console:local", ask});
  hub->refusal = contracts::ask_refusal::stale;
  at.ask(
    hub->sink, [](caf::ok_atom) {}, [](const caf::error&) {}, atom::present_v,
    ask_presentation{"console:local", ask});
  at.say("1");
  CHECK(at.port->out.find("The question is closed") != std::string::npos);
  hub->sink = nullptr;
}

TEST_CASE("a pipe asks nobody") {
  auto hub = std::make_shared<hub_script>();
  console_world at{false, {}, hub};
  CHECK(at.start());
  CHECK_FALSE(hub->sink);
}

// -- files of answers ---------------------------------------------------------

TEST_CASE("a file of an answer is told of on a terminal and can be kept") {
  auto artifacts = std::make_shared<artifact_script>();
  test::scratch_directory home;
  console_world at{true,
                   [&](console::console_options& options) {
                     options.working_dir = home.path();
                   },
                   {},
                   artifacts};
  CHECK(at.start());
  outbound upload;
  upload.op = outbound_op::upload;
  upload.conversation = {platform_id::console, "local"};
  upload.run = "r1";
  upload.message_id = "m1";
  contracts::attachment_part file;
  file.artifact_id = "a1";
  file.name = "notes.txt";
  file.media_type = "text/plain";
  file.size_bytes = 20;
  file.integrity_id = "sha256:x";
  upload.file = file;
  auto outcome = at.deliver(upload);
  CHECK(outcome.fault == delivery_fault::none);
  CHECK(at.port->out.find("File 1: notes.txt (20 bytes, text/plain)")
        != std::string::npos);
  SUBCASE("under its own name") {
    at.say("/save 1");
    CHECK(test::get_file(home / "notes.txt") == artifacts->bytes);
    REQUIRE(artifacts->opened.size() == 1);
    CHECK(artifacts->opened[0].conversation_id == "console:local");
    CHECK(artifacts->opened[0].artifact_id == "a1");
    CHECK(*artifacts->opened[0].expected_integrity_id == "sha256:x");
    CHECK(artifacts->closed == std::vector<std::string>{"t1"});
    // What is there stays.
    test::put_file(home / "notes.txt", "mine");
    at.say("/save 1");
    CHECK(at.port->out.find("exists already") != std::string::npos);
    CHECK(test::get_file(home / "notes.txt") == "mine");
  }
  SUBCASE("it is gone") {
    artifacts->fault = contracts::part_failure_code::artifact_expired;
    at.say("/save 1 elsewhere.txt");
    CHECK(at.port->out.find("has expired") != std::string::npos);
    CHECK(test::get_file(home / "elsewhere.txt").empty());
  }
  SUBCASE("there is none of that number") {
    at.say("/save 7");
    CHECK(at.port->out.find("There is no file 7") != std::string::npos);
  }
}
