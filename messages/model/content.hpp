#pragma once

#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"
#include "messages/rare.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bureau {

/// Kinds of content blocks (note on the harness, section 2.1).
enum class block_kind : uint8_t { text, thinking, image, tool_call };

/// One block of a message. Which members mean something depends on `kind`:
/// text: text, signature · thinking: text, signature, redacted · image: data
/// (base64), mime_type · tool_call: id, name, arguments, signature.
struct content_block {
  block_kind kind = block_kind::text;
  bool redacted = false;
  std::string text;
  rare_text signature;
  rare_text data;
  rare_text mime_type;
  rare_text id;
  rare_text name;
  /// Always the parsed object as JSON text, never a partial string.
  rare<json_text> arguments;
  friend bool operator==(const content_block&, const content_block&) = default;
};

BUREAU_INSPECT(content_block, x.kind, x.redacted, x.text, x.signature, x.data,
               x.mime_type, x.id, x.name, x.arguments);

inline content_block text_block(std::string text) {
  content_block block;
  block.text = std::move(text);
  return block;
}

/// Token counts and cost of model calls. Money is integer millionths of a US
/// dollar inside the process; codecs convert (decision A24).
struct usage {
  int64_t input = 0;
  int64_t output = 0;
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  int64_t cache_write_1h = 0;
  int64_t reasoning = 0;
  int64_t total_tokens = 0;
  int64_t cost_input_micro = 0;
  int64_t cost_output_micro = 0;
  int64_t cost_cache_read_micro = 0;
  int64_t cost_cache_write_micro = 0;
  int64_t cost_total_micro = 0;
  friend bool operator==(const usage&, const usage&) = default;
};

BUREAU_INSPECT(usage, x.input, x.output, x.cache_read, x.cache_write,
               x.cache_write_1h, x.reasoning, x.total_tokens,
               x.cost_input_micro, x.cost_output_micro, x.cost_cache_read_micro,
               x.cost_cache_write_micro, x.cost_total_micro);

/// Adds every field.
usage& operator+=(usage& sum, const usage& addend);

} // namespace bureau
