#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/model/message.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Transcript messages as JSON: the `message` member of a session entry (office
/// note, section 10.4) and what tests and viewers exchange.
namespace bureau {

/// Compact JSON of a message. Costs are dollars; optional members that are
/// empty, and a time of 0, are omitted. Text that is not UTF-8 is mended.
std::string print_message(const transcript_message& message);

/// Appends the same text.
void append_message(std::string& out, const transcript_message& message);

/// Appends the content blocks of a message as a JSON array.
void append_content(std::string& out,
                    const std::vector<content_block>& content);

/// Reads a message. Content may be a string (one text block), null or missing
/// (none); blocks of unknown types are dropped. A stored shell command
/// (`bashExecution`) becomes a user message. Nothing for other unknown roles
/// and for values that are no objects.
std::optional<transcript_message> parse_message(const json::bj::value& value);

/// Reads a message from JSON text; nothing when it is no JSON either.
std::optional<transcript_message> read_message(std::string_view text);

/// Reads content as parse_message does.
std::vector<content_block> parse_content(const json::bj::value* content);

} // namespace bureau
