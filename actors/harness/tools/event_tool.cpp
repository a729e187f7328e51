#include "actors/harness/tools/event_tool.hpp"

#include "actors/harness/tools/event_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <utility>

namespace bureau::harness {

namespace {

constexpr const char* event_text =
  "Schedules turns of this conversation: reminders (one-shot), recurring tasks "
  "(periodic) and work to be done right away on its own (immediate). action "
  "create makes one, list tells what there is, read, update and delete need "
  "its "
  "filename. The text has to be complete in itself: the turn sees neither this "
  "one nor its history.";

constexpr const char* event_schema = R"json({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you schedule, in a few words; shown to the user"},
    "action": {"type": "string", "enum": ["create", "list", "read", "update", "delete"], "description": "Default: create"},
    "filename": {"type": "string", "description": "read, update, delete: the event, as create or list named it"},
    "scope": {"type": "string", "enum": ["conversation", "all"], "description": "list: whose events (default: conversation)"},
    "type": {"type": "string", "enum": ["immediate", "one-shot", "periodic"]},
    "text": {"type": "string", "description": "What is to be done or said then"},
    "at": {"type": "string", "description": "one-shot: ISO 8601 with an offset, such as 2027-05-01T09:30:00+02:00"},
    "schedule": {"type": "string", "description": "periodic: cron pattern, such as 0 9 * * 1-5"},
    "timezone": {"type": "string", "description": "periodic: IANA zone of the pattern (default: the host's)"},
    "filenamePrefix": {"type": "string", "description": "create: how the file name begins"}
  }
})json";

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ nothing: every call is short
class event_tool_state {
public:
  static inline const char* name = "event_tool";

  using pointer = tool_actor::stateful_pointer<event_tool_state>;

  explicit event_tool_state(pointer self) : self_(self) {}

  void init(office_address conversation, events_actor events,
            std::shared_ptr<const wall_clock> wall, std::string time_zone) {
    conversation_ = std::move(conversation);
    events_ = std::move(events);
    wall_ = std::move(wall);
    time_zone_ = std::move(time_zone);
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
    auto wanted =
      read_event_call(arguments.value.get_object(),
                      {conversation_, request.context, request.message_id,
                       time_zone_, wall_->now_ms()});
    if (!wanted.refusal.empty())
      return failed_outcome(wanted.refusal);
    switch (wanted.what) {
    case event_action::list:
      return ask<event_list>(
        [wanted, place = conversation_](const event_list& list) {
          return event_list_outcome(list, wanted, place);
        },
        atom::list_v, wanted.query);
    case event_action::read:
      return ask<event_entry>(event_read_outcome, atom::read_v, wanted.query);
    case event_action::drop:
      return ask<bool>(
        [file = wanted.query.filename](bool was_there) {
          return event_dropped_outcome(file, was_there);
        },
        atom::drop_v, wanted.query);
    case event_action::write:
      break;
    }
    return ask<event_stored>(
      [write = wanted.write, place = conversation_](const event_stored&) {
        return event_written_outcome(write, place);
      },
      atom::write_v, wanted.write);
  }

  template <class Answer, class Tell, class... Args>
  promise ask(Tell tell, Args&&... args) {
    auto answer = self_->make_response_promise<promise>();
    auto id = answers_.keep(answer);
    kit::bounded_request(self_, events_, limits::disk_timeout,
                         std::forward<Args>(args)...)
      .then([this, id,
             tell](const Answer& found) { answers_.deliver(id, tell(found)); },
            [this, id](const caf::error& reason) {
              answers_.deliver(id, failed_outcome(sentence_of(reason)));
            });
    return answer;
  }

  pointer self_;
  office_address conversation_;
  events_actor events_;
  std::shared_ptr<const wall_clock> wall_;
  std::string time_zone_;
  kit::promise_guard<tool_outcome> answers_;
};

} // namespace

tool_definition event_definition() {
  tool_definition result;
  result.name = "event";
  result.label = "event";
  result.description = event_text;
  result.parameters = json_text{event_schema};
  return result;
}

tool_pack_factory make_event_tool(events_actor events,
                                  std::shared_ptr<const wall_clock> wall,
                                  std::string time_zone) {
  return [events = std::move(events), wall = std::move(wall),
          time_zone = std::move(time_zone)](caf::actor_system& system,
                                            const tool_pack_args& args) {
    auto owner = kit::spawn_stateful<tool_actor, event_tool_state>(
      system, args.place.address, events, wall, time_zone);
    return std::vector<tool_binding>{{event_definition(), owner}};
  };
}

} // namespace bureau::harness
