#pragma once

#include "messages/model/message.hpp"
#include "messages/model/model_descriptor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bureau::models {

/// What a provider accepts as the id of a tool call (note on the harness,
/// section 4.2 rule 6, and the known quirk of Mistral).
enum class call_id_rule : uint8_t {
  /// [A-Za-z0-9_-], at most 64.
  anthropic,
  /// Part before `|`, sanitised, at most 40; ids without `|` as they are.
  chat,
  /// Like chat, and every id at most 40.
  chat_openai,
  /// Exactly nine letters or digits.
  nine_alphanumerics,
};

/// An id that the rule accepts; an accepted one stays as it is.
std::string normal_call_id(std::string_view id, call_id_rule rule);

/// The transcript as every provider can read it (section 4.2). The result has
/// user, assistant and tool_result messages only:
/// - custom messages and summaries become user messages;
/// - runs of images become one placeholder when the model reads no images;
/// - failed and aborted answers are left out;
/// - blocks of another model lose what only that model understands;
/// - each tool call is followed by its result: a real one, moved up when other
///   messages came in between, else a synthetic error; results without a call
///   are left out;
/// - ids of calls and results follow the rule and stay distinct.
/// The result for a prefix of the messages is a prefix of the result, except
/// for results of calls that are still open: prompt caches depend on it.
std::vector<transcript_message>
normal_transcript(const std::vector<transcript_message>& messages,
                  const model_descriptor& model, call_id_rule rule);

/// Estimated tokens of one message, of text, and of tools and prompt: a quarter
/// of the UTF-16 units; an image counts as 4800 (section 6).
int64_t estimate_tokens(const transcript_message& message);
int64_t estimate_tokens(std::string_view text);

} // namespace bureau::models
