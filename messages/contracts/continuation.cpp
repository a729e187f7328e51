#include "messages/contracts/continuation.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/errc.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace bureau::contracts {

namespace {

constexpr byte_limits conversation_limits{2048, 1, true};
constexpr byte_limits id_limits{512, 1, true};
constexpr byte_limits label_limits{512};
constexpr byte_limits content_limits{continuation_max_message_bytes};

constexpr std::array<std::string_view, 4> role_names = {"system", "user",
                                                        "assistant", "tool"};

bool is_message(const bj::value& value) {
  closed_object message{value};
  message.word("role", parse_continuation_role);
  message.text("content", content_limits);
  message.optional_text("name", label_limits);
  message.optional_text("runId", label_limits);
  message.optional_text("idempotencyKey", label_limits);
  message.optional_instant("timestamp");
  return message.done();
}

/// Whether a checked message is what the run itself said in this role.
bool is_own(const bj::value& value, std::string_view role, std::string_view run,
            std::string_view captured) {
  const auto& message = value.get_object();
  auto has = [&message](std::string_view name, std::string_view wanted) {
    auto member = message.if_contains(name);
    return member != nullptr && member->get_string() == wanted;
  };
  return has("role", role) && has("runId", run) && has("timestamp", captured);
}

caf::optional<std::string> optional_member(const bj::object& fields,
                                           std::string_view name) {
  if (auto text = json::string_member(fields, name))
    return std::move(*text);
  return caf::none;
}

void put(bj::object& into, const char* name,
         const caf::optional<std::string>& value) {
  if (value)
    into[name] = *value;
}

} // namespace

std::string to_string(continuation_fault fault) {
  switch (fault) {
  case continuation_fault::none:
    return "none";
  case continuation_fault::envelope:
    return "envelope";
  case continuation_fault::message:
    return "message";
  case continuation_fault::ending:
    return "ending";
  case continuation_fault::size:
    return "size";
  }
  return {};
}

continuation_fault check_continuation_origin_context(const bj::value& context) {
  if (!context.is_object())
    return continuation_fault::envelope;
  closed_object envelope{context};
  envelope.integer("schemaVersion", 1, 1);
  envelope.text("conversationId", conversation_limits);
  auto run = envelope.text("originRunId", id_limits);
  envelope.expect(envelope.text("historyBoundary", id_limits) == run);
  auto captured = envelope.instant("capturedAt");
  auto member = envelope.require("messages");
  auto messages = member != nullptr ? member->if_array() : nullptr;
  if (!envelope.done() || messages == nullptr
      || messages->size() < continuation_min_messages
      || messages->size() > continuation_max_messages)
    return continuation_fault::envelope;
  if (!std::all_of(messages->begin(), messages->end(), is_message))
    return continuation_fault::message;
  auto last = messages->size() - 1;
  if (!is_own((*messages)[last - 1], "user", run, captured)
      || !is_own((*messages)[last], "assistant", run, captured))
    return continuation_fault::ending;
  if (!print_wire(context, continuation_max_bytes))
    return continuation_fault::size;
  return continuation_fault::none;
}

std::string to_string(continuation_role role) {
  return name_in(role_names, role);
}

std::optional<continuation_role>
parse_continuation_role(std::string_view name) {
  return find_in<continuation_role>(role_names, name);
}

caf::expected<continuation_context>
parse_continuation_context(const bj::value& value) {
  if (auto fault = check_continuation_origin_context(value);
      fault != continuation_fault::none)
    return make_failure(errc::bad_request,
                        "malformed continuation context: " + to_string(fault));
  const auto& fields = value.get_object();
  continuation_context result;
  result.conversation_id = json::text_or_empty(fields, "conversationId");
  result.origin_run_id = json::text_or_empty(fields, "originRunId");
  result.history_boundary = json::text_or_empty(fields, "historyBoundary");
  result.captured_at = json::text_or_empty(fields, "capturedAt");
  for (const auto& entry : fields.at("messages").get_array()) {
    const auto& said = entry.get_object();
    auto role = parse_continuation_role(json::text_or_empty(said, "role"));
    continuation_message message;
    message.role = *role;
    message.content = json::text_or_empty(said, "content");
    message.name = optional_member(said, "name");
    message.timestamp = optional_member(said, "timestamp");
    message.run_id = optional_member(said, "runId");
    message.idempotency_key = optional_member(said, "idempotencyKey");
    result.messages.push_back(std::move(message));
  }
  return result;
}

bj::object to_json(const continuation_context& context) {
  bj::array messages;
  for (const auto& message : context.messages) {
    bj::object entry{{"role", to_string(message.role)},
                     {"content", message.content}};
    put(entry, "name", message.name);
    put(entry, "timestamp", message.timestamp);
    put(entry, "runId", message.run_id);
    put(entry, "idempotencyKey", message.idempotency_key);
    messages.push_back(std::move(entry));
  }
  return {{"schemaVersion", 1},
          {"conversationId", context.conversation_id},
          {"originRunId", context.origin_run_id},
          {"historyBoundary", context.history_boundary},
          {"capturedAt", context.captured_at},
          {"messages", std::move(messages)}};
}

} // namespace bureau::contracts
