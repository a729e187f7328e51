#pragma once

#include "messages/model/content.hpp"

namespace bureau {

/// Roles of transcript messages (note on the harness, section 2.2).
enum class message_role : uint8_t {
  user,
  assistant,
  tool_result,
  custom,
  compaction_summary,
  branch_summary,
};

/// How an assistant message ended.
enum class stop_reason : uint8_t { stop, length, tool_use, error, aborted };

std::string to_string(message_role role);
std::string to_string(stop_reason reason);

/// One message of the model transcript. Members beyond `role`, `content` and
/// `timestamp_ms` belong to the role named in their comment.
struct transcript_message {
  message_role role = message_role::user;
  std::vector<content_block> content;
  int64_t timestamp_ms = 0;
  // -- assistant --------------------------------------------------------------
  std::string api;
  std::string provider;
  std::string model;
  rare_text response_model;
  rare_text response_id;
  usage spent;
  stop_reason stop = stop_reason::stop;
  rare_text error_message;
  /// Class name of the failure (decision B28), empty without one.
  rare_text error_class;
  // -- tool_result ------------------------------------------------------------
  rare_text tool_call_id;
  rare_text tool_name;
  bool is_error = false;
  rare<json_text> details;
  // -- custom, summaries
  // --------------------------------------------------------
  rare_text custom_type;
  bool display = false;
  rare_text summary;
  int64_t tokens_before = 0;
  rare_text from_id;
  friend bool operator==(const transcript_message&,
                         const transcript_message&) = default;
};

BUREAU_INSPECT(transcript_message, x.role, x.content, x.timestamp_ms, x.api,
               x.provider, x.model, x.response_model, x.response_id, x.spent,
               x.stop, x.error_message, x.error_class, x.tool_call_id,
               x.tool_name, x.is_error, x.details, x.custom_type, x.display,
               x.summary, x.tokens_before, x.from_id);

/// A user message with one text block.
transcript_message user_message(std::string text, int64_t timestamp_ms);

/// All text blocks of a message, joined without a separator.
std::string text_of(const transcript_message& message);

} // namespace bureau
