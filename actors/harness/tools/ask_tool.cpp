#include "actors/harness/tools/ask_tool.hpp"

#include "actors/harness/tools/ask_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"

#include <map>
#include <utility>
#include <vector>

namespace bureau::harness {

namespace {

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ abort
class ask_state {
public:
  static inline const char* name = "ask";

  using pointer = tool_actor::stateful_pointer<ask_state>;

  explicit ask_state(pointer self) : self_(self) {}

  void init(tool_pack_args args, interaction_actor hub) {
    conversation_ =
      contracts::contract_id(args.place.address, args.session_key);
    hub_ = std::move(hub);
  }

  tool_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const tool_invocation& request) {
        return call(request);
      },
      [this](atom::abort, const std::string& call_id) { abort(call_id); },
    };
  }

private:
  using job_id = uint64_t;

  caf::result<tool_outcome> call(const tool_invocation& request) {
    auto arguments = json::parse(request.arguments.text);
    if (!arguments || !arguments.value.is_object())
      return failed_outcome("The arguments are not a JSON object.");
    auto ask = contracts::parse_ask(arguments.value);
    if (!ask)
      return unasked_outcome(ask.error());
    ask_request question;
    question.conversation_id = conversation_;
    question.ask = std::move(*ask);
    question.timeout_ms =
      seconds_argument(arguments.value.get_object(), "timeout",
                       std::chrono::milliseconds{limits::ask_timeout}.count());
    auto answer = self_->make_response_promise<tool_outcome>();
    auto id = answers_.keep(answer);
    jobs_.emplace(id, request.call_id);
    kit::bounded_request(self_, hub_, wait, atom::ask_v, std::move(question))
      .then(
        [this, id](const contracts::ask_snapshot& end) {
          finish(id, asked_outcome(end));
        },
        [this, id](const caf::error& reason) {
          finish(id, unasked_outcome(reason));
        });
    return answer;
  }

  void abort(const std::string& call_id) {
    std::vector<job_id> named;
    for (const auto& [id, call] : jobs_)
      if (call == call_id)
        named.push_back(id);
    if (!named.empty())
      self_->send(hub_, atom::cancel_v, conversation_);
    for (auto id : named)
      finish(id, failed_outcome("Operation aborted."));
  }

  void finish(job_id id, tool_outcome outcome) {
    jobs_.erase(id);
    answers_.deliver(id, std::move(outcome));
  }

  /// The hub ends an ask itself; showing it comes first.
  static constexpr auto wait =
    limits::ask_timeout + 2 * limits::mailbox_timeout;

  pointer self_;
  interaction_actor hub_;
  std::string conversation_;
  /// Calls under way.
  std::map<job_id, std::string> jobs_;
  kit::promise_guard<tool_outcome> answers_;
};

constexpr const char* ask_text =
  "Asks the user and waits for the answer, at most ten minutes. Use it when "
  "the "
  "work cannot go on well without a decision of the user, and not for what you "
  "can find out yourself. One to five questions, each with two or three "
  "options "
  "of which the user takes one, or several with multiSelect; the user may "
  "answer "
  "in own words instead. Where nobody can be asked the result says so at once.";

constexpr const char* ask_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you ask about, in a few words; shown to the user"},
    "message": {"type": "string", "description": "What the user should know before the questions"},
    "questions": {
      "type": "array", "minItems": 1, "maxItems": 5,
      "items": {
        "type": "object",
        "properties": {
          "header": {"type": "string", "description": "Topic in at most 12 characters"},
          "question": {"type": "string", "description": "The question"},
          "options": {
            "type": "array", "minItems": 2, "maxItems": 3,
            "items": {
              "type": "object",
              "properties": {
                "label": {"type": "string", "description": "The choice in a few words"},
                "description": {"type": "string", "description": "What it means"}
              },
              "required": ["label", "description"]
            }
          },
          "multiSelect": {"type": "boolean", "description": "Several options may be taken"}
        },
        "required": ["header", "question", "options"]
      }
    },
    "timeout": {"type": "number", "description": "Seconds to wait for the answer, at most 600"}
  },
  "required": ["label", "questions"]
})";

} // namespace

tool_definition ask_definition() {
  tool_definition result;
  result.name = "ask";
  result.label = "ask";
  result.description = ask_text;
  result.parameters = json_text{ask_schema};
  // A conversation has one open ask.
  result.sequential = true;
  return result;
}

tool_pack_factory make_ask_tool(interaction_actor hub) {
  return [hub](caf::actor_system& system, const tool_pack_args& args) {
    auto owner = kit::spawn_stateful<tool_actor, ask_state>(system, args, hub);
    return std::vector<tool_binding>{{ask_definition(), owner}};
  };
}

} // namespace bureau::harness
