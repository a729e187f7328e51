#include "tests/harness/scripted_tools.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"

#include <algorithm>

namespace bureau::test {

struct scripted_tools::shared {
  std::vector<tool_definition> definitions;
  std::map<std::string, tool_script> scripts;
  std::vector<tool_invocation> calls;
  std::vector<std::string> aborts;
};

namespace {

tool_outcome outcome_of(const tool_script& script) {
  tool_outcome result;
  result.content.push_back(text_block(script.text));
  result.is_error = script.is_error;
  result.continues = script.continues;
  return result;
}

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ abort
struct scripted_tools_state {
  struct running_call {
    uint64_t promise = 0;
    tool_script script;
    kit::generation_timer timer;
  };
  tool_actor::stateful_pointer<scripted_tools_state> self;
  std::shared_ptr<scripted_tools::shared> shared;
  kit::promise_guard<tool_outcome> answers;
  std::map<std::string, running_call> running;
  static inline const char* name = "scripted_tools";

  explicit scripted_tools_state(
    tool_actor::stateful_pointer<scripted_tools_state> me)
    : self(me) {}

  void init(std::shared_ptr<scripted_tools::shared> what) {
    shared = std::move(what);
  }

  tool_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const tool_invocation& request) {
        return call(request);
      },
      [this](atom::abort, const std::string& id) { abort(id); },
    };
  }

  caf::result<tool_outcome> call(const tool_invocation& request) {
    shared->calls.push_back(request);
    auto script = shared->scripts[request.name];
    if (script.failure)
      return make_failure(*script.failure, script.text);
    if (!script.hangs && !script.dies && script.delay.count() == 0)
      return outcome_of(script);
    auto answer = self->make_response_promise<tool_outcome>();
    // A promise that is dropped is never answered.
    if (script.dies) {
      self->quit(caf::exit_reason::kill);
      return answer;
    }
    auto& entry = running[request.call_id];
    entry.promise = answers.keep(answer);
    entry.script = script;
    auto id = request.call_id;
    if (script.delay.count() > 0)
      entry.timer.arm(self, script.delay,
                      [this, id] { end(id, outcome_of(running[id].script)); });
    return answer;
  }

  void end(const std::string& id, tool_outcome outcome) {
    auto entry = running.extract(id);
    if (!entry.empty())
      answers.deliver(entry.mapped().promise, std::move(outcome));
  }

  void abort(const std::string& id) {
    auto& seen = shared->aborts;
    if (std::find(seen.begin(), seen.end(), id) == seen.end())
      seen.push_back(id);
    auto entry = running.find(id);
    if (entry == running.end() || entry->second.script.deaf)
      return;
    tool_script stopped;
    stopped.text = "stopped by abort";
    stopped.is_error = true;
    end(id, outcome_of(stopped));
  }
};

} // namespace

scripted_tools::scripted_tools() : shared_(std::make_shared<shared>()) {
}

scripted_tools& scripted_tools::add(const std::string& name, tool_script what,
                                    bool sequential) {
  tool_definition definition;
  definition.name = name;
  definition.label = name;
  definition.description = "does what the test says";
  definition.parameters = json_text{R"({"type":"object"})"};
  definition.sequential = sequential;
  shared_->definitions.push_back(std::move(definition));
  shared_->scripts[name] = std::move(what);
  return *this;
}

std::vector<tool_binding>
scripted_tools::bind(caf::actor_system& system) const {
  auto owner =
    kit::spawn_stateful<tool_actor, scripted_tools_state>(system, shared_);
  std::vector<tool_binding> result;
  for (const auto& definition : shared_->definitions)
    result.push_back({definition, owner});
  return result;
}

const std::vector<tool_invocation>& scripted_tools::calls() const {
  return shared_->calls;
}

std::vector<std::string> scripted_tools::aborts() const {
  return shared_->aborts;
}

} // namespace bureau::test
