#include "actors/harness/tools/event_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "messages/codec/event_file.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/time_text.hpp"

#include <utility>

namespace bureau::harness {

namespace {

namespace bj = boost::json;

event_call refuse(std::string sentence) {
  event_call result;
  result.refusal = std::move(sentence);
  return result;
}

event_call read_write(const bj::object& arguments, const event_place& place,
                      bool update) {
  auto type = parse_event_type(json::text_or_empty(arguments, "type"));
  auto text = json::text_or_empty(arguments, "text");
  if (!type || text.empty())
    return refuse("`type` and `text` are required to make or change an event.");
  event_payload payload;
  payload.type = *type;
  payload.text = std::move(text);
  payload.platform = to_string(place.conversation.platform);
  payload.conversation_id = place.conversation.conversation_id;
  payload.kind = place.context.kind;
  if (!place.context.user.empty())
    payload.user_id = place.context.user;
  payload.at = json::text_or_empty(arguments, "at");
  payload.schedule = json::text_or_empty(arguments, "schedule");
  payload.timezone = json::text_or_empty(arguments, "timezone");
  if (*type == event_type::periodic && payload.timezone.empty())
    payload.timezone = place.time_zone.empty() ? "UTC" : place.time_zone;
  auto built = build_event(std::move(payload));
  if (!built)
    return refuse(built.sentence + '.');
  auto instant = event_instant_ms(built.payload.at);
  if (*type == event_type::one_shot && *instant <= place.now_ms)
    return refuse(
      "`at` is " + built.payload.at + ", which is not in the future: it is "
      + text::iso_utc(place.now_ms) + " now. Check the offset from UTC.");
  event_call result;
  result.what = event_action::write;
  auto& write = result.write;
  write.payload = std::move(built.payload);
  write.office = place.conversation;
  write.cause = place.message_id;
  write.must_exist = update;
  if (update) {
    write.filename = json::text_or_empty(arguments, "filename");
    return result;
  }
  auto wish = json::text_or_empty(arguments, "filenamePrefix");
  write.filename = sanitize_event_name(wish.empty() ? to_string(*type) : wish)
                   + '-' + std::to_string(place.now_ms) + ".json";
  return result;
}

bj::object shown(const event_entry& entry) {
  bj::object result;
  result.emplace("filename", entry.filename);
  if (entry.payload)
    result.emplace("payload", to_json(*entry.payload));
  else
    result.emplace("payload", nullptr);
  if (!entry.fault.empty())
    result.emplace("error", entry.fault);
  result.emplace("size", entry.size);
  result.emplace("mtimeMs", entry.modified_ms);
  result.emplace("state", to_string(entry.state));
  if (entry.next_run_ms != 0)
    result.emplace("nextRun", text::iso_utc(entry.next_run_ms));
  return result;
}

std::string when_of(const event_payload& payload) {
  switch (payload.type) {
  case event_type::one_shot:
    return ", at " + payload.at;
  case event_type::periodic:
    return ", " + payload.schedule + " in " + payload.timezone;
  case event_type::immediate:
    break;
  }
  return {};
}

} // namespace

event_call read_event_call(const bj::object& arguments,
                           const event_place& place) {
  auto action = json::text_or_empty(arguments, "action");
  auto filename = json::text_or_empty(arguments, "filename");
  auto names_one = action == "read" || action == "update" || action == "delete";
  if (names_one && filename.empty())
    return refuse("`filename` is required; action list tells the names.");
  if (action.empty() || action == "create")
    return read_write(arguments, place, false);
  if (action == "update")
    return read_write(arguments, place, true);
  event_call result;
  result.query.filename = filename;
  result.query.office = place.conversation;
  if (action == "list") {
    result.what = event_action::list;
    result.all = json::text_or_empty(arguments, "scope") == "all";
    if (result.all)
      result.query.office = {};
  } else if (action == "read") {
    result.what = event_action::read;
  } else if (action == "delete") {
    result.what = event_action::drop;
  } else {
    return refuse("action is create, list, read, update or delete.");
  }
  return result;
}

tool_outcome event_written_outcome(const event_write& written,
                                   const office_address& conversation) {
  auto verb = written.must_exist                              ? "updated"
              : written.payload.type == event_type::immediate ? "queued"
                                                              : "scheduled";
  auto result = text_outcome(
    std::string{"Event "} + verb + ": " + written.filename + " for "
    + to_string(conversation.platform) + '/' + conversation.conversation_id
    + when_of(written.payload) + '.');
  result.details = json_text{json::print(bj::object{
    {"filename", written.filename}, {"payload", to_json(written.payload)}})};
  return result;
}

tool_outcome event_list_outcome(const event_list& list, const event_call& call,
                                const office_address& conversation) {
  // A model needs no more to find its way.
  constexpr size_t most_shown = 100;
  bj::object result;
  result.emplace("scope", call.all ? "all" : "conversation");
  if (!call.all)
    result.emplace("conversationId", conversation.conversation_id);
  bj::array events;
  for (const auto& entry : list.events)
    if (events.size() < most_shown)
      events.push_back(shown(entry));
  result.emplace("events", std::move(events));
  if (list.events.size() > most_shown)
    result.emplace("more", list.events.size() - most_shown);
  return text_outcome(json::print(result));
}

tool_outcome event_read_outcome(const event_entry& entry) {
  return text_outcome(json::print(shown(entry)));
}

tool_outcome event_dropped_outcome(const std::string& file, bool was_there) {
  return text_outcome(was_there ? "Event deleted: " + file + '.'
                                : "There was no event " + file + '.');
}

} // namespace bureau::harness
