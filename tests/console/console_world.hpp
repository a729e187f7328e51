#pragma once

#include "adapters/console/console.hpp"
#include "messages/interfaces/artifacts.hpp"
#include "tests/support/node_fixture.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A console whose streams and neighbours the story drives.
namespace bureau::test {

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

/// The artifacts of one answer.
struct artifact_script {
  std::string bytes = "hello from the agent";
  std::optional<contracts::part_failure_code> fault;
  std::vector<contracts::artifact_open_request> opened;
  std::vector<std::string> closed;
};

class console_world : public node_fixture {
public:
  using change = std::function<void(console::console_options&)>;

  explicit console_world(bool interactive = false, const change& other = {},
                         std::shared_ptr<hub_script> hub = {},
                         std::shared_ptr<artifact_script> artifacts = {});

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

} // namespace bureau::test
