#include "actors/runner/turn_request_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/attachment_kind.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

namespace bureau::runner {

namespace {

using type_row = std::pair<std::string_view, std::string_view>;

constexpr std::array<type_row, 13> types = {{
  {"jpg", "image/jpeg"},
  {"jpeg", "image/jpeg"},
  {"png", "image/png"},
  {"gif", "image/gif"},
  {"webp", "image/webp"},
  {"txt", "text/plain"},
  {"log", "text/plain"},
  {"md", "text/markdown"},
  {"csv", "text/csv"},
  {"htm", "text/html"},
  {"html", "text/html"},
  {"json", "application/json"},
  {"pdf", "application/pdf"},
}};

static_assert(limits::attachment_bytes
                == contracts::default_attachment_max_bytes,
              "what a message may bring is what the contracts say");

bool is_taken(std::string_view type) {
  const auto& taken = contracts::default_attachment_mime_types;
  return std::find(std::begin(taken), std::end(taken), type) != std::end(taken);
}

} // namespace

contracts::message_sender sender_of(const conversation_event& event) {
  contracts::message_sender sender;
  if (!event.user.empty())
    sender.id = event.user;
  if (!event.user_name.empty())
    sender.display_name = event.user_name;
  if (event.from_bot)
    sender.is_bot = true;
  return sender;
}

contracts::turn_surface surface_of(const conversation_event& event) {
  contracts::turn_surface surface;
  surface.kind = event.kind == conversation_kind::direct
                   ? contracts::surface_kind::dm
                   : contracts::surface_kind::group;
  surface.id = event.address.conversation_id;
  return surface;
}

contracts::turn_request turn_request_of(
  const run_request& request,
  const caf::optional<contracts::continuation_turn>& continuation) {
  const auto& event = request.ticket.event;
  contracts::turn_request turn;
  turn.conversation_id =
    contracts::contract_id(event.address, event.session_key);
  turn.text = event.text;
  json::bj::object metadata{{"runId", request.run},
                            {"messageId", event.message_id},
                            {"origin", to_string(event.origin)},
                            {"attempt", request.ticket.attempt}};
  if (event.sent_ms > 0)
    metadata["sentAt"] = text::iso_utc(event.sent_ms);
  turn.metadata = json_text{json::print(metadata)};
  turn.sender = sender_of(event);
  turn.surface = surface_of(event);
  turn.reply_to = contracts::reply_target{turn.conversation_id};
  contracts::tool_environment environment;
  environment.values = {{run_variable::conversation, turn.conversation_id},
                        {run_variable::run, request.run},
                        {run_variable::message, event.message_id}};
  turn.environment = std::move(environment);
  turn.continuation = continuation;
  return turn;
}

std::optional<std::string> mime_type_of(std::string_view name) {
  auto dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  std::string extension{name.substr(dot + 1)};
  for (auto& c : extension)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [known, type] : types)
    if (extension == known && is_taken(type))
      return std::string{type};
  return std::nullopt;
}

size_t wanted_bytes(std::string_view mime_type, bool images,
                    const std::vector<contracts::request_attachment>& shown) {
  using contracts::attachment_kind;
  auto kind = contracts::attachment_kind_from_mime_type(mime_type);
  auto count = static_cast<size_t>(
    std::count_if(shown.begin(), shown.end(),
                  [kind](const auto& item) { return item.kind == kind; }));
  if (kind == attachment_kind::image)
    return images && count < limits::prompt_images ? limits::prompt_image_bytes
                                                   : 0;
  return contracts::decode_attachment_text(mime_type, {}) && count < shown_texts
           ? shown_text_bytes
           : 0;
}

} // namespace bureau::runner
