#include "actors/harness/tools/attach_tool.hpp"

#include "actors/harness/tools/attach_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bureau::harness {

namespace {

using code = contracts::part_failure_code;

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ abort
class attach_state {
public:
  static inline const char* name = "attach";

  using pointer = tool_actor::stateful_pointer<attach_state>;

  explicit attach_state(pointer self) : self_(self) {}

  void init(tool_pack_args args, artifacts_actor artifacts) {
    conversation_ =
      contracts::contract_id(args.place.address, args.session_key);
    executor_ = std::move(args.executor);
    paths_ = std::move(args.paths);
    artifacts_ = std::move(artifacts);
    self_->set_down_handler([this](caf::down_msg&) { executor_ended(); });
    self_->monitor(executor_);
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
  /// A running call.
  struct job {
    std::string call_id;
    std::string run;
    std::string path;
    std::string name;
    std::string bytes;
  };

  using job_id = uint64_t;

  caf::result<tool_outcome> call(const tool_invocation& request) {
    auto arguments = json::parse(request.arguments.text);
    if (!arguments || !arguments.value.is_object())
      return failed_outcome("The arguments are not a JSON object.");
    const auto& object = arguments.value.get_object();
    auto named = json::text_or_empty(object, "path");
    if (named.empty())
      return failed_outcome("path is empty. Name the file.");
    job entry;
    entry.call_id = request.call_id;
    entry.run = request.run;
    entry.path = attachable_path(paths_, named);
    if (entry.path.empty())
      return failed_outcome(named
                            + " is not in the workspace. Copy the file below "
                            + paths_.cwd + " and attach that.");
    entry.name = json::text_or_empty(object, "name");
    if (entry.name.empty())
      entry.name = leaf_of(entry.path);
    auto answer = self_->make_response_promise<tool_outcome>();
    auto id = answers_.keep(answer);
    jobs_.emplace(id, std::move(entry));
    read_on(id);
    return answer;
  }

  /// A publication that was begun is not undone: nobody names it.
  void abort(const std::string& call_id) {
    std::vector<job_id> named;
    for (const auto& [id, entry] : jobs_)
      if (entry.call_id == call_id)
        named.push_back(id);
    for (auto id : named)
      finish(id, failed_outcome("Operation aborted."));
  }

  void executor_ended() {
    while (!jobs_.empty())
      finish(jobs_.begin()->first,
             failed_outcome("The environment in which tools run ended "
                            "unexpectedly; the file was not attached."));
  }

  void read_on(job_id id) {
    auto& entry = jobs_.at(id);
    exec_read request;
    request.path = entry.path;
    request.offset = entry.bytes.size();
    // One byte more shows that the file is too large.
    request.length = std::min<uint64_t>(
      limits::exec_file_bytes, limits::artifact_bytes + 1 - entry.bytes.size());
    kit::bounded_request(self_, executor_, limits::disk_timeout, atom::read_v,
                         std::move(request))
      .then([this, id](const exec_slice& slice) { took(id, slice); },
            [this, id](const caf::error& reason) { unreadable(id, reason); });
  }

  void took(job_id id, const exec_slice& slice) {
    auto found = jobs_.find(id);
    if (found == jobs_.end())
      return;
    auto& entry = found->second;
    entry.bytes += slice.bytes;
    if (entry.bytes.size() > limits::artifact_bytes)
      finish(id,
             unattached_outcome(entry.call_id, code::artifact_too_large,
                                entry.name, too_large_sentence(entry.path)));
    else if (slice.eof || slice.bytes.empty())
      publish(id);
    else
      read_on(id);
  }

  void unreadable(job_id id, const caf::error& reason) {
    finish(id, failed_outcome(reason.category() == caf::atom("bureau")
                                ? sentence_of(reason)
                                : "The environment in which tools run does "
                                  "not answer. Try again; if it happens "
                                  "again, tell the user."));
  }

  void publish(job_id id) {
    auto& entry = jobs_.at(id);
    artifact_publish request;
    request.conversation_id = conversation_;
    request.run = entry.run;
    request.name = entry.name;
    request.media_type = media_type_of(entry.name);
    if (request.media_type == media_type_of({}))
      request.media_type = media_type_of(leaf_of(entry.path));
    request.bytes = std::exchange(entry.bytes, {});
    kit::bounded_request(self_, artifacts_, publish_timeout, atom::publish_v,
                         std::move(request))
      .then(
        [this, id](const contracts::attachment_part& part) {
          finish(id, attached_outcome(part));
        },
        [this, id](const caf::error& reason) { unpublished(id, reason); });
  }

  void unpublished(job_id id, const caf::error& reason) {
    auto found = jobs_.find(id);
    if (found == jobs_.end())
      return;
    auto& entry = found->second;
    auto why = reason.category() == caf::atom("bureau")
                 ? sentence_of(reason)
                 : "The store of published files does not answer.";
    kit::log::warning(name, "not attached: " + why);
    finish(id, unattached_outcome(entry.call_id,
                                  code_of(reason) == errc::too_large
                                    ? code::artifact_too_large
                                    : code::artifact_publish_failed,
                                  entry.name,
                                  entry.path + " was not attached. " + why));
  }

  void finish(job_id id, tool_outcome outcome) {
    jobs_.erase(id);
    answers_.deliver(id, std::move(outcome));
  }

  /// Bytes, their directory and the index.
  static constexpr auto publish_timeout = 4 * limits::disk_timeout;

  pointer self_;
  executor_actor executor_;
  artifacts_actor artifacts_;
  path_context paths_;
  std::string conversation_;
  std::map<job_id, job> jobs_;
  kit::promise_guard<tool_outcome> answers_;
};

constexpr const char* attach_text =
  "Lets a file of your workspace go with your answer: the user gets the file "
  "itself, as it is now. Use it for what you made and the user wants to have; "
  "do not paste long files into the answer. At most 20 MB a file and 20 files "
  "an answer.";

constexpr const char* attach_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you are attaching, in a few words; shown to the user"},
    "path": {"type": "string", "description": "File to attach, absolute or relative to the working directory"},
    "name": {"type": "string", "description": "File name that the user sees; that of the file when absent"}
  },
  "required": ["label", "path"]
})";

} // namespace

tool_definition attach_definition() {
  tool_definition result;
  result.name = "attach";
  result.label = "attach";
  result.description = attach_text;
  result.parameters = json_text{attach_schema};
  // Files come in the order in which they were asked for.
  result.sequential = true;
  return result;
}

tool_pack_factory make_attach_tool(artifacts_actor artifacts) {
  return [artifacts](caf::actor_system& system, const tool_pack_args& args) {
    auto owner =
      kit::spawn_stateful<tool_actor, attach_state>(system, args, artifacts);
    return std::vector<tool_binding>{{attach_definition(), owner}};
  };
}

tool_pack_factory join_packs(std::vector<tool_pack_factory> packs) {
  return [packs = std::move(packs)](caf::actor_system& system,
                                    const tool_pack_args& args) {
    std::vector<tool_binding> result;
    for (const auto& pack : packs)
      for (auto& binding : pack(system, args))
        result.push_back(std::move(binding));
    return result;
  };
}

} // namespace bureau::harness
