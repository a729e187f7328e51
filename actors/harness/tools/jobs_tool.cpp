#include "actors/harness/tools/jobs_tool.hpp"

#include "actors/harness/tools/jobs_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::harness {

namespace {

constexpr const char* jobs_text =
  "Looks after the background commands of this conversation (bash with "
  "background: true). action list: all of them, newest first; get: one of "
  "them, with the end of its output once it has ended; cancel: ends one. You "
  "are woken when a job ends, so do not call this in a loop to wait.";

constexpr const char* jobs_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you want to know or end, in a few words; shown to the user"},
    "action": {"type": "string", "enum": ["list", "get", "cancel"]},
    "id": {"type": "string", "description": "Job to get or cancel, as bash or list named it"}
  },
  "required": ["label", "action"]
})";

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ nothing: every call is short
class jobs_tool_state {
public:
  static inline const char* name = "jobs_tool";

  using pointer = tool_actor::stateful_pointer<jobs_tool_state>;

  explicit jobs_tool_state(pointer self) : self_(self) {}

  void init(std::string conversation_id, jobs_actor jobs) {
    conversation_id_ = std::move(conversation_id);
    jobs_ = std::move(jobs);
  }

  tool_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const tool_invocation& request) {
        return call(request);
      },
      [](atom::abort, const std::string&) {},
    };
  }

private:
  using promise = caf::typed_response_promise<tool_outcome>;

  caf::result<tool_outcome> call(const tool_invocation& request) {
    auto arguments = json::parse(request.arguments.text);
    if (!arguments || !arguments.value.is_object())
      return failed_outcome("The arguments are not a JSON object.");
    const auto& members = arguments.value.get_object();
    auto action = json::text_or_empty(members, "action");
    job_query query{conversation_id_, json::text_or_empty(members, "id")};
    if (action != "list" && query.job_id.empty())
      return failed_outcome("id is empty. Name the job.");
    if (action == "list")
      return ask(job_list_outcome, atom::list_v, conversation_id_);
    if (action == "get")
      return ask(job_outcome, atom::read_v, std::move(query));
    if (action == "cancel")
      return ask(cancel_outcome, atom::cancel_v, std::move(query));
    return failed_outcome("action is list, get or cancel.");
  }

  template <class Answer, class... Args>
  promise ask(tool_outcome (*tell)(const Answer&), Args&&... args) {
    auto answer = self_->make_response_promise<promise>();
    auto id = answers_.keep(answer);
    kit::bounded_request(self_, jobs_, limits::disk_timeout,
                         std::forward<Args>(args)...)
      .then([this, id,
             tell](const Answer& found) { answers_.deliver(id, tell(found)); },
            [this, id](const caf::error&) {
              using enum contracts::process_job_error_code;
              answers_.deliver(
                id, failed_outcome(std::string{contracts::public_message(
                      process_job_controller_unavailable)}));
            });
    return answer;
  }

  pointer self_;
  std::string conversation_id_;
  jobs_actor jobs_;
  kit::promise_guard<tool_outcome> answers_;
};

} // namespace

tool_definition jobs_definition() {
  tool_definition result;
  result.name = "jobs";
  result.label = "jobs";
  result.description = jobs_text;
  result.parameters = json_text{jobs_schema};
  return result;
}

tool_pack_factory make_jobs_tool(background_jobs jobs) {
  return [jobs = std::move(jobs)](caf::actor_system& system,
                                  const tool_pack_args& args) {
    if (!jobs.serves(args.place.address.platform))
      return std::vector<tool_binding>{};
    auto owner = kit::spawn_stateful<tool_actor, jobs_tool_state>(
      system, contracts::contract_id(args.place.address, args.session_key),
      jobs.jobs);
    return std::vector<tool_binding>{{jobs_definition(), owner}};
  };
}

} // namespace bureau::harness
