#include "messages/contracts/continuation.hpp"

#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/wire_json.hpp"

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

std::optional<std::string> parse_role(std::string_view name) {
  for (std::string_view role : {"system", "user", "assistant", "tool"})
    if (name == role)
      return std::string{role};
  return std::nullopt;
}

bool is_message(const bj::value& value) {
  closed_object message{value};
  message.word("role", parse_role);
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

} // namespace bureau::contracts
