#pragma once

#include "messages/interfaces/common.hpp"
#include "messages/model/message.hpp"
#include "messages/model/model_descriptor.hpp"

namespace bureau {

/// A tool as the model sees it.
struct tool_definition {
  std::string name;
  std::string label;
  std::string description;
  /// JSON Schema, root type object.
  json_text parameters;
  /// One such call makes its whole batch run one after the other.
  bool sequential = false;
  friend bool operator==(const tool_definition&,
                         const tool_definition&) = default;
};

BUREAU_INSPECT(tool_definition, x.name, x.label, x.description, x.parameters,
               x.sequential);

/// One request to a model.
struct model_request {
  model_choice choice;
  std::string system_prompt;
  std::vector<transcript_message> messages;
  std::vector<tool_definition> tools;
  /// For prompt caching; empty = none.
  std::string session_id;
  /// Output cap; 0 = the model's.
  int64_t max_tokens = 0;
  /// Platform name of the conversation (the offline responder honours tool
  /// verbs on the console only, decision B40).
  std::string platform;
  friend bool operator==(const model_request&, const model_request&) = default;
};

BUREAU_INSPECT(model_request, x.choice, x.system_prompt, x.messages, x.tools,
               x.session_id, x.max_tokens, x.platform);

/// Kinds of non-terminal stream events (note on the harness, section 2.5).
enum class stream_kind : uint8_t {
  start,
  text_start,
  text_delta,
  text_end,
  thinking_start,
  thinking_delta,
  thinking_end,
  tool_call_start,
  tool_call_delta,
  tool_call_end,
};

/// One step of a stream. `delta` is set by *_delta, `block` by *_end (the
/// finished block) and tool_call_start (id and name known so far).
struct stream_event {
  stream_kind kind = stream_kind::start;
  uint32_t index = 0;
  std::string delta;
  content_block block;
  friend bool operator==(const stream_event&, const stream_event&) = default;
};

BUREAU_INSPECT(stream_event, x.kind, x.index, x.delta, x.block);

/// Class of a model failure; decisions read nothing else (decision B28).
enum class model_error_class : uint8_t {
  none,
  auth,
  quota,
  rate_limit,
  overloaded,
  overflow,
  bad_request,
  not_found,
  server,
  network,
  truncated,
  protocol,
  cancelled,
  unknown,
};

std::string to_string(model_error_class error);

struct model_error {
  model_error_class error = model_error_class::none;
  /// 0 = no response.
  uint32_t http_status = 0;
  /// The provider's own code or type.
  std::string code;
  /// 0 = not stated.
  int64_t retry_after_ms = 0;
  friend bool operator==(const model_error&, const model_error&) = default;
};

BUREAU_INSPECT(model_error, x.error, x.http_status, x.code, x.retry_after_ms);

/// The terminal event: the final message, successful or not. A failed one has
/// stop error or aborted, an error_message and whatever content had arrived.
struct stream_end {
  transcript_message message;
  model_error failure;
  friend bool operator==(const stream_end&, const stream_end&) = default;
};

BUREAU_INSPECT(stream_end, x.message, x.failure);

/// The MODEL SINK actor interface: who follows a model call.
using model_sink_actor = caf::typed_actor<
  // In order; nothing after the terminal event.
  caf::reacts_to<atom::delta, stream_event>,
  // Exactly once.
  caf::reacts_to<atom::done, stream_end>>;

/// The MODEL CALL actor interface: one running request. It ends itself after
/// the terminal event.
using model_call_actor = caf::typed_actor<
  // Ends the stream with stop = aborted. Send it urgently.
  caf::reacts_to<atom::cancel>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_model, bureau::type_ids::model)
CAF_ADD_TYPE_ID(bureau_model, (bureau::tool_definition))
CAF_ADD_TYPE_ID(bureau_model, (bureau::model_request))
CAF_ADD_TYPE_ID(bureau_model, (bureau::stream_event))
CAF_ADD_TYPE_ID(bureau_model, (bureau::stream_end))
CAF_ADD_TYPE_ID(bureau_model, (bureau::transcript_message))
CAF_ADD_TYPE_ID(bureau_model, (bureau::model_choice))
CAF_ADD_TYPE_ID(bureau_model, (bureau::model_sink_actor))
CAF_ADD_TYPE_ID(bureau_model, (bureau::model_call_actor))
CAF_END_TYPE_ID_BLOCK(bureau_model)
