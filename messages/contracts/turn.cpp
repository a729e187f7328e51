#include "messages/contracts/turn.hpp"

#include "messages/contracts/preview.hpp"
#include "messages/contracts/vocabulary.hpp"
#include "messages/errc.hpp"
#include "messages/text/base64.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 3> surface_names = {"dm", "channel",
                                                           "group"};
constexpr std::array<std::string_view, 2> overflow_names = {"thread",
                                                            "follow_up"};

} // namespace

std::string sender_label(const message_sender& sender) {
  for (const auto& name : {sender.display_name, sender.handle}) {
    auto line = folded_line(name.value_or(std::string{}));
    if (!line.empty())
      return cut_to(line, sender_label_max_chars, cut_shape::head);
  }
  return {};
}

std::vector<preceding_message>
bounded_preceding(std::vector<preceding_message> messages) {
  size_t total = 0;
  auto first = messages.end();
  while (first != messages.begin()
         && static_cast<size_t>(messages.end() - first)
              < preceding_max_messages) {
    auto& text = std::prev(first)->text;
    auto valid = text::sanitize_utf8(text);
    text = text::prefix_bytes(valid, preceding_max_text_bytes);
    if (text.size() > preceding_max_total_bytes - total)
      break;
    total += text.size();
    --first;
  }
  messages.erase(messages.begin(), first);
  return messages;
}

std::string to_string(surface_kind kind) {
  return name_in(surface_names, kind);
}

std::optional<surface_kind> parse_surface_kind(std::string_view name) {
  return find_in<surface_kind>(surface_names, name);
}

std::string to_string(surface_overflow overflow) {
  return name_in(overflow_names, overflow);
}

std::optional<surface_overflow> parse_surface_overflow(std::string_view name) {
  return find_in<surface_overflow>(overflow_names, name);
}

request_attachment make_attachment(std::string mime_type,
                                   std::string_view bytes,
                                   caf::optional<std::string> name) {
  request_attachment result;
  result.kind = attachment_kind_from_mime_type(mime_type);
  result.data = text::base64(bytes);
  result.name = std::move(name);
  result.size_bytes = static_cast<int64_t>(bytes.size());
  if (auto text = decode_attachment_text(mime_type, bytes))
    result.text = std::move(*text);
  result.mime_type = std::move(mime_type);
  return result;
}

caf::expected<cancel_reason> channel_user_cancel(std::string_view channel) {
  auto name = text::trim(channel);
  if (name.empty())
    return make_failure(errc::bad_request,
                        "a user's cancel needs the name of its channel");
  cancel_reason result;
  result.message = "The user cancelled on " + std::string{name} + ".";
  result.channel = std::string{name};
  return result;
}

bool is_channel_user_cancel(const cancel_reason& reason) {
  return reason.channel && !reason.channel->empty();
}

caf::error response_cancelled(const cancel_reason& reason) {
  return make_failure(errc::cancelled, reason.message.empty()
                                         ? "The turn was cancelled."
                                         : reason.message);
}

bool is_response_cancelled(const caf::error& err) {
  return code_of(err) == errc::cancelled;
}

} // namespace bureau::contracts
