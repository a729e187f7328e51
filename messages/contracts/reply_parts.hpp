#pragma once

#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/optional.hpp>
#include <caf/variant.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What hangs on an answer besides its text (agent contracts, 2.2 and 3.7):
/// files, interactive apps and failures; and what becomes of them where a
/// destination cannot show them.
namespace bureau::contracts {

namespace bj = boost::json;

/// Most parts of one answer.
inline constexpr size_t max_reply_parts = 20;
/// Names on the wire.
inline constexpr std::string_view artifact_scheme = "mono-agent-artifact";
inline constexpr std::string_view mcp_apps_extension_id =
  "io.modelcontextprotocol/ui";
inline constexpr std::string_view mcp_app_media_type =
  "text/html;profile=mcp-app";
/// Newest first.
inline constexpr std::array<std::string_view, 2> mcp_app_versions = {
  "2026-01-26", "2025-11-21"};

/// Why a part failed.
enum class part_failure_code : uint8_t {
  app_capability_mismatch,
  app_connection_closed,
  app_resource_invalid,
  artifact_expired,
  artifact_integrity_failed,
  artifact_missing,
  artifact_publish_failed,
  artifact_too_large,
  reply_part_too_large,
  unsupported_destination,
};

std::string to_string(part_failure_code code);
std::optional<part_failure_code> parse_part_failure_code(std::string_view name);

/// A file, known by an opaque id; no path, no bytes.
struct attachment_part {
  std::string id;
  std::string artifact_id;
  /// Sanitised, for display.
  std::string name;
  std::string media_type;
  int64_t size_bytes = 0;
  /// sha256: and 64 lower-case hexadecimal digits.
  std::string integrity_id;
  caf::optional<std::string> expires_at;
  friend bool operator==(const attachment_part&,
                         const attachment_part&) = default;
};

BUREAU_INSPECT(attachment_part, x.id, x.artifact_id, x.name, x.media_type,
               x.size_bytes, x.integrity_id, x.expires_at);

/// An interactive app of an MCP server.
struct mcp_app_part {
  std::string id;
  std::string invocation_id;
  std::string connection_id;
  std::string server_name;
  std::string tool_name;
  std::string resource_uri;
  std::string protocol_version;
  caf::optional<std::string> title;
  caf::optional<std::string> description;
  caf::optional<std::string> expires_at;
  friend bool operator==(const mcp_app_part&, const mcp_app_part&) = default;
};

BUREAU_INSPECT(mcp_app_part, x.id, x.invocation_id, x.connection_id,
               x.server_name, x.tool_name, x.resource_uri, x.protocol_version,
               x.title, x.description, x.expires_at);

/// A part that could not be made.
struct failed_part {
  std::string id;
  part_failure_code code = part_failure_code::unsupported_destination;
  std::string message;
  caf::optional<std::string> related_part_id;
  friend bool operator==(const failed_part&, const failed_part&) = default;
};

BUREAU_INSPECT(failed_part, x.id, x.code, x.message, x.related_part_id);

/// A part that this version does not know or cannot read; kept as it came.
struct unknown_part {
  json_text raw;
  friend bool operator==(const unknown_part&, const unknown_part&) = default;
};

BUREAU_INSPECT(unknown_part, x.raw);

using reply_part =
  caf::variant<unknown_part, attachment_part, mcp_app_part, failed_part>;

/// Reads a part. What is no well-formed part of a known type becomes an
/// unknown_part; a failure code that is not known, unsupported_destination.
reply_part parse_reply_part(const bj::value& value);

/// The part as it goes over the wire.
bj::value to_json(const reply_part& part);

/// Whether parts that a destination cannot show are told to its reader.
enum class unsupported_part_fallback : uint8_t { human, none };

/// Text with a line for every part that was not delivered; absent stays absent.
caf::optional<std::string> append_reply_part_fallback(
  const caf::optional<std::string>& text, const std::vector<reply_part>& parts,
  unsupported_part_fallback policy = unsupported_part_fallback::human);

// -- outcomes for machine destinations ----------------------------------------

/// Outcomes that are kept of one answer.
inline constexpr size_t max_delivery_outcomes = 20;

/// What a part was.
enum class delivery_part_type : uint8_t {
  attachment,
  mcp_app,
  failure,
  unknown,
};

std::string to_string(delivery_part_type type);
std::optional<delivery_part_type>
parse_delivery_part_type(std::string_view name);

/// A part that did not arrive. Its index is its position in the list, its
/// status is always failed, its message follows from the rest.
struct delivery_outcome {
  delivery_part_type type = delivery_part_type::unknown;
  part_failure_code code = part_failure_code::unsupported_destination;
  /// Number of parts that the last record stands for, at least 2; 0 = its own.
  int64_t affected_parts = 0;
  friend bool operator==(const delivery_outcome&,
                         const delivery_outcome&) = default;
};

BUREAU_INSPECT(delivery_outcome, x.type, x.code, x.affected_parts);

/// The fixed message of an outcome.
std::string_view message_of(const delivery_outcome& outcome);

/// Outcomes of parts none of which a destination can show. More than 20 parts
/// become 19 outcomes and one that counts the rest.
std::vector<delivery_outcome>
unsupported_outcomes(const std::vector<reply_part>& parts);

/// The same for a list that was not read yet; empty for what is no list.
std::vector<delivery_outcome> unsupported_outcomes(const bj::value& parts);

/// Rebuilds outcomes from any value. Nothing supplied survives but types, codes
/// and the count of the last record; unsafe entries become unknown failures.
/// Empty for what is no list.
std::vector<delivery_outcome> sanitize_outcomes(const bj::value& value);

/// Whether a value is exactly what to_json prints for one to 20 outcomes.
bool is_outcomes(const bj::value& value);

bj::array to_json(const std::vector<delivery_outcome>& outcomes);

/// The form that is stored, and sent between agents.
bj::object outcome_envelope(const std::vector<delivery_outcome>& outcomes);

// -- fetching what a part refers to -------------------------------------------

/// Asks for the bytes of an attachment.
struct artifact_open_request {
  std::string conversation_id;
  std::string artifact_id;
  caf::optional<std::string> expected_integrity_id;
  friend bool operator==(const artifact_open_request&,
                         const artifact_open_request&) = default;
};

BUREAU_INSPECT(artifact_open_request, x.conversation_id, x.artifact_id,
               x.expected_integrity_id);

/// Asks for an app; the three together are its capability.
struct mcp_app_load_request {
  std::string conversation_id;
  std::string invocation_id;
  std::string connection_id;
  friend bool operator==(const mcp_app_load_request&,
                         const mcp_app_load_request&) = default;
};

BUREAU_INSPECT(mcp_app_load_request, x.conversation_id, x.invocation_id,
               x.connection_id);

/// What an app may ask of its host.
enum class mcp_app_method : uint8_t {
  resources_read,
  tools_call,
  ui_open_link,
  ui_update_model_context,
};

std::string to_string(mcp_app_method method);
std::optional<mcp_app_method> parse_mcp_app_method(std::string_view name);

/// A request of an app.
struct mcp_app_host_request {
  mcp_app_load_request app;
  mcp_app_method method = mcp_app_method::resources_read;
  json_text params;
  caf::optional<bool> confirmed;
  friend bool operator==(const mcp_app_host_request&,
                         const mcp_app_host_request&) = default;
};

BUREAU_INSPECT(mcp_app_host_request, x.app, x.method, x.params, x.confirmed);

/// An app with all that it needs to run.
struct mcp_app_resource {
  mcp_app_part app;
  std::string html;
  json_text tool_input;
  json_text tool_result;
  json_text resource_metadata;
  /// False after a restart, an expiry or a disconnect.
  bool connected = false;
  friend bool operator==(const mcp_app_resource&,
                         const mcp_app_resource&) = default;
};

BUREAU_INSPECT(mcp_app_resource, x.app, x.html, x.tool_input, x.tool_result,
               x.resource_metadata, x.connected);

} // namespace bureau::contracts
