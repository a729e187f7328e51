#pragma once

#include "messages/contracts/attachment_kind.hpp"
#include "messages/contracts/continuation.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/value.hpp>
#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A turn: what a channel asks of a responder and what comes back (agent
/// contracts, 2.1 and 2.11).
namespace bureau::contracts {

namespace bj = boost::json;

/// Bounds of what was said before a turn, and of a name beside it.
inline constexpr size_t preceding_max_messages = 30;
inline constexpr size_t preceding_max_text_bytes = 2048;
inline constexpr size_t preceding_max_total_bytes = 16'384;
/// Code points.
inline constexpr size_t sender_label_max_chars = 64;

/// Who wrote a message. Names are the sender's own choice, never a proof.
struct message_sender {
  /// May be an address for deliveries: never shown to a model.
  caf::optional<std::string> id;
  caf::optional<std::string> display_name;
  /// Without its `@`.
  caf::optional<std::string> handle;
  /// What the transport says.
  caf::optional<bool> is_bot;
  friend bool operator==(const message_sender&,
                         const message_sender&) = default;
};

BUREAU_INSPECT(message_sender, x.id, x.display_name, x.handle, x.is_bot);

/// Name of a sender as a prompt shows it: one line of at most
/// sender_label_max_chars; empty when there is none.
std::string sender_label(const message_sender& sender);

/// A message from before the turn; untrusted, for the prompt alone.
struct preceding_message {
  caf::optional<message_sender> sender;
  std::string text;
  /// ISO text.
  caf::optional<std::string> timestamp;
  friend bool operator==(const preceding_message&,
                         const preceding_message&) = default;
};

BUREAU_INSPECT(preceding_message, x.sender, x.text, x.timestamp);

/// The newest messages that keep to the bounds, oldest first; long texts are
/// cut at a character.
std::vector<preceding_message>
bounded_preceding(std::vector<preceding_message> messages);

enum class surface_kind : uint8_t { dm, channel, group };

std::string to_string(surface_kind kind);
std::optional<surface_kind> parse_surface_kind(std::string_view name);

/// Where the text goes on when a message holds no more.
enum class surface_overflow : uint8_t { thread, follow_up };

std::string to_string(surface_overflow overflow);
std::optional<surface_overflow> parse_surface_overflow(std::string_view name);

/// How much one message holds.
struct surface_message_budget {
  /// Code points.
  int64_t max_chars = 0;
  surface_overflow overflow = surface_overflow::follow_up;
  friend bool operator==(const surface_message_budget&,
                         const surface_message_budget&) = default;
};

BUREAU_INSPECT(surface_message_budget, x.max_chars, x.overflow);

/// The place of a conversation, as a model may know it.
struct turn_surface {
  surface_kind kind = surface_kind::dm;
  /// Without a leading `#` or `@`.
  caf::optional<std::string> name;
  /// Of the channel or chat, never of a thread.
  caf::optional<std::string> id;
  caf::optional<surface_message_budget> budget;
  friend bool operator==(const turn_surface&, const turn_surface&) = default;
};

BUREAU_INSPECT(turn_surface, x.kind, x.name, x.id, x.budget);

/// Variables of the processes of one run; nothing else sees them.
struct tool_environment {
  std::map<std::string, std::string> values;
  std::vector<std::string> path_prepend;
  friend bool operator==(const tool_environment&,
                         const tool_environment&) = default;
};

BUREAU_INSPECT(tool_environment, x.values, x.path_prepend);

/// A file that came with a request.
struct request_attachment {
  attachment_kind kind = attachment_kind::document;
  std::string mime_type;
  /// Base64.
  std::string data;
  caf::optional<std::string> name;
  /// Of the bytes, not of their base64.
  caf::optional<int64_t> size_bytes;
  /// Extracted text.
  caf::optional<std::string> text;
  caf::optional<int64_t> duration_ms;
  friend bool operator==(const request_attachment&,
                         const request_attachment&) = default;
};

BUREAU_INSPECT(request_attachment, x.kind, x.mime_type, x.data, x.name,
               x.size_bytes, x.text, x.duration_ms);

/// An attachment of these bytes: its kind, size and text follow from them.
request_attachment make_attachment(std::string mime_type,
                                   std::string_view bytes,
                                   caf::optional<std::string> name = caf::none);

/// Where an answer goes, when that is not the conversation of the request.
struct reply_target {
  std::string conversation_id;
  friend bool operator==(const reply_target&, const reply_target&) = default;
};

BUREAU_INSPECT(reply_target, x.conversation_id);

/// One turn. Its cancellation is a message of its own, not a member.
struct turn_request {
  std::string conversation_id;
  std::string text;
  /// An open record.
  json_text metadata;
  std::vector<request_attachment> attachments;
  caf::optional<tool_environment> environment;
  caf::optional<message_sender> sender;
  /// Oldest first; none is the same as absent.
  std::vector<preceding_message> preceding;
  caf::optional<turn_surface> surface;
  caf::optional<reply_target> reply_to;
  caf::optional<continuation_turn> continuation;
  friend bool operator==(const turn_request&, const turn_request&) = default;
};

BUREAU_INSPECT(turn_request, x.conversation_id, x.text, x.metadata,
               x.attachments, x.environment, x.sender, x.preceding, x.surface,
               x.reply_to, x.continuation);

/// What a turn came to.
struct turn_response {
  caf::optional<std::string> text;
  /// An open record.
  json_text metadata;
  std::vector<reply_part> parts;
  friend bool operator==(const turn_response&, const turn_response&) = default;
};

BUREAU_INSPECT(turn_response, x.text, x.metadata, x.parts);

/// How an output ends, besides its text.
struct finish_options {
  std::vector<reply_part> parts;
  unsupported_part_fallback fallback = unsupported_part_fallback::human;
  friend bool operator==(const finish_options&,
                         const finish_options&) = default;
};

BUREAU_INSPECT(finish_options, x.parts, x.fallback);

// -- cancellation -------------------------------------------------------------

/// Why a turn was cancelled.
struct cancel_reason {
  /// One sentence.
  std::string message;
  /// Channel on which the user cancelled; absent: nobody did.
  caf::optional<std::string> channel;
  friend bool operator==(const cancel_reason&, const cancel_reason&) = default;
};

BUREAU_INSPECT(cancel_reason, x.message, x.channel);

/// The reason of a user who cancelled on a channel, which is named without
/// white space around it; a blank name is a bad_request.
caf::expected<cancel_reason> channel_user_cancel(std::string_view channel);

/// Whether a user cancelled; its channel then owes nobody an acknowledgement.
bool is_channel_user_cancel(const cancel_reason& reason);

/// The error of a turn that was cancelled, and whether an error is one.
caf::error response_cancelled(const cancel_reason& reason = {});
bool is_response_cancelled(const caf::error& err);

} // namespace bureau::contracts
